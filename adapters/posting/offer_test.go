package posting_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"holdco/adapters/posting"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/webhook"
	"holdco/ports/outbound"
)

func offer(url string) outbound.Offer {
	return outbound.Offer{
		Run: id.New[id.Run]([16]byte{15: 9}), URL: url, Body: []byte(`{"leaseId":"lse_1","token":"hcr_1"}`), Secret: secret,
		At: time.Now().UTC().Truncate(time.Millisecond),
	}
}

func TestAnOfferIsPostedAsTheStandardSays(t *testing.T) {
	t.Parallel()
	sent := offer("")
	var got received
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = received{method: r.Method, target: r.RequestURI, body: string(body), header: r.Header}
		w.WriteHeader(http.StatusAccepted)
		_, _ = io.WriteString(w, "not JSON, and nobody reads it")
	}))
	defer server.Close()
	sent.URL = server.URL + "/agents/ada?a=b"
	answer, err := newPoster(t, posting.Options{AllowPrivate: true}).Offer(t.Context(), sent)
	if diff := cmp.Diff(outbound.OfferAnswer{}, answer); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if got.method != http.MethodPost || got.target != "/agents/ada?a=b" || got.body != string(sent.Body) {
		t.Errorf("received %s %s: %s", got.method, got.target, got.body)
	}
	for name, want := range map[string]string{
		"Content-Type":      "application/json",
		"User-Agent":        "Holdco/1.2.3",
		"Webhook-Id":        string(sent.Run),
		"Webhook-Timestamp": strconv.FormatInt(sent.At.Unix(), 10),
	} {
		if got.header.Get(name) != want {
			t.Errorf("%s is %q, want %q", name, got.header.Get(name), want)
		}
	}
	for key, want := range map[webhook.Secret]bool{secret: true, webhook.NewSecret([32]byte{5}): false} {
		verifier, err := standardwebhooks.NewWebhook(string(key))
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.Verify([]byte(got.body), got.header); (err == nil) != want {
			t.Errorf("verified with %s: %v", key, err)
		}
	}
}

func TestAnAgentMayAnswerWithItsResult(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	full := outbound.OfferAnswer{
		IsComplete: true, Result: []byte(`{"words": [240, 1e2, "ö"]}`),
		Costs: []cost.Draft{{Key: new("1"), Kind: new("llm"), USD: new(money.Number("0.0125"))}},
	}
	most := `"` + strings.Repeat("x", outbound.MostAnswer-len(`{"status":"completed","result":""}`)) + `"`
	for _, c := range []struct {
		answered string
		want     outbound.OfferAnswer
	}{
		{`{"status":"completed"}`, outbound.OfferAnswer{IsComplete: true}},
		{` {"costs":null,"result":null,"status":"completed"} ` + "\n", outbound.OfferAnswer{IsComplete: true}},
		{`{"status":"completed","result":{"words": [240, 1e2, "ö"]},"costs":[{"key":"1","kind":"llm","usd":0.0125}]}`, full},
		{`{"status":"completed","result":false}`, outbound.OfferAnswer{IsComplete: true, Result: []byte("false")}},
		{`{"status":"completed","result":` + most + `}`, outbound.OfferAnswer{IsComplete: true, Result: []byte(most)}},
		{`{"status":"completed","costs":[]}`, outbound.OfferAnswer{IsComplete: true, Costs: []cost.Draft{}}},
		{"\ufeff" + `{"status":"completed","version":2}`, outbound.OfferAnswer{IsComplete: true}},
		{`{"status":"failed","status":"completed"}`, outbound.OfferAnswer{IsComplete: true}},
	} {
		got, err := poster.Offer(t.Context(), offer(receive(t, answers(ok200(c.answered)))))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%.100s: %v, %.1000s", c.answered, err, diff)
		}
	}
}

// Work that is done is not thrown away because of a detail.
func TestProblemsOfAnAnswerDoNotLoseItsResult(t *testing.T) {
	t.Parallel()
	const left = "Charges that are not valid were left out: "
	good := cost.Draft{Key: new("1"), Kind: new("tools"), USD: new(money.Number("3.3000000000000003"))}
	const goodJSON = `{"key":"1","kind":"tools","usd":3.3000000000000003,"more":true}`
	long := strings.Repeat("x", 1000)
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	for _, c := range []struct {
		result, costs string
		want          outbound.OfferAnswer
	}{
		{`1`, `[` + goodJSON + `]`, outbound.OfferAnswer{Result: []byte("1"), Costs: []cost.Draft{good}}},
		{`1`, `{}`, outbound.OfferAnswer{Result: []byte("1"), Problems: left + "costs must be a list."}},
		{
			`1`, `[{"key":"0","kind":"tools","usd":"1"},` + goodJSON + `]`,
			outbound.OfferAnswer{Result: []byte("1"), Costs: []cost.Draft{good}, Problems: left + "costs.0.usd must be a number."},
		},
		{
			`1`, `[` + goodJSON + `,{"key":"2","kind":"tools","usd":-1},{"key":"1","kind":"tools","usd":3}]`,
			outbound.OfferAnswer{
				Result: []byte("1"), Costs: []cost.Draft{good},
				Problems: left + "costs.1.usd must be from 0 to 1000000; costs.2.key is that of another charge.",
			},
		},
		{
			`1`, `[1,2,3,4,5]`,
			outbound.OfferAnswer{Result: []byte("1"), Costs: []cost.Draft{}, Problems: left + itemsWrong + "; and 2 more."},
		},
		{
			`1`, `[{"key":7,"` + long + `":1}]`,
			outbound.OfferAnswer{Result: []byte("1"), Costs: []cost.Draft{}, Problems: left + "costs.0.key must be a string."},
		},
		{
			`"` + "\xff" + `"`, `[]`,
			outbound.OfferAnswer{
				Result: []byte("\"\ufffd\""), Costs: []cost.Draft{}, Problems: "It is not UTF-8: bytes that are not were replaced.",
			},
		},
		{
			`{"a":1,"a":1}`, `[]`,
			outbound.OfferAnswer{
				Result: []byte(`"{\"a\":1,\"a\":1}"`), Costs: []cost.Draft{},
				Problems: "The result is kept as text, as it names a member twice, or nests too deep.",
			},
		},
	} {
		c.want.IsComplete = true
		answered := `{"status":"completed","result":` + c.result + `,"costs":` + c.costs + `}`
		got, err := poster.Offer(t.Context(), offer(receive(t, answers(ok200(answered)))))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%.100s: %v, %.1000s", answered, err, diff)
		}
	}
}

func TestAnAnswerThatIsNoneToAnOfferIsExplained(t *testing.T) {
	t.Parallel()
	const noJSON, members = "The receiver's answer is not JSON.",
		"The receiver's answer is not an object with the members status, a string, and, if it has them, result and costs."
	const status = `The receiver's answer does not have the status "completed".`
	long := strings.Repeat("x", 1000)
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	for answered, want := range map[string]string{
		"":                                  noJSON,
		"ok":                                noJSON,
		`{"status":"completed"`:             noJSON,
		`{"status":"completed"} {}`:         noJSON,
		`{"status":"completed","result":}`:  noJSON,
		`[]`:                                members,
		`"completed"`:                       members,
		`{"status":true}`:                   status,
		`{"Status":"completed"}`:            status,
		`null`:                              status,
		`{}`:                                status,
		`{"status":null}`:                   status,
		`{"status":"Completed"}`:            status,
		`{"status":"failed","result":null}`: status,
		`{"status":"completed","result":"` + strings.Repeat(long, 2e3): "The receiver's answer has more than 1048576 bytes.",
	} {
		got, err := poster.Offer(t.Context(), offer(receive(t, answers(ok200(answered)))))
		if diff := cmp.Diff(outbound.OfferAnswer{}, got); diff != "" || err == nil || err.Error() != want {
			t.Errorf("%.60s: %.300v, %s", answered, err, diff)
		}
	}
}

const itemsWrong = "costs.0 must be an object; costs.1 must be an object; costs.2 must be an object"

func TestOtherStatusesAreNoAnswerToAnOffer(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{AllowPrivate: true})
	for _, status := range []int{201, 204, 301, 302, 307, 308, 400, 401, 404, 410, 429, 500, 503, 999} {
		var requests atomic.Int32
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			requests.Add(1)
			w.Header().Set("Location", "/elsewhere")
			w.WriteHeader(status)
		}))
		got, err := poster.Offer(t.Context(), offer(server.URL))
		server.Close()
		if err == nil || err.Error() != fmt.Sprintf("The receiver answered %d.", status) || got.IsComplete || requests.Load() != 1 {
			t.Errorf("%d: %v, %+v after %d requests", status, err, got, requests.Load())
		}
	}
}

func TestAnAgentThatDoesNotAnswerIsExplained(t *testing.T) {
	t.Parallel()
	nobody := httptest.NewServer(nil)
	nobody.Close()
	open := newPoster(t, posting.Options{AllowPrivate: true, Resolver: names{}.resolver()})
	hasty := newPoster(t, posting.Options{AllowPrivate: true, Timeout: soon})
	guarded := newPoster(t, posting.Options{Resolver: names{"inside.test": always("10.0.0.1")}.resolver()})
	const begun = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":"
	for _, c := range []struct {
		poster    *posting.Poster
		url, want string
	}{
		{open, nobody.URL, "connection refused"},
		{open, "http://unknown.test/", "the host name does not resolve"},
		{open, "http://127.0.0.1/%zz", "the message cannot be sent: its URL or its secret is not valid"},
		{open, receive(t, afterRequest(func(net.Conn) {})), "the connection was closed before an answer came"},
		{
			open, receive(t, afterRequest(func(conn net.Conn) { _, _ = io.WriteString(conn, begun) })),
			"the connection was closed before an answer came",
		},
		{hasty, receive(t, afterRequest(untilClosed)), "no answer within 0.5 s"},
		{
			hasty, receive(t, afterRequest(func(conn net.Conn) {
				_, _ = io.WriteString(conn, begun)
				untilClosed(conn)
			})),
			"no answer within 0.5 s",
		},
		{
			hasty, receive(t, afterRequest(func(conn net.Conn) {
				trickle(conn, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat(" ", 1<<20))
			})),
			"no answer within 0.5 s",
		},
		{guarded, "http://inside.test/", "the address 10.0.0.1" + refusal},
		{guarded, nobody.URL, "the address 127.0.0.1" + refusal},
	} {
		got, err := c.poster.Offer(t.Context(), offer(c.url))
		if err == nil || err.Error() != "The receiver did not answer: "+c.want+"." || got.IsComplete {
			t.Errorf("%s: %v, %+v; want %s", c.url, err, got, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	const brokenOff = "The receiver did not answer: the attempt was broken off."
	if _, err := open.Offer(ctx, offer(nobody.URL)); err == nil || err.Error() != brokenOff {
		t.Error(err)
	}
}

// ok200 is an answer with a body.
func ok200(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}
