package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/backup"
	"holdco/domain/company"
	"holdco/domain/doctor"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/page"
	"holdco/domain/replica"
	"holdco/domain/retention"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// The checks of what is not in the rows of a store, or of more than its queries can compare.

// settings looks at what was found when the settings were read.
func settings(_ context.Context, e *examination) error {
	var all doctor.Found
	for _, text := range e.Settings.Wrong {
		all.Add(doctor.Finding{Rule: "config.value", About: "settings", Text: text}, false)
	}
	for _, text := range e.Settings.Unknown {
		all.Add(doctor.Finding{Severity: doctor.Warning, Rule: "config.name", About: "settings", Text: text}, false)
	}
	e.result.Conclude(all, all, 0)
	e.result.Seen = "data directory: " + e.Settings.DataDir
	return nil
}

// open looks at whether the store is open, and how.
func open(ctx context.Context, e *examination) error {
	var all found
	if e.Closed != nil {
		all.Add(doctor.Finding{Rule: "store.open", About: "store", Text: e.Closed.Error()}, false)
	} else {
		what, err := e.Inspector.Open(ctx, func(one store.Difference) { all.add("", one) })
		if err != nil {
			return err
		}
		e.result.Seen = what
	}
	e.result.Conclude(all.Found, all.Found, 0)
	return nil
}

// schema compares the schema, unless it is of another version.
func schema(ctx context.Context, e *examination) error {
	var all found
	if err := e.outdated(ctx); ctx.Err() != nil {
		return ctx.Err()
	} else if err != nil {
		all.Add(doctor.Finding{Rule: "schema.version", About: "store", Text: err.Error()}, false)
	} else if err := e.Inspector.Schema(ctx, func(one store.Difference) { all.add("", one) }); err != nil {
		return err
	}
	e.result.Conclude(all.Found, all.Found, 0)
	e.result.Seen = "as in a new store"
	return nil
}

func integrity(ctx context.Context, e *examination) error {
	e.result.Seen = "no damage"
	return e.whole(ctx, func(last *found) error {
		*last = found{}
		return e.Inspector.Integrity(ctx, func(one store.Difference) { last.add("", one) })
	})
}

// key looks at the key file and, unless others can use it, at what is sealed with it. No server starts with a file that others can use.
func key(ctx context.Context, e *examination) error {
	const exposed = "key.mode"
	look := func() ([]doctor.Finding, error) {
		files, err := e.Keys.Exposed()
		if err != nil {
			return nil, err
		}
		var all []doctor.Finding
		for _, file := range files {
			all = append(all, doctor.Finding{
				Rule: exposed, About: file, Kept: "open to others", Should: "mode 0600, or 0640",
			})
		}
		if len(all) > 0 { // it is not used, by nobody, until it is closed
			lacks, err := e.lacksKey(ctx)
			return append(all, lacks...), err
		}
		return e.sealed(ctx)
	}
	return e.beside(ctx, look, func(doctor.Finding) error { return e.Keys.Protect() }, exposed)
}

// lacksKey finds keys of the store that no key file has, without using one.
func (e *examination) lacksKey(ctx context.Context) (all []doctor.Finding, err error) {
	has, err := e.Keys.Fingerprints()
	if err != nil {
		all = append(all, doctor.Finding{Rule: "key.file", About: "the key", Text: "HOLDCO_KEY_FILE: " + err.Error()})
		return all, nil //nolint:nilerr // it is what was found
	}
	err = e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
		all = nil
		bound, err := r.InstanceKey().Fingerprint(ctx)
		if err != nil {
			return err
		}
		former, err := r.InstanceKey().Former(ctx)
		for _, one := range []string{bound, former} {
			if one != "" && !slices.Contains(has, one) {
				all = append(all, doctor.Finding{
					Rule: "key.file", About: one, Kept: strings.Join(has, ", "), Should: one,
					Text: fmt.Sprintf("HOLDCO_KEY_FILE: no key file has the fingerprint %s, by which secrets in the store are sealed; "+
						"put the right file in its place", one),
				})
			}
		}
		return err
	})
	return all, err
}

// sealed opens everything that is sealed. A rotation that ends meanwhile takes away a key that a snapshot still needs: then it is read
// again.
func (e *examination) sealed(ctx context.Context) (all []doctor.Finding, err error) {
	const again = 3
	for range again {
		var bound, after string
		if bound, all, err = e.sealedOnce(ctx); err != nil || len(all) == 0 {
			return all, err
		}
		if after, err = e.Store.InstanceKey().Fingerprint(ctx); err != nil || after == bound {
			return all, err
		}
	}
	return all, nil
}

func (e *examination) sealedOnce(ctx context.Context) (bound string, all []doctor.Finding, err error) {
	err = e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
		all = nil
		bound, err = r.InstanceKey().Fingerprint(ctx)
		if err != nil {
			return err
		}
		if bound == "" { // the first start of a server makes one
			e.result.Seen = "no key yet"
			return nil
		}
		former, err := r.InstanceKey().Former(ctx)
		if err != nil {
			return err
		}
		if _, err := e.Vault.Unlock(bound, former); err != nil {
			all = append(all, doctor.Finding{Rule: "key.file", About: bound, Text: "HOLDCO_KEY_FILE: " + err.Error()})
			return nil //nolint:nilerr // it is what was found
		}
		const portion = 100
		count := 0
		for after := (store.Seal{}); ; {
			some, err := r.Seals().After(ctx, after, portion)
			if err != nil {
				return err
			}
			for _, one := range some {
				if _, err := e.Vault.Open(one.Owner, one.Text); err != nil {
					text := err.Error() + "; set it anew or remove it"
					all = append(all, doctor.Finding{Rule: "key.sealed", About: one.Owner, Text: text})
				}
				after = one
			}
			if count += len(some); len(some) < portion {
				e.result.Seen = fmt.Sprintf("fingerprint: %s, sealed values: %d", bound, count)
				return nil
			}
		}
	})
	return bound, all, err
}

// activity compares the log with what was made. Its chains, which take longest, are verified if all is wanted: one after the other, for
// neither entries nor links ever change.
func activity(ctx context.Context, e *examination) error {
	var all found
	defer func() { e.result.Conclude(all.Found, all.Found, 0) }()
	err := e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
		all = found{}
		return r.Checks().Activity(ctx, e.Clock.Now(), func(one store.Difference) { all.add("", one) })
	})
	if e.result.Seen = "nothing is missing"; err != nil || !e.wanted.Full {
		return err
	}
	links, err := e.verify(ctx, "", &all)
	if err == nil {
		err = eachCompany(ctx, e.Store.Companies(), func(one company.Company) error {
			more, err := e.verify(ctx, one.ID, &all)
			links += more
			return err
		})
	}
	e.result.Seen = fmt.Sprintf("links: %d", links)
	return err
}

// verify verifies the chain of a company, or of what belongs to none, and returns how many links it has. One of a company that is removed
// meanwhile is not looked at.
func (e *examination) verify(ctx context.Context, of id.Company, all *found) (links int64, err error) {
	last, err := e.Chains.Verify(ctx, e.caller, of, nil)
	var harm audit.Finding
	switch {
	case err == nil:
	case of != "" && e.isGone(ctx, of):
		return 0, nil
	case errors.As(err, &harm):
		about := harm.Entry
		if about == "" {
			about = fmt.Sprint("the entry ", harm.Number)
		}
		all.Add(doctor.Finding{
			Company: of, Rule: "activity.chain", About: about, Kept: string(harm.Harm), Should: "as it was chained",
			Text: fmt.Sprintf("%v; holdco audit verify says more", harm),
		}, false)
	case errors.Is(err, audit.ErrStub):
		all.Add(doctor.Finding{
			Company: of, Rule: "activity.stub", About: "the stub", Kept: "another one", Should: "as it was signed",
			Text: "the stub that stands for removed entries is not what the key has signed; holdco audit verify says more",
		}, false)
		return 0, nil
	default:
		return 0, err
	}
	return last.Number, nil
}

// isGone reports whether a company was removed, or is being removed.
func (e *examination) isGone(ctx context.Context, which id.Company) bool {
	found, err := e.Store.Companies().Get(ctx, which)
	return fault.CodeOf(err) == fault.NotFound || err == nil && found.Status == company.Deleting
}

// leads compares a sample of the leads, another one each second, or all of them.
func leads(ctx context.Context, e *examination) error {
	most := doctor.SampledLeads
	if e.wanted.Full {
		most = 0
	}
	nth, looked := e.Clock.Now().Unix(), int64(0)
	defer func() { e.result.Seen = fmt.Sprintf("leads: %d", looked) }()
	return ofAll(func(ctx context.Context, _ *examination, r store.Reader, differs func(store.Difference)) (err error) {
		looked, err = r.Checks().Leads(ctx, most, nth, differs)
		return err
	})(ctx, e)
}

// workspaces compares directories with companies. Both change, one after the other: a directory is made once its company is committed, and
// removed before the company is. So what is missing must be missing afterwards too, and what is stray must have been there before.
func workspaces(ctx context.Context, e *examination) error {
	const missing, stray = "workspace.missing", "workspace.stray"
	look := func() (all []doctor.Finding, err error) {
		before, err := e.Workspaces.List()
		if err != nil {
			return nil, err
		}
		isOf := map[id.Company]company.Company{}
		err = e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
			clear(isOf)
			return eachCompany(ctx, r.Companies(), func(one company.Company) error {
				isOf[one.ID] = one
				return nil
			})
		})
		if err != nil {
			return nil, err
		}
		after, err := e.Workspaces.List()
		if err != nil {
			return nil, err
		}
		has := map[id.Company]bool{}
		for _, one := range after {
			has[one] = true
		}
		add := func(rule string, which id.Company, kept, should string) {
			all = append(all, doctor.Finding{Severity: doctor.Warning, Rule: rule, About: string(which), Kept: kept, Should: should})
		}
		for which, one := range isOf {
			if !has[which] && one.Status != company.Deleting && e.Clock.Now().Sub(one.CreatedAt) > doctor.SettlesIn {
				add(missing, which, "no directory", "one")
			}
		}
		for _, one := range before {
			if _, exists := isOf[one]; !exists && has[one] {
				add(stray, one, "a directory", "none, for there is no such company")
			}
		}
		e.result.Seen = fmt.Sprintf("directories: %d", len(after))
		return all, nil
	}
	mend := func(one doctor.Finding) error {
		if one.Rule == missing {
			return e.Workspaces.Make(id.Company(one.About))
		}
		return e.Workspaces.SetAside(id.Company(one.About))
	}
	return e.beside(ctx, look, mend, missing, stray)
}

// tokens looks at who can call the API.
func tokens(ctx context.Context, e *examination) error {
	var all doctor.Found
	now, live := e.Clock.Now(), 0
	err := e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
		all, live = doctor.Found{}, 0
		hasAdmin, err := r.Tokens().HasLiveAdmin(ctx, now)
		if err != nil {
			return err
		}
		if !hasAdmin {
			all.Add(doctor.Finding{
				Severity: doctor.Warning, Rule: "token.admin", About: "tokens",
				Text: "no token with the scope admin is live; run: holdco token create --name admin --scopes admin",
			}, false)
		}
		for after := (page.Position{}); ; {
			listed, err := r.Tokens().List(ctx, after, page.MaxSize)
			if err != nil {
				return err
			}
			for _, one := range listed.Items {
				if one.Ended(now) != "" {
					continue
				}
				live++
				if last := lastUse(one); now.Sub(last) > doctor.UnusedFor {
					all.Add(doctor.Finding{
						Severity: doctor.Note, Rule: "token.unused", About: string(one.ID),
						Text: fmt.Sprintf("%s (%s) was not used since %s; revoke it unless it is needed", one.ID, one.Name,
							last.Format(time.DateOnly)),
					}, false)
				}
			}
			if after = listed.Next; after.IsStart() {
				return nil
			}
		}
	})
	e.result.Conclude(all, all, 0)
	e.result.Seen = fmt.Sprintf("live tokens: %d", live)
	return err
}

// lastUse is when a token was last used, or else made.
func lastUse(of access.Token) time.Time {
	if of.LastUsedAt.IsZero() {
		return of.CreatedAt
	}
	return of.LastUsedAt
}

// backups looks at the newest of the backups that servers make.
func backups(ctx context.Context, e *examination) error {
	if e.Settings.BackupDir == "" {
		e.result.Seen = "none is scheduled"
		return nil
	}
	state, err := e.Store.Backups().Schedule(ctx)
	if err != nil {
		return err
	}
	now, err := e.Store.StoreNow(ctx)
	if err != nil {
		return err
	}
	var all doctor.Found
	finds := func(severity doctor.Severity, rule, format string, args ...any) {
		all.Add(doctor.Finding{Severity: severity, Rule: rule, About: "backup", Text: fmt.Sprintf(format, args...)}, false)
	}
	last := instant.Format(state.DoneAt)
	switch age := now.Sub(state.DoneAt); {
	case state.DoneAt.IsZero():
		finds(doctor.Warning, "backup.none", "no scheduled backup has succeeded yet; start the server, or see why in its log")
	case backup.IsOld(age, e.Settings.BackupEvery):
		finds(doctor.Warning, "backup.old", "the last scheduled backup that succeeded is of %s; the log of the server says why", last)
	default:
		e.result.Seen = "the last: " + last
	}
	if !state.DoneAt.IsZero() {
		err := e.Backups.Check(ctx, e.Settings.BackupDir, state.DoneAt, e.wanted.Full)
		switch {
		case err == nil:
		case ctx.Err() != nil:
			return ctx.Err()
		case fault.CodeOf(err) == fault.NotFound:
			finds(doctor.Note, "backup.elsewhere", "the backup of %s is not in %s here; another server has made it, or it was taken away",
				last, e.Settings.BackupDir)
		default:
			finds(doctor.Warning, "backup.broken", "the backup of %s cannot be read: %v; make another one", last, err)
		}
	}
	e.result.Conclude(all, all, 0)
	return nil
}

// disk compares what the store takes with what there is. The disk of a server of a database is that server's: then it is that of the data
// directory which is looked at. A store is written anew only if that is asked for by name, because it takes long.
func disk(ctx context.Context, e *examination) error {
	space, fixable := doctor.Space{}, []string{"disk.log"}
	if slices.Contains(e.wanted.Only, e.result.Name) {
		fixable = append(fixable, doctor.KeepsFree)
	}
	look := func() (found []doctor.Finding, err error) {
		if space, err = e.Inspector.Space(ctx); err != nil {
			return nil, err
		}
		isHere := space.Where != ""
		if !isHere {
			space.Where = e.Settings.DataDir
		}
		room, err := e.Disk.Room(space.Where)
		if space.Room = room.Free; err != nil {
			space.Room = -1 // not of every system, and the data directory need not be there yet
		}
		e.result.Seen = space.String()
		if !isHere {
			space.Store = 0
		}
		if space.Backups = e.Settings.BackupDir; space.Backups != "" {
			room, err := e.Disk.Room(space.Backups)
			if space.BackupRoom = room.Free; err != nil {
				space.BackupRoom = -1 // the folder of backups may be missing, which their check finds
			}
		}
		return space.Findings(), nil
	}
	mend := func(one doctor.Finding) error {
		switch {
		case one.Rule != doctor.KeepsFree:
			return e.Inspector.TruncateLog(ctx)
		case space.CanRewrite():
			return e.Inspector.GiveBack(ctx)
		}
		return nil
	}
	return e.beside(ctx, look, mend, fixable...)
}

// replicas looks at the servers that have said that they run.
func replicas(ctx context.Context, e *examination) error {
	live, err := store.LiveReplicas(ctx, e.Store)
	if err != nil {
		return err
	}
	e.result.Seen = fmt.Sprintf("servers: %d", len(live))
	for _, one := range live {
		e.result.Seen += fmt.Sprintf("; %s, %s, since %s", one.ID, one.Version, instant.Format(one.Since))
	}
	var all doctor.Found
	if versions := replica.Versions(live); len(versions) > 1 {
		kept := strings.Join(versions, ", ")
		all.Add(doctor.Finding{
			Severity: doctor.Warning, Rule: "replicas.versions", About: "servers", Kept: kept, Should: "one version",
			Text: fmt.Sprintf("%d servers run, of the versions %s; finish the update, or take it back", len(live), kept),
		}, false)
	}
	e.result.Conclude(all, all, 0)
	return nil
}

// growth looks for what should have been removed long ago, and for what killed restorations have left. If there is nothing of that, it
// says how large the tables are.
func growth(ctx context.Context, e *examination) error {
	const old, left = "growth.old", "growth.restoration"
	mend := func(one doctor.Finding) error {
		if one.Rule == left {
			return e.Inspector.RemoveLeftover(ctx, one.About)
		}
		if err := e.unlock(ctx); err != nil {
			return err
		}
		_, err := e.Retention.Prune(ctx, e.caller, inbound.Pruning{Only: []string{one.About}})
		return err
	}
	fixable := []string{old}
	if e.outdated(ctx) == nil { // else a repair could not be recorded
		fixable = append(fixable, left)
	}
	err := e.beside(ctx, func() ([]doctor.Finding, error) {
		all, err := e.lagging(ctx, old)
		if err != nil {
			return nil, err
		}
		names, err := e.Inspector.Leftovers(ctx)
		for _, name := range names {
			all = append(all, doctor.Finding{
				Severity: doctor.Warning, Rule: left, About: name, Kept: "a schema", Should: "none",
				Text: fmt.Sprintf("the schema %s has what a restoration, or its check, has left that was killed; the next one removes it, "+
					`or DROP SCHEMA "%s" CASCADE`, name, name),
			})
		}
		return all, err
	}, mend, fixable...)
	if err != nil || e.result.Count > 0 {
		return err
	}
	tables, err := e.Inspector.Tables(ctx)
	var all doctor.Found
	for _, one := range tables {
		all.Add(one.Finding(), false)
	}
	e.result.Conclude(all, all, 0)
	e.result.Seen = fmt.Sprintf("tables: %d", len(tables))
	return err
}

// lagging finds the kinds of which something is older than twice the time for which it is kept, though it may be removed.
func (e *examination) lagging(ctx context.Context, rule string) (all []doctor.Finding, err error) {
	if e.Retention == nil || e.outdated(ctx) != nil {
		return nil, nil //nolint:nilerr // store.schema says it
	}
	for _, of := range retention.Kinds {
		keep := e.Settings.Keep.Of(of)
		if keep == retention.Off {
			continue
		}
		wanted := inbound.Pruning{DryRun: true, Only: []string{string(of)}, OlderThan: 2 * keep}
		results, err := e.Retention.Prune(ctx, e.caller, wanted)
		if err != nil {
			return nil, err
		}
		if rows := results[0].Rows; rows > 0 {
			all = append(all, doctor.Finding{
				Severity: doctor.Warning, Rule: rule, About: string(of), Kept: fmt.Sprint(rows), Should: "0",
				Text: fmt.Sprintf("%s: %d are older than %s, twice the time for which they are kept; the log of the server says why, and "+
					"holdco prune removes them", of, rows, wanted.OlderThan),
			})
		}
	}
	return all, nil
}

// unlock unlocks the vault with the key of the store.
func (e *examination) unlock(ctx context.Context) error {
	return e.Store.View(ctx, func(ctx context.Context, r store.Reader) error {
		bound, err := r.InstanceKey().Fingerprint(ctx)
		if err != nil {
			return err
		}
		former, err := r.InstanceKey().Former(ctx)
		if err == nil {
			_, err = e.Vault.Unlock(bound, former)
		}
		return err
	})
}

// clock compares the clock of the store with that of this machine, and with what happened last.
func clock(ctx context.Context, e *examination) error {
	var all doctor.Found
	before := e.Clock.Now()
	var newest, kept time.Time
	err := e.Store.View(ctx, func(ctx context.Context, r store.Reader) (err error) {
		if kept, err = r.StoreNow(ctx); err != nil {
			return err
		}
		newest, err = r.Checks().Newest(ctx)
		return err
	})
	if err != nil {
		return err
	}
	after := e.Clock.Now()
	if kept.Before(before.Add(-doctor.Ahead)) || kept.After(after.Add(doctor.Ahead)) {
		all.Add(doctor.Finding{
			Rule: "clock.store", About: "store", Kept: instant.Format(kept), Should: instant.Format(after),
			Text: fmt.Sprintf("the clock of the store says %s, and that of this machine %s; let both follow a time server",
				instant.Format(kept), instant.Format(after)),
		}, false)
	}
	if newest.After(after.Add(doctor.Ahead)) {
		all.Add(doctor.Finding{
			Rule: "clock.newest", About: "activity", Kept: instant.Format(after), Should: instant.Format(newest),
			Text: fmt.Sprintf("it is %s, and the newest entry of the activity log is of %s; set the clock right",
				instant.Format(after), instant.Format(newest)),
		}, false)
	}
	e.result.Conclude(all, all, 0)
	e.result.Seen = "difference: " + strings.TrimPrefix(after.Sub(kept).Round(time.Millisecond).String(), "-")
	return nil
}
