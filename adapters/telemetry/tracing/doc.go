// Package tracing sends traces to an OpenTelemetry collector: a span for each request, and one for each access to the
// store that it makes.
//
// It is made when the standard variables name an endpoint (settings.go), and not at all otherwise. Spans are sent in the
// background in batches, by OTLP over HTTP. A collector that is slow or gone costs nothing but the spans.
package tracing
