package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/lead"
)

func (l leads) State(ctx context.Context) (lead.State, error) { return leadState(ctx, l.session) }

func leadState(ctx context.Context, s session) (lead.State, error) {
	var found leadStateRow
	if err := s.row(ctx, found.columns(), errNoLeadState, selectLeadState, 1); err != nil {
		return lead.State{}, err
	}
	return found.value(), nil
}

var selectLeadState = prepare(func(b builder) fmt.Stringer {
	return b.selects((*leadStateRow)(nil)).Where("single = ?", b.arg(1))
})

var (
	errNoLeadState = errors.New("the state of leads is not there")
	errAdvanced    = errors.New("a unit of work advances leads once")
	errNotAdvanced = errors.New("leads, campaigns and the taxonomy are changed by a unit that has advanced leads")
)

func (l leads) Advance(ctx context.Context) (time.Time, error) {
	_, at, err := l.advance(ctx)
	return at, err
}

// advance is Advance, and returns the state before it too.
func (l leads) advance(ctx context.Context) (before lead.State, at time.Time, err error) {
	if l.unit.revision != 0 {
		return before, at, errAdvanced
	}
	// Lock the table, not its row: LOCK TABLE takes no snapshot. So a unit that begins with it reads only once it has the lock,
	// and has no conflict with the unit that had the lock before.
	if err := l.engine.LockTable(ctx, l.conn, "lead_state"); err != nil {
		return before, at, l.failure(ctx, err)
	}
	if before, err = l.State(ctx); err != nil {
		return before, at, err
	}
	at = before.Next(l.now)
	_, err = l.exec(ctx, l.updates((*leadStateRow)(nil)).
		Set("revision = ?", before.Revision+1).Set("changed_at = ?", millis(at)).Where("single = 1"))
	if err != nil {
		return before, at, err
	}
	l.unit.revision = before.Revision + 1
	if err := l.noteRevision(ctx, l.unit.revision, at); err != nil {
		return before, at, err
	}
	return before, at, l.noteInstant(ctx, before, at)
}

func (l leads) Restored(ctx context.Context) error {
	before, at, err := l.advance(ctx)
	if err == nil {
		_, err = l.exec(ctx, l.updates((*leadStateRow)(nil)).
			Set("lost_after = ?", optionalMillis(before.ChangedAt)).Set("lost_until = ?", millis(at)).Where("single = 1"))
	}
	return err
}

// advanced returns the revision that the unit's changes belong to.
func (u *unitState) advanced() (int64, error) {
	if u.revision == 0 {
		return 0, errNotAdvanced
	}
	return int64(u.revision), nil
}

// leadStateRow is the only row of its table.
type leadStateRow struct {
	bun.BaseModel `bun:"table:lead_state"`

	Revision  int64  `bun:"revision"`
	Taxonomy  int64  `bun:"taxonomy"`
	ChangedAt *int64 `bun:"changed_at"`
	LostAfter *int64 `bun:"lost_after"`
	LostUntil *int64 `bun:"lost_until"`

	PrunedRevision int64 `bun:"forgotten_revision"`
	PrunedKey      int64 `bun:"forgotten_key"`

	Suppressed int64 `bun:"suppressed"`
}

func (r *leadStateRow) columns() []any {
	return []any{
		&r.Revision, &r.Taxonomy, &r.ChangedAt, &r.LostAfter, &r.LostUntil, &r.PrunedRevision, &r.PrunedKey, &r.Suppressed,
	}
}

func (r leadStateRow) value() lead.State {
	return lead.State{
		Revision:   lead.Revision(r.Revision),
		Taxonomy:   lead.Revision(r.Taxonomy),
		Suppressed: lead.Revision(r.Suppressed),
		ChangedAt:  optionalInstant(r.ChangedAt),
		LostAfter:  optionalInstant(r.LostAfter),
		LostUntil:  optionalInstant(r.LostUntil),
		Pruned:     lead.FeedPlace{Revision: lead.Revision(r.PrunedRevision), Key: r.PrunedKey},
	}
}
