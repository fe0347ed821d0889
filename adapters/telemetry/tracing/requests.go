package tracing

import (
	"context"
	"net/http"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	api "go.opentelemetry.io/otel/trace"

	"holdco/adapters/http/httpkit"
)

// Requests gives each request a span, which continues the client's trace if the request names one. Those to the paths
// in except have none.
func (t *Tracer) Requests(handler http.Handler, except ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(except, r.URL.Path) {
			handler.ServeHTTP(w, r)
			return
		}
		ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.spans.Start(ctx, unmatched, api.WithSpanKind(api.SpanKindServer))
		defer span.End()
		handler.ServeHTTP(w, r.WithContext(ctx))
	})
}

// unmatched is the name of the spans of requests that have no route. A path or a method would be a name that clients choose.
const unmatched = "unmatched"

const requestID = attribute.Key("holdco.request.id")

// Answered completes the span of a request. Like the log it reports the route, never the path, a query or a body.
func (t *Tracer) Answered(ctx context.Context, e httpkit.Exchange) {
	span := api.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetAttributes(semconv.HTTPRequestMethodKey.String(e.Method), semconv.HTTPResponseStatusCode(e.Status), requestID.String(e.ID))
	if e.Route != "" {
		span.SetName(e.Method + " " + e.Route)
		span.SetAttributes(semconv.HTTPRoute(e.Route))
	}
	if e.Status >= httpkit.Failed {
		span.SetStatus(codes.Error, "")
	}
}
