package wiring_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/domain/issue"
)

// watched is what no state of the store ever shows, as statements that count what is wrong.
var watched = map[string]string{
	"issues have two open runs": `SELECT count(*) FROM
		(SELECT issue_id FROM runs WHERE ended_at IS NULL GROUP BY issue_id HAVING count(*) > 1) twice`,
	"issues run without a lease, or have one and do not run": `SELECT count(*) FROM issues
		WHERE company_id IN (SELECT id FROM companies WHERE status <> 'deleting')
		AND (status = 'running') <> (EXISTS (SELECT 1 FROM runs WHERE runs.issue_id = issues.id AND runs.ended_at IS NULL))`,
	"issues and their last leases differ in the token": `SELECT count(*) FROM issues
		WHERE company_id IN (SELECT id FROM companies WHERE status <> 'deleting')
		AND fencing_token <> (SELECT coalesce(max(runs.fencing_token), 0) FROM runs WHERE runs.issue_id = issues.id)`,
	"tallies are wrong": `SELECT count(*) FROM
		(SELECT company_id, status, count(*) AS n FROM issues
			WHERE company_id IN (SELECT id FROM companies WHERE status <> 'deleting') GROUP BY company_id, status) counted
		LEFT JOIN tallies ON tallies.company_id = counted.company_id AND tallies.status = counted.status AND tallies.scope = 'company'
		WHERE coalesce(tallies.n, 0) <> counted.n`,
	"accounts do not hold what leases have reserved": `SELECT count(*) FROM envelopes
		WHERE company_id IN (SELECT id FROM companies WHERE status <> 'deleting')
		AND held_usd <> (SELECT coalesce(sum(runs.held_usd), 0) FROM runs WHERE runs.company_id = envelopes.company_id
			AND runs.ended_at IS NULL AND envelopes.id IN (runs.company_id, runs.team_id, runs.agent_id, runs.goal_id, runs.project_id))`,
	"issues wait for approvals that are decided, or do not wait for one that is open": `SELECT count(*) FROM issues
		WHERE company_id IN (SELECT id FROM companies WHERE status <> 'deleting')
		AND (waiting_for <> '') <> (EXISTS (SELECT 1 FROM approvals
			WHERE approvals.id = issues.waiting_for AND approvals.is_open = 1 AND issues.status = 'handoff'))`,
	"approvals are open that nobody asks for": `SELECT count(*) FROM approvals
		WHERE company_id IN (SELECT id FROM companies WHERE status <> 'deleting') AND is_open = 1
		AND NOT EXISTS (SELECT 1 FROM issues WHERE issues.id = approvals.issue_id AND issues.asking = 1)`,
}

// watch looks into the store, beside the servers, until the storm is over, and lets approvals expire. It does not stay connected: what
// the servers find after a crash is not to be held by others.
func (s *workStorm) watch(t *testing.T) {
	looks := 0
	for ; !s.isOver(); s.pause(200*time.Millisecond + 10*s.slowness) {
		for what, statement := range watched {
			if found, err := count(t, beside(s.environ), statement); err == nil && found > 0 {
				s.fault("%d %s", found, what)
			} else if err == nil {
				looks++
			}
		}
		_ = hurry(t, beside(s.environ)) // the next one will do, if the store is not there or busy
	}
	if looks == 0 {
		s.fault("nobody could look into the store")
	}
}

// hurry lets some approvals expire that people have had a while to decide: a storm does not last as long as they do.
func hurry(t *testing.T, database sqlDriver) error {
	t.Helper()
	db, err := sql.Open(database.name, database.address)
	if err != nil {
		return err
	}
	defer db.Close()
	long := time.Now().Add(-time.Second).UnixMilli()
	_, err = db.ExecContext(t.Context(), fmt.Sprintf(`UPDATE approvals SET expires_at = created_at
		WHERE is_open = 1 AND created_at < %d`, long))
	return err
}

// count runs a statement beside servers, of which one may be starting and hold the file.
func count(t *testing.T, database sqlDriver, statement string) (found int, err error) {
	db, err := sql.Open(database.name, database.address)
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRowContext(t.Context(), statement).Scan(&found)
	return found, err
}

// settle gives back what is still held, and waits until the servers have done what is left: settlements, and deletions.
func (s *workStorm) settle(t *testing.T) {
	t.Helper()
	for _, office := range s.living() {
		for _, ada := range office.agents {
			if s.leaving[ada.ID] {
				continue // too many who are not let in are all told to wait
			}
			a := s.newAgent(2000)
			a.office, a.agent, a.token = office, ada, ada.Token
			a.giveBack()
		}
	}
	for _, e := range s.endings[max(0, len(s.endings)-100):] {
		if e.held.office.doomed() || s.leaving[e.held.agent] {
			continue // too many who are not let in are all told to wait
		}
		a := s.newAgent(2001)
		a.office, a.token = e.held.office, s.tokenOf(e.held)
		a.repeat(e)
	}
	for what, statement := range map[string]string{
		"the end of all leases":    "SELECT count(*) FROM runs WHERE ended_at IS NULL",
		"the end of settlements":   "SELECT count(*) FROM settlements",
		"the end of all deletions": "SELECT count(*) FROM companies WHERE status = 'deleting'",
	} {
		await(t, what, func() bool {
			found, err := count(t, beside(s.environ), statement)
			return err == nil && found == 0
		})
	}
}

func (s *workStorm) tokenOf(held *stormLeaseHeld) string {
	at := slices.IndexFunc(held.office.agents, func(a apiAgent) bool { return a.ID == held.agent })
	return held.office.agents[at].Token
}

// What the store holds after a storm.
type (
	stormIssue struct {
		id, company, status, agent, parent, blockers, goal, project, waitingFor string
		number, attempt, token, spent, open                                     int64
	}
	stormRun struct {
		id, company, issue, agent, team, goal, project, status, lease, reason string
		attempt, token, spent, charges, checkpoints, started, ended, held     int64
	}
	stormEntry struct {
		company, what, actor, subject, previous string
		data                                    map[string]any
		at                                      int64
		resumes                                 bool // it follows from the end of an approval
	}
	stormWorker struct {
		id, company, status      string
		done, failed, spent      int64
		wantDone, wantFail, cost int64
	}
)

// kind is the type of an event, and what tells it from those of the same type that follow from something else.
func (e stormEntry) kind() string {
	switch reason, _ := e.data["reason"].(string); {
	case e.what == "issue.requeued":
		return e.what + " " + reason
	case e.what == "issue.handed_off" && e.data["waitingFor"] != nil:
		return e.what + " parked"
	case e.what == "issue.handed_off" && reason != "":
		return e.what + " " + reason
	case e.what == "issue.assigned" && e.resumes:
		return e.what + " again"
	case e.what == "issue.updated" && strings.Contains(e.previous, `"title":`):
		return e.what + " title"
	}
	return e.what
}

// query runs a statement beside the servers. Each row is read by scan.
func query(t *testing.T, db *sql.DB, statement string, scan func(rows *sql.Rows) error) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	must(t, err)
	defer rows.Close()
	for rows.Next() {
		must(t, scan(rows))
	}
	must(t, rows.Err())
}

// stormRemains is what is left of a storm.
type stormRemains struct {
	*workStorm

	companies map[string]bool
	issues    map[string]*stormIssue
	runs      map[string]*stormRun   // by lease
	byIssue   map[string][]*stormRun // in the order of their tokens
	events    []stormEntry
	agents    map[string]*stormWorker
	charges   map[stormCharge]int
	said      map[stormSaid]int
	stormMoney
}

func (s *workStorm) left(t *testing.T) *stormRemains {
	t.Helper()
	r := &stormRemains{
		s, map[string]bool{}, map[string]*stormIssue{}, map[string]*stormRun{}, map[string][]*stormRun{}, nil, map[string]*stormWorker{},
		map[stormCharge]int{}, map[stormSaid]int{}, stormMoney{},
	}
	database := beside(s.environ)
	db, err := sql.Open(database.name, database.address)
	must(t, err)
	defer db.Close()
	query(t, db, "SELECT id FROM companies", func(rows *sql.Rows) error {
		var id string
		err := rows.Scan(&id)
		r.companies[id] = true
		return err
	})
	// What has been spent is kept with issues that are not running: so are all of them by now.
	query(t, db, `SELECT id, company_id, status, agent_id, parent_id, blocked_by, goal_id, project_id, waiting_for, number, attempt,
		fencing_token, kept_usd, open_blockers FROM issues`, func(rows *sql.Rows) error {
		var i stormIssue
		err := rows.Scan(&i.id, &i.company, &i.status, &i.agent, &i.parent, &i.blockers, &i.goal, &i.project, &i.waitingFor, &i.number,
			&i.attempt, &i.token, &i.spent, &i.open)
		r.issues[i.id] = &i
		return err
	})
	query(t, db, `SELECT id, company_id, issue_id, agent_id, team_id, goal_id, project_id, status, lease_id, reason, attempt,
		fencing_token, spent_usd, charges, checkpoints, created_at, coalesce(ended_at, 0), held_usd
		FROM runs ORDER BY fencing_token`, func(rows *sql.Rows) error {
		var one stormRun
		err := rows.Scan(&one.id, &one.company, &one.issue, &one.agent, &one.team, &one.goal, &one.project, &one.status, &one.lease,
			&one.reason, &one.attempt, &one.token, &one.spent, &one.charges, &one.checkpoints, &one.started, &one.ended, &one.held)
		r.runs[one.lease] = &one
		r.byIssue[one.issue] = append(r.byIssue[one.issue], &one)
		return err
	})
	resumes := map[string]bool{} // issues whose approval has just been decided
	query(t, db, "SELECT company_id, type, actor, subject_id, previous, data, at FROM activity ORDER BY seq", func(rows *sql.Rows) error {
		var e stormEntry
		var data string
		if err := rows.Scan(&e.company, &e.what, &e.actor, &e.subject, &e.previous, &data, &e.at); err != nil {
			return err
		}
		err := json.Unmarshal([]byte(data), &e.data)
		switch of, _ := e.data["issueId"].(string); {
		case (e.what == "approval.approved" || e.what == "approval.denied") && e.data["parked"] == true:
			resumes[of] = true
		case e.what == "issue.assigned":
			e.resumes = resumes[e.subject]
			delete(resumes, e.subject)
		}
		r.events = append(r.events, e)
		return err
	})
	query(t, db, `SELECT id, company_id, status, tasks_completed, tasks_failed, coalesce((
			SELECT sum(llm_usd + tools_usd + runtime_usd) FROM cost_totals WHERE scope = 'agent' AND scope_id = agents.id
		), 0) FROM agents`, func(rows *sql.Rows) error {
		var w stormWorker
		err := rows.Scan(&w.id, &w.company, &w.status, &w.done, &w.failed, &w.spent)
		r.agents[w.id] = &w
		return err
	})
	query(t, db, `SELECT id, company_id, run_id, issue_id, team_id, agent_id, key, kind, usd, input_tokens, output_tokens, late, adjusts,
		reason, coalesce(adjusted_at, 0), at FROM cost_entries`, func(rows *sql.Rows) error {
		var e stormCost
		err := rows.Scan(&e.id, &e.company, &e.run, &e.issue, &e.team, &e.agent, &e.key, &e.kind, &e.micros, &e.input, &e.output, &e.late,
			&e.adjusts, &e.reason, &e.adjusted, &e.at)
		r.costs = append(r.costs, e)
		return err
	})
	r.money(t, db)
	query(t, db, "SELECT company_id, body FROM issue_comments", func(rows *sql.Rows) error {
		var one stormSaid
		err := rows.Scan(&one.company, &one.text)
		r.said[one]++
		return err
	})
	return r
}

// check compares what the clients were told with what is there.
func (s *workStorm) check(t *testing.T) {
	t.Helper()
	s.watched(t)
	r := s.left(t)
	r.checkGrants()
	r.checkEndings()
	r.checkCosts()
	r.checkBooks()
	r.checkLimits()
	r.checkLevels()
	r.checkApprovals()
	r.checkPurposes()
	r.checkEvents()
	r.checkIssues()
	r.checkDeleted(t)
	for _, office := range s.living() {
		r.checkCounts(office)
	}
	for _, wrong := range examine(t, s.environ...) {
		s.fault("holdco doctor: %s", wrong)
	}
	for n := range s.servers {
		if log := s.servers[n].Load().log.String(); log != "" && !s.isStoreLost {
			s.fault("a server logs: %s", log)
		}
	}
	if len(r.grants) == 0 || len(r.endings) == 0 || len(r.issues) == 0 {
		s.fault("there was no work")
	}
	const most = 25
	for _, what := range s.faults[:min(most, len(s.faults))] {
		t.Error(what)
	}
	if len(s.faults) > most {
		t.Errorf("... and %d more", len(s.faults)-most)
	}
}

// watched looks once more for what no state ever shows.
func (s *workStorm) watched(t *testing.T) {
	t.Helper()
	for what, statement := range watched {
		found, err := count(t, beside(s.environ), statement)
		must(t, err)
		if found > 0 {
			s.fault("in the end %d %s", found, what)
		}
	}
}

// checkGrants: the leases are those that were granted, none was good once a later one of its issue was known, and none ended too
// early.
func (r *stormRemains) checkGrants() {
	later := map[string][]*stormLeaseHeld{}
	for _, held := range r.grants {
		if held.office.doomed() {
			continue
		}
		got := r.runs[held.lease]
		if got == nil || got.id != held.run || got.issue != held.issue || got.agent != held.agent || got.token != held.token {
			r.fault("granted was %+v, and the run is %+v", held, got)
		}
		later[held.issue] = append(later[held.issue], held)
		if good := held.renewed.Add(held.lasts - stormSlack); got != nil && got.reason == "expired" && got.ended < good.UnixMilli() {
			r.fault("the lease %+v was good until %v, and %+v ran out", held, good, got)
		}
	}
	for _, call := range r.accepted {
		for _, other := range later[call.held.issue] {
			if other.token > call.held.token && other.came.Before(call.sent) {
				r.fault("a call on %+v was taken that was sent at %v, after %+v had been granted", call.held, call.sent, other)
			}
		}
	}
	for _, all := range later {
		for _, one := range all {
			for _, other := range all {
				if one.token > other.token && one.came.Before(other.sent) || one.token == other.token && one != other {
					r.fault("granted was %+v, and then %+v", one, other)
				}
			}
		}
	}
	for _, pair := range r.pairs {
		if pair[0] == pair[1] {
			continue
		}
		one, other := r.runs[pair[0]], r.runs[pair[1]]
		if one == nil || other == nil {
			continue // their company was deleted
		}
		if one.started > other.started || one.started == other.started && one.ended > other.ended {
			one, other = other, one
		}
		if one.ended > other.started {
			r.fault("one key was given two leases at once: %+v and %+v", one, other)
		}
	}
}

// checkEndings: what was acknowledged as ended has ended so.
func (r *stormRemains) checkEndings() {
	want := map[string]string{
		"complete": "succeeded completed", "fail": "failed failed", "release": "cancelled released", "handoff": "cancelled handed_off",
		"park": "cancelled parked",
	}
	for _, e := range r.endings {
		if e.held.office.doomed() {
			continue
		}
		if got := r.runs[e.held.lease]; got == nil || got.status+" "+got.reason != want[e.action] {
			r.fault("acknowledged was the %s of %+v, and the run is %+v", e.action, e.held, got)
		}
		i := r.issues[e.held.issue]
		if i == nil || i.status == string(issue.Running) ||
			slices.Contains([]string{"done", "failed"}, e.issueStatus) && i.status != e.issueStatus {
			r.fault("acknowledged was that %s of %+v leaves the issue %s, and it is %+v", e.action, e.held, e.issueStatus, i)
		}
	}
}

// checkCosts: every charge that was acknowledged is there once, and the sums are right.
func (r *stormRemains) checkCosts() {
	runs := map[string]bool{}
	for _, one := range r.runs {
		runs[one.id] = true
	}
	for _, e := range r.costs {
		if e.adjusts == "" {
			r.charges[e.charge()]++
		}
	}
	for what, n := range r.workStorm.charges {
		if got := r.charges[what]; runs[what.run] && (got > 1 || got == 1 && n.known+n.possible == 0 || got == 0 && n.known > 0) {
			r.fault("the charge %+v is there %d times, and was acknowledged %d times", what, got, n.known)
		}
	}
	byRun, counts := map[string]int64{}, map[string]int64{}
	made := map[stormAdjustment]int{}
	for _, e := range r.costs {
		byRun[e.run] += e.micros
		if e.adjusts != "" {
			made[stormAdjustment{e.company, e.adjusts, e.reason, e.micros}]++
			continue
		}
		counts[e.run]++
		if what := e.charge(); r.workStorm.charges[what] == nil {
			r.fault("nobody sent the charge %+v", what)
		}
	}
	for what, n := range r.adjustments {
		if got := made[what]; r.companies[what.company] && got != n.known {
			r.fault("the correction %+v is there %d times, and was acknowledged %d times", what, got, n.known)
		}
		delete(made, what)
	}
	for what := range made {
		r.fault("nobody sent the correction %+v", what)
	}
	byIssue := map[string]int64{}
	for _, one := range r.runs {
		if one.spent != byRun[one.id] || one.charges != counts[one.id] {
			r.fault("the run %+v has charges of %d", one, byRun[one.id])
		}
		byIssue[one.issue] += one.spent
		if by := r.agents[one.agent]; by != nil {
			by.cost += one.spent
		}
	}
	for _, i := range r.issues {
		if i.spent != byIssue[i.id] {
			r.fault("the issue %+v has runs that cost %d", i, byIssue[i.id])
		}
	}
}

// checkEvents: the activity log tells every move that was acknowledged once, and from it follow attempts, states and stats.
func (r *stormRemains) checkEvents() {
	told := map[stormFact]int{}
	status, attempts, starts := map[string]any{}, map[string]int64{}, map[string]int64{}
	for _, e := range r.events {
		by := e.actor
		if strings.HasPrefix(by, "token:") {
			by = "token"
		}
		told[stormFact{e.company, e.subject, e.kind(), by}]++
		if e.what == "issue.completed" || e.what == "issue.failed" {
			agent, _ := e.data["assignedAgentId"].(string)
			if by := r.agents[agent]; by != nil && e.what == "issue.completed" {
				by.wantDone++
			} else if by != nil {
				by.wantFail++
			}
		}
		if strings.HasPrefix(e.what, "issue.") && e.what != "issue.commented" && e.what != "issue.budget.breach" {
			status[e.subject] = e.data["status"]
		}
		switch reason, _ := e.data["reason"].(string); {
		case e.what == "issue.started":
			starts[e.subject]++
		case e.what == "issue.rejected", e.what == "issue.requeued" && (reason == issue.AfterFailure || reason == issue.AfterExpiry):
			attempts[e.subject]++
		}
	}
	for what, n := range r.facts {
		if r.companies[what.company] && !n.holds(told[what]) {
			r.fault("%+v is told %d times, and was acknowledged %d times (and may have happened %d times more)", what, told[what], n.known,
				n.possible)
		}
	}
	for what, n := range r.workStorm.said {
		if got := r.said[what]; r.companies[what.company] && !n.holds(got) {
			r.fault("%+v was said %d times, and acknowledged %d times", what, got, n.known)
		}
	}
	for _, i := range r.issues {
		if status[i.id] != i.status || attempts[i.id]+1 != i.attempt || starts[i.id] != int64(len(r.byIssue[i.id])) {
			r.fault("the log tells of %+v that it is %v, of %d more attempts, and of %d starts; it has %d runs", i, status[i.id],
				attempts[i.id], starts[i.id], len(r.byIssue[i.id]))
		}
	}
	for _, w := range r.agents {
		if w.done != w.wantDone || w.failed != w.wantFail || w.spent != w.cost {
			r.fault("the stats of an agent are %+v", w)
		}
	}
}

// checkIssues: the leases of an issue are numbered, and nothing that has ended runs on.
func (r *stormRemains) checkIssues() {
	numbers := map[string]bool{}
	for _, i := range r.issues {
		number := fmt.Sprint(i.company, i.number)
		if numbers[number] {
			r.fault("two issues have the number of %+v", i)
		}
		numbers[number] = true
		var last *stormRun
		for n, one := range r.byIssue[i.id] {
			if one.token != int64(n+1) || one.ended == 0 || one.status == "running" ||
				last != nil && (last.ended > one.started || last.attempt > one.attempt) {
				r.fault("the run %+v follows %+v", one, last)
			}
			last = one
		}
		open := int64(0)
		for blocker := range strings.FieldsSeq(i.blockers) {
			if r.issues[blocker].status != "done" {
				open++
			}
		}
		if i.open != open {
			r.fault("the issue %+v has %d open blockers", i, open)
		}
		if above := r.issues[i.parent]; above != nil && above.status == "cancelled" &&
			!slices.Contains([]string{"done", "failed", "cancelled"}, i.status) {
			r.fault("the issue %+v is below one that is cancelled", i)
		}
	}
}

// checkDeleted: nothing is left of companies that were deleted, but for the entry of it.
func (r *stormRemains) checkDeleted(t *testing.T) {
	t.Helper()
	database := beside(r.environ)
	for _, office := range r.offices {
		if !office.doomed() {
			continue
		}
		c := r.newCaller(2002)
		if answer := c.ask("get", http.MethodGet, office.path(), "", "", isNotFound); answer.status != http.StatusNotFound {
			r.fault("%s was deleted: %s", office.Slug, answer.body)
		}
		for _, table := range []string{
			"teams", "slots", "agents", "issues", "issue_labels", "issue_blockers", "issue_comments", "tallies", "day_tallies",
			"issue_numbers", "work_revisions", "settlements", "runs", "run_checkpoints", "cost_entries", "revocations", "activity",
			"envelopes", "cost_hours", "cost_days", "cost_months", "cost_totals", "goals", "projects", "approvals", "approval_comments",
			"approval_rules",
		} {
			left, err := count(t, database, "SELECT count(*) FROM "+table+" WHERE company_id = '"+office.ID+"'")
			must(t, err)
			if left > 0 {
				r.fault("%s was deleted, and %s holds %d rows of it", office.Slug, table, left)
			}
		}
	}
}

// listed pages through a list.
func listed[T any](c *stormCaller, path string) (all []T) {
	for cursor := ""; ; {
		r := c.ask("list", http.MethodGet, path+cursor, "", "")
		all = append(all, into[[]T](c.workStorm, r)...)
		var answer struct {
			Meta struct{ Page struct{ Cursor *string } }
		}
		if err := json.Unmarshal(r.body, &answer); err != nil || answer.Meta.Page.Cursor == nil {
			return all
		}
		cursor = "&cursor=" + *answer.Meta.Page.Cursor
	}
}

// checkCounts compares what the API counts with what it lists.
func (r *stormRemains) checkCounts(office *stormOffice) {
	c := r.newCaller(2003)
	issues := listed[apiIssue](c, office.path()+"/issues?limit=200")
	agents := listed[apiAgent](c, office.path()+"/agents?limit=200")
	teams := listed[team](c, office.path()+"/teams?limit=200")
	teamOf := map[string]string{}
	employed := map[string]int{}
	for _, one := range agents {
		teamOf[one.ID] = one.TeamID
		if one.Status != "retired" {
			employed[one.TeamID]++
			employed[""]++
		}
	}
	tally := func(query string, counted func(apiIssue) bool) {
		got := into[struct {
			ByStatus map[string]int
			Total    int
		}](r.workStorm, c.ask("counts", http.MethodGet, office.path()+"/issues/counts"+query, "", ""))
		want, total := map[string]int{}, 0
		for _, one := range issues {
			if counted(one) {
				want[one.Status]++
				total++
			}
		}
		for status, n := range got.ByStatus {
			if n != want[status] || got.Total != total {
				r.fault("the counts of %s%s are %+v, and listed are %v", office.Slug, query, got, want)
			}
		}
	}
	tally("", func(apiIssue) bool { return true })
	inCharge := func(one apiIssue) string {
		if one.AssignedAgentID != nil {
			return teamOf[*one.AssignedAgentID]
		}
		return or(one.AssignedTeamID)
	}
	for _, one := range teams {
		tally("?team="+one.ID, func(i apiIssue) bool { return inCharge(i) == one.ID })
		if one.AgentCount != employed[one.ID] {
			r.fault("%s counts %d agents in a team, and lists %d", office.Slug, one.AgentCount, employed[one.ID])
		}
	}
	for _, one := range agents {
		tally("?agent="+one.ID, func(i apiIssue) bool { return or(i.AssignedAgentID) == one.ID })
	}
	now := into[company](r.workStorm, c.ask("get", http.MethodGet, office.path(), "", ""))
	if now.AgentCount != employed[""] || now.TeamCount != len(teams) || now.Status != "active" {
		r.fault("%s counts %d agents and %d teams, and lists %d and %d", office.Slug, now.AgentCount, now.TeamCount, employed[""],
			len(teams))
	}
}
