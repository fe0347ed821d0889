package partner_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/partner/partnertest"
	"holdco/domain/fault"
)

const lines = "application/x-ndjson"

func streamed(path string) partnertest.Request {
	return partnertest.Request{Path: path, Header: map[string]string{"Accept": lines}}
}

func TestAStreamHasOneLeadPerLineAndNothingElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 250)
	answer := w.Send(streamed("leads"))
	ids := answer.IDs(t)
	if len(ids) != 250 || ids[0] != string(leadID(1)) || ids[249] != string(leadID(250)) || answer.Body[len(answer.Body)-1] != '\n' {
		t.Errorf("%d leads: %.200s", len(ids), answer.Body)
	}
	for name, want := range map[string]string{
		"Content-Type": lines, "Cache-Control": "no-store", "ETag": "",
		"Last-Modified": "", "Content-Length": "", "RateLimit-Remaining": "599",
	} {
		if got := answer.Header.Get(name); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	page := w.Get("leads?per_page=1")
	if line := answer.Lines()[0]; !strings.Contains(string(page.Body), `{"data":[`+line+`],`) {
		t.Errorf("a line differs from the page: %s\n%s", line, page.Body)
	}
	if got := w.Stream("leads?has_website=true"); len(got) != 1 {
		t.Errorf("%d lines", len(got))
	}
	none := w.Send(streamed("leads?enrichment_level=basic"))
	if none.Status != 200 || len(none.Body) > 0 || none.Header.Get("Content-Type") != lines {
		t.Errorf("%d %v %q", none.Status, none.Header, none.Body)
	}
	head := streamed("leads")
	head.Method = http.MethodHead
	if answer := w.Send(head); answer.Status != 200 || answer.Header.Get("Content-Type") != lines {
		t.Errorf("%d %v", answer.Status, answer.Header)
	}
}

func TestAClientSaysWhetherItWantsLines(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for accept, want := range map[string]bool{
		"":                                       false,
		"*/*":                                    false,
		"application/json":                       false,
		"text/html, */*;q=0.8":                   false,
		"application/ndjson":                     false,
		"application/x-ndjson":                   true,
		"Application/X-NDJSON; charset=utf-8":    true,
		"application/x-ndjson, */*":              true,
		"application/x-ndjson;q=0":               false,
		"application/x-ndjson;q=x":               false,
		"application/json, application/x-ndjson": false,
		"application/x-ndjson, application/json": true,
		"application/json;q=0.5, application/x-ndjson;q=0.9": true,
		"application/x-ndjson;q=0.1,application/json":        false,
		";;,application/x-ndjson":                            true,
	} {
		if got := w.Get("leads", "Accept", accept).Header.Get("Content-Type") == lines; got != want {
			t.Errorf("%q: lines: %v", accept, got)
		}
	}
}

func TestAStreamContinuesAfterTheLastLead(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 150)
	all := w.Stream("leads")
	rest := w.Stream("leads?after=" + string(leadID(120)))
	if strings.Join(rest, "\n") != strings.Join(all[120:], "\n") {
		t.Errorf("%d lines", len(rest))
	}
	if got := w.Stream("leads?after=" + string(leadID(150))); got != nil {
		t.Errorf("%d lines after the last", len(got))
	}
	w.export.err = fault.New(fault.Unavailable, "Later.")
	w.Send(streamed("leads?after=cmp_x")).Is(t, 503, "unavailable")
}

func TestAStreamThatFailsAtOnceIsAnError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.pace = func(context.Context) error { return errors.New("disk I/O error") }
	w.Send(streamed("leads")).Is(t, 500, "internal")
}

func TestAStreamThatFailsLaterBreaksOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 250)
	w.export.breaksAt = 200
	for _, coding := range []string{"identity", "gzip", "zstd"} {
		request := streamed("leads")
		request.Header["Accept-Encoding"] = coding
		answer, err := w.Try(request)
		if !errors.Is(err, io.ErrUnexpectedEOF) || answer.Status != 200 {
			t.Errorf("%s: %d, %v", coding, answer.Status, err)
		}
		if got := len(answer.Lines()); coding == "identity" && got != 200 {
			t.Errorf("%d lines before it broke off", got)
		}
	}
	if log := w.log.String(); !strings.Contains(log, "a stream broke off") || !strings.Contains(log, "level=ERROR") {
		t.Error(log)
	}
}

func TestLeadsArriveWhileTheStreamContinues(t *testing.T) {
	t.Parallel()
	for _, coding := range []string{"identity", "gzip"} {
		w := newWorld(t)
		w.export.fill(t, 200)
		proceed := make(chan struct{}, 1)
		proceed <- struct{}{}
		w.export.pace = func(context.Context) error { <-proceed; return nil }
		request := streamed("leads")
		request.Header["Accept-Encoding"] = coding
		response := w.Open(request)
		first := make([]byte, 1)
		if _, err := io.ReadFull(response.Body, first); err != nil {
			t.Errorf("%s: %v", coding, err)
		}
		proceed <- struct{}{}
		if _, err := io.ReadAll(response.Body); err != nil {
			t.Errorf("%s: %v", coding, err)
		}
		_ = response.Body.Close()
	}
}

func TestTheLimitsOfTheServerEndNoStream(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Second // in which even a busy machine reads a request
	w := newWorld(t, func(server *http.Server) { server.ReadTimeout, server.WriteTimeout = limit, limit })
	w.export.fill(t, 500)
	pass := sync.OnceFunc(func() { time.Sleep(limit) }) // both began earlier
	w.export.pace = func(context.Context) error { pass(); return nil }
	if got := len(w.Stream("leads")); got != 500 {
		t.Errorf("%d lines", got)
	}
}

func TestAStoppingServerBreaksStreamsOff(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.export.fill(t, 300)
	var begun atomic.Bool
	w.export.pace = func(ctx context.Context) error {
		if begun.Swap(true) { // the second portion never comes
			<-ctx.Done()
		}
		return nil
	}
	response := w.Open(streamed("leads"))
	defer response.Body.Close()
	if _, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	w.stopping.Begin()
	if _, err := io.ReadAll(response.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("the stream ended with: %v", err)
	}
	w.Send(streamed("leads")).Is(t, 503, "unavailable")
	w.Get("leads").Is(t, 200, "")
	if strings.Contains(w.log.String(), "level=ERROR") {
		t.Error(w.log.String())
	}
}
