// Package doctor checks a store, and repairs what can be derived anew.
package doctor

import (
	"cmp"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/company"
	"holdco/domain/doctor"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/retention"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Doctor.
type Service struct{ Patient }

var _ inbound.Doctor = (*Service)(nil)

// New returns the use cases.
func New(of Patient) *Service { return &Service{of} }

// Patient is what is checked. Of one whose settings are wrong, or whose store cannot be opened, that is all that there is.
type Patient struct {
	Settings Settings
	Closed   error // why the store cannot be opened; nil: it is open

	Clock      outbound.Clock
	Disk       outbound.Disk
	Workspaces outbound.WorkspaceMender
	Vault      outbound.Vault
	Keys       outbound.KeyFiles
	Store      store.Store
	Inspector  store.Inspector
	Migrator   outbound.Migrator
	Chains     Chains
	Backups    Backups
	Retention  Retention // nil: nothing is too old
}

// Settings are what is wrong with the settings.
type Settings struct {
	Wrong   []string // values that are not allowed, and keys of the file that are none
	Unknown []string // variables that are none
	DataDir string   // where everything is that is not in the store

	BackupDir   string // where scheduled backups are; empty: none are made
	BackupEvery time.Duration

	Keep retention.Settings // for how long is kept what grows
}

// Retention removes what is old enough, as inbound.Retention does.
type Retention interface {
	Prune(ctx context.Context, caller access.Caller, wanted inbound.Pruning) ([]retention.Result, error)
}

// Backups checks a scheduled backup that began at an instant, as backups.Service does.
type Backups interface {
	Check(ctx context.Context, folder string, begun time.Time, isFull bool) error
}

// Chains verifies the chains of the activity log, as inbound.Activity does.
type Chains interface {
	Verify(ctx context.Context, caller access.Caller, of id.Company, keys []ed25519.PublicKey, known ...audit.Link) (audit.Verified, error)
}

// stage is how far a patient has come. Each needs those before.
type stage int

const (
	none     stage = iota
	settled        // its settings are right
	opened         // its store is open
	migrated       // the schema is that of this program
)

// check is what an operator is told of it, what it needs, and a function that looks at the patient and adds to the result what it finds. If
// it is asked to, it repairs that.
type check struct {
	doctor.Check
	needs stage
	finds stage // what it finds missing, with all that needs it; none: nothing
	look  func(ctx context.Context, e *examination) error
}

// checks are all that there are, in the order in which they run.
var checks = []check{
	{doctor.Check{
		Name:     "config",
		Compares: "every setting has a value that is allowed; no variable or key is unknown",
		Finds:    "error; warning",
	}, none, settled, settings},
	{doctor.Check{
		Name: "store.open",
		Compares: "the store opens; its encoding, its log and the version of its server are what is needed, and its server keeps " +
			"what it commits",
		Finds: "error; warning",
	}, settled, opened, open},
	{doctor.Check{
		Name: "store.schema",
		Compares: "the version of the schema is that of the program; every table, column, index and constraint is as in a new " +
			"store; others are passed over",
		Finds: "error",
	}, opened, migrated, schema},
	{doctor.Check{
		Name: "store.integrity",
		Compares: "nothing is damaged, by the checks of SQLite, or by what PostgreSQL knows of its constraints and indexes, and its" +
			" extension `amcheck` if that is installed",
		Finds: "error", Fixes: "makes indexes anew",
	}, opened, none, integrity},
	{doctor.Check{
		Name:     "key",
		Compares: "the key file is that of the store; with it every sealed value opens; others cannot read it",
		Finds:    "error", Fixes: "takes it from others",
	}, migrated, none, key},
	{doctor.Check{
		Name: "activity",
		Compares: "what was made has the entry that tells of it, but for entries that a signed stub stands for; places ascend in the " +
			"order of the chains; nothing is later than now; with `--full`, the chains verify",
		Finds: "error",
	}, migrated, none, activity},
	{doctor.Check{
		Name: "outbox",
		Compares: "no event is missing that a webhook has still to look at, and no position was given that is beyond the length; " +
			"deliveries have endpoints; no lease of a queue has lapsed for longer than 5 minutes",
		Finds: "error", Fixes: "derives the length anew; ends such leases",
	}, migrated, none, ofAll(func(ctx context.Context, e *examination, r store.Reader, differs func(store.Difference)) error {
		e.result.Seen = "nothing is missing"
		return r.Checks().Outbox(ctx, e.Clock.Now(), differs)
	})},
	{doctor.Check{
		Name: "companies",
		Compares: "states agree with dates; no removal takes longer than an hour; counts of teams, agents and slots agree with " +
			"these",
		Finds: "error; warning", Fixes: "counts anew",
	}, migrated, none, both(
		ofAll(func(ctx context.Context, e *examination, r store.Reader, differs func(store.Difference)) error {
			return r.Checks().Companies(ctx, e.Clock.Now(), differs)
		}),
		ofCompanies(store.CheckReader.Staff),
	)},
	{doctor.Check{
		Name: "budgets",
		Compares: "sums of costs by hour, day, month and of all time, and what accounts, agents, issues and runs have spent, agree " +
			"with the cost entries; what accounts hold with open runs; limits in accounts with those that were set",
		Finds: "error", Fixes: "derives them anew, but for what runs have spent",
	}, migrated, none, ofCompanies(store.CheckReader.Budgets)},
	{doctor.Check{
		Name: "issues",
		Compares: "states and fencing tokens agree with runs, and states of issues with steps with these; parents and blockers do " +
			"not go around; counts, labels, open blockers and the order of claims agree with the issues, and by what runs without " +
			"costs are found with the runs",
		Finds: "error", Fixes: "derives what is counted and ordered anew",
	}, migrated, none, ofCompanies(store.CheckReader.Issues)},
	{doctor.Check{
		Name:     "leads",
		Compares: "each lead has its entry, with the content that its digest is of: of 10,000 leads, or of all with `--full`",
		Finds:    "error", Fixes: "encodes entries anew whose content is right",
	}, migrated, none, leads},
	{doctor.Check{
		Name:     "workspaces",
		Compares: "each company has its directory in the data directory, and no directory is without its company",
		Finds:    "warning", Fixes: "makes them; moves what belongs to no company to `workspaces/.stray`",
	}, migrated, none, workspaces},
	{doctor.Check{
		Name:     "tokens",
		Compares: "a token with the scope `admin` is live; none was unused for 180 days",
		Finds:    "warning; note",
	}, migrated, none, tokens},
	{doctor.Check{
		Name: "disk",
		Compares: "there is room for a backup where it goes, twice the store and a tenth, and for a copy beside the store, once that and" +
			" a tenth (an error: less than 200 MiB); the log of SQLite is below 1 GiB; less than half of its pages are free, and it gives" +
			" them back",
		Finds: "error; warning; note",
		Fixes: "empties the log; with `--only disk`, and without a server, lets an old store give free pages back",
	}, opened, none, disk},
	{doctor.Check{
		Name: "backup",
		Compares: "a scheduled backup has succeeded within twice `HOLDCO_BACKUP_EVERY`, and its file opens; with `--full`, all of it " +
			"can be read",
		Finds: "warning",
	}, migrated, none, backups},
	{doctor.Check{
		Name:     "replicas",
		Compares: "all servers that run on the store are of one version; it says since when each runs",
		Finds:    "warning",
	}, migrated, none, replicas},
	{doctor.Check{
		Name: "growth",
		Compares: "nothing is there that is older than twice the time for which it is kept, nor a schema of PostgreSQL that a killed " +
			"restoration has left; else it says how many rows and bytes the tables have, the largest first",
		Finds: "warning; note", Fixes: "removes what is old enough, as `holdco prune` does, and such schemas",
	}, opened, none, growth},
	{doctor.Check{
		Name: "clock",
		Compares: "the clocks of the store and of this machine differ by less than 5 seconds, and the newest entry of the activity " +
			"log is no later",
		Finds: "error",
	}, migrated, none, clock},
}

// Checks are what an operator is told of all checks.
func Checks() []doctor.Check {
	all := make([]doctor.Check, len(checks))
	for n, one := range checks {
		all[n] = one.Check
	}
	return all
}

// beside are the checks of what is not in the store.
var beside = []string{"config", "key", "workspaces", "disk", "backup", "replicas"}

// OfStore are the names of the checks of a store alone, as of one that was restored and has no place yet.
func OfStore() []string {
	var names []string
	for _, one := range checks {
		if !slices.Contains(beside, one.Name) {
			names = append(names, one.Name)
		}
	}
	return names
}

// examination is one run of one check.
type examination struct {
	Patient
	caller access.Caller
	wanted inbound.Examination
	result doctor.Result
}

// Examine runs checks. What keeps a check from running is said by the check whose matter that is, also if that was not asked for.
func (s *Service) Examine(ctx context.Context, caller access.Caller, wanted inbound.Examination) (doctor.Report, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return doctor.Report{}, err
	}
	if err := known(wanted.Only); err != nil {
		return doctor.Report{}, err
	}
	report := doctor.Report{At: s.Clock.Now()}
	reached := s.reached(ctx)
	for _, one := range checks {
		isBlocking := one.finds == reached+1
		if wanted.Only != nil && !slices.Contains(wanted.Only, one.Name) && !isBlocking {
			continue
		}
		if one.needs > reached {
			report.Checks = append(report.Checks, doctor.Result{Name: one.Name, Broken: "not checked, because of what is said above"})
			continue
		}
		result, err := s.run(ctx, one, caller, wanted)
		if err != nil {
			return doctor.Report{}, err
		}
		report.Checks = append(report.Checks, result)
	}
	return report, nil
}

// known fails if there is no check of a name.
func known(only []string) error {
	names := make([]string, len(checks))
	for n, one := range checks {
		names[n] = one.Name
	}
	for _, name := range only {
		if !slices.Contains(names, name) {
			return fault.Validation(fault.Problems{fault.Fieldf("only", fault.UnknownValue,
				"only must be names of checks: %s", strings.Join(names, ", "))})
		}
	}
	return nil
}

// reached is the last stage that the patient has reached.
func (s *Service) reached(ctx context.Context) stage {
	switch {
	case len(s.Settings.Wrong) > 0:
		return none
	case s.Closed != nil:
		return settled
	case s.outdated(ctx) != nil:
		return opened
	}
	return migrated
}

// outdated says why the schema is not that of this program.
func (p Patient) outdated(ctx context.Context) error {
	schema, err := p.Migrator.Status(ctx)
	if err != nil {
		return err
	}
	if pending := schema.Pending(); len(pending) > 0 {
		return fmt.Errorf("the schema lacks the migration %s; run: holdco migrate up", pending[0].Name)
	}
	if schema.Unsettled {
		return errors.New("the store was restored, and is not ready for work yet; run: holdco migrate up")
	}
	return nil
}

// run runs one check until its timeout. It fails only when ctx ends.
func (s *Service) run(ctx context.Context, one check, caller access.Caller, wanted inbound.Examination) (doctor.Result, error) {
	limited, cancel := context.WithTimeout(ctx, wanted.Timeout)
	defer cancel()
	began := s.Clock.Now()
	e := &examination{Patient: s.Patient, caller: caller, wanted: wanted, result: doctor.Result{Name: one.Name}}
	err := one.look(limited, e)
	e.result.Took = s.Clock.Now().Sub(began)
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

// both runs one part of a check after the other.
func both(first, second func(ctx context.Context, e *examination) error) func(ctx context.Context, e *examination) error {
	return func(ctx context.Context, e *examination) error {
		if err := first(ctx, e); err != nil {
			return err
		}
		return second(ctx, e)
	}
}

// found is what a check has found.
type found struct {
	doctor.Found
	fixable []store.Difference // mostFixed at most
}

func (f *found) add(of id.Company, one store.Difference) {
	shown := doctor.Finding{
		Company: of, Rule: one.Rule, About: one.About, Where: one.Where, Kept: one.Kept, Should: one.Should, Text: one.Text,
	}
	if one.IsMild {
		shown.Severity = doctor.Warning
	}
	f.Add(shown, one.Mend != nil)
	if one.Mend != nil && len(f.fixable) < mostFixed {
		f.fixable = append(f.fixable, one)
	}
}

// mostRounds bounds how often something is looked at again, because others change it too or because there is much to repair.
const mostRounds = 20

// rounds looks, repairs what is found if that is asked for, and looks again. What the last look finds is what is wrong.
func (e *examination) rounds(
	look func() (last found, isThere bool, err error), repair func(last found) (repaired int, err error),
) error {
	var first found
	repaired := 0
	for round := 1; ; round++ {
		last, isThere, err := look()
		if err != nil || !isThere {
			return err
		}
		if round == 1 {
			first = last
		}
		hasHelped := repaired == 0 || last.Count < first.Count // else it would be repaired for ever
		if !e.wanted.Fix || len(last.fixable) == 0 || round == mostRounds || !hasHelped {
			e.result.Conclude(first.Found, last.Found, repaired)
			return nil
		}
		some, err := repair(last)
		if err != nil {
			return err
		}
		repaired += some
	}
}

// mostFixed bounds how many differences are kept to be repaired after one look.
const mostFixed = 10_000

// ofAll is a check that compares everything on one snapshot, and mends what it finds, store.Portion in each unit.
func ofAll(
	by func(ctx context.Context, e *examination, r store.Reader, differs func(store.Difference)) error,
) func(ctx context.Context, e *examination) error {
	return func(ctx context.Context, e *examination) error {
		return e.whole(ctx, func(last *found) error {
			return e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
				*last = found{}
				return by(ctx, e, r, func(one store.Difference) { last.add("", one) })
			})
		})
	}
}

// whole compares what belongs to no company.
func (e *examination) whole(ctx context.Context, look func(last *found) error) error {
	return e.rounds(
		func() (last found, isThere bool, err error) {
			err = look(&last)
			return last, true, err
		},
		func(last found) (repaired int, err error) {
			for some := range slices.Chunk(last.fixable, store.Portion) {
				err := e.Store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
					if err := tx.Checks().MendAny(ctx, some); err != nil {
						return err
					}
					return e.record(ctx, tx, "", len(some), rulesOf(some))
				})
				if err != nil {
					return repaired, err
				}
				repaired += len(some)
			}
			return repaired, nil
		},
	)
}

// record records a repair.
func (e *examination) record(ctx context.Context, tx store.Tx, of id.Company, count int, rules []string) error {
	return tx.Record(ctx, doctor.Repaired(of, e.result.Name, count, rules).By(e.caller.Actor))
}

// beside is a check of what is not in the store: what a look finds, and how all of it is mended that can be.
func (e *examination) beside(
	ctx context.Context, look func() ([]doctor.Finding, error), mend func(doctor.Finding) error, rules ...string,
) error {
	isFixable := func(one doctor.Finding) bool { return slices.Contains(rules, one.Rule) }
	seen := func() (all doctor.Found, some []doctor.Finding, err error) {
		some, err = look()
		for _, one := range some {
			all.Add(one, isFixable(one))
		}
		return all, some, err
	}
	first, some, err := seen()
	if err != nil {
		return err
	}
	if !e.wanted.Fix || first.Count == first.Unfixable {
		e.result.Conclude(first, first, 0)
		return nil
	}
	var done []string
	var failure error
	for _, one := range some {
		if isFixable(one) {
			if failure = mend(one); failure != nil {
				break
			}
			done = append(done, one.Rule)
		}
	}
	if len(done) > 0 { // also of those before one that failed
		count := len(done)
		slices.Sort(done)
		done = slices.Compact(done)
		err := e.Store.Update(context.WithoutCancel(ctx), func(ctx context.Context, tx store.Tx) error {
			return e.record(ctx, tx, "", count, done)
		})
		if failure = errors.Join(failure, err); failure == nil {
			var last doctor.Found
			if last, _, failure = seen(); failure == nil {
				e.result.Conclude(first, last, count)
			}
		}
	}
	return failure
}

// companyCheck compares what is kept of a company.
type companyCheck func(r store.CheckReader, ctx context.Context, of id.Company, differs func(store.Difference)) error

// ofCompanies is a check that compares one company after the other, each on a snapshot of its own: what is compared is all of one company.
func ofCompanies(by companyCheck) func(ctx context.Context, e *examination) error {
	return func(ctx context.Context, e *examination) error {
		looked := 0
		defer func() { e.result.Seen = fmt.Sprintf("companies: %d", looked) }()
		return eachCompany(ctx, e.Store.Companies(), func(one company.Company) error {
			isThere, err := e.company(ctx, by, one.ID)
			if isThere {
				looked++
			}
			return err
		})
	}
}

// eachCompany calls do with each company, in whatever state.
func eachCompany(ctx context.Context, of store.CompanyReader, do func(one company.Company) error) error {
	for after := (page.Position{}); ; {
		listed, err := of.List(ctx, store.CompanyFilter{}, after, page.MaxSize)
		if err != nil {
			return err
		}
		for _, one := range listed.Items {
			if err := do(one); err != nil {
				return err
			}
		}
		if after = listed.Next; after.IsStart() {
			return nil
		}
	}
}

// company compares what is kept of one company, unless it is gone or is being deleted, and repairs what it finds.
func (e *examination) company(ctx context.Context, by companyCheck, which id.Company) (wasThere bool, err error) {
	var of company.Company
	err = e.rounds(
		func() (last found, isThere bool, err error) {
			err = e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
				last, isThere = found{}, false
				c, err := r.Companies().Get(ctx, which)
				exists, err := store.Exists(err)
				if err != nil || !exists || c.Status == company.Deleting {
					return err
				}
				of, isThere = c, true
				return by(r.Checks(), ctx, which, func(one store.Difference) { last.add(which, one) })
			})
			wasThere = isThere
			return last, isThere, err
		},
		func(last found) (int, error) { return e.repair(ctx, of, last.fixable) },
	)
	return wasThere, err
}

// repair repairs what a look has found in a company, store.Portion in each unit, so that none takes long, and returns how much. It ends
// early when the company has changed: then another may have repaired the same.
func (e *examination) repair(ctx context.Context, of company.Company, fixable []store.Difference) (repaired int, err error) {
	version := of.Version
	for some := range slices.Chunk(fixable, store.Portion) {
		var isDone bool
		err := e.Store.Update(ctx, func(ctx context.Context, tx store.Tx) (err error) {
			if err := tx.Turn(ctx, of.ID); err != nil {
				return err
			}
			if isDone, err = tx.Checks().Mend(ctx, of.ID, version, some); err != nil || !isDone {
				return err
			}
			return e.record(ctx, tx, of.ID, len(some), rulesOf(some))
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
