package leases_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/precondition"
	"holdco/ports/storetest"
)

type (
	job       = func(ctx context.Context) (more bool, err error)
	costEntry = cost.Entry
)

// drawn are the choices of a property.
type drawn struct{ t *rapid.T }

func (d drawn) pick(what string, n int) int { return rapid.IntRange(0, n-1).Draw(d.t, what) }

func TestWhateverHappensTheBooksAreRight(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		clock, ids := storetest.NewClock(), storetest.NewIDs()
		s, end := onSQLite(t, clock, ids)
		defer func() {
			if err := end(); err != nil {
				t.Error(err)
			}
		}()
		w := must[*world](rt)(newWorld(t.Context(), s, clock, ids))
		w.begin(rt)
		w.alone(rt)
	})
}

// begin gives the companies something to do: an issue with two parts, of which the first blocks the second, another one,
// and one with steps.
func (w *world) begin(t *rapid.T) {
	for _, o := range w.offices {
		whole := must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, issue.Draft{Title: new("Whole")}, idempotency.Request{}))
		first, second := issue.Draft{Title: new("First")}, issue.Draft{Title: new("Second"), Team: new(string(o.teams[1]))}
		first.Parent, second.Parent = new(new(string(whole.ID))), new(new(string(whole.ID)))
		first.Priority, first.RequiresReview = new("urgent"), new(false)
		blocker := must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, first, idempotency.Request{}))
		second.BlockedBy = &[]string{string(blocker.ID)}
		for _, draft := range []issue.Draft{second, {Title: new("Other")}, {Title: new("Flow"), Workflow: new(string(o.flow))}} {
			must[issue.Issue](t)(w.issues.Create(w.ctx, caller, o.id, draft, idempotency.Request{}))
		}
	}
}

// alone lets one action happen after the other, each between two checks.
func (w *world) alone(t *rapid.T) {
	w.foreseen = &foreseen{reporter: t, w: w}
	w.foreseen.begin(w.check(t))
	steps := map[string]func(*rapid.T){"": func(t *rapid.T) {
		w.foreseen.reporter = t
		w.foreseen.check()
	}}
	for n, a := range actions {
		steps[a.name+" "+string(rune('a'+n))] = func(t *rapid.T) {
			err := a.do(w, drawn{t})
			if err != nil && !isRefusal(err) {
				t.Fatalf("%s: %v", a.name, err)
			}
			w.foreseen.err = err
		}
	}
	t.Repeat(steps)
	w.audit(t)
}

// seeded are the choices of a worker among others.
type seeded struct{ *rand.Rand }

func (s seeded) pick(_ string, n int) int { return s.IntN(n) }

func TestWhateverHappensAtOnceTheBooksAreRight(t *testing.T) {
	t.Parallel()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	s, end := onSQLite(t, clock, ids)
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	must[*world](t)(newWorld(t.Context(), s, clock, ids)).together(t)
}

func TestWhateverHappensAtOnceTheBooksAreRightOnPostgres(t *testing.T) {
	t.Parallel()
	clock, ids := storetest.NewClock(), storetest.NewIDs()
	must[*world](t)(newWorld(t.Context(), onPostgres(t, clock, ids), clock, ids)).together(t)
}

// together lets several work at once, and checks now and then, while nobody does.
func (w *world) together(t *testing.T) {
	t.Helper()
	poor := company.Patch{Settings: company.Settings{Budget: &budget.Change{
		USD: new(money.Number("4")), ReservePercent: new(money.Number("25")), Period: new("daily"),
	}}}
	must[company.Company](t)(w.companies.Update(w.ctx, caller, w.offices[1].id, poor, precondition.Any()))
	const workers = 8
	rounds, steps := 3, 40
	if testing.Short() {
		rounds = 1
	}
	for round := range rounds {
		errs := make(chan error, workers)
		for worker := range workers {
			go func() {
				c := seeded{rand.New(rand.NewPCG(uint64(round), uint64(worker)))}
				for range steps {
					a := actions[c.IntN(len(actions))]
					if err := a.do(w, c); err != nil && !isRefusal(err) {
						errs <- fmt.Errorf("%s: %w", a.name, err)
						return
					}
				}
				errs <- nil
			}()
		}
		for range workers {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		w.check(t)
		w.audit(t)
		if t.Failed() {
			return
		}
	}
}
