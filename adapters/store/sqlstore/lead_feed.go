package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// mostScanned bounds how many changes a page of the feed looks at, and mostInStep how many of them at once. mostLookedThrough bounds among
// how many leads it looks for those of campaigns that moved.
const mostScanned, mostInStep, mostLookedThrough = 10_000, 1000, 20_000

func (l leads) Feed(ctx context.Context, query lead.FeedQuery) (lead.FeedPage, error) {
	var page lead.FeedPage
	err := l.snapshot(ctx, func(ctx context.Context, s session) (err error) {
		if page.State, err = leadState(ctx, s); err != nil {
			return err
		}
		if query.After == (lead.FeedPosition{}) {
			query.After = page.State.FromNothing()
		}
		page.Next = query.After
		if err := s.follows(ctx, page.State, query.After); err != nil {
			return err
		}
		read := feedReader{leads: leads{session: s}, FeedQuery: query, labels: newLabelReader(), at: query.After.Place}
		if err := read.scan(ctx); err != nil {
			return err
		}
		if page.Changes, err = read.page(ctx, page.State); err != nil {
			return err
		}
		if page.More = read.isMore; read.at != query.After.Place {
			page.Next.Place = read.at
			page.Next = page.Next.At(page.State)
		}
		return nil
	})
	return page, err
}

// feedReader reads a page of the feed within a snapshot.
type feedReader struct {
	leads
	lead.FeedQuery

	labels *labelReader
	found  []lead.FeedChange
	at     lead.FeedPlace // the place up to which all was read
	isMore bool           // there may be changes after that
}

// scan finds changes of leads, until there are enough, or no more, or too many were looked at. Of those that the filter matches it knows
// the keys alone: their documents are read when it is known which of them are in the page.
func (r *feedReader) scan(ctx context.Context) error {
	step := r.Size + 1
	for scanned := 0; ; step = min(2*step, max(mostInStep, r.Size+1)) {
		var rows []leadRow
		err := r.all(ctx, r.selects(&rows).Column("key", "id", "revision", "removed_at", "labels").
			Where("(revision, key) > (?, ?)", r.at.Revision, r.at.Key).OrderExpr("revision, key LIMIT ?", step))
		if err != nil {
			return err
		}
		if err := r.take(ctx, rows); err != nil {
			return err
		}
		scanned += len(rows)
		isAll, isEnough := len(rows) < step, len(r.found) > r.Size || scanned >= mostScanned
		if isAll || isEnough {
			r.isMore = !isAll
			return nil
		}
	}
}

// take takes what a reader is told of from changes of leads.
func (r *feedReader) take(ctx context.Context, rows []leadRow) error {
	matched, err := r.matched(ctx, rows)
	if err != nil {
		return err
	}
	for _, row := range rows {
		r.at = lead.FeedPlace{Revision: lead.Revision(row.Revision), Key: row.Key}
		change := changeOf(row, r.at, matched)
		switch {
		case change.Kind == lead.Upserted:
		case r.at.Revision <= r.After.Fresh:
			continue
		case row.RemovedAt != nil && r.shows(row):
			change.Kind, change.At = lead.Gone, instant(*row.RemovedAt)
		}
		r.found = append(r.found, change)
	}
	return nil
}

// changeOf is the change of a lead that a filter has matched, or has not.
func changeOf(row leadRow, place lead.FeedPlace, matched map[int64]bool) lead.FeedChange {
	change := lead.FeedChange{Place: place, Kind: lead.Left, Lead: row.ID}
	if matched[row.Key] {
		change.Kind = lead.Upserted
	}
	return change
}

// shows reports whether the view shows a lead. Of one that was removed the labels stay that it had.
func (r *feedReader) shows(row leadRow) bool {
	of := r.labels.read(row.Labels)
	return r.Filter.View.Shows(of.industry, of.campaigns)
}

// matched has the keys of those leads that the filter matches.
func (r *feedReader) matched(ctx context.Context, rows []leadRow) (map[int64]bool, error) {
	matched, keys := make(map[int64]bool, len(rows)), make([]int64, 0, len(rows))
	for _, row := range rows {
		if row.RemovedAt == nil {
			keys = append(keys, row.Key)
		}
	}
	if len(keys) == 0 {
		return matched, nil
	}
	others, err := r.lookedUp(ctx, r.Filter)
	if err != nil {
		return nil, err
	}
	query := matching(r.selects((*leadRow)(nil)), r.Filter, others).Column("key").Where("key IN (?)", bun.List(keys))
	return matched, r.each(ctx, query, func(rows *sql.Rows) error {
		var key int64
		err := rows.Scan(&key)
		matched[key] = true
		return err
	})
}

// page is what was found, with the names that changed and the campaigns that moved up to there, cut to the size that is asked for, and
// with the documents of leads.
func (r *feedReader) page(ctx context.Context, state lead.State) ([]lead.FeedChange, error) {
	upTo := lead.FeedPlace{Revision: state.Revision, Key: math.MaxInt64}
	if r.isMore {
		upTo = r.at
	}
	if state.Taxonomy >= r.After.Place.Revision {
		names, err := r.names(ctx, state, upTo)
		if err != nil {
			return nil, err
		}
		r.add(names)
	}
	if len(r.Filter.View.Industries) > 0 {
		if err := r.addMoved(ctx, upTo); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.found, func(a, b lead.FeedChange) int { return a.Place.Compare(b.Place) })
	if len(r.found) > r.Size {
		r.found, r.isMore = r.found[:r.Size], true
		r.at = r.found[r.Size-1].Place
	}
	if err := r.fit(ctx); err != nil {
		return nil, err
	}
	err := r.document(ctx)
	return r.found, err
}

// add adds changes in their order to what was found.
func (r *feedReader) add(changes []lead.FeedChange) {
	r.found = append(r.found, changes...)
	if n := len(changes); n > 0 {
		r.reach(changes[n-1].Place)
	}
}

// reach notes that all was read up to a place.
func (r *feedReader) reach(place lead.FeedPlace) {
	if place.Compare(r.at) > 0 {
		r.at = place
	}
}

// addMoved adds the leads of campaigns that moved to another industry, where these moved, up to a place. What stands in the feed after
// the position on its own account is told anyway. No index finds the leads of a campaign, so it looks through all by their keys. It stops
// after mostLookedThrough of them, and the next page goes on there.
func (r *feedReader) addMoved(ctx context.Context, upTo lead.FeedPlace) error {
	moves, err := r.moves(ctx, upTo.Revision)
	if err != nil || len(moves) == 0 {
		return err
	}
	var last int64
	if err := r.row(ctx, []any{&last}, nil, lastLeadKey, 0); err != nil {
		return err
	}
	left := int64(mostLookedThrough)
	for _, move := range moves {
		from, to := int64(0), last
		if move.revision == r.After.Place.Revision {
			from = r.After.Place.Key
		}
		if move.revision == upTo.Revision {
			to = min(to, upTo.Key)
		}
		if from < to {
			end := min(to, from+left)
			isAll, err := r.addLeadsOf(ctx, move, from, end)
			if err != nil || !isAll {
				return err
			}
			if end < to {
				r.cut(lead.FeedPlace{Revision: move.revision, Key: end})
				return nil
			}
			left -= end - from
		}
		if !r.isMore {
			r.reach(lead.FeedPlace{Revision: move.revision, Key: math.MaxInt64}) // so that the leads are not looked through again
		}
	}
	return nil
}

// cut drops what was found after a place, up to which all was read.
func (r *feedReader) cut(place lead.FeedPlace) {
	r.found = slices.DeleteFunc(r.found, func(one lead.FeedChange) bool { return one.Place.Compare(place) > 0 })
	r.at, r.isMore = place, true
}

// addLeadsOf adds the leads of campaigns that moved at once, which have these keys, until there are enough for a page. It reports whether
// those are all.
func (r *feedReader) addLeadsOf(ctx context.Context, move campaignMove, after, upTo int64) (isAll bool, err error) {
	var rows []leadRow
	query := notRemoved(r.selects((*leadRow)(nil))).Column("key", "id", "labels").
		Where("key > ?", after).Where("key <= ?", upTo).
		// By the sum no index on revisions serves, so that leads are read in the order of their keys.
		Where("(revision + 0, key) <= (?, ?)", r.After.Place.Revision, r.After.Place.Key).OrderExpr("key")
	err = r.each(ctx, query, func(found *sql.Rows) error {
		var row leadRow
		if err := found.Scan(&row.Key, &row.ID, &row.Labels); err != nil {
			return err
		}
		if len(rows) <= r.Size && slices.ContainsFunc(r.labels.read(row.Labels).campaigns, move.has) {
			rows = append(rows, row)
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	matched, err := r.matched(ctx, rows)
	if err != nil {
		return false, err
	}
	changes := make([]lead.FeedChange, len(rows))
	for i, row := range rows {
		changes[i] = changeOf(row, lead.FeedPlace{Revision: move.revision, Key: row.Key}, matched)
	}
	r.add(changes)
	return len(rows) <= r.Size, nil
}

// campaignMove is when campaigns moved to another industry.
type campaignMove struct {
	revision  lead.Revision
	campaigns map[id.Campaign]bool
}

func (m campaignMove) has(which id.Campaign) bool { return m.campaigns[which] }

// moves are those after the position and up to a revision. Who began with nothing after one was shown what it led to.
func (r *feedReader) moves(ctx context.Context, upTo lead.Revision) (moves []campaignMove, err error) {
	query := r.selectFrom("campaigns").Column("id", "moved_revision").
		Where("moved_revision >= ?", max(r.After.Place.Revision, r.After.Fresh+1)).Where("moved_revision <= ?", upTo).
		OrderExpr("moved_revision, id")
	err = r.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Campaign
		var at lead.Revision
		if err := rows.Scan(&which, &at); err != nil {
			return err
		}
		if n := len(moves); n == 0 || moves[n-1].revision != at {
			moves = append(moves, campaignMove{at, map[id.Campaign]bool{}})
		}
		moves[len(moves)-1].campaigns[which] = true
		return nil
	})
	return moves, err
}

// fit cuts what was found to the bytes that are asked for.
func (r *feedReader) fit(ctx context.Context) error {
	if r.Bytes == 0 {
		return nil
	}
	room := lead.RoomFor(r.Bytes)
	for begin := 0; begin < len(r.found); begin += store.MostKeyed {
		some := r.found[begin:min(begin+store.MostKeyed, len(r.found))]
		sizes, err := r.KeyedSizes(ctx, upsertedKeys(some))
		if err != nil {
			return err
		}
		for i, change := range some {
			if change.Kind == lead.Upserted && !room.Take(sizes[change.Place.Key]) {
				r.found, r.isMore = r.found[:begin+i], true
				r.at = r.found[begin+i-1].Place
				return nil
			}
		}
	}
	return nil
}

// upsertedKeys are the keys of the leads of which changes have the documents.
func upsertedKeys(changes []lead.FeedChange) (keys []int64) {
	for _, change := range changes {
		if change.Kind == lead.Upserted {
			keys = append(keys, change.Place.Key)
		}
	}
	return keys
}

// names are the first changes of names after the position and up to a place.
func (r *feedReader) names(ctx context.Context, state lead.State, upTo lead.FeedPlace) (names []lead.FeedChange, err error) {
	query := r.selectFrom("named").With("named", r.engine.DB().NewRaw(
		`SELECT now.id, now.name, now.slug, now.industry_id,
			CASE WHEN told.name = now.name AND told.slug = now.slug THEN told.revision ELSE ? END AS revision
		FROM (SELECT id, name, slug, '' AS industry_id FROM industries UNION ALL SELECT id, name, slug, industry_id FROM verticals) AS now
		LEFT JOIN taxonomy_names AS told ON told.id = now.id`, state.Taxonomy)).
		Column("id", "name", "slug", "industry_id", "revision").
		Where("revision <= ?", upTo.Revision).OrderExpr("revision, id LIMIT ?", r.Size+1)
	if shown := r.Filter.View.Industries; len(shown) > 0 {
		query = query.Where("CASE WHEN industry_id = '' THEN id ELSE industry_id END IN (?)", bun.List(shown))
	}
	if after := r.After.Place; after.Key > 0 {
		query = query.Where("revision > ?", after.Revision)
	} else {
		query = query.Where("(revision, id) > (?, ?)", after.Revision, after.ID)
	}
	err = r.each(ctx, query, func(rows *sql.Rows) error {
		var name, slug, industry string
		change := lead.FeedChange{Kind: lead.TaxonomyChanged}
		if err := rows.Scan(&change.Place.ID, &name, &slug, &industry, &change.Place.Revision); err != nil {
			return err
		}
		if industry == "" {
			change.Industry = &lead.Industry{ID: id.Industry(change.Place.ID), Name: name, Slug: slug}
		} else {
			change.Vertical = &lead.Vertical{
				ID: id.Vertical(change.Place.ID), Industry: id.Industry(industry), Name: name, Slug: slug,
			}
		}
		names = append(names, change)
		return nil
	})
	return names, err
}

// document reads the leads of what was found.
func (r *feedReader) document(ctx context.Context) error {
	at := make(map[int64][]int, len(r.found)) // a lead of two campaigns that moved can come twice
	for i, change := range r.found {
		if change.Kind == lead.Upserted {
			at[change.Place.Key] = append(at[change.Place.Key], i)
		}
	}
	for some := range slices.Chunk(upsertedKeys(r.found), store.MostKeyed) {
		leads, err := r.Keyed(ctx, some)
		if err != nil {
			return err
		}
		for _, one := range leads {
			for _, i := range at[one.Key] {
				r.found[i].Exported = one.Exported
			}
		}
	}
	return nil
}

func (l leads) FeedSince(ctx context.Context, since time.Time) (lead.FeedPosition, error) {
	var from lead.FeedPosition
	err := l.snapshot(ctx, func(ctx context.Context, s session) error {
		state, err := leadState(ctx, s)
		if err != nil {
			return err
		}
		if since.After(state.ChangedAt) {
			from.Place.Revision = state.Revision
		} else {
			before := s.selectFrom("lead_instants").Column("revision").Where("at < ?", millisFrom(since)).OrderExpr("at DESC LIMIT 1")
			err = s.each(ctx, before, func(rows *sql.Rows) error { return rows.Scan(&from.Place.Revision) })
			if err != nil {
				return err
			}
		}
		if from = from.At(state); from.Place.Revision > 0 {
			from.Place.Key = math.MaxInt64
		}
		return s.follows(ctx, state, from)
	})
	return from, err
}

func (l leads) CanFollow(ctx context.Context, from lead.FeedPosition) error {
	return l.snapshot(ctx, func(ctx context.Context, s session) error {
		state, err := leadState(ctx, s)
		if err != nil {
			return err
		}
		return s.follows(ctx, state, from)
	})
}

// revisionInstant finds the instant of the change that made a revision.
var revisionInstant = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("lead_revisions").Column("at").Where("revision = ?", b.arg(1))
})

// follows fails with store.ErrFeedLost when the feed of a state does not go on from a position.
func (s session) follows(ctx context.Context, state lead.State, from lead.FeedPosition) error {
	var then time.Time
	if from.Seen > 0 && from.Seen < state.Revision {
		err := s.rows(ctx, func(rows *sql.Rows) error {
			var at int64
			err := rows.Scan(&at)
			then = instant(at)
			return err
		}, revisionInstant, int64(from.Seen))
		if err != nil {
			return err
		}
	}
	if !state.CanFollow(from, then) {
		return store.ErrFeedLost
	}
	return nil
}

// mostNoted is how many of the newest revisions at least have their instants noted.
const mostNoted = 100_000

// noteRevision notes the instant of the change that makes a revision, and sometimes drops those of old ones.
func (l leads) noteRevision(ctx context.Context, revision lead.Revision, at time.Time) error {
	_, err := l.exec(ctx, l.engine.DB().NewRaw("INSERT INTO lead_revisions (revision, at) VALUES (?, ?)",
		int64(revision), millis(at)).Conn(l.conn))
	if err != nil || revision%1000 != 0 {
		return err
	}
	_, err = l.exec(ctx, l.engine.DB().NewDelete().Conn(l.conn).Table("lead_revisions").Where("revision <= ?", int64(revision-mostNoted)))
	return err
}

// noteInstant notes the instant of the change before that at an instant, unless that of another one shortly before is noted. So whatever
// instant a reader begins at, the changes that he is told of too early are of a FeedStep at most, however long nothing changed.
func (l leads) noteInstant(ctx context.Context, before lead.State, at time.Time) error {
	if before.Revision == 0 {
		return nil
	}
	recently := l.selectFrom("lead_instants").ColumnExpr("1").Where("at > ?", millis(at.Add(-store.FeedStep)))
	_, err := l.exec(ctx, l.engine.DB().NewRaw("INSERT INTO lead_instants (at, revision) SELECT ?, ? WHERE NOT EXISTS (?)",
		millis(before.ChangedAt), int64(before.Revision), recently).Conn(l.conn))
	return err
}

// noteNames notes the names that are new, or differ from what is noted, with the revision of the unit.
func (t taxonomy) noteNames(ctx context.Context, revision int64) error {
	for _, table := range []string{industryTable.name, verticalTable.name} {
		_, err := t.exec(ctx, t.engine.DB().NewRaw(`INSERT INTO taxonomy_names (id, name, slug, revision)
			SELECT id, name, slug, ? FROM ? WHERE true
			ON CONFLICT (id) DO UPDATE SET name = excluded.name, slug = excluded.slug, revision = excluded.revision
			WHERE taxonomy_names.name <> excluded.name OR taxonomy_names.slug <> excluded.slug`,
			revision, bun.Ident(table)).Conn(t.conn))
		if err != nil {
			return err
		}
	}
	return nil
}
