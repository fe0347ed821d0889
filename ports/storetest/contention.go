package storetest

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

var contentionRules = []rule{
	{"of sixteen who take one slug at once, one gets it", oneSlug},
	{"of sixteen moves that exclude each other, one is made", oneArchive},
	{"of sixteen changes of one company none is lost", noneLost},
	{"what several units read and write stays true as if they ran one after the other", serializable},
	{"of sixteen who look for an admin and add one, one does", oneAdmin},
	{"a view sees all of a unit or nothing", allOrNothing},
	{"units that take the turn of one company run one after the other, each once", turns},
	{"a unit takes one turn or is on a snapshot, before it locks anything", oneTurn},
	{"of units on a snapshot that change one lease none is lost", oneLease},
	{"units on a snapshot that change a lease each run once", oneLeaseEach},
}

const crowd = 16

func oneSlug(f *fixture) {
	made := make([]company.Company, crowd)
	for i := range made {
		made[i] = f.newCompany("wanted")
	}
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, adding(made[i]))
	}), map[fault.Code]int{"": 1, fault.SlugInUse: crowd - 1})
	f.recorded([]event.Type{event.CompanyCreated})
}

func oneArchive(f *fixture) {
	acme := f.found("acme")
	f.exactly(together(crowd, func(int) error {
		return f.store.Update(f.ctx, moving(acme.ID, archive))
	}), map[fault.Code]int{"": 1, fault.InvalidTransition: crowd - 1})
	f.recorded([]event.Type{event.CompanyArchived, event.CompanyCreated})
}

func noneLost(f *fixture) {
	acme := f.found("acme")
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, moving(acme.ID, rename(fmt.Sprint(i))))
	}), map[fault.Code]int{"": crowd})
	got, err := f.store.Companies().Get(f.ctx, acme.ID)
	f.ok(err)
	f.same(got.Version, acme.Version+crowd)
}

// serializable lets each of many archive a company of their own, unless it is the last but one that is active: a rule over
// rows that no other unit changes.
func serializable(f *fixture) {
	const least = 2
	companies := make([]company.Company, 6)
	for i := range companies {
		companies[i] = f.found(fmt.Sprintf("c-%d", i))
	}
	archived := together(len(companies), func(i int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			active, err := tx.Companies().List(ctx, store.CompanyFilter{Status: company.Active}, page.Position{}, 10)
			if err != nil {
				return err
			}
			if len(active.Items) <= least {
				return fault.New(fault.InvalidTransition, "Too few would be left.")
			}
			return moving(companies[i].ID, archive)(ctx, tx)
		})
	})
	f.exactly(archived, map[fault.Code]int{"": len(companies) - least, fault.InvalidTransition: least})
}

func oneAdmin(f *fixture) {
	tokens := make([]unit, crowd)
	for i := range tokens {
		tokens[i] = issuing(f.newToken("admin"))
	}
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if err := tx.Tokens().LockAll(ctx); err != nil {
				return err
			}
			found, err := tx.Tokens().HasLiveAdmin(ctx, tx.Now())
			if err != nil || found {
				return err
			}
			return tokens[i](ctx, tx)
		})
	}), map[fault.Code]int{"": crowd})
	f.tokensAre(1)
}

// allOrNothing keeps two companies at the same version, in one unit each time.
func allOrNothing(f *fixture) {
	const rounds = 30
	one, two := f.found("one"), f.found("two")
	versions := func(ctx context.Context, r store.Reader) (sum, difference int64) {
		var versions [2]int64
		for i, which := range []id.Company{one.ID, two.ID} {
			c, err := r.Companies().Get(ctx, which)
			if err != nil {
				f.Error(err)
			}
			versions[i] = c.Version
		}
		return versions[0] + versions[1], versions[0] - versions[1]
	}
	errs := together(3, func(i int) error {
		for round := range rounds {
			var err error
			if i == 0 {
				err = f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
					if err := moving(one.ID, rename(fmt.Sprint(round)))(ctx, tx); err != nil {
						return err
					}
					return moving(two.ID, rename(fmt.Sprint(round)))(ctx, tx)
				})
			} else {
				err = f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
					if _, difference := versions(ctx, r); difference != 0 {
						return fmt.Errorf("the versions differ by %d", difference)
					}
					return nil
				})
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	f.exactly(errs, map[fault.Code]int{"": 3})
	sum, _ := versions(f.ctx, f.store)
	f.same(sum, int64(2*(1+rounds)))
}

// turns lets units read what others write, and counts how often each runs: without the turn most would run again.
func turns(f *fixture) {
	acme := f.found("acme")
	const rounds = 5
	var runs atomic.Int64
	f.exactly(together(crowd, func(int) error {
		for range rounds {
			if err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
				runs.Add(1)
				if err := tx.Turn(ctx, acme.ID); err != nil {
					return err
				}
				teams, err := tx.Teams().OfCompany(ctx, acme.ID, 1000)
				if err != nil {
					return err
				}
				return moving(acme.ID, func(c company.Company, _ time.Time) (company.Company, event.Event, error) {
					if c.TeamCount != len(teams) {
						f.Errorf("the company counts %d teams, and has %d", c.TeamCount, len(teams))
					}
					made, _ := f.newTeams(acme.ID, 0)
					next := c.Counting(1, 0)
					return next, founded(next), tx.Teams().Add(ctx, made[0])
				})(ctx, tx)
			}); err != nil {
				return err
			}
		}
		return nil
	}), map[fault.Code]int{"": crowd})
	if got := runs.Load(); got != crowd*rounds {
		f.Errorf("%d units ran %d times", crowd*rounds, got)
	}
}

func oneTurn(f *fixture) {
	acme := f.found("acme")
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := tx.Turn(ctx, acme.ID); err != nil {
			return err
		}
		return tx.Turn(ctx, acme.ID)
	})
	for _, before := range []unit{
		func(ctx context.Context, tx store.Tx) error { _, err := tx.StoreNow(ctx); return err },
		func(ctx context.Context, tx store.Tx) error { _, err := tx.Companies().Lock(ctx, acme.ID); return err },
		func(ctx context.Context, tx store.Tx) error { _, err := tx.Companies().Get(ctx, acme.ID); return err },
		func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Teams().OfCompany(ctx, acme.ID, 1000)
			return err
		},
	} {
		f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
			if err := before(ctx, tx); err != nil {
				return err
			}
			return tx.Turn(ctx, acme.ID)
		})
	}
	for _, first := range []unit{
		func(ctx context.Context, tx store.Tx) error { return tx.Turn(ctx, acme.ID) },
		func(ctx context.Context, tx store.Tx) error { return tx.OnSnapshot(ctx) },
		func(ctx context.Context, tx store.Tx) error { _, err := tx.StoreNow(ctx); return err },
	} {
		f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
			if err := first(ctx, tx); err != nil {
				return err
			}
			return tx.OnSnapshot(ctx)
		})
	}
	for range 100 { // whatever their ids are
		f.update(func(ctx context.Context, tx store.Tx) error {
			if err := tx.Turn(ctx, id.New[id.Company](f.ids.UUIDv7())); err != nil {
				return err
			}
			_, err := tx.Companies().Get(ctx, acme.ID)
			return err
		})
	}
}

// filedOne counts an issue that was filed under a lease.
func filedOne(which id.Lease) unit {
	return func(ctx context.Context, tx store.Tx) error {
		if err := tx.OnSnapshot(ctx); err != nil {
			return err
		}
		found, err := tx.Runs().LockForCall(ctx, which, "")
		if err != nil {
			return err
		}
		tx.Unrecorded()
		found.Run.Filed++
		return tx.Runs().Save(ctx, found.Run)
	}
}

func oneLease(f *fixture) {
	_, _, r := f.employs(f.found("acme").ID)
	f.exactly(together(crowd, func(int) error {
		return f.store.Update(f.ctx, filedOne(r.Lease.ID))
	}), map[fault.Code]int{"": crowd})
	r.Filed += crowd
	anyRun.is(f, r)
}

// oneLeaseEach counts how often each unit runs: serializable ones would run again, because the rows of all are near each other.
func oneLeaseEach(f *fixture) {
	acme := f.found("acme")
	leases := make([]id.Lease, crowd)
	for n := range leases {
		_, _, r := f.employs(acme.ID)
		leases[n] = r.Lease.ID
	}
	const rounds = 5
	var runs atomic.Int64
	f.exactly(together(crowd, func(n int) error {
		for range rounds {
			if err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
				runs.Add(1)
				return filedOne(leases[n])(ctx, tx)
			}); err != nil {
				return err
			}
		}
		return nil
	}), map[fault.Code]int{"": crowd})
	if got := runs.Load(); got != crowd*rounds {
		f.Errorf("%d units ran %d times", crowd*rounds, got)
	}
}
