// Package doctor checks a store, and repairs what can be derived anew.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/doctor"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Doctor.
type Service struct {
	store store.Store
	clock outbound.Clock
}

var _ inbound.Doctor = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, clock outbound.Clock) *Service { return &Service{store: s, clock: clock} }

// check is a name, and a function that looks at the store and adds to the result what it finds. If it is asked to, it repairs that.
type check struct {
	name string
	look func(ctx context.Context, e *examination) error
}

// checks are all that there are, in the order in which they run.
var checks = []check{
	{"budgets", ofCompanies(store.AuditReader.Budgets)},
	{"issues", ofCompanies(store.AuditReader.Issues)},
}

// examination is one run of one check.
type examination struct {
	store  store.Store
	actor  event.Actor
	fixes  bool
	result doctor.Result
}

// Examine runs checks.
func (s *Service) Examine(ctx context.Context, caller access.Caller, wanted inbound.Examination) (doctor.Report, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return doctor.Report{}, err
	}
	chosen, err := choose(wanted.Only)
	if err != nil {
		return doctor.Report{}, err
	}
	report := doctor.Report{At: s.clock.Now()}
	for _, one := range chosen {
		result, err := s.run(ctx, one, caller.Actor, wanted)
		if err != nil {
			return doctor.Report{}, err
		}
		report.Checks = append(report.Checks, result)
	}
	return report, nil
}

func choose(only []string) ([]check, error) {
	if only == nil {
		return checks, nil
	}
	names := make([]string, len(checks))
	for n, one := range checks {
		names[n] = one.name
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return nil, fault.Validation(fault.Problems{fault.Fieldf("only", fault.UnknownValue,
				"only must be names of checks: %s", strings.Join(names, ", "))})
		}
	}
	return slices.DeleteFunc(slices.Clone(checks), func(one check) bool { return !slices.Contains(only, one.name) }), nil
}

// run runs one check until its timeout. It fails only when ctx ends.
func (s *Service) run(ctx context.Context, one check, actor event.Actor, wanted inbound.Examination) (doctor.Result, error) {
	limited, cancel := context.WithTimeout(ctx, wanted.Timeout)
	defer cancel()
	began := s.clock.Now()
	e := &examination{store: s.store, actor: actor, fixes: wanted.Fix, result: doctor.Result{Name: one.name}}
	err := one.look(limited, e)
	e.result.Took = s.clock.Now().Sub(began)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return e.result, ctx.Err()
	case limited.Err() != nil:
		e.result.Broken = fmt.Sprintf("not all was checked in %s; give it longer with --timeout", wanted.Timeout)
	case fault.CodeOf(err) == fault.Unavailable:
		e.result.Broken = fmt.Sprintf("not all was checked: %v", cmp.Or(errors.Unwrap(err), err))
	default: // a row that cannot be read, say: the other checks may say more
		e.result.Failure = fmt.Sprintf("the check failed: %v", err)
	}
	return e.result, nil
}

// audit compares what is kept of a company.
type audit func(r store.AuditReader, ctx context.Context, of id.Company, differs func(store.Difference)) error

// ofCompanies is a check that audits one company after the other.
func ofCompanies(by audit) func(ctx context.Context, e *examination) error {
	return func(ctx context.Context, e *examination) error {
		for after := (page.Position{}); ; {
			found, err := e.store.Companies().List(ctx, store.CompanyFilter{}, after, page.MaxSize)
			if err != nil {
				return err
			}
			for _, one := range found.Items {
				if err := e.company(ctx, by, one.ID); err != nil {
					return err
				}
			}
			if after = found.Next; after.IsStart() {
				return nil
			}
		}
	}
}

// mostRounds bounds how often a company is looked at again, because others change it too or because there is much to repair.
const mostRounds = 20

// company audits one company, and repairs what it finds. What the last look finds is what is wrong.
func (e *examination) company(ctx context.Context, by audit, which id.Company) error {
	var first seen
	repaired := 0
	for round := 1; ; round++ {
		last, err := e.look(ctx, by, which)
		if err != nil || !last.isThere {
			return err
		}
		if round == 1 {
			first = last
		}
		hasHelped := repaired == 0 || last.count < first.count // else it would be repaired for ever
		if !e.fixes || len(last.fixable) == 0 || round == mostRounds || !hasHelped {
			e.conclude(first, last, repaired)
			return nil
		}
		some, err := e.repair(ctx, last)
		if err != nil {
			return err
		}
		repaired += some
	}
}

// conclude adds what was found in a company, by the first look and by the last, between which so much was repaired.
func (e *examination) conclude(first, last seen, repaired int) {
	fixed := max(0, min(repaired, first.count-last.count))
	e.result.Looked++
	e.result.Count += last.count + fixed
	e.result.Fixed += fixed
	e.result.Fixable += last.count - last.unfixable
	shown := first.examples
	if last.count > 0 { // what is left says more
		shown = last.examples
	}
	left := doctor.MostExamples - len(e.result.Examples)
	e.result.Examples = append(e.result.Examples, shown[:min(left, len(shown))]...)
}

// seen is what an audit has found in a company.
type seen struct {
	company   company.Company
	isThere   bool
	count     int                // differences
	unfixable int                // of these
	fixable   []store.Difference // mostFixed at most
	examples  []doctor.Finding
}

// mostFixed bounds how many differences are kept to be repaired after one look.
const mostFixed = 10_000

// look audits a company on one snapshot. One that is being deleted is not there.
func (e *examination) look(ctx context.Context, by audit, which id.Company) (found seen, err error) {
	err = e.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found = seen{}
		c, err := r.Companies().Get(ctx, which)
		exists, err := store.Exists(err)
		if err != nil || !exists || c.Status == company.Deleting {
			return err
		}
		found.company, found.isThere = c, true
		return by(r.Audits(), ctx, which, found.add)
	})
	return found, err
}

func (s *seen) add(one store.Difference) {
	s.count++
	switch {
	case one.Mend == nil:
		s.unfixable++
	case len(s.fixable) < mostFixed:
		s.fixable = append(s.fixable, one)
	}
	if len(s.examples) < doctor.MostExamples {
		s.examples = append(s.examples, doctor.Finding{
			Company: s.company.ID, Rule: one.Rule, About: one.About, Where: one.Where, Kept: one.Kept, Should: one.Should,
		})
	}
}

// repair repairs what a look has found, store.Portion in each unit, so that none takes long, and returns how much. It ends early when
// the company has changed: then another may have repaired the same.
func (e *examination) repair(ctx context.Context, found seen) (repaired int, err error) {
	version := found.company.Version
	for some := range slices.Chunk(found.fixable, store.Portion) {
		var isDone bool
		err := e.store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			if err := tx.Turn(ctx, found.company.ID); err != nil {
				return err
			}
			if isDone, err = tx.Audits().Mend(ctx, found.company.ID, version, some); err != nil || !isDone {
				return err
			}
			happened := doctor.Repaired(found.company.ID, e.result.Name, len(some), rulesOf(some))
			return tx.Record(ctx, happened.By(e.actor))
		})
		if err != nil || !isDone {
			return repaired, err
		}
		repaired += len(some)
		version++
	}
	return repaired, nil
}

// rulesOf are the rules of differences, each once.
func rulesOf(some []store.Difference) []string {
	var rules []string
	for _, one := range some {
		rules = append(rules, one.Rule)
	}
	slices.Sort(rules)
	return slices.Compact(rules)
}
