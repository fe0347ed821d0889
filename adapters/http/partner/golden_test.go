package partner_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/partner/partnertest"
	"holdco/domain/fault"
)

var update = flag.Bool("update", false, "rewrite the golden answers")

const goldenFolder = "../../../testdata/golden"

func TestAnswersLookAsTheyAlwaysDid(t *testing.T) {
	t.Parallel()
	one := "leads/" + string(leadID(1))
	fails := func(err error) func(*world) { return func(w *world) { w.export.err = err } }
	for _, c := range []struct {
		name    string
		given   func(*world)
		request partnertest.Request
		key     string // the world's when empty
	}{
		{name: "leads", request: partnertest.Request{Path: "leads?per_page=1"}},
		{name: "leads_empty", request: partnertest.Request{Path: "leads?page=3&per_page=100&enrichment_level=standard"}},
		{name: "leads_fields", request: partnertest.Request{Path: "leads?per_page=1&fields=website,contacts,vertical"}},
		{name: "lead", request: partnertest.Request{Path: one}},
		{name: "lead_changes", request: partnertest.Request{Path: "leads/changes"}, given: changed},
		{name: "leads_removed", request: partnertest.Request{Path: "leads/removed"}, given: func(w *world) {
			w.export.removedAt[leadID(9)] = start
		}},
		{name: "campaigns", request: partnertest.Request{Path: "campaigns"}},
		{name: "taxonomy", request: partnertest.Request{Path: "taxonomy"}},
		{name: "me", request: partnertest.Request{Path: "me"}},

		{name: "error_invalid_parameter", request: partnertest.Request{Path: "leads?per_page=101", Wrong: true}},
		{name: "error_invalid_cursor", request: partnertest.Request{Path: "leads?cursor=nonsense"}},
		{name: "error_invalid_json", request: partnertest.Request{Path: "leads", Body: "{",
			Header: map[string]string{"Content-Type": "application/json"}}},
		{name: "error_unauthorized", request: partnertest.Request{Path: "leads"}, key: "hco_token"},
		{name: "error_origin_not_allowed", request: partnertest.Request{Path: "leads", Header: map[string]string{"Origin": otherHome}}},
		{name: "error_not_found", request: partnertest.Request{Path: "leads/cmp_none"}},
		{name: "error_method_not_allowed", request: partnertest.Request{Method: "POST", Path: "leads", Wrong: true}},
		{name: "error_payload_too_large", request: partnertest.Request{Path: "leads", Body: strings.Repeat(" ", 1<<20+1)}},
		{name: "error_unsupported_media_type", request: partnertest.Request{Path: "leads", Body: "x",
			Header: map[string]string{"Content-Type": "text/plain"}}},
		{name: "error_rate_limited", request: partnertest.Request{Path: "leads"}, given: func(w *world) { w.limiter.full = true }},
		{name: "error_internal", request: partnertest.Request{Path: "leads"}, given: fails(errors.New("disk I/O error in /var/lib"))},
		{name: "error_unavailable", request: partnertest.Request{Path: one}, given: fails(
			fault.New(fault.Unavailable, "The store cannot be reached; try again.").Because(errors.New("dial tcp")))},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if c.given != nil {
				c.given(w)
			}
			client := w.Client
			if c.key != "" {
				client = w.As(c.key)
			}
			compare(t, "export_"+c.name, client.Send(c.request))
		})
	}
}

func TestEveryCodeHasAGoldenAnswer(t *testing.T) {
	t.Parallel()
	for _, code := range readDocument(t).Components.Schemas["Error"].Value.Properties["code"].Value.Enum {
		if _, err := os.Stat(filepath.Join(goldenFolder, "export_error_"+code.(string)+".json")); err != nil {
			t.Error(err)
		}
	}
}

// compare holds an answer against its golden file, or rewrites that.
func compare(t *testing.T, name string, answer partnertest.Answer) {
	t.Helper()
	headers := map[string]string{}
	for _, header := range []string{"Access-Control-Allow-Origin", "Allow", "Cache-Control", "Last-Modified",
		"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After", "Vary", "WWW-Authenticate"} {
		if values := answer.Header.Values(header); len(values) > 0 {
			headers[header] = strings.Join(values, ", ")
		}
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(struct {
		Status  int               `json:"status"`
		Headers map[string]string `json:"headers"`
		Body    json.RawMessage   `json:"body"`
	}{answer.Status, headers, answer.Body})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(goldenFolder, name+".json")
	if *update {
		if err := os.WriteFile(file, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), text.String()); diff != "" {
		t.Error(diff)
	}
}

func TestPathsMethodsAndKeysAreLookedAtInTheirOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	body := strings.Repeat("x", 1<<20+1)
	for _, c := range []struct {
		request partnertest.Request
		key     string
		full    bool
		status  int
		code    string
	}{
		{request: partnertest.Request{Path: "lead"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "leads/"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "/api//external/leads"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "/api/External/leads"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "/v1/companies"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "/"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Method: "DELETE", Path: "leads?x=y"}, status: 405, code: "method_not_allowed"},
		{request: partnertest.Request{Path: "leads?x=y", Body: body}, key: "x", full: true, status: 429, code: "rate_limited"},
		{request: partnertest.Request{Path: "leads?x=y", Body: body}, key: "x", status: 401, code: "unauthorized"},
		{request: partnertest.Request{Path: "leads?x=y", Body: body, Header: map[string]string{"Origin": elsewhere}}, full: true,
			status: 429, code: "rate_limited"},
		{request: partnertest.Request{Path: "leads?x=y", Body: body, Header: map[string]string{"Origin": elsewhere}}, status: 403,
			code: "origin_not_allowed"},
		{request: partnertest.Request{Path: "leads?x=y", Body: body}, status: 413, code: "payload_too_large"},
		{request: partnertest.Request{Path: "leads?x=y", Body: "x"}, status: 415, code: "unsupported_media_type"},
		{request: partnertest.Request{Path: "leads/cmp_none?x=y"}, status: 400, code: "invalid_parameter"},
		{request: partnertest.Request{Path: "leads/cmp_none"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "leads/cam_none"}, status: 404, code: "not_found"},
		{request: partnertest.Request{Path: "leads/" + strings.Repeat("%20", 10)}, status: 404, code: "not_found"},
	} {
		w.limiter.full = c.full
		client := w.Client
		if c.key != "" {
			client = w.As(c.key)
		}
		c.request.Wrong = true
		client.Send(c.request).Is(t, c.status, c.code)
	}
	options := w.As("").Send(partnertest.Request{Method: http.MethodOptions, Path: "leads", Wrong: true})
	if options.Status != http.StatusNoContent || options.Header.Get("Allow") != "GET, HEAD, OPTIONS" {
		t.Errorf("%d %v", options.Status, options.Header)
	}
}

func TestWhoAsksAndForWhatIsInTheLogWithoutTheKey(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.Get("leads/" + string(leadID(1)))
	await(t, func() bool { return strings.Contains(w.log.String(), "status=200") })
	if log := w.log.String(); !strings.Contains(log, "route=/api/external/leads/:id") ||
		!strings.Contains(log, "partner=prt_01km3g0000e000000000000001 ") || strings.Contains(log, key) {
		t.Error(log)
	}
}

// await fails the test unless something happens in time.
func await(t *testing.T, happened func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !happened(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen in time")
		}
	}
}
