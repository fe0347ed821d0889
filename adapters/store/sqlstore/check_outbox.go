package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"holdco/domain/doctor"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

// Outbox compares queues and deliveries with the outbox.
func (c checks) Outbox(ctx context.Context, at time.Time, differs func(store.Difference)) error {
	w := outboxComparison{comparison: comparison{session: c.session, differs: differs}, at: at}
	if err := w.read(ctx); err != nil {
		return err
	}
	return all(ctx, w.lengths, w.gaps, w.endpoints, w.leases)
}

// outboxComparison compares all queues with the outbox.
type outboxComparison struct {
	comparison
	at     time.Time
	length int64 // the last position that was given
	queues []comparedQueue
}

// comparedQueue is a queue, as far as it has something to send.
type comparedQueue struct {
	endpoint          string
	cursor            int64
	skipAfter, skipTo int64 // positions after the one, up to the other, are skipped
}

func (w *outboxComparison) read(ctx context.Context) error {
	err := w.each(ctx, w.selectFrom("outbox").Column("length"), func(rows *sql.Rows) error { return rows.Scan(&w.length) })
	if err != nil {
		return err
	}
	query := w.selectFrom("queues").Column("webhook_id", "cursor", "skip_after", "skip_to").Where("cursor IS NOT NULL").Order("webhook_id")
	return w.each(ctx, query, func(rows *sql.Rows) error {
		var one comparedQueue
		var after, to *int64
		err := rows.Scan(&one.endpoint, &one.cursor, &after, &to)
		one.skipAfter, one.skipTo = math.MaxInt64, math.MaxInt64 // the range may have no end yet
		if after != nil {
			one.skipAfter = *after
		}
		if to != nil {
			one.skipTo = *to
		}
		w.queues = append(w.queues, one)
		return err
	})
}

// lengths compares the length of the outbox with the positions that were given. With a shorter one it would give some again, which is
// refused, so webhooks would get nothing any more. What is compared after it goes by the positions.
func (w *outboxComparison) lengths(ctx context.Context) error {
	var last int64
	query := w.selectFrom("activity").ColumnExpr("coalesce(max(position), 0)").Where("position IS NOT NULL")
	err := w.each(ctx, query, func(rows *sql.Rows) error { return rows.Scan(&last) })
	if err != nil || last <= w.length {
		return err
	}
	w.differs(store.Difference{
		Rule: "outbox.length", About: "outbox", Kept: plainly(w.length), Should: fmt.Sprint(last, " at least"),
		Mend: mend(func(ctx context.Context, in session) error {
			update := in.engine.DB().NewUpdate().Conn(in.conn).Table("outbox").Set("length = ?", last)
			_, err := in.exec(ctx, update.Where("length < ?", last))
			return err
		}),
	})
	w.length = last
	return nil
}

// gaps looks for positions at which a queue has still to look, and where nothing is. What was given up of a removed company is gone, so
// a gap is nothing that is missing if it may be as old as that.
func (w *outboxComparison) gaps(ctx context.Context) error {
	first := int64(math.MaxInt64)
	for _, one := range w.queues {
		if first = min(first, one.cursor); one.cursor > w.length+1 { // at most, the last one is finished
			w.differs(store.Difference{
				Rule: "outbox.cursor", About: one.endpoint, Kept: plainly(one.cursor), Should: fmt.Sprint(w.length+1, " at most"),
			})
		}
	}
	if len(w.queues) == 0 {
		return nil
	}
	givenUp, err := w.givenUp(ctx)
	if err != nil {
		return err
	}
	before := w.selectFrom("activity").ColumnExpr("coalesce(max(position), 0)").Where("position < ?", first)
	query := w.selectFrom("activity").Column("position", "at").Where("position >= (?)", before).Order("position")
	last, lastAt := int64(0), int64(0)
	err = w.each(ctx, query, func(rows *sql.Rows) error {
		var position, at int64
		if err := rows.Scan(&position, &at); err != nil {
			return err
		}
		if last == 0 { // what was before is not known, and was made before this
			last, lastAt = min(first, position)-1, at
		}
		w.gap(last+1, position-1, lastAt >= givenUp)
		last, lastAt = position, at
		return nil
	})
	if err == nil {
		w.gap(max(last+1, first), w.length, lastAt >= givenUp || last == 0)
	}
	return err
}

// givenUp is the instant before which what webhooks had to send of removed companies may have been given up. Retention may have removed
// the entry that tells of a removal: then there is a stub.
func (w *outboxComparison) givenUp(ctx context.Context) (before int64, err error) {
	before = millis(w.at.Add(-webhook.LogRetention))
	isAny, err := w.exists(ctx, w.selectFrom("activity").Where("type = ?", event.CompanyDeleted).Where("at < ?", before))
	if err == nil && !isAny {
		isAny, err = w.exists(ctx, w.selectFrom("audit_stubs").Where("chain = ''"))
	}
	if !isAny {
		before = math.MinInt64
	}
	return before, err
}

// gap reports that there is nothing at the positions from first to last, to the queues that have still to look there.
func (w *outboxComparison) gap(first, last int64, isMissing bool) {
	if first > last || !isMissing {
		return
	}
	for _, one := range w.queues {
		from, to := max(first, one.cursor), last
		if from > one.skipAfter && from <= one.skipTo { // it begins in what is skipped
			from = to + 1
			if one.skipTo < last {
				from = one.skipTo + 1
			}
		} else if to > one.skipAfter && to <= one.skipTo {
			to = one.skipAfter
		}
		if from <= to {
			w.differs(store.Difference{
				Rule: "outbox.gap", About: one.endpoint, Kept: "nothing", Should: fmt.Sprintf("events at the positions %d to %d", from, to),
			})
		}
	}
}

// endpoints looks for deliveries to endpoints that are not there and were not deleted. A job removes those of deleted ones, and what is
// left of removed companies.
func (w *outboxComparison) endpoints(ctx context.Context) error {
	query := w.selectFrom("deliveries").ColumnExpr("webhook_id, count(*)").
		Where("NOT EXISTS (SELECT 1 FROM webhooks WHERE id = webhook_id)").
		Where("NOT EXISTS (SELECT 1 FROM activity WHERE subject_id = webhook_id AND type = ?)", event.WebhookDeleted).
		Where("company_id = '' OR EXISTS (SELECT 1 FROM companies WHERE id = company_id)").
		Group("webhook_id").Order("webhook_id")
	return w.each(ctx, query, func(rows *sql.Rows) error {
		var which string
		var n int64
		if err := rows.Scan(&which, &n); err != nil {
			return err
		}
		w.differs(store.Difference{
			Rule: "delivery.endpoint", About: which, Kept: fmt.Sprint(n, " deliveries, and no endpoint"), Should: "an endpoint",
		})
		return nil
	})
}

// leases looks for queues that were leased and left. While a server runs it takes them over, unless their endpoints are disabled.
func (w *outboxComparison) leases(ctx context.Context) error {
	query := w.selectFrom("queues").Column("webhook_id", "lease", "leased_until").Where("lease <> ''").
		Where("leased_until < ?", millis(w.at.Add(-doctor.LapsedFor))).Order("webhook_id")
	return w.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Webhook
		var lease string
		var until int64
		if err := rows.Scan(&which, &lease, &until); err != nil {
			return err
		}
		w.differs(store.Difference{
			Rule: "queue.lease", About: string(which), Kept: fmt.Sprint("lapsed ", w.at.Sub(instant(until)).Round(time.Minute), " ago"),
			Should: "none",
			Mend: mend(func(ctx context.Context, in session) error {
				o := outbox{in, in.clocks.process.Now()}
				queue, err := o.Leased(ctx, which, lease)
				if fault.CodeOf(err) == fault.NotFound { // somebody else has it by now
					return nil
				}
				if err != nil {
					return err
				}
				return o.Release(ctx, queue)
			}),
		})
		return nil
	})
}
