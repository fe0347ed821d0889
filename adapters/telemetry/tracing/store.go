package tracing

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	api "go.opentelemetry.io/otel/trace"

	"holdco/adapters/store/sqlstore"
)

var _ sqlstore.Observer = (*Tracer)(nil)

// Begin implements sqlstore.Observer. What no traced request does, such as jobs, has no span.
func (t *Tracer) Begin(ctx context.Context, kind sqlstore.Kind) context.Context {
	if !api.SpanFromContext(ctx).IsRecording() {
		return ctx
	}
	ctx, _ = t.spans.Start(ctx, "store "+kind.String())
	return ctx
}

const outcomeKey = attribute.Key("holdco.store.outcome")

// End implements sqlstore.Observer.
func (t *Tracer) End(ctx context.Context, _ sqlstore.Kind, outcome sqlstore.Outcome, _ time.Duration) {
	span := api.SpanFromContext(ctx)
	span.SetAttributes(outcomeKey.String(outcome.String()))
	if outcome == sqlstore.Lost || outcome == sqlstore.Broken {
		span.SetStatus(codes.Error, "")
	}
	span.End()
}
