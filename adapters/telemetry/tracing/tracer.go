package tracing

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	api "go.opentelemetry.io/otel/trace"
)

// Tracer makes spans. It is safe for use by many goroutines.
type Tracer struct {
	provider *trace.TracerProvider
	spans    api.Tracer
}

// Open makes a tracer as the variables of the environment say: where to send, the name of the service (holdco), which
// traces are kept. The collector need not be there.
func Open(ctx context.Context, version string, log *slog.Logger) (*Tracer, error) {
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("the variables OTEL_EXPORTER_OTLP_* are not all right: %w", err)
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("holdco"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv(), // goes before what stands above
	)
	if err != nil {
		return nil, fmt.Errorf("the variable OTEL_RESOURCE_ATTRIBUTES is not all right: %w", err)
	}
	provider := trace.NewTracerProvider(trace.WithResource(described),
		trace.WithBatcher(&loggingExporter{SpanExporter: exporter, log: log}))
	return &Tracer{provider: provider, spans: provider.Tracer("holdco")}, nil
}

// farewell bounds how long Close waits for a collector to take the last spans.
const farewell = 5 * time.Second

// Close sends the spans that are left, if the collector takes them soon.
func (t *Tracer) Close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	return t.provider.Shutdown(ctx)
}

// loggingExporter logs the first of several failures in a row. It returns none: the SDK would pass each to a
// global handler, which prints to standard error.
type loggingExporter struct {
	trace.SpanExporter
	log  *slog.Logger
	lost atomic.Bool
}

// ExportSpans implements trace.SpanExporter.
func (s *loggingExporter) ExportSpans(ctx context.Context, spans []trace.ReadOnlySpan) error {
	err := s.SpanExporter.ExportSpans(ctx, spans)
	switch {
	case err != nil && !errors.Is(err, context.Canceled) && s.lost.CompareAndSwap(false, true):
		s.log.WarnContext(ctx, "the collector does not take traces; until it does, they are lost", "error", err.Error())
	case err == nil && s.lost.CompareAndSwap(true, false):
		s.log.InfoContext(ctx, "the collector takes traces again")
	}
	return nil
}
