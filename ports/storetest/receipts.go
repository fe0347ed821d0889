package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/ports/store"
)

var receiptRules = []rule{
	{"a kept answer is found again under its key alone", receiptReadsBack},
	{"a claim goes with its unit", claimGoesWithUnit},
	{"purge removes what is older, so many at most", purge},
	{"a request has its effect once and its answer again", answeredAgain},
	{"another request under the same key is a conflict", anotherRequest},
	{"without a key nothing is kept", withoutKey},
	{"a failure keeps nothing", failureKeepsNothing},
	{"an answer lives as long as it should, by the clock", answerExpires},
	{"two at once under one key have one effect", twoAtOnce},
	{"of companies created at once under one key, one is made and the others are answered as it was", oneCompanyAtOnce},
}

func receiptReadsBack(f *fixture) {
	want := idempotency.Receipt{
		Key:         idempotency.Key{Caller: "tok_some", Value: "key-1"},
		Fingerprint: "fingerprint",
		Company:     "cmp_some",
		Answer:      []byte(`{"data":{"name":"Ärger \\ \"'? $1 {} 🦆"}}`),
		CreatedAt:   f.clock.Now(),
	}
	f.update(keeping(want))
	f.receiptIs(want.Key, &want)
	for _, other := range []idempotency.Key{
		{Caller: "tok_some", Value: "KEY-1"}, {Caller: "tok_some", Value: "key-1 "}, {Caller: "agt_some", Value: "key-1"},
	} {
		f.receiptIs(other, nil)
	}
	unowned := want
	unowned.Key.Value, unowned.Company = "key-2", ""
	f.update(keeping(unowned))
	f.receiptIs(unowned.Key, &unowned)
}

// keeping is the unit that claims a key and keeps an answer under it.
func keeping(receipt idempotency.Receipt) unit {
	return func(ctx context.Context, tx store.Tx) error {
		kept, err := tx.Receipts().Claim(ctx, receipt.Key)
		if err != nil {
			return err
		}
		if kept != nil {
			return fmt.Errorf("%v is taken: %+v", receipt.Key, kept)
		}
		return tx.Receipts().Keep(ctx, receipt)
	}
}

var errGivenUp = errors.New("given up")

// receiptIs compares what is kept under a key with want, and leaves it as it is.
func (f *fixture) receiptIs(key idempotency.Key, want *idempotency.Receipt) {
	f.Helper()
	err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
		kept, err := tx.Receipts().Claim(ctx, key)
		if err != nil {
			return err
		}
		f.same(kept, want)
		return errGivenUp
	})
	if !errors.Is(err, errGivenUp) {
		f.Fatal(err)
	}
}

func claimGoesWithUnit(f *fixture) {
	receipt := idempotency.Receipt{
		Key:         idempotency.Key{Caller: "tok_some", Value: "key"},
		Fingerprint: "fingerprint",
		Answer:      []byte("{}"),
		CreatedAt:   f.clock.Now(),
	}
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := keeping(receipt)(ctx, tx); err != nil {
			return err
		}
		return errGivenUp
	})
	f.receiptIs(receipt.Key, nil)
	f.update(keeping(receipt))
}

func purge(f *fixture) {
	const each = 4
	start := f.clock.Now()
	for i := range 3 * each {
		key := idempotency.Key{Caller: "tok_some", Value: fmt.Sprint(i)}
		at := start.Add(time.Duration(i/each) * time.Millisecond)
		f.update(keeping(idempotency.Receipt{Key: key, Fingerprint: "f", Answer: []byte("{}"), CreatedAt: at}))
	}
	for _, step := range []struct {
		before time.Time
		most   int
		want   int
	}{
		{start, 100, 0},
		{start.Add(time.Millisecond), 3, 3},
		{start.Add(time.Millisecond), 3, 1},
		{start.Add(time.Millisecond), 3, 0},
		{start.Add(2 * time.Millisecond), 100, 4},
		{start.Add(time.Hour), 100, 4},
		{start.Add(time.Hour), 100, 0},
	} {
		var removed int
		f.update(func(ctx context.Context, tx store.Tx) error {
			var err error
			removed, err = tx.Receipts().Purge(ctx, step.before, step.most)
			return err
		})
		f.same(removed, step.want)
	}
	f.receiptIs(idempotency.Key{Caller: "tok_some", Value: "0"}, nil)
}

// asking is a request that carries a key. Its answer is its result as JSON.
func asking(key, fingerprint string) idempotency.Request {
	return idempotency.Request{
		Key:         idempotency.Key{Caller: "tok_some", Value: key},
		Fingerprint: fingerprint,
		Answer:      json.Marshal,
	}
}

// issuingOnce issues a token under the key of a request, and answers with its id.
func (f *fixture) issuingOnce(request idempotency.Request) (id.Token, error) {
	token := f.newToken("read")
	return store.UpdateOnce(f.ctx, f.store, request, "", func(ctx context.Context, tx store.Tx) (id.Token, error) {
		return token.ID, issuing(token)(ctx, tx)
	})
}

// replays fails unless err gives the answer of a token again.
func (f *fixture) replays(err error, want id.Token) {
	f.Helper()
	var replay *idempotency.Replay
	if !errors.As(err, &replay) {
		f.Fatalf("%v is no replay", err)
	}
	var got id.Token
	f.ok(json.Unmarshal(replay.Answer, &got))
	f.same(got, want)
}

func (f *fixture) tokensAre(want int) {
	f.Helper()
	f.same(len(f.allTokens()), want)
}

func (f *fixture) allTokens() []access.Token {
	f.Helper()
	return walk(f, 200, f.tokenPages(200))
}

func answeredAgain(f *fixture) {
	first, err := f.issuingOnce(asking("key", "fingerprint"))
	f.ok(err)
	for range 3 {
		f.clock.Advance(time.Hour)
		_, err := f.issuingOnce(asking("key", "fingerprint"))
		f.replays(err, first)
	}
	f.tokensAre(1)

	otherToken := asking("key", "fingerprint")
	otherToken.Key.Caller = "tok_other"
	for _, other := range []idempotency.Request{otherToken, asking("KEY", "fingerprint"), asking("key ", "fingerprint")} {
		_, err := f.issuingOnce(other)
		f.ok(err)
	}
	f.tokensAre(4)
}

func anotherRequest(f *fixture) {
	first, err := f.issuingOnce(asking("key", "fingerprint"))
	f.ok(err)
	_, err = f.issuingOnce(asking("key", "Fingerprint"))
	f.code(err, fault.IdempotencyConflict)
	_, err = f.issuingOnce(asking("key", "fingerprint"))
	f.replays(err, first)
	f.tokensAre(1)
}

func withoutKey(f *fixture) {
	for range 2 {
		_, err := f.issuingOnce(asking("", "fingerprint"))
		f.ok(err)
	}
	f.tokensAre(2)
}

func failureKeepsNothing(f *fixture) {
	request := asking("key", "fingerprint")
	token := f.newToken("read")
	fails := func(end func() error) func(context.Context, store.Tx) (id.Token, error) {
		return func(ctx context.Context, tx store.Tx) (id.Token, error) {
			if err := issuing(token)(ctx, tx); err != nil {
				return "", err
			}
			return token.ID, end()
		}
	}
	_, err := store.UpdateOnce(f.ctx, f.store, request, "", fails(func() error {
		return fault.New(fault.InvalidTransition, "No such move.")
	}))
	f.code(err, fault.InvalidTransition)

	unanswerable := request
	unanswerable.Answer = func(any) ([]byte, error) { return nil, errGivenUp }
	_, err = store.UpdateOnce(f.ctx, f.store, unanswerable, "", fails(func() error { return nil }))
	if !errors.Is(err, errGivenUp) {
		f.Fatal(err)
	}

	f.panics(func() {
		_, _ = store.UpdateOnce(f.ctx, f.store, request, "", fails(func() error { panic(errGivenUp) }))
	})

	f.tokensAre(0)
	_, err = f.issuingOnce(request)
	f.ok(err)
	f.tokensAre(1)
}

func answerExpires(f *fixture) {
	first, err := f.issuingOnce(asking("key", "fingerprint"))
	f.ok(err)
	f.clock.Advance(idempotency.Lifetime - time.Millisecond)
	_, err = f.issuingOnce(asking("key", "fingerprint"))
	f.replays(err, first)
	f.clock.Advance(time.Millisecond)
	second, err := f.issuingOnce(asking("key", "another"))
	f.ok(err)
	_, err = f.issuingOnce(asking("key", "another"))
	f.replays(err, second)
	f.tokensAre(2)
}

func twoAtOnce(f *fixture) {
	for round := range 4 {
		request := asking(fmt.Sprint(round), "fingerprint")
		const callers = 4
		results := make([]id.Token, callers)
		errs := together(callers, func(i int) error {
			var err error
			results[i], err = f.issuingOnce(request)
			return err
		})
		f.tokensAre(round + 1)
		newest := f.allTokens()[0].ID
		for i, err := range errs {
			if err == nil {
				f.same(results[i], newest)
			} else {
				f.replays(err, newest)
			}
		}
	}
}

// oneCompanyAtOnce would find a store where the effects collide before the keys do: then some get fault.SlugInUse.
func oneCompanyAtOnce(f *fixture) {
	for round := range 4 {
		request := asking(fmt.Sprint(round), "fingerprint")
		made := make([]company.Company, 4)
		for i := range made {
			made[i] = f.newCompany(fmt.Sprintf("acme-%d", round))
		}
		errs := together(len(made), func(i int) error {
			_, err := store.UpdateOnce(f.ctx, f.store, request, made[i].ID, func(ctx context.Context, tx store.Tx) (id.Company, error) {
				return made[i].ID, adding(made[i])(ctx, tx)
			})
			return err
		})
		kept, err := f.store.Companies().BySlug(f.ctx, fmt.Sprintf("acme-%d", round))
		f.ok(err)
		for i, err := range errs {
			if made[i].ID == kept.ID {
				f.ok(err)
				continue
			}
			var replay *idempotency.Replay
			if !errors.As(err, &replay) || string(replay.Answer) != fmt.Sprintf("%q", kept.ID) {
				f.Errorf("%v instead of the answer that has %s", err, kept.ID)
			}
		}
	}
}
