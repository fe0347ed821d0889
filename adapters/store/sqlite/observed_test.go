package sqlite_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"holdco/adapters/store/sqlstore"
	"holdco/domain/fault"
	"holdco/ports/store"
)

// diary is an observer that records all accesses.
type diary struct{ entries []string }

type mark struct{}

// Begin implements sqlstore.Observer.
func (d *diary) Begin(ctx context.Context, kind sqlstore.Kind) context.Context {
	return context.WithValue(ctx, mark{}, kind)
}

// End implements sqlstore.Observer.
func (d *diary) End(ctx context.Context, kind sqlstore.Kind, outcome sqlstore.Outcome, took time.Duration) {
	if ctx.Value(mark{}) != kind || took <= 0 {
		d.entries = append(d.entries, "not what began")
	}
	d.entries = append(d.entries, fmt.Sprint(kind, " ", outcome))
}

func TestEveryAccessIsObservedOnceWithItsOutcome(t *testing.T) {
	t.Parallel()
	kept := migrated(t)
	read := func(ctx context.Context, r store.Reader) error {
		_, err := r.Companies().BySlug(ctx, "acme")
		return err
	}
	ended, end := context.WithCancel(t.Context())
	end()
	for want, access := range map[string]func(s store.Store) error{
		"read refused":  func(s store.Store) error { return read(t.Context(), s) },
		"read canceled": func(s store.Store) error { return read(ended, s) },
		"view refused":  func(s store.Store) error { return s.View(t.Context(), read) },
		"view ok": func(s store.Store) error {
			return s.View(t.Context(), func(context.Context, store.Reader) error { return nil })
		},
		"update refused": func(s store.Store) error {
			return s.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
				_, err := tx.Companies().BySlug(ctx, "acme")
				return err
			})
		},
		"update canceled": func(s store.Store) error {
			return s.Update(ended, func(context.Context, store.Tx) error { return nil })
		},
		"update unavailable": func(s store.Store) error {
			return s.Update(t.Context(), func(context.Context, store.Tx) error { return fault.New(fault.Unavailable, "Not now.") })
		},
		"update defect": func(s store.Store) error {
			return s.Update(t.Context(), func(context.Context, store.Tx) error { panic("broken") })
		},
	} {
		seen := &diary{}
		func() {
			defer func() { _ = recover() }()
			if err := access(kept.Observed(seen)); (err == nil) != strings.HasSuffix(want, " ok") {
				t.Errorf("%s: %v", want, err)
			}
		}()
		if got := strings.Join(seen.entries, ", "); got != want {
			t.Errorf("observed %s, want %s", got, want)
		}
	}
}
