package sqlstore

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/agent"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/ports/store"
)

// issues compares issues with their runs, and whatever is derived from issues.
func (a comparison) issues(ctx context.Context) error {
	return all(ctx, a.issueByIssue, a.blockerCycles)
}

// comparedIssues are the columns of issues that are compared, or that something is derived from: all but long texts.
var comparedIssues = func() *table[issue.Issue] {
	var names []string
	for _, c := range issueTable.columns {
		if !slices.Contains([]string{"title", "description", "result", "error"}, c.name) {
			names = append(names, c.name)
		}
	}
	return issueTable.part(names...)
}()

// comparedRuns are the columns of runs that are compared.
var comparedRuns = runTable.part("id", "issue_id", "agent_id", "fencing_token", "ended_at", "charges", uncosted)

const uncosted = "uncosted_at"

// comparedAtOnce is how many issues are compared at once.
const comparedAtOnce = 500

// issueByIssue compares all issues, and what is counted of them.
func (a comparison) issueByIssue(ctx context.Context) error {
	w := issueComparison{
		comparison: a, pending: map[settling]bool{}, tallies: map[tallyKey]int64{}, days: map[dayKey]int64{}, open: map[id.Agent]int{},
	}
	if err := w.settlements(ctx); err != nil {
		return err
	}
	for last := int64(0); ; {
		found, err := w.some(ctx, last)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			break
		}
		if err := w.compare(ctx, found); err != nil {
			return err
		}
		last = found[len(found)-1].Number
	}
	for _, which := range slices.Sorted(maps.Keys(w.open)) {
		if n := w.open[which]; n > run.MostOpen {
			w.differs(store.Difference{
				Rule: "agent.runs", About: string(which), Kept: plainly(int64(n)), Should: fmt.Sprint(run.MostOpen, " at most"),
			})
		}
	}
	return all(ctx, w.compareTallies, w.compareDays)
}

// settling is what a settlement has still to do.
type settling struct {
	kind    store.SettlementKind
	subject string
}

// toCount is what is left to do for what waits for an issue.
func toCount(blocker id.Issue) settling { return settling{store.CountBlockers, string(blocker)} }

// issueComparison compares the issues of a company, one portion after the other.
type issueComparison struct {
	comparison
	pending map[settling]bool

	// What follows from the issues so far.

	tallies map[tallyKey]int64
	days    map[dayKey]int64
	open    map[id.Agent]int // runs
}

func (w issueComparison) settlements(ctx context.Context) error {
	query := settlementTable.selects(w.engine.DB()).Where("company_id = ?", w.of)
	row := settlementTable.scanner()
	return w.each(ctx, query, func(rows *sql.Rows) error {
		one, err := row.scan(rows)
		w.pending[settling{one.Kind, one.Subject}] = true
		return err
	})
}

// some reads the next issues by number. It compares their derived columns.
func (w issueComparison) some(ctx context.Context, after int64) (found []issue.Issue, err error) {
	query := comparedIssues.selects(w.engine.DB()).Where("company_id = ?", w.of).Where("number > ?", after).Order("number").
		Limit(comparedAtOnce)
	row := comparedIssues.scanner()
	err = w.each(ctx, query, func(rows *sql.Rows) error {
		i, err := row.scan(rows)
		if err != nil {
			return err
		}
		for n, c := range comparedIssues.columns {
			if !c.computed {
				continue
			}
			kept := any(row.cells[n].text)
			if c.kind == integerKind {
				kept = row.cells[n].integer
			}
			if should := c.get(&i); kept != should {
				w.issueDiffers("issue.derived", i.ID, c.name, fmt.Sprint(kept), fmt.Sprint(should))
			}
		}
		found = append(found, i)
		return nil
	})
	return found, err
}

// issueDiffers reports what is derived from an issue.
func (w issueComparison) issueDiffers(rule string, which id.Issue, where, kept, should string) {
	w.differs(store.Difference{
		Rule: rule, About: string(which), Where: where, Kept: kept, Should: should,
		Mend: mend(func(ctx context.Context, in session) error { return rederive(ctx, in, which) }),
	})
}

// rederived are the columns of an issue that follow from others, and from other rows.
var rederived = slices.DeleteFunc(slices.Clone(issueTable.saved), func(c column[issue.Issue]) bool {
	return !c.computed && !slices.Contains([]string{"open_blockers", "failed_blockers", "kept_usd", "version"}, c.name)
})

var rederiveIssue = prepare(func(b builder) fmt.Stringer { return issueTable.updates(b, rederived) })

// rederive derives anew what follows from an issue, its entries and its blockers.
func rederive(ctx context.Context, s session, which id.Issue) error {
	i := issuesOf(s)
	before, err := i.Lock(ctx, which)
	if err != nil {
		return err
	}
	states, err := i.States(ctx, before.Company, before.BlockedBy)
	if err != nil {
		return err
	}
	after, _ := before.Recount(states)
	after.Version = before.Version + 1
	entries := s.selectFrom("cost_entries").ColumnExpr("CAST(coalesce(sum(usd), 0) AS BIGINT)").Where("issue_id = ?", which)
	if err := s.scan(ctx, entries, &after.Spent); err != nil {
		return err
	}
	args := append(issueTable.values(&after, rederived), string(which), before.Version)
	if err := s.changeOneLater(ctx, rederiveIssue, args...); err != nil {
		return err
	}
	i.hasLocked(string(which), after)
	for _, table := range []string{"issue_labels", "issue_blockers"} {
		if _, err := s.exec(ctx, s.engine.DB().NewDelete().Conn(s.conn).Table(table).Where("issue_id = ?", which)); err != nil {
			return err
		}
	}
	if err := i.label(ctx, nil, &after); err != nil {
		return err
	}
	if err := i.block(ctx, nil, &after); err != nil || !after.IsClaimable() {
		return err
	}
	return s.raiseWork(ctx, after.Company)
}

// compare compares a portion of issues, and adds to what follows from all of them.
func (w issueComparison) compare(ctx context.Context, some []issue.Issue) error {
	for n := range some {
		for _, key := range tallyKeys(&some[n]) {
			w.tallies[key]++
		}
		if day, isCounted := dayOf(&some[n]); isCounted {
			w.days[day]++
		}
	}
	return all(ctx,
		func(ctx context.Context) error { return w.compareRuns(ctx, some) },
		func(ctx context.Context) error { return w.compareLabels(ctx, some) },
		func(ctx context.Context) error { return w.compareBlockers(ctx, some) },
		func(ctx context.Context) error { return w.compareParents(ctx, some) },
		func(ctx context.Context) error { return w.compareContainers(ctx, some) },
	)
}

func idsOf(issues []issue.Issue) []id.Issue {
	ids := make([]id.Issue, len(issues))
	for n, i := range issues {
		ids[n] = i.ID
	}
	return ids
}

// compareRuns compares states and fencing tokens with runs and leases.
func (w issueComparison) compareRuns(ctx context.Context, some []issue.Issue) error {
	runs := map[id.Issue][]run.Run{}
	row := comparedRuns.scanner()
	query := comparedRuns.selects(w.engine.DB()).Where("issue_id IN (?)", bun.List(idsOf(some))).Order("issue_id", "fencing_token", "id")
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		r, err := row.scan(rows)
		if kept, should := row.cells[len(row.cells)-1].integer, uncostedAt(&r); err == nil && kept != should {
			w.differs(store.Difference{
				Rule: "run.derived", About: string(r.ID), Where: uncosted, Kept: plainly(kept), Should: plainly(should),
				Mend: mend(func(ctx context.Context, in session) error { return rederiveRun(ctx, in, r.ID) }),
			})
		}
		runs[r.Issue] = append(runs[r.Issue], r)
		return err
	})
	if err != nil {
		return err
	}
	retired, err := w.retired(ctx, runs)
	if err != nil {
		return err
	}
	for _, i := range some {
		w.compareIssue(i, runs[i.ID], retired)
	}
	return nil
}

// rederiveRun derives anew by what a run without costs is found.
func rederiveRun(ctx context.Context, s session, which id.Run) error {
	r, err := runsOf(s).Lock(ctx, which)
	if err != nil {
		return err
	}
	update := s.engine.DB().NewUpdate().Conn(s.conn).Table(runTable.name)
	_, err = s.exec(ctx, update.Set("? = ?", bun.Ident(uncosted), uncostedAt(&r)).Where("id = ?", which))
	return err
}

// retired are those agents of open runs who no longer work there, as far as no settlement takes the runs from them.
func (w issueComparison) retired(ctx context.Context, of map[id.Issue][]run.Run) (map[id.Agent]bool, error) {
	retired := map[id.Agent]bool{}
	for _, runs := range of {
		for _, r := range runs {
			if r.IsOpen() {
				retired[r.Agent] = !w.pending[settling{store.Abandon, string(r.Agent)}]
			}
		}
	}
	if len(retired) == 0 {
		return retired, nil
	}
	query := w.selectFrom("agents").Column("id").Where("id IN (?)", bun.List(slices.Sorted(maps.Keys(retired)))).
		Where("status <> ?", agent.Retired)
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Agent
		err := rows.Scan(&which)
		delete(retired, which)
		return err
	})
	return retired, err
}

func (w issueComparison) compareIssue(i issue.Issue, runs []run.Run, retired map[id.Agent]bool) {
	differs := func(rule, kept, should string) {
		w.differs(store.Difference{Rule: rule, About: string(i.ID), Kept: kept, Should: should})
	}
	var open []run.Run
	for _, r := range runs {
		if r.IsOpen() {
			open = append(open, r)
			w.open[r.Agent]++
		}
	}
	isRunning := i.Status == issue.Running && !i.IsContainer
	switch {
	case len(open) > 1:
		differs("issue.runs", fmt.Sprint(len(open), " open runs"), "1 at most")
	case isRunning && len(open) == 0:
		differs("issue.runs", "running without an open run", "one open run")
	case !isRunning && len(open) > 0:
		differs("issue.runs", fmt.Sprintf("%s with the open run %s", i.Status, open[0].ID), "no open run")
	}
	for _, r := range open {
		switch {
		case retired[r.Agent]:
			differs("run.agent", fmt.Sprintf("%s works on it, who does not work here", r.Agent), "an agent of the company")
		case isRunning && r.Agent != i.Agent:
			differs("run.agent", fmt.Sprintf("%s works on it, and %s is assigned", r.Agent, cmp.Or(i.Agent, "nobody")), "the same agent")
		}
	}
	w.compareTokens(i, runs)
}

// compareTokens compares the fencing tokens of an issue and of its runs, which are in their order. The runs have each another one, from 1
// on, and the issue has the last.
func (w issueComparison) compareTokens(i issue.Issue, runs []run.Run) {
	if len(runs) == 0 {
		return
	}
	last := max(runs[len(runs)-1].Lease.Token, int64(len(runs)))
	if i.FencingToken < last {
		w.differs(store.Difference{
			Rule: "issue.token", About: string(i.ID), Kept: plainly(i.FencingToken), Should: fmt.Sprint(last, " at least"),
		})
	}
	before := int64(0)
	for _, r := range runs {
		if token := r.Lease.Token; token <= before {
			w.differs(store.Difference{
				Rule: "run.token", About: string(r.ID), Kept: plainly(token), Should: "one that no other run of the issue has, from 1 on",
			})
		} else {
			before = token
		}
	}
}

// compareLabels compares the rows by which issues are found by their labels.
func (w issueComparison) compareLabels(ctx context.Context, some []issue.Issue) error {
	kept := map[id.Issue][]string{}
	query := w.selectFrom("issue_labels").Column("issue_id", "label").Where("company_id = ?", w.of).
		Where("issue_id IN (?)", bun.List(idsOf(some)))
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Issue
		var label string
		err := rows.Scan(&which, &label)
		kept[which] = append(kept[which], label)
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range some {
		has, should := kept[i.ID], slices.Clone(i.Labels)
		slices.Sort(has)
		slices.Sort(should)
		if !slices.Equal(has, should) {
			w.issueDiffers("issue.labels", i.ID, "", strings.Join(has, ", "), strings.Join(should, ", "))
		}
	}
	return nil
}

// compareBlockers compares the rows by which issues are found by their blockers, and how many of these are open.
func (w issueComparison) compareBlockers(ctx context.Context, some []issue.Issue) error {
	type blocker struct {
		id     id.Issue
		isOpen bool
	}
	kept, blockers := map[id.Issue][]blocker{}, map[id.Issue]issue.Status{}
	query := w.selectFrom("issue_blockers").Column("issue_id", "blocker_id", "is_open").
		Where("issue_id IN (?)", bun.List(idsOf(some))).Order("issue_id", "blocker_id")
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		var which id.Issue
		var by blocker
		var isOpen int64
		err := rows.Scan(&which, &by.id, &isOpen)
		by.isOpen = isOpen == 1
		kept[which] = append(kept[which], by)
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range some {
		for _, by := range i.BlockedBy {
			blockers[by] = ""
		}
	}
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(blockers)), comparedAtOnce) {
		query := issuesByIDs(w.engine, w.of, ids).Column("id", "status")
		err := w.each(ctx, query, func(rows *sql.Rows) error {
			var which id.Issue
			var status issue.Status
			err := rows.Scan(&which, &status)
			blockers[which] = status
			return err
		})
		if err != nil {
			return err
		}
	}
	for _, i := range some {
		open, failed, settling, ids := 0, 0, false, slices.Sorted(slices.Values(i.BlockedBy))
		has := make([]id.Issue, len(kept[i.ID]))
		for n, by := range kept[i.ID] {
			if has[n] = by.id; by.isOpen {
				open++
			}
			state := blockers[by.id]
			if state == issue.Failed || state == issue.Cancelled {
				failed++
			}
			isPending := w.pending[toCount(by.id)]
			settling = settling || isPending
			shouldOpen := state != issue.Done
			if by.isOpen != shouldOpen && (shouldOpen || !isPending) {
				w.issueDiffers("issue.blockers", i.ID, string(by.id), isOpenOrDone(by.isOpen), isOpenOrDone(shouldOpen))
			}
		}
		if !slices.Equal(has, ids) {
			w.issueDiffers("issue.blockers", i.ID, "", fmt.Sprint(has), fmt.Sprint(ids))
		}
		if i.OpenBlockers != open {
			w.issueDiffers("issue.open_blockers", i.ID, "", fmt.Sprint(i.OpenBlockers), fmt.Sprint(open))
		}
		if i.FailedBlockers != failed && !settling {
			w.issueDiffers("issue.failed_blockers", i.ID, "", fmt.Sprint(i.FailedBlockers), fmt.Sprint(failed))
		}
	}
	return nil
}

func isOpenOrDone(isOpen bool) string {
	if isOpen {
		return "open"
	}
	return "done"
}

// compareParents looks for issues that are below themselves, or deeper than issues can be.
func (w issueComparison) compareParents(ctx context.Context, some []issue.Issue) error {
	query := w.raw(`WITH RECURSIVE up (id, parent_id, level) AS (
			SELECT id, parent_id, 1 FROM issues WHERE id IN (?) AND parent_id <> ''
			UNION ALL
			SELECT up.id, issues.parent_id, up.level + 1 FROM up JOIN issues ON issues.id = up.parent_id
			WHERE issues.parent_id <> '' AND up.level < ?
		) SELECT id FROM up WHERE level = ? ORDER BY id`, bun.List(idsOf(some)), issue.MostDepth, issue.MostDepth)
	return w.each(ctx, query, func(rows *sql.Rows) error {
		var which string
		if err := rows.Scan(&which); err != nil {
			return err
		}
		w.differs(store.Difference{
			Rule: "issue.parents", About: which, Kept: "parents without end", Should: fmt.Sprint(issue.MostDepth-1, " at most"),
		})
		return nil
	})
}

// compareContainers compares the states of containers with those of their steps. Those below a cancelled one are cancelled with it, or
// by its settlement.
func (w issueComparison) compareContainers(ctx context.Context, some []issue.Issue) error {
	containers := slices.DeleteFunc(slices.Clone(some), func(i issue.Issue) bool { return !i.IsContainer })
	if len(containers) == 0 {
		return nil
	}
	steps := map[id.Issue][]issue.StepState{}
	query := w.selectFrom("issues").Column("container_id", "id", "step", "status").
		Where("container_id IN (?)", bun.List(idsOf(containers))).Where("container_id <> ''").Order("number")
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		var of id.Issue
		var which, step, status string
		if err := rows.Scan(&of, &which, &step, &status); err != nil {
			return err
		}
		state, err := stepState(which, step, status)
		steps[of] = append(steps[of], state)
		return err
	})
	if err != nil {
		return err
	}
	for _, i := range containers {
		differs := func(kept, should string) {
			w.differs(store.Difference{Rule: "issue.steps", About: string(i.ID), Kept: kept, Should: should})
		}
		isOpen := func(step issue.StepState) bool { return !step.Status.IsFinal() }
		if should := i.Standing(steps[i.ID]); should != i.Status {
			differs(string(i.Status), string(should))
		} else if n := slices.IndexFunc(steps[i.ID], isOpen); i.Status == issue.Cancelled && n >= 0 &&
			!w.pending[settling{store.CancelBelow, string(i.ID)}] {
			differs(fmt.Sprintf("cancelled with the open step %s", steps[i.ID][n].ID), "no open step")
		}
	}
	return nil
}

// blockerCycles looks for issues that wait for themselves. It goes by numbers, of which many fit into memory.
func (a comparison) blockerCycles(ctx context.Context) error {
	waits := map[int64][]int64{}
	query := a.raw(`SELECT i.number, b.number FROM issue_blockers
		JOIN issues i ON i.id = issue_blockers.issue_id JOIN issues b ON b.id = issue_blockers.blocker_id
		WHERE issue_blockers.company_id = ? AND issue_blockers.is_open = 1`, a.of)
	err := a.each(ctx, query, func(rows *sql.Rows) error {
		var which, by int64
		err := rows.Scan(&which, &by)
		waits[which] = append(waits[which], by)
		return err
	})
	if err != nil {
		return err
	}
	around, err := inCycles(ctx, waits)
	if err != nil {
		return err
	}
	for numbers := range slices.Chunk(around, comparedAtOnce) {
		query := a.selectFrom("issues").Column("id").Where("company_id = ?", a.of).Where("number IN (?)", bun.List(numbers)).Order("number")
		err := a.each(ctx, query, func(rows *sql.Rows) error {
			var which string
			if err := rows.Scan(&which); err != nil {
				return err
			}
			a.differs(store.Difference{Rule: "issue.cycle", About: which, Kept: "it waits for itself", Should: "blockers that can be done"})
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// inCycles returns the nodes of a graph that lie on a cycle, or between two, by taking away again and again those to which no edge
// leads, or from which none does. Each edge is looked at once from either side.
func inCycles(ctx context.Context, to map[int64][]int64) ([]int64, error) {
	from, left := map[int64][]int64{}, map[int64]bool{}
	in, out := map[int64]int{}, map[int64]int{} // how many edges to and from a node that is left begin and end at such ones
	for node, nodes := range to {
		left[node] = true
		out[node] = len(nodes)
		for _, next := range nodes {
			left[next] = true
			in[next]++
			from[next] = append(from[next], node)
		}
	}
	var outside []int64 // still to be taken away
	takeAway := func(node int64) {
		if left[node] {
			delete(left, node)
			outside = append(outside, node)
		}
	}
	for node := range maps.Clone(left) {
		if in[node] == 0 || out[node] == 0 {
			takeAway(node)
		}
	}
	for n := 0; n < len(outside); n++ {
		const looked = 1000 // nodes before it is seen that nobody waits
		if n%looked == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		for _, next := range to[outside[n]] {
			if in[next]--; in[next] == 0 {
				takeAway(next)
			}
		}
		for _, previous := range from[outside[n]] {
			if out[previous]--; out[previous] == 0 {
				takeAway(previous)
			}
		}
	}
	return slices.Sorted(maps.Keys(left)), nil
}

// compareTallies compares the counts of issues by their states. A count that is not kept is 0.
func (w issueComparison) compareTallies(ctx context.Context) error {
	query := w.selectFrom("tallies").Column("scope", "scope_id", "status", "n").Where("company_id = ?", w.of)
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		var key tallyKey
		var n int64
		if err := rows.Scan(&key.scope, &key.of, &key.status, &n); err != nil {
			return err
		}
		w.compareTally(key, n)
		return nil
	})
	if err != nil {
		return err
	}
	keys := slices.SortedFunc(maps.Keys(w.tallies), func(a, b tallyKey) int {
		return cmp.Or(cmp.Compare(a.scope, b.scope), cmp.Compare(a.of, b.of), cmp.Compare(a.status, b.status))
	})
	for _, key := range keys {
		w.compareTally(key, 0)
	}
	return nil
}

func (w issueComparison) compareTally(key tallyKey, n int64) {
	should := w.tallies[key]
	delete(w.tallies, key)
	if n == should {
		return
	}
	w.differs(store.Difference{
		Rule: "tally", About: key.of, Where: key.scope + " " + key.status, Kept: plainly(n), Should: plainly(should),
		Mend: mend(func(ctx context.Context, in session) error {
			return in.changeLater(ctx, addToTallies.of(1), string(w.of), key.scope, key.of, key.status, should-n)
		}),
	})
}

// compareDays compares how many issues became done and failed on each day.
func (w issueComparison) compareDays(ctx context.Context) error {
	query := w.selectFrom("day_tallies").Column("day", "what", "n").Where("company_id = ?", w.of)
	err := w.each(ctx, query, func(rows *sql.Rows) error {
		var key dayKey
		var n int64
		if err := rows.Scan(&key.day, &key.what, &n); err != nil {
			return err
		}
		w.compareDay(key, n)
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range slices.SortedFunc(maps.Keys(w.days), func(a, b dayKey) int {
		return cmp.Or(cmp.Compare(a.day, b.day), cmp.Compare(a.what, b.what))
	}) {
		w.compareDay(key, 0)
	}
	return nil
}

func (w issueComparison) compareDay(key dayKey, n int64) {
	should := w.days[key]
	delete(w.days, key)
	if n == should {
		return
	}
	w.differs(store.Difference{
		Rule: "day_tally", About: string(w.of), Where: key.day + " " + key.what, Kept: plainly(n), Should: plainly(should),
		Mend: mend(func(ctx context.Context, in session) error {
			return in.changeLater(ctx, addToDay, string(w.of), key.day, key.what, should-n)
		}),
	})
}
