package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/store"
)

// runs implements store.Runs.
type runs struct {
	stored[id.Run, run.Run]
}

func runsOf(s session) runs { return runs{stored[id.Run, run.Run]{s, runTable}} }

var runTable = tableOf("runs", fault.New(fault.NotFound, "There is no such run."),
	asText("id", func(r *run.Run) *id.Run { return &r.ID }),
	asText("company_id", func(r *run.Run) *id.Company { return &r.Company }).fixed(),
	asText("issue_id", func(r *run.Run) *id.Issue { return &r.Issue }).fixed(),
	asText("agent_id", func(r *run.Run) *id.Agent { return &r.Agent }).fixed(),
	asText("team_id", func(r *run.Run) *id.Team { return &r.Team }).fixed(),
	asText("goal_id", func(r *run.Run) *id.Goal { return &r.Goal }).fixed(),
	asText("project_id", func(r *run.Run) *id.Project { return &r.Project }).fixed(),
	asText("workflow_id", func(r *run.Run) *id.Workflow { return &r.Workflow }).fixed(),
	asInteger("attempt", func(r *run.Run) *int { return &r.Attempt }).fixed(),
	asText("status", func(r *run.Run) *run.Status { return &r.Status }),
	asText("lease_id", func(r *run.Run) *id.Lease { return &r.Lease.ID }).fixed(),
	asInteger("fencing_token", func(r *run.Run) *int64 { return &r.Lease.Token }).fixed(),
	asInteger("epoch", func(r *run.Run) *int64 { return &r.Lease.Epoch }).fixed(),
	asSeconds("lease_seconds", func(r *run.Run) *time.Duration { return &r.Lease.Time }),
	asMillis("expires_at", func(r *run.Run) *time.Time { return &r.Lease.ExpiresAt }),
	derivedInteger("check_at", func(r *run.Run) int64 { return millis(r.Lease.ExpiresAt) }).fixed(), // see Postpone
	asOptionalMillis("ended_at", func(r *run.Run) *time.Time { return &r.Lease.EndedAt }).inIndex(),
	asText("reason", func(r *run.Run) *run.Reason { return &r.Lease.Reason }),
	asText("claim_key", func(r *run.Run) *string { return &r.Lease.Key }).fixed(),
	asText("holder", func(r *run.Run) *string { return &r.Lease.Holder }).fixed(),
	asText("token_hash", func(r *run.Run) *string { return &r.Lease.Hash }).inIndex(),
	asInteger("held_usd", func(r *run.Run) *money.USD { return &r.Held }),
	asInteger("spent_usd", func(r *run.Run) *money.USD { return &r.Spent }),
	asInteger("input_tokens", func(r *run.Run) *int64 { return &r.Tokens.Input }),
	asInteger("output_tokens", func(r *run.Run) *int64 { return &r.Tokens.Output }),
	asInteger("cache_read_tokens", func(r *run.Run) *int64 { return &r.Tokens.CacheRead }),
	asInteger("cache_write_tokens", func(r *run.Run) *int64 { return &r.Tokens.CacheWrite }),
	asInteger("charges", func(r *run.Run) *int { return &r.Charges }),
	asBoolean("metered", func(r *run.Run) *bool { return &r.IsMetered }).fixed(),
	asText("unpriced_model", func(r *run.Run) *string { return &r.Unpriced }).inIndex(),
	derivedInteger("uncosted_at", uncostedAt).inIndex(),
	asInteger("checkpoints", func(r *run.Run) *int { return &r.Checkpoints }),
	asInteger("filed", func(r *run.Run) *int { return &r.Filed }),
	asMillis("context_at", func(r *run.Run) *time.Time { return &r.ContextAt }),
	asOptionalMillis("finished_at", func(r *run.Run) *time.Time { return &r.FinishedAt }),
	asText("error", func(r *run.Run) *string { return &r.Error }),
	asText("digest", func(r *run.Run) *string { return &r.KeptAnswer.Fingerprint }),
	asText("answer", func(r *run.Run) *string { return &r.KeptAnswer.Answer }).inIndex(),
	asMillis(createdAt, func(r *run.Run) *time.Time { return &r.StartedAt }).fixed(),
)

// uncostedAt is when a run ended that reported no costs, otherwise 0. An index over the number of charges itself would change with each
// of them.
func uncostedAt(r *run.Run) int64 {
	if r.Charges > 0 || r.IsOpen() {
		return 0
	}
	return millis(r.Lease.EndedAt)
}

func (r runs) Add(ctx context.Context, added run.Run) error { return r.addLater(ctx, added) }

// Save leaves check_at as it is if the lease was renewed.
func (r runs) Save(ctx context.Context, saved run.Run) error {
	before, _ := r.locked(saved)
	if err := r.saveLater(ctx, saved); err != nil || !saved.Lease.ExpiresAt.Before(before.Lease.ExpiresAt) {
		return err
	}
	return r.later(ctx, checkSooner, string(saved.ID))
}

var noLease = fault.New(fault.NotFound, "There is no such lease.")

var (
	runByLease = prepare(func(b builder) fmt.Stringer { return byLease(b) })
	lockLease  = prepare(func(b builder) fmt.Stringer { return b.engine.ForUpdate(byLease(b)) })
	runByHash  = prepare(func(b builder) fmt.Stringer {
		return runTable.selects(b.db()).Where("token_hash = ?", b.arg(1)).Where("token_hash <> ''")
	})
	runByKey = prepare(func(b builder) fmt.Stringer {
		return runTable.selects(b.db()).Where("agent_id = ?", b.arg(1)).Where("claim_key = ?", b.arg(2)).Where("ended_at IS NULL").
			OrderExpr("created_at DESC, id DESC").Limit(1)
	})
	runOpenOf = prepare(func(b builder) fmt.Stringer { return openOf(b) })
	lockOpen  = prepare(func(b builder) fmt.Stringer { return b.engine.ForUpdate(openOf(b)) })
)

func openOf(b builder) *bun.SelectQuery {
	return runTable.selects(b.db()).Where("issue_id = ?", b.arg(1)).Where("ended_at IS NULL")
}

func byLease(b builder) *bun.SelectQuery {
	return runTable.selects(b.db()).Where("lease_id = ?", b.arg(1))
}

func (r runs) ByLease(ctx context.Context, which id.Lease) (run.Run, error) {
	return r.find(ctx, runByLease, noLease, string(which))
}

func (r runs) ByHash(ctx context.Context, hash string) (run.Run, error) {
	return r.find(ctx, runByHash, runTable.missing, hash)
}

func (r runs) ByKey(ctx context.Context, of id.Agent, key string) (run.Run, error) {
	return r.find(ctx, runByKey, noLease, string(of), key)
}

func (r runs) LockLease(ctx context.Context, which id.Lease) (run.Run, error) {
	return r.lockBy(ctx, lockLease, string(which))
}

func (r runs) LockOpen(ctx context.Context, of id.Issue) (run.Run, error) {
	return r.lockBy(ctx, lockOpen, string(of))
}

// find reads the run that a prepared statement finds.
func (r runs) find(ctx context.Context, statement *prepared, missing error, args ...any) (run.Run, error) {
	row := runTable.scanner()
	if err := r.row(ctx, row.dests, missing, statement, args...); err != nil {
		return run.Run{}, err
	}
	return row.value()
}

// lockBy is Lock by another column than the id.
func (r runs) lockBy(ctx context.Context, statement *prepared, arg string) (run.Run, error) {
	found, err := r.find(ctx, statement, noLease, arg)
	if err == nil {
		r.hasLocked(string(found.ID), found)
	}
	return found, err
}

func (r runs) List(ctx context.Context, of id.Issue, after page.Position, size int) (page.Page[run.Run], error) {
	return listPage(ctx, r.session, r.table, []condition{{"issue_id", string(of)}}, after, size)
}

var openOfAgent = prepare(func(b builder) fmt.Stringer {
	return runTable.selects(b.db()).Where("agent_id = ?", b.arg(1)).Where("ended_at IS NULL").Order(createdAt, "id").Limit(run.MostOpen)
})

func (r runs) OpenOfAgent(ctx context.Context, of id.Agent) ([]run.Run, error) {
	return readEach(ctx, r.session, r.table, openOfAgent, string(of))
}

func (r runs) OpenOf(ctx context.Context, of id.Issue) (run.Run, error) {
	return r.find(ctx, runOpenOf, noLease, string(of))
}

var teamsAtWork = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("runs").Distinct().Column("team_id").Where("company_id = ?", b.arg(1)).
		Where("team_id <> ''").Where("ended_at IS NULL")
})

func (r runs) TeamsAtWork(ctx context.Context, of id.Company) (found []id.Team, err error) {
	var which string
	err = r.scanRows(ctx, []any{&which}, func() { found = append(found, id.Team(which)) }, teamsAtWork, string(of))
	return found, err
}

var checkpointTable = tableOf("run_checkpoints", nil,
	asText("run_id", func(c *run.Checkpoint) *id.Run { return &c.Run }),
	asInteger("number", func(c *run.Checkpoint) *int { return &c.Number }),
	asText("company_id", func(c *run.Checkpoint) *id.Company { return &c.Company }),
	asText("note", func(c *run.Checkpoint) *string { return &c.Note }),
	asText("data", func(c *run.Checkpoint) *string { return &c.Data }),
	asMillis("at", func(c *run.Checkpoint) *time.Time { return &c.At }),
)

func (r runs) AddCheckpoint(ctx context.Context, added run.Checkpoint) error {
	return r.changeLater(ctx, checkpointTable.insert, checkpointTable.inserted(&added)...)
}

func (r runs) Checkpoints(ctx context.Context, of id.Run, most int) ([]run.Checkpoint, error) {
	return readAll(ctx, r.session, checkpointTable, selectRows(r.session, checkpointTable).Where("run_id = ?", of).
		OrderExpr("number DESC").Limit(int64(most)))
}

// newestCheckpoints are by how many are read.
var newestCheckpoints = preparedFor[int]{prepare: func(most int) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		runs := b.db().NewSelect().Table("runs").Column("id").Where("issue_id = ?", b.arg(1))
		return checkpointTable.selects(b.db()).Where("run_id IN (?)", runs).
			OrderExpr("at DESC, run_id DESC, number DESC").Limit(int64(most))
	})
}}

func (r runs) CheckpointsOn(ctx context.Context, of id.Issue, most int) ([]run.Checkpoint, error) {
	return readEach(ctx, r.session, checkpointTable, newestCheckpoints.of(most), string(of))
}

var chargeTable = tableOf("cost_entries", fault.New(fault.NotFound, "There is no such cost entry."),
	asText("id", func(e *cost.Entry) *id.Cost { return &e.ID }),
	asText("company_id", func(e *cost.Entry) *id.Company { return &e.Company }),
	asText("issue_id", func(e *cost.Entry) *id.Issue { return &e.Issue }),
	asText("run_id", func(e *cost.Entry) *id.Run { return &e.Run }),
	asText("agent_id", func(e *cost.Entry) *id.Agent { return &e.Agent }),
	asText("team_id", func(e *cost.Entry) *id.Team { return &e.Team }),
	asText("project_id", func(e *cost.Entry) *id.Project { return &e.Project }),
	asText("key", func(e *cost.Entry) *string { return &e.Key }),
	asText("kind", func(e *cost.Entry) *cost.Kind { return &e.Kind }),
	asInteger("usd", func(e *cost.Entry) *money.USD { return &e.USD }),
	asText("model", func(e *cost.Entry) *string { return &e.Model }),
	asInteger("input_tokens", func(e *cost.Entry) *int64 { return &e.Tokens.Input }),
	asInteger("output_tokens", func(e *cost.Entry) *int64 { return &e.Tokens.Output }),
	asInteger("cache_read_tokens", func(e *cost.Entry) *int64 { return &e.Tokens.CacheRead }),
	asInteger("cache_write_tokens", func(e *cost.Entry) *int64 { return &e.Tokens.CacheWrite }),
	asInteger("calls", func(e *cost.Entry) *int64 { return &e.Calls }),
	asText("billing", func(e *cost.Entry) *string { return &e.Billing }),
	asBoolean("unpriced", func(e *cost.Entry) *bool { return &e.Unpriced }),
	asInteger("revision", func(e *cost.Entry) *int64 { return &e.Revision }),
	asBoolean("late", func(e *cost.Entry) *bool { return &e.Late }),
	asText("session", func(e *cost.Entry) *string { return &e.Session }),
	asBoolean("reported", func(e *cost.Entry) *bool { return &e.IsReported }),
	asInteger("reported_usd", func(e *cost.Entry) *money.USD { return &e.ReportedUSD }),
	asText("adjusts", func(e *cost.Entry) *id.Cost { return &e.Adjusts }),
	asText("reason", func(e *cost.Entry) *string { return &e.Reason }),
	asOptionalMillis("adjusted_at", func(e *cost.Entry) *time.Time { return &e.AdjustedAt }),
	asMillis("at", func(e *cost.Entry) *time.Time { return &e.At }),
)

func (r runs) AddCharges(ctx context.Context, added []cost.Entry) error {
	if err := insertMany(ctx, r.session, chargeTable, added); err != nil {
		return err
	}
	return r.addToSums(ctx, added)
}

func (r runs) Charges(ctx context.Context, of id.Run, keys []string) ([]cost.Entry, error) {
	if len(keys) == 0 {
		return nil, nil
	}
	return readAll(ctx, r.session, chargeTable,
		selectRows(r.session, chargeTable).Where("run_id = ?", of).Where("key IN (?)", bun.List(keys)))
}

var issueSessions = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("cost_entries").
		ColumnExpr("session, sum(input_tokens), sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens)").
		Where("issue_id = ?", b.arg(1)).Where("session <> ''").Where("run_id <> ?", b.arg(2)).Group("session").Limit(store.MaxSessions)
})

func (r runs) Sessions(ctx context.Context, issue id.Issue, except id.Run) (map[string]cost.Tokens, error) {
	sessions := map[string]cost.Tokens{}
	var session string
	var tokens cost.Tokens
	err := r.scanRows(ctx, []any{&session, &tokens.Input, &tokens.Output, &tokens.CacheRead, &tokens.CacheWrite}, func() {
		sessions[session] = tokens
	}, issueSessions, string(issue), string(except))
	return sessions, err
}

var (
	overdueRuns = prepare(func(b builder) fmt.Stringer {
		return openRuns(b).Where("check_at <= ?", b.arg(1)).Where("expires_at <= ?", b.arg(1)).
			Where(companyStays("runs")+" AND companies.lease_epoch = runs.epoch)", company.Deleting).Order("check_at")
	})
	checkSooner = prepare(func(b builder) fmt.Stringer {
		return b.db().NewUpdate().Table("runs").Set("check_at = expires_at").Where("id = ?", b.arg(1))
	})
	postponeChecks = prepare(func(b builder) fmt.Stringer {
		renewed := b.engine.SkipLocked(b.db().NewSelect().Table("runs").Column("id").Where("ended_at IS NULL").
			Where("check_at <= ?", b.arg(1)).Where("expires_at > ?", b.arg(1)).Order("check_at").Limit(store.Portion))
		return b.db().NewUpdate().Table("runs").Set("check_at = expires_at").Where("id IN (?)", renewed)
	})
	outdatedRuns = prepare(func(b builder) fmt.Stringer {
		return openRuns(b).Where("company_id = ?", b.arg(1)).Where("epoch < ?", b.arg(2)).Order("epoch")
	})
)

var openOfHolder = prepare(func(b builder) fmt.Stringer {
	return openRuns(b).Where("holder = ?", b.arg(1)).Where("holder <> ''").Order("id")
})

func (r runs) OpenOfHolder(ctx context.Context, holder string) ([]store.OpenRun, error) {
	return r.open(ctx, openOfHolder, holder)
}

// companyStays begins the condition that the company of a row is not being deleted; company.Deleting is the argument.
func companyStays(table string) string {
	return "EXISTS (SELECT 1 FROM companies WHERE companies.id = " + table + ".company_id AND companies.status <> ?"
}

func openRuns(b builder) *bun.SelectQuery {
	return b.db().NewSelect().Table("runs").Column("id", "company_id", "issue_id").Where("ended_at IS NULL").Limit(store.Portion)
}

func (r runs) Overdue(ctx context.Context, at time.Time) ([]store.OpenRun, error) {
	return r.open(ctx, overdueRuns, millis(at))
}

func (r runs) Outdated(ctx context.Context, of id.Company, epoch int64) ([]store.OpenRun, error) {
	return r.open(ctx, outdatedRuns, string(of), epoch)
}

func (r runs) open(ctx context.Context, statement *prepared, args ...any) (found []store.OpenRun, err error) {
	var which, of, issue string
	err = r.scanRows(ctx, []any{&which, &of, &issue}, func() {
		found = append(found, store.OpenRun{ID: id.Run(which), Company: id.Company(of), Issue: id.Issue(issue)})
	}, statement, args...)
	return found, err
}

func (r runs) CountOpen(ctx context.Context) (count int, first time.Time, err error) {
	var ms *int64
	err = r.scan(ctx, countOpen(r.engine).Conn(r.conn), &count, &ms)
	return count, optionalInstant(ms), err
}

func countOpen(engine Engine) *bun.SelectQuery {
	return engine.DB().NewSelect().Table("runs").ColumnExpr("count(*), min(expires_at)").Where("ended_at IS NULL")
}

var (
	addRevocation = prepare(func(b builder) fmt.Stringer {
		return sqlText(fmt.Sprintf("INSERT INTO revocations (company_id, epoch, reason) VALUES (%s, %s, %s)",
			b.engine.Placeholder(1), b.engine.Placeholder(2), b.engine.Placeholder(3)))
	})
	revocationOf = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("revocations").Column("reason").Where("company_id = ?", b.arg(1)).
			Where("epoch > ?", b.arg(2)).Order("epoch").Limit(1)
	})
)

func (r runs) Revoke(ctx context.Context, of id.Company, epoch int64, why run.Reason) error {
	_, err := r.change(ctx, r.run(addRevocation, string(of), epoch, string(why)))
	return err
}

func (r runs) Revocation(ctx context.Context, of id.Company, epoch int64) (run.Reason, error) {
	var reason string
	err := r.row(ctx, []any{&reason}, noLease, revocationOf, string(of), epoch)
	return run.Reason(reason), err
}

var (
	sweepState = prepare(func(b builder) fmt.Stringer {
		open := b.db().NewSelect().Table("runs").ColumnExpr("1").Where("ended_at IS NULL")
		return b.db().NewSelect().Table("sweeps").Column("swept_at", "grace_until").ColumnExpr("?", exists(open))
	})
	oldestOpen = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("runs").ColumnExpr("min(created_at)").Where("ended_at IS NULL")
	})
	saveSweep = prepare(func(b builder) fmt.Stringer {
		return b.db().NewUpdate().Table("sweeps").Set("swept_at = ?", b.arg(1)).Set("grace_until = ?", b.arg(2)).Where("single = 1")
	})
	shortenLeases = prepare(func(b builder) fmt.Stringer {
		longest := b.engine.Placeholder(1) + " + lease_seconds * 1000"
		return b.db().NewUpdate().Table("runs").Set("expires_at = " + longest).Set("check_at = " + longest).
			Where("ended_at IS NULL").Where("expires_at > " + longest)
	})
	forgetAnswers = prepare(func(b builder) fmt.Stringer {
		some := b.db().NewSelect().Table("runs").Column("id").Where("answer <> ''").Where("ended_at < ?", b.arg(1)).
			Order("ended_at").Limit(store.Portion)
		return b.db().NewUpdate().Table("runs").Set("answer = ''").Set("digest = ''").Where("id IN (?)", some)
	})
)

func (r runs) Sweep(ctx context.Context) (state run.Sweep, hasOpen bool, err error) {
	var at, grace *int64
	var open int64
	err = r.row(ctx, []any{&at, &grace, &open}, nil, sweepState)
	return run.Sweep{At: optionalInstant(at), GraceUntil: optionalInstant(grace)}, open == 1, err
}

func (r runs) OldestOpen(ctx context.Context) (start time.Time, err error) {
	var first *int64
	err = r.row(ctx, []any{&first}, nil, oldestOpen)
	return optionalInstant(first), err
}

func (r runs) SaveSweep(ctx context.Context, state run.Sweep) error {
	return exactlyOne(r.exec(ctx, r.run(saveSweep, optionalMillis(state.At), optionalMillis(state.GraceUntil))))
}

func (r runs) Shorten(ctx context.Context, at time.Time) error {
	_, err := r.exec(ctx, r.run(shortenLeases, millis(at)))
	return err
}

func (r runs) Postpone(ctx context.Context, at time.Time) (left bool, err error) {
	rows, err := r.exec(ctx, r.run(postponeChecks, millis(at)))
	return rows == store.Portion, err
}

func (r runs) Forget(ctx context.Context, before time.Time) (int, error) {
	return r.exec(ctx, r.run(forgetAnswers, millis(before)))
}
