package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/idempotency"
)

// Receipts keeps the answers of requests with an idempotency key. Its writes need no event.
type Receipts interface {
	// Claim takes a key for this unit and returns nil, or returns the receipt that is kept under it. Of concurrent units
	// that claim a key, one continues and the others wait until it ends. An expired receipt is ignored.
	Claim(ctx context.Context, key idempotency.Key) (*idempotency.Receipt, error)

	// Keep stores the answer under the key that this unit has claimed. Without it, a claim has no effect.
	Keep(ctx context.Context, receipt idempotency.Receipt) error

	// Purge removes at most most receipts from before the given instant, and returns how many it removed.
	Purge(ctx context.Context, before time.Time, most int) (int, error)
}

// UpdateOnce is Update for a unit whose result may be kept under the client's idempotency key: it commits the answer
// with the effect. If the request was answered before, the error is an *idempotency.Replay. The company is the one
// whose data the answer contains; empty: none.
func UpdateOnce[T any](
	ctx context.Context, s Store, request idempotency.Request, company id.Company,
	write func(ctx context.Context, tx Tx) (T, error),
) (T, error) {
	return Do(ctx, s, Request{Once: request, Company: company}, write)
}

// Do is UpdateOnce for a request, which says how the unit begins. Actor and Match are up to write.
func Do[T any](ctx context.Context, s Store, request Request, write func(ctx context.Context, tx Tx) (T, error)) (T, error) {
	var result T
	runs := 0
	err := s.Update(ctx, func(ctx context.Context, tx Tx) (err error) {
		switch runs++; {
		case request.Begins == OnSnapshot:
			err = tx.OnSnapshot(ctx)
		case request.Begins == InTurn, runs > 1 && request.Company != "":
			// A unit that is retried had a conflict. With the turn of the company it has none with those who write to what
			// belongs to it.
			err = tx.Turn(ctx, request.Company)
		}
		if err != nil {
			return err
		}
		result, err = once(ctx, tx, request.Once, request.Company, write)
		return err
	})
	return result, err
}

// once runs a write in a unit, unless the request was answered before, and keeps its answer.
func once[T any](
	ctx context.Context, tx Tx, request idempotency.Request, company id.Company,
	write func(ctx context.Context, tx Tx) (T, error),
) (result T, err error) {
	if request.Key.Value == "" {
		return write(ctx, tx)
	}
	kept, err := tx.Receipts().Claim(ctx, request.Key)
	if err != nil {
		return result, err
	}
	if kept != nil {
		return result, kept.Replay(request)
	}
	if result, err = write(ctx, tx); err != nil {
		return result, err
	}
	answer, err := request.Answer(result)
	if err != nil {
		return result, err
	}
	return result, tx.Receipts().Keep(ctx, idempotency.Receipt{
		Key:         request.Key,
		Fingerprint: request.Fingerprint,
		Company:     company,
		Answer:      answer,
		CreatedAt:   tx.Now(),
	})
}
