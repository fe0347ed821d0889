package tracing

import (
	"context"
	"log/slog"

	api "go.opentelemetry.io/otel/trace"
)

// Log returns a log whose lines say to which trace they belong.
func (t *Tracer) Log(log *slog.Logger) *slog.Logger { return slog.New(traced{log.Handler()}) }

type traced struct{ slog.Handler }

// Handle implements slog.Handler.
func (t traced) Handle(ctx context.Context, line slog.Record) error {
	if span := api.SpanContextFromContext(ctx); span.HasTraceID() {
		line.AddAttrs(slog.String("traceId", span.TraceID().String()))
	}
	return t.Handler.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (t traced) WithAttrs(attrs []slog.Attr) slog.Handler { return traced{t.Handler.WithAttrs(attrs)} }

// WithGroup implements slog.Handler.
func (t traced) WithGroup(name string) slog.Handler { return traced{t.Handler.WithGroup(name)} }
