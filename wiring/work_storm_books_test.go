package wiring_test

import (
	"cmp"
	"database/sql"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"holdco/domain/budget"
	"holdco/domain/cost"
)

// What the store holds of money and approvals after a storm.
type (
	stormMoney struct {
		costs     []stormCost
		accounts  []stormAccount
		sums      map[stormSum]int64
		approvals []stormApproval
		purposes  map[string]stormPlan // goals and projects
	}
	stormCost struct {
		id, company, run, issue, team, agent, key, kind, adjusts, reason string
		micros, input, output, late, adjusted, at                        int64
	}
	stormAccount struct {
		id, period, fired  string
		start, spent, held int64
	}
	stormSum      struct{ table, scope, of, start, what string }
	stormApproval struct{ id, company, issue, run, agent, status, by string }
	stormPlan     struct{ company, goal, status string }
)

func (e stormCost) charge() stormCharge { return stormCharge{e.run, e.key, e.micros} }

// money reads what is kept of money and approvals.
func (r *stormRemains) money(t *testing.T, db *sql.DB) {
	t.Helper()
	query(t, db, "SELECT id, period, coalesce(period_start, 0), spent_usd, held_usd, fired FROM envelopes", func(rows *sql.Rows) error {
		var a stormAccount
		err := rows.Scan(&a.id, &a.period, &a.start, &a.spent, &a.held, &a.fired)
		r.accounts = append(r.accounts, a)
		return err
	})
	r.sums = map[stormSum]int64{}
	for _, table := range []string{"cost_hours", "cost_days", "cost_months", "cost_totals"} {
		start := "start"
		if table == "cost_totals" {
			start = "0"
		}
		query(t, db, "SELECT scope, scope_id, "+start+", llm_usd, tools_usd, runtime_usd, input_tokens, output_tokens FROM "+table,
			func(rows *sql.Rows) error {
				var scope, of string
				var start, llm, tools, runtime, input, output int64
				err := rows.Scan(&scope, &of, &start, &llm, &tools, &runtime, &input, &output)
				r.sum(table, scope, of, start, llm, tools, runtime, input, output)
				return err
			})
	}
	query(t, db, "SELECT id, company_id, issue_id, run_id, agent_id, status, decided_by FROM approvals", func(rows *sql.Rows) error {
		var a stormApproval
		err := rows.Scan(&a.id, &a.company, &a.issue, &a.run, &a.agent, &a.status, &a.by)
		r.approvals = append(r.approvals, a)
		return err
	})
	r.purposes = map[string]stormPlan{}
	query(t, db, "SELECT id, company_id, '', status FROM goals UNION ALL SELECT id, company_id, goal_id, status FROM projects",
		func(rows *sql.Rows) error {
			var id string
			var p stormPlan
			err := rows.Scan(&id, &p.company, &p.goal, &p.status)
			r.purposes[id] = p
			return err
		})
}

func (r *stormRemains) sum(table, scope, of string, start int64, amounts ...int64) {
	for n, what := range []string{"llm", "tools", "runtimeServices", "input", "output"} {
		r.sums[stormSum{table, scope, of, fmt.Sprint(start), what}] += amounts[n]
	}
}

// checkBooks compares what the store derives from costs and leases with these. It does not need what clients were told.
func (r *stormRemains) checkBooks() {
	r.checkSums()
	r.checkAccounts()
}

// checkSums: the sums of costs are those of the entries.
func (r *stormRemains) checkSums() {
	runs := r.byRun()
	tables := map[cost.Unit]string{cost.Hours: "cost_hours", cost.Days: "cost_days", cost.Months: "cost_months"}
	for _, e := range r.costs {
		amounts := []int64{0, 0, 0, -e.input, -e.output}
		amounts[slices.Index([]string{"llm", "tools", "runtimeServices"}, e.kind)] = -e.micros
		for _, unit := range cost.Units {
			start := unit.Start(time.UnixMilli(e.at).UTC()).UnixMilli()
			r.sum(tables[unit], "company", e.company, start, amounts...)
			r.sum(tables[unit], "team", e.team, start, amounts...)
			r.sum(tables[unit], "agent", e.agent, start, amounts...)
			if project := runs[e.run].project; project != "" {
				r.sum(tables[unit], "project", project, start, amounts...)
			}
		}
		r.sum("cost_totals", "issue", e.issue, 0, amounts...)
		r.sum("cost_totals", "agent", e.agent, 0, amounts...)
	}
	for what, off := range r.sums {
		if off != 0 {
			r.fault("the sum %+v is off by %d", what, off)
		}
	}
}

// under lists what a run is charged to besides its issue.
func (one *stormRun) under() []string {
	all := []string{one.company, one.team, one.agent, one.goal, one.project}
	return slices.DeleteFunc(all, func(of string) bool { return of == "" })
}

// byRun are the runs by their ids.
func (r *stormRemains) byRun() map[string]*stormRun {
	all := make(map[string]*stormRun, len(r.runs))
	for _, one := range r.runs {
		all[one.id] = one
	}
	return all
}

// checkAccounts: each account has spent what was charged to it in its period, and holds nothing, for nobody works any more.
func (r *stormRemains) checkAccounts() {
	runs, charged := r.byRun(), map[string][]stormCost{}
	for _, e := range r.costs {
		for _, of := range runs[e.run].under() {
			charged[of] = append(charged[of], e)
		}
	}
	for _, one := range r.runs {
		if one.held != 0 {
			r.fault("the run %+v has ended and holds %d", one, one.held)
		}
	}
	for _, a := range r.accounts {
		spent := int64(0)
		for _, e := range charged[a.id] {
			if e.at >= a.start {
				spent += e.micros
			}
		}
		if isIssue := strings.HasPrefix(a.id, "iss_"); !isIssue && a.spent != spent || a.held != 0 {
			r.fault("the account %+v was charged %d", a, spent)
		}
		delete(charged, a.id)
	}
	for of := range charged {
		r.fault("%s was charged and has no account", of)
	}
}

// A moment in the life of an account. What lets a lease be granted comes before the grants of the same millisecond, and what hinders it
// after them, so that a grant that is too much is too much whatever their order was.
type stormMoment struct {
	at          int64
	order       int
	spent, held int64
	granted     *stormRun
}

const (
	eases = iota
	isGrant
	hinders
)

// checkLimits: no lease was granted that its limits did not allow, with what had been spent and what others had reserved. What was
// spent beyond the limits was therefore charged beyond what leases had reserved.
func (r *stormRemains) checkLimits() {
	runs, moments := r.byRun(), map[string][]stormMoment{}
	add := func(of *stormRun, m stormMoment) {
		for _, which := range of.under() {
			moments[which] = append(moments[which], m)
		}
	}
	left := map[string]int64{} // of reservations
	for lease, one := range r.runs {
		if held := r.grants[lease]; held != nil {
			left[one.id] = int64(held.reserved)
		}
		add(one, stormMoment{at: one.started, order: isGrant, granted: one})
		add(one, stormMoment{at: one.started, order: hinders, held: left[one.id]})
	}
	reserved := map[string]int64{}
	for id, usd := range left {
		reserved[id] = usd
	}
	for _, e := range slices.SortedFunc(slices.Values(r.costs), func(a, b stormCost) int { return cmp.Compare(a.at, b.at) }) {
		of, at, order := runs[e.run], e.at, hinders
		if e.adjusts != "" {
			if at = e.adjusted; e.micros < 0 {
				order = eases
			}
		} else if e.late == 0 || at <= of.ended { // it was late for the lease, whose run was still to be ended
			used := min(left[of.id], e.micros)
			left[of.id] -= used
			add(of, stormMoment{at: at, order: eases, held: -used})
		}
		add(of, stormMoment{at: at, order: order, spent: e.micros})
	}
	for _, one := range r.runs {
		add(one, stormMoment{at: one.ended, order: eases, held: -left[one.id]})
	}
	grants := 0
	for of, all := range moments {
		slices.SortStableFunc(all, func(a, b stormMoment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.order, b.order)) })
		var spent, held, day int64
		hasPeriods := !strings.HasPrefix(of, "gl_") && !strings.HasPrefix(of, "prj_")
		for _, m := range all {
			if today := m.at / (24 * time.Hour).Milliseconds(); hasPeriods && today != day {
				spent, day = 0, today
			}
			spent, held = spent+m.spent, held+m.held
			if m.granted == nil {
				continue
			}
			limit := mostAllowed(r.limits[of], strings.HasPrefix(of, "cmp_"), time.UnixMilli(m.at))
			if limit != noLimit {
				grants++
			}
			if need := max(1, reserved[m.granted.id]); limit != noLimit && spent+held+need > int64(limit) {
				r.fault("%s allowed %d, %d was spent and %d held when %+v was granted, which reserved %d",
					of, limit, spent, held, m.granted, need)
			}
		}
	}
	if grants == 0 {
		r.fault("no lease met a limit")
	}
}

// checkLevels: a level of a budget is reported once in a period, unless the budget was raised since, or a cost was corrected.
func (r *stormRemains) checkLevels() {
	last, runs, corrected := map[string]stormEntry{}, r.byRun(), map[string][]time.Time{}
	for _, e := range r.costs {
		if e.adjusts != "" && e.micros < 0 {
			for _, of := range runs[e.run].under() {
				corrected[of] = append(corrected[of], time.UnixMilli(e.adjusted))
			}
		}
	}
	fired := 0
	for _, e := range r.events {
		if !strings.HasSuffix(e.what, ".budget.breach") {
			continue
		}
		fired++
		level, _ := e.data["level"].(string)
		r.told["reported "+e.what+" "+level]++
		key := e.subject + " " + level
		before, isAgain := last[key]
		last[key] = e
		if e.what == "issue.budget.breach" {
			continue
		}
		const dayMs = 24 * 60 * 60 * 1000
		if !isAgain || before.at/dayMs != e.at/dayMs {
			continue
		}
		from, to := time.UnixMilli(before.at).Add(-stormSlack), time.UnixMilli(e.at).Add(stormSlack)
		if !slices.ContainsFunc(r.limits[e.subject], func(one stormLimit) bool {
			return one.usd > 0 && one.sent.Before(to) && (one.came.IsZero() || one.came.After(from))
		}) && !slices.ContainsFunc(corrected[e.subject], func(at time.Time) bool { return at.After(from) && at.Before(to) }) {
			r.fault("%s is reported to be at %s at %v, and again at %v", e.subject, level, before.at, e.at)
		}
	}
	if enough := 500; fired == 0 && len(r.costs) > enough {
		r.fault("no budget was spent by %d charges", len(r.costs))
	}
	for _, office := range r.living() {
		answer := r.newCaller(2004).ask("budgets", http.MethodGet, office.path()+"/budgets?limit=200", "", "")
		for _, e := range into[[]apiEnvelope](r.workStorm, answer) {
			if _, told := last[e.ScopeID+" "+e.Level]; !told && e.Level != string(budget.None) {
				r.fault("%s is at %s, which nobody was told", e.ScopeID, e.Level)
			}
		}
	}
}

// checkApprovals: each approval has one outcome, which is the one that was acknowledged and told.
func (r *stormRemains) checkApprovals() {
	told := map[string][]string{}
	for _, e := range r.events {
		outcome, isOfOne := strings.CutPrefix(e.what, "approval.")
		if isOfOne && slices.Contains([]string{"approved", "denied", "expired"}, outcome) {
			told[e.subject] = append(told[e.subject], outcome)
			if outcome == "expired" && e.actor == "system:sweep" {
				r.told["approvals that were not decided in time, or whose lease ran out"]++
			}
		}
	}
	count := map[string]int{}
	for _, a := range r.approvals {
		want := []string{strings.TrimSuffix(a.status, "_with_edits")}
		if isOpen := a.status == "pending" || a.status == "asked_question"; isOpen {
			want = nil
			if i := r.issues[a.issue]; i.agent != a.agent || i.status != "handoff" && i.status != "assigned" {
				r.fault("%+v is open, and nobody will go on with %+v", a, i)
			}
		}
		if !slices.Equal(told[a.id], want) {
			r.fault("the log tells of %+v that it is %v", a, told[a.id])
		}
		if acknowledged := r.decided[a.id]; len(acknowledged) > 1 || len(acknowledged) == 1 && acknowledged[0] != a.status {
			r.fault("%+v was acknowledged as %v", a, acknowledged)
		}
		count[a.status]++
		if strings.HasPrefix(a.by, "rule:") {
			count["by rules"]++
		}
	}
	r.told["approvals at the end"] = len(r.approvals)
	for status, n := range count {
		r.told["approvals at the end "+status] = n
	}
}

// checkPurposes: goals and projects count the issues that they have, and what is archived has no open ones.
func (r *stormRemains) checkPurposes() {
	want := map[string]*apiProgress{}
	for id := range r.purposes {
		want[id] = &apiProgress{}
	}
	for _, i := range r.issues {
		all := []string{i.project, i.goal}
		if goal := r.purposes[i.project].goal; goal != i.goal {
			all = append(all, goal)
		}
		for _, of := range all {
			p := want[of]
			if p == nil || i.status == "cancelled" {
				continue
			}
			p.TasksTotal++
			switch i.status {
			case "done":
				p.TasksDone++
			case "running", "review", "handoff":
				p.TasksInFlight++
			case "queued", "assigned":
				p.TasksQueued++
			}
		}
		if r.purposes[i.project].status == "archived" && !slices.Contains([]string{"done", "failed", "cancelled"}, i.status) {
			r.fault("the issue %+v is open in an archived project", i)
		}
	}
	c := r.newCaller(2005)
	for _, office := range r.living() {
		for _, kind := range []string{"goals", "projects"} {
			for _, one := range listed[apiGoal](c, office.path()+"/"+kind+"?limit=200") {
				if one.Progress != *want[one.ID] {
					r.fault("the progress of %s is %+v, and its issues make %+v", one.ID, one.Progress, *want[one.ID])
				}
			}
		}
	}
}
