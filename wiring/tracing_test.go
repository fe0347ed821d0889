package wiring_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"holdco/adapters/http/rest/resttest"
)

// traces is a collector that keeps what it is sent.
type traces struct {
	url string

	mutex   sync.Mutex
	service string
	headers []http.Header
	spans   []*trace.Span
}

func newCollector(t *testing.T) *traces {
	t.Helper()
	c := &traces{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &sent) != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("%s %s cannot be read: %v", r.Method, r.URL, err)
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.keep(r.Header, &sent)
	}))
	t.Cleanup(server.Close)
	c.url = server.URL
	return c
}

func (c *traces) keep(header http.Header, sent *collector.ExportTraceServiceRequest) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.headers = append(c.headers, header)
	for _, of := range sent.ResourceSpans {
		c.service = attributes(of.Resource.Attributes)["service.name"]
		for _, scope := range of.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// named returns the spans with a name.
func (c *traces) named(name string) (found []*trace.Span) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	for _, span := range c.spans {
		if span.Name == name {
			found = append(found, span)
		}
	}
	return found
}

func attributes(from []*common.KeyValue) map[string]string {
	all := map[string]string{}
	for _, attribute := range from {
		value, _ := json.Marshal(attribute.Value.GetIntValue())
		all[attribute.Key] = attribute.Value.GetStringValue()
		if _, number := attribute.Value.Value.(*common.AnyValue_IntValue); number {
			all[attribute.Key] = string(value)
		}
	}
	return all
}

// traced starts a server whose environment is as given, and returns a client of it.
func traced(t *testing.T, environ ...string) (*process, *resttest.Client) {
	t.Helper()
	p := startProcess(t, append([]string{dataDir + t.TempDir(), "HOLDCO_LOG_LEVEL=info"}, environ...)...)
	return p, resttest.New(t, p.url, string(rootToken))
}

// end stops a server as an operator would.
func (p *process) end(t *testing.T) {
	t.Helper()
	must(t, p.Process.Signal(os.Interrupt))
	must(t, p.Wait())
}

const (
	endpointOf  = "OTEL_EXPORTER_OTLP_ENDPOINT="
	clientTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	clientSpan  = "00f067aa0ba902b7"
	traceparent = "00-" + clientTrace + "-" + clientSpan + "-01"
)

func TestATraceGoesFromTheClientToTheStore(t *testing.T) {
	t.Parallel()
	eachDatabase(t, func(t *testing.T, environ ...string) {
		c := newCollector(t)
		p, client := traced(t, append(environ, endpointOf+c.url, "OTEL_EXPORTER_OTLP_HEADERS=x-tenant=me")...)
		created := client.Post("/v1/companies", draft(t, ""))
		acme := resttest.Data[company](t, created)
		read := send(client, "GET", acme.path(), "", "Traceparent", traceparent)
		p.end(t)

		spans := c.named("GET /v1/companies/:id")
		if len(spans) != 1 {
			t.Fatalf("%d spans of the request", len(spans))
		}
		span := spans[0]
		if hex.EncodeToString(span.TraceId) != clientTrace || hex.EncodeToString(span.ParentSpanId) != clientSpan ||
			span.Kind != trace.Span_SPAN_KIND_SERVER {
			t.Errorf("the client's trace does not continue: %v", span)
		}
		got := attributes(span.Attributes)
		for key, want := range map[string]string{
			"http.request.method": "GET", "http.route": "/v1/companies/:id",
			"http.response.status_code": "200", "holdco.request.id": read.Meta.RequestID,
		} {
			if got[key] != want {
				t.Errorf("%s is %q, want %q", key, got[key], want)
			}
		}
		if reads := under(c.named("store read"), span); len(reads) == 0 || attributes(reads[0].Attributes)["holdco.store.outcome"] != "ok" {
			t.Errorf("the spans of its reads are %v", reads)
		}
		posts := c.named("POST /v1/companies")
		if len(posts) != 1 || len(posts[0].ParentSpanId) != 0 || len(under(c.named("store update"), posts[0])) != 1 {
			t.Errorf("the spans of the write are %v", posts)
		}
		if c.service != "holdco" || c.headers[0].Get("X-Tenant") != "me" {
			t.Errorf("%s sent %v", c.service, c.headers[0])
		}
		line := lineWith(p.log.String(), read.Meta.RequestID)
		if !strings.Contains(line, `"traceId":"`+clientTrace+`"`) {
			t.Errorf("the line of the request is %s", line)
		}
	})
}

// under are the spans whose parent is the given one.
func under(spans []*trace.Span, parent *trace.Span) (children []*trace.Span) {
	for _, span := range spans {
		if string(span.ParentSpanId) == string(parent.SpanId) {
			children = append(children, span)
		}
	}
	return children
}

func lineWith(log, part string) string {
	for line := range strings.Lines(log) {
		if strings.Contains(line, part) {
			return line
		}
	}
	return ""
}

func TestFailuresAreSeenInTraces(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	p, client := traced(t, endpointOf+c.url, "OTEL_SERVICE_NAME=holdco-staging")
	client.Get("/v1/companies/cmp_"+strings.Repeat("0", 26)).Is(t, 404, "not_found")
	send(client, "GET", "/secret-path?secret=query", "").Is(t, 404, "not_found")
	p.end(t)
	refused := c.named("GET /v1/companies/:id")
	if len(refused) != 1 || refused[0].Status.GetCode() == trace.Status_STATUS_CODE_ERROR ||
		attributes(refused[0].Attributes)["http.response.status_code"] != "404" {
		t.Errorf("%v", refused) // what the client did wrong is no error of the server
	}
	if unmatched := c.named("unmatched"); len(unmatched) != 1 || c.service != "holdco-staging" {
		t.Errorf("%v of %s", unmatched, c.service)
	}
	for _, span := range c.spans {
		if strings.Contains(span.String(), "secret") {
			t.Errorf("a span reveals too much: %v", span)
		}
	}
}

func TestProbesScrapesAndRequestsThatTheClientDoesNotSampleHaveNoSpan(t *testing.T) {
	t.Parallel()
	c := newCollector(t)
	p, client := traced(t, endpointOf+c.url)
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		response, err := http.Get(p.url + path)
		must(t, err)
		must(t, response.Body.Close())
	}
	unsampled := strings.TrimSuffix(traceparent, "1") + "0"
	send(client, "GET", "/v1/companies", "", "Traceparent", unsampled).Is(t, 200, "")
	p.end(t)
	if documents := c.named("GET /openapi.json"); len(documents) != 1 || len(c.spans) != 1 {
		t.Errorf("%v", c.spans)
	}
}

func TestNothingIsSentUnlessTracesAreWanted(t *testing.T) {
	t.Parallel()
	for _, variable := range []string{endpointOf, "OTEL_TRACES_SAMPLER=always_off", "OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=none"} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			c := newCollector(t)
			p, client := traced(t, endpointOf+c.url, variable)
			client.Get("/v1/companies").Is(t, 200, "")
			p.end(t)
			if len(c.headers) != 0 || strings.Contains(p.log.String(), "traceId") && variable != "OTEL_TRACES_SAMPLER=always_off" {
				t.Errorf("%v was sent, and logged %s", c.spans, p.log.String())
			}
		})
	}
}

func TestACollectorThatIsGoneCostsRequestsNothing(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // takes connections and never answers
	must(t, err)
	t.Cleanup(func() { _ = silent.Close() }) // after the parallel tests below, unlike a defer
	gone, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, gone.Close())
	const minute = 60_000
	for name, c := range map[string]struct {
		address string
		timeout int // of an export, in milliseconds
		reports int // how often the log reports it
	}{
		"gone":            {gone.Addr().String(), 500, 1},
		"silent":          {silent.Addr().String(), 500, 1},
		"silent for long": {silent.Addr().String(), minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, client := traced(t, endpointOf+"http://"+c.address, "OTEL_BSP_SCHEDULE_DELAY=50",
				fmt.Sprint("OTEL_EXPORTER_OTLP_TIMEOUT=", c.timeout), fmt.Sprint("OTEL_BSP_EXPORT_TIMEOUT=", c.timeout))
			reports := func() int { return strings.Count(p.log.String(), "the collector does not take traces") }
			ask := func() {
				t.Helper()
				asked := time.Now()
				client.Get("/v1/companies").Is(t, 200, "")
				if took := time.Since(asked); took > 30*time.Second { // half of what it would wait for the collector
					t.Errorf("a request took %s", took)
				}
			}
			await(t, "a report", func() bool { ask(); return reports() >= c.reports })
			for range 50 {
				ask()
			}
			began := time.Now()
			p.end(t)
			if took := time.Since(began); took > 50*time.Second {
				t.Errorf("the stop took %s", took)
			}
			if got := reports(); got != c.reports {
				t.Errorf("the log reports %d times:\n%s", got, p.log.String())
			}
		})
	}
}

func TestAnEndpointThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	for environ, want := range map[string]bool{
		"OTHER=x": false,
		"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318":                   true,
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://traces.example/v1/traces": true,
	} {
		config, _, err := load(t, nil, "", environ)
		if err != nil || config.Traces != want {
			t.Errorf("%s: %v, %v", environ, config.Traces, err)
		}
	}
	for _, environ := range []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=collector:4318", "OTEL_EXPORTER_OTLP_ENDPOINT=127.0.0.1:4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=grpc://collector:4317", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://",
	} {
		name, _, _ := strings.Cut(environ, "=")
		if _, _, err := load(t, nil, "", environ); err == nil || !strings.Contains(err.Error(), name+" must be the URL of a collector") {
			t.Errorf("%s: %v", environ, err)
		}
	}
}
