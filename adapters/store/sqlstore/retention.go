package sqlstore

import (
	"context"
	"database/sql"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	chain "holdco/domain/audit"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/retention"
	"holdco/ports/store"
)

// keeping implements store.Retention.
type keeping struct{ session }

func (k keeping) State(ctx context.Context, of retention.Kind) (retention.State, error) {
	return k.state(ctx, k.selectFrom("retention").Where("kind = ?", string(of)))
}

func (k keeping) state(ctx context.Context, query *bun.SelectQuery) (state retention.State, err error) {
	var done *int64
	err = k.scan(ctx, query.Column("removed", "done_at"), &state.Removed, &done)
	if errors.Is(err, sql.ErrNoRows) {
		return retention.State{}, nil
	}
	state.Done = optionalInstant(done)
	return state, err
}

func (k keeping) Hold(ctx context.Context, of retention.Kind) (retention.State, error) {
	_, err := k.exec(ctx, k.engine.DB().NewRaw("INSERT INTO retention (kind, removed) VALUES (?, 0) ON CONFLICT DO NOTHING", string(of)).
		Conn(k.conn))
	if err != nil {
		return retention.State{}, err
	}
	return k.state(ctx, k.engine.ForUpdate(k.selectFrom("retention").Where("kind = ?", string(of))))
}

func (k keeping) Save(ctx context.Context, of retention.Kind, state retention.State) error {
	return exactlyOne(k.exec(ctx, k.engine.DB().NewRaw("UPDATE retention SET removed = ?, done_at = ? WHERE kind = ?",
		state.Removed, optionalMillis(state.Done), string(of)).Conn(k.conn)))
}

// isUnsent is true of an event that has still to be sent, or that a delivery carries: that may be sent again.
const isUnsent = isAwaited + " OR EXISTS (SELECT 1 FROM deliveries WHERE deliveries.event_id = activity.id)"

func (k keeping) Entries(ctx context.Context, before time.Time, after store.OldEntry, most int) (found []store.OldEntry, err error) {
	query := k.selectFrom("activity").
		ColumnExpr("activity.id, activity.company_id, activity.category, activity.at").
		ColumnExpr("CASE WHEN ? THEN 1 ELSE 0 END", bun.Safe(isUnsent)).
		ColumnExpr("length(activity.data) + length(activity.previous)").
		ColumnExpr("coalesce(audit_links.number, 0), coalesce(audit_links.hash, '')").
		Join("LEFT JOIN audit_links ON audit_links.entry_id = activity.id AND (activity.company_id = '' OR "+
			companyStays("activity")+"))", company.Deleting).
		Where("activity.at < ?", millisFrom(before)).OrderExpr("activity.at, activity.id").Limit(int64(most))
	if after.ID != "" {
		query = query.Where("(activity.at, activity.id) > (?, ?)", millis(after.At), string(after.ID))
	}
	err = k.each(ctx, query, func(rows *sql.Rows) error {
		var one store.OldEntry
		var which, of, hash string
		var at, awaited int64
		if err := rows.Scan(&which, &of, &one.Category, &at, &awaited, &one.Bytes, &one.Link.Number, &hash); err != nil {
			return err
		}
		one.ID, one.Company, one.At, one.IsAwaited = id.Entry(which), id.Company(of), instant(at), awaited == 1
		one.IsChained = one.Link.Number > 0
		if one.IsChained {
			if one.Link.Hash, err = chain.ParseHash(hash); err != nil { // a stub over it would hide that
				return fmt.Errorf("link %d of the activity log of %s is damaged; see holdco audit verify: %w", one.Link.Number, of, err)
			}
		}
		found = append(found, one)
		return nil
	})
	return found, err
}

func (k keeping) RemoveEntries(ctx context.Context, which []store.OldEntry) error {
	ids := make([]id.Entry, len(which))
	numbers := map[id.Company][]int64{}
	for n, one := range which {
		ids[n] = one.ID
		numbers[one.Company] = append(numbers[one.Company], one.Link.Number-1, one.Link.Number) // the one before may have been kept for it
	}
	if _, err := k.exec(ctx, k.deletes((*entryRow)(nil)).Where("id IN (?)", bun.List(ids))); err != nil {
		return err
	}
	for of, some := range numbers {
		_, err := k.exec(ctx, k.engine.DB().NewRaw("DELETE FROM audit_links WHERE company_id = ? AND number IN (?) "+
			"AND NOT EXISTS (SELECT 1 FROM activity WHERE activity.id = audit_links.entry_id) "+
			"AND NOT EXISTS (SELECT 1 FROM audit_links AS next JOIN activity ON activity.id = next.entry_id "+
			"WHERE next.company_id = audit_links.company_id AND next.number = audit_links.number + 1)",
			string(of), bun.List(some)).Conn(k.conn))
		if err != nil {
			return err
		}
	}
	return nil
}

func (k keeping) Checkpoints(
	ctx context.Context, before time.Time, after store.OldCheckpoint, most int,
) (found []store.OldCheckpoint, err error) {
	query := k.selectFrom("run_checkpoints").
		ColumnExpr("run_checkpoints.at, run_checkpoints.run_id, run_checkpoints.number").
		ColumnExpr("length(run_checkpoints.note) + length(run_checkpoints.data)").
		ColumnExpr("runs.ended_at, coalesce(issues.status, ?)", string(issue.Done)).
		Join("JOIN runs ON runs.id = run_checkpoints.run_id").Join("LEFT JOIN issues ON issues.id = runs.issue_id").
		Where("run_checkpoints.at < ?", millisFrom(before)).
		OrderExpr("run_checkpoints.at, run_checkpoints.run_id, run_checkpoints.number").Limit(int64(most))
	if after.Run != "" {
		query = query.Where("(run_checkpoints.at, run_checkpoints.run_id, run_checkpoints.number) > (?, ?, ?)",
			millis(after.At), string(after.Run), after.Number)
	}
	err = k.each(ctx, query, func(rows *sql.Rows) error {
		var one store.OldCheckpoint
		var at int64
		var which, status string
		var ended *int64
		if err := rows.Scan(&at, &which, &one.Number, &one.Bytes, &ended, &status); err != nil {
			return err
		}
		one.At, one.Run = instant(at), id.Run(which)
		one.Of = retention.Run{EndedAt: optionalInstant(ended), IssueIsOpen: !issue.Status(status).IsFinal()}
		found = append(found, one)
		return nil
	})
	return found, err
}

var removeCheckpoint = prepare(func(b builder) fmt.Stringer {
	return b.db().NewDelete().Table("run_checkpoints").Where("run_id = ?", b.arg(1)).Where("number = ?", b.arg(2))
})

func (k keeping) RemoveCheckpoints(ctx context.Context, which []store.OldCheckpoint) error {
	for _, one := range which {
		if err := k.later(ctx, removeCheckpoint, string(one.Run), one.Number); err != nil {
			return err
		}
	}
	return nil
}

func (k keeping) Run(ctx context.Context, which id.Run) (found retention.Run, err error) {
	var ended *int64
	var status string
	err = k.scan(ctx, k.selectFrom("runs").ColumnExpr("runs.ended_at, coalesce(issues.status, ?)", string(issue.Done)).
		Join("LEFT JOIN issues ON issues.id = runs.issue_id").Where("runs.id = ?", string(which)), &ended, &status)
	if errors.Is(err, sql.ErrNoRows) {
		return found, runTable.missing
	}
	return retention.Run{EndedAt: optionalInstant(ended), IssueIsOpen: !issue.Status(status).IsFinal()}, err
}

func (k keeping) RemovedLeads(ctx context.Context, before time.Time, after store.OldLead, most int) (found []store.OldLead, err error) {
	query := k.selectFrom("leads").Column("key", "id", "removed_at").Where("removed_at < ?", millisFrom(before)).
		Where("key < (SELECT max(key) FROM leads)").OrderExpr("removed_at, id").Limit(int64(most))
	if after.ID != "" {
		query = query.Where("(removed_at, id) > (?, ?)", millis(after.RemovedAt), string(after.ID))
	}
	err = k.each(ctx, query, func(rows *sql.Rows) error {
		var one store.OldLead
		var which string
		var at int64
		err := rows.Scan(&one.Key, &which, &at)
		one.ID, one.RemovedAt = id.Lead(which), instant(at)
		found = append(found, one)
		return err
	})
	return found, err
}

func (k keeping) RemoveLeads(ctx context.Context, which []store.OldLead) error {
	keys := make([]int64, len(which))
	for n, one := range which {
		keys[n] = one.Key
	}
	removed := func() *bun.SelectQuery {
		return k.selects((*leadRow)(nil)).Where("key IN (?)", bun.List(keys)).Where("removed_at IS NOT NULL")
	}
	last := removed().Column("revision", "key").OrderExpr("revision DESC, key DESC LIMIT 1")
	_, err := k.exec(ctx, k.updates((*leadStateRow)(nil)).With("last", last).TableExpr("last").
		Set("forgotten_revision = last.revision").Set("forgotten_key = last.key").
		Where("single = 1 AND (last.revision, last.key) > (forgotten_revision, forgotten_key)"))
	if err == nil {
		_, err = k.exec(ctx, k.deletes((*leadRow)(nil)).Where("key IN (?)", bun.List(keys)).Where("removed_at IS NOT NULL"))
	}
	return err
}

func (k keeping) Stub(ctx context.Context, of id.Company) (*chain.SignedStub, error) {
	found, err := k.stubs(ctx, k.selectFrom("audit_stubs").Where("chain = ?", string(of)))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

func (k keeping) Stubs(ctx context.Context) ([]chain.SignedStub, error) {
	return k.stubs(ctx, k.selectFrom("audit_stubs").Order("chain"))
}

func (k keeping) stubs(ctx context.Context, query *bun.SelectQuery) (found []chain.SignedStub, err error) {
	query = query.Column("chain", "first", "last", "hash", "removed", "made_at", "signature", "public_key")
	err = k.each(ctx, query, func(rows *sql.Rows) error {
		var one chain.SignedStub
		var of, hash, signature, key string
		var at int64
		if err := rows.Scan(&of, &one.First, &one.Last.Number, &hash, &one.Count, &at, &signature, &key); err != nil {
			return err
		}
		one.Company, one.At = id.Company(of), instant(at)
		one.Last.Hash, _ = chain.ParseHash(hash) // what somebody has put there is not what was signed
		one.Text, _ = base64.StdEncoding.DecodeString(signature)
		one.Key, _ = chain.ParseKey(key)
		found = append(found, one)
		return nil
	})
	return found, err
}

func (k keeping) SaveStub(ctx context.Context, stub chain.SignedStub) error {
	_, err := k.exec(ctx, k.engine.DB().NewRaw("INSERT INTO audit_stubs (chain, company_id, first, last, hash, removed, made_at, "+
		"signature, public_key) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (chain) DO UPDATE SET first = excluded.first, "+
		"last = excluded.last, hash = excluded.hash, removed = excluded.removed, made_at = excluded.made_at, "+
		"signature = excluded.signature, public_key = excluded.public_key",
		string(stub.Company), bun.NullZero(string(stub.Company)), stub.First, stub.Last.Number, stub.Last.Hash.String(), stub.Count,
		millis(stub.At), base64.StdEncoding.EncodeToString(stub.Text), chain.SpellKey(stub.Key)).Conn(k.conn))
	return err
}
