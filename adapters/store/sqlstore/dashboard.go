package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/company"
	"holdco/domain/dashboard"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/store"
)

// dashboards implements store.DashboardReader.
type dashboards struct{ session }

// asked prepares a statement in which {1}, {2}, ... are its arguments.
func asked(text string) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		spelled := text
		for n := range strings.Count(text, "{") {
			spelled = strings.ReplaceAll(spelled, "{"+strconv.Itoa(n+1)+"}", b.engine.Placeholder(n+1))
		}
		return sqlText(spelled)
	})
}

const (
	isActive = "companies.status = '" + string(company.Active) + "'"

	// named are the columns of an item that come from a company, an issue and an agent.
	named = `companies.id, companies.slug, companies.name, issues.id, issues.number, issues.title, issues.status, issues.priority,
		coalesce(agents.id, ''), coalesce(agents.name, '')`

	// SQLite would begin with the companies, and sort, if these were not joined by CROSS JOIN.
	needing = `SELECT issues.need, issues.needed_since, coalesce(issues.due_at, 0), '', '', ` + named + `
		FROM issues CROSS JOIN companies LEFT JOIN agents ON agents.id = issues.agent_id
		WHERE companies.id = issues.company_id AND issues.need <> '' AND (issues.needed_since, issues.id) > ({1}, {2}) AND %s
		ORDER BY issues.needed_since, issues.id LIMIT {3}`

	undecided = `SELECT CASE approvals.status WHEN '` + string(approval.Pending) + `' THEN '` + string(dashboard.Approval) + `'
			ELSE '` + string(dashboard.Question) + `' END, approvals.created_at,
		approvals.expires_at, approvals.id, approvals.action, ` + named + `
		FROM approvals CROSS JOIN companies JOIN issues ON issues.id = approvals.issue_id
			LEFT JOIN agents ON agents.id = approvals.agent_id
		WHERE companies.id = approvals.company_id AND approvals.is_open = 1 AND (approvals.created_at, approvals.id) > ({1}, {2}) AND %s
		ORDER BY approvals.created_at, approvals.id LIMIT {3}`

	// absent are the agents that have not called since an instant, and have issues. The tally spares a look at those of the others.
	absent = `FROM agents JOIN companies ON companies.id = agents.company_id
			JOIN tallies ON tallies.company_id = agents.company_id AND tallies.scope = 'agent' AND tallies.scope_id = agents.id
				AND tallies.status = '` + string(issue.Assigned) + `' AND tallies.n > 0
		WHERE agents.status = '` + string(agent.Active) + `' AND coalesce(agents.last_active_at, agents.created_at) <= {1} AND %s`

	// untaken are the issues that only their agent may take, and has not taken since an instant.
	untaken = `issues.agent_id = agents.id AND issues.is_open = 1 AND issues.claimable = 1
		AND issues.status = '` + string(issue.Assigned) + `' AND issues.binding <> '' AND issues.updated_at <= {1}`
)

// inbox has the statements that read an inbox: of a company, whose id is their last argument, or of all that are active.
type inbox struct{ needing, undecided, absent *prepared }

var (
	inboxOfOne = inbox{
		asked(fmt.Sprintf(needing, "issues.company_id = {4}")), asked(fmt.Sprintf(undecided, "approvals.company_id = {4}")),
		asked(absentSince("agents.company_id = {2}")),
	}
	inboxOfAll = inbox{
		asked(fmt.Sprintf(needing, isActive)), asked(fmt.Sprintf(undecided, isActive)), asked(absentSince(isActive)),
	}
)

// absentWithWork are the absent agents for whom there are such issues.
func absentWithWork(within string) string {
	return fmt.Sprintf(absent, within) + ` AND EXISTS (SELECT 1 FROM issues WHERE ` + untaken + `)`
}

func absentSince(within string) string {
	return `SELECT agents.id, coalesce(agents.last_active_at, agents.created_at) ` + absentWithWork(within) + ` ORDER BY 2, 1`
}

var waiting = asked(`SELECT '` + string(dashboard.Waiting) + `', CAST({3} AS BIGINT), coalesce(issues.due_at, 0), '', '', ` + named + `
	FROM agents JOIN issues ON ` + untaken + ` JOIN companies ON companies.id = agents.company_id
	WHERE agents.id = {2} AND issues.id > {4} ORDER BY issues.id LIMIT {5}`)

func (d dashboards) Inbox(
	ctx context.Context, of *id.Company, at time.Time, after page.Position, size int,
) (found page.Page[dashboard.Item], err error) {
	since := int64(0)
	if !after.IsStart() {
		if since, err = positionTime(after); err != nil {
			return found, err
		}
	}
	var row itemRow
	var items []dashboard.Item
	take := func() { items = append(items, row.item()) }
	use, scope := inboxOfAll, []any(nil)
	if of != nil {
		use, scope = inboxOfOne, []any{string(*of)}
	}
	for _, statement := range []*prepared{use.needing, use.undecided} {
		if err := d.scanRows(ctx, row.columns(), take, statement, append([]any{since, after.ID, size + 1}, scope...)...); err != nil {
			return found, err
		}
	}
	type absentee struct {
		id    string
		since int64
	}
	var one absentee
	var agents []absentee
	before := millis(at.Add(-dashboard.AbsentAfter))
	err = d.scanRows(ctx, []any{&one.id, &one.since}, func() { agents = append(agents, one) }, use.absent,
		append([]any{before}, scope...)...)
	if err != nil {
		return found, err
	}
	have := len(items)
	for _, one := range agents {
		if one.since < since || len(items)-have > size {
			continue
		}
		from := "" // the agent is behind the position, with all of its issues
		if one.since == since {
			from = after.ID
		}
		if err := d.scanRows(ctx, row.columns(), take, waiting, before, one.id, one.since, from, size+1); err != nil {
			return found, err
		}
	}
	return dashboard.InOrder(items, size), nil
}

// itemRow is a row of the inbox.
type itemRow struct {
	kind, approval, action         string
	company, slug, companyName     string
	issue, title, status, priority string
	agent, agentName               string
	since, deadline, number        int64
}

func (r *itemRow) columns() []any {
	return []any{
		&r.kind, &r.since, &r.deadline, &r.approval, &r.action, &r.company, &r.slug, &r.companyName, &r.issue, &r.number, &r.title,
		&r.status, &r.priority, &r.agent, &r.agentName,
	}
}

func (r *itemRow) item() dashboard.Item {
	i := dashboard.Item{
		Kind: dashboard.ItemKind(r.kind), Company: dashboard.Name{ID: r.company, Slug: r.slug, Name: r.companyName},
		Since:    instant(r.since),
		Issue:    dashboard.IssueLine{ID: id.Issue(r.issue), Number: r.number, Title: r.title, Status: r.status, Priority: r.priority},
		Agent:    dashboard.Name{ID: r.agent, Name: r.agentName},
		Approval: id.Approval(r.approval), Asked: r.action,
	}
	if r.deadline > 0 {
		i.Deadline = instant(r.deadline)
	}
	return i
}

var (
	countNeeds  = asked("SELECT status, n FROM tallies WHERE company_id = {1} AND scope = 'need' AND scope_id = {1}")
	countStates = asked(fmt.Sprintf(`SELECT status, count(*) FROM
		(SELECT status FROM approvals WHERE company_id = {1} AND is_open = 1 LIMIT %d) AS found GROUP BY status`, dashboard.MostCounted))
	countWaiting = asked(fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM issues JOIN (SELECT agents.id `+
		fmt.Sprintf(absent, "agents.company_id = {2}")+`) AS agents ON `+untaken+` LIMIT %d) AS found`, dashboard.MostCounted))
)

func (d dashboards) InboxCounts(ctx context.Context, of id.Company, at time.Time) (dashboard.InboxCounts, error) {
	counts := dashboard.InboxCounts{}
	var what string
	var n int64
	err := d.scanRows(ctx, []any{&what, &n}, func() { counts[dashboard.ItemKind(what)] = n }, countNeeds, string(of))
	if err != nil {
		return nil, err
	}
	err = d.scanRows(ctx, []any{&what, &n}, func() {
		if approval.Status(what) == approval.Pending {
			counts[dashboard.Approval] = n
		} else {
			counts[dashboard.Question] = n
		}
	}, countStates, string(of))
	if err != nil {
		return nil, err
	}
	err = d.scanRows(ctx, []any{&n}, func() { counts[dashboard.Waiting] = n }, countWaiting,
		millis(at.Add(-dashboard.AbsentAfter)), string(of))
	return counts, err
}

// halfLease is half of the time that a lease was asked for, in milliseconds.
const halfLease = "runs.lease_seconds * 1000 / 2"

var (
	agentsByStatus = asked("SELECT status, count(*) FROM agents WHERE company_id = {1} GROUP BY status")
	liveLeases     = asked(`SELECT count(*) FROM runs
			JOIN companies ON companies.id = runs.company_id AND companies.lease_epoch = runs.epoch
		WHERE runs.company_id = {1} AND runs.ended_at IS NULL AND runs.expires_at > {2}`)
	uncostedRuns = asked(fmt.Sprintf(`SELECT count(*) FROM (SELECT 1 FROM runs WHERE company_id = {1}
		AND uncosted_at > 0 AND uncosted_at >= {2} LIMIT %d) AS found`, dashboard.MostCounted))
	failingAgents = asked(fmt.Sprintf(`SELECT id, name FROM agents WHERE company_id = {1} AND status = '%[2]s' AND %[1]d =
		(SELECT count(*) FROM (SELECT status FROM runs WHERE runs.agent_id = agents.id AND ended_at IS NOT NULL
			ORDER BY ended_at DESC, id DESC LIMIT %[1]d) AS latest WHERE latest.status IN ('%[3]s', '%[4]s')) ORDER BY id`,
		dashboard.FailingRuns, agent.Active, run.Failed, run.Expired))
	silentAgents = asked(`SELECT DISTINCT agents.id, agents.name FROM runs JOIN agents ON agents.id = runs.agent_id
		JOIN companies ON companies.id = runs.company_id AND companies.lease_epoch = runs.epoch
		WHERE runs.company_id = {1} AND runs.ended_at IS NULL AND runs.expires_at > {2}
			AND runs.expires_at - ` + halfLease + ` <= {2} ORDER BY agents.id`)
	absentByCompany = asked(`SELECT agents.id, agents.name ` + absentWithWork("agents.company_id = {2}") + ` ORDER BY agents.id`)
	guardedAgents   = asked(fmt.Sprintf(`SELECT id, name, guard FROM agents WHERE company_id = {1} AND status <> '%s' AND guard <> ''
		ORDER BY id`, agent.Retired))
	unpricedAgents = asked(fmt.Sprintf(`SELECT DISTINCT agents.id, agents.name FROM (SELECT agent_id FROM runs
			WHERE company_id = {1} AND unpriced_model <> '' AND created_at >= {2} ORDER BY created_at DESC LIMIT %d) AS latest
		JOIN agents ON agents.id = latest.agent_id ORDER BY agents.id`, dashboard.MostCounted))
)

func (d dashboards) Health(ctx context.Context, of id.Company, at time.Time) (h dashboard.Health, err error) {
	which, now, midnight := string(of), millis(at), millis(at.Truncate(24*time.Hour)) //nolint:mnd // a day
	var status string
	var n int64
	err = d.scanRows(ctx, []any{&status, &n}, func() {
		switch status {
		case string(agent.Active):
			h.Active = n
		case string(agent.Paused):
			h.Paused = n
		}
	}, agentsByStatus, which)
	if err == nil {
		err = d.scanRows(ctx, []any{&h.Leases}, func() {}, liveLeases, which, now)
	}
	if err == nil {
		err = d.scanRows(ctx, []any{&h.Uncosted}, func() {}, uncostedRuns, which, midnight)
	}
	if err == nil {
		err = d.troubled(ctx, &h, dashboard.Failing, failingAgents, which)
	}
	if err == nil {
		err = d.troubled(ctx, &h, dashboard.Silent, silentAgents, which, now)
	}
	if err == nil {
		err = d.troubled(ctx, &h, dashboard.Absent, absentByCompany, millis(at.Add(-dashboard.AbsentAfter)), which)
	}
	if err == nil {
		err = d.held(ctx, &h, which, at)
	}
	if err == nil {
		err = d.troubled(ctx, &h, dashboard.Unpriced, unpricedAgents, which, midnight)
	}
	return h, err
}

// held adds the agents with a hold that is not over. Most agents with a guard have none.
func (d dashboards) held(ctx context.Context, h *dashboard.Health, company string, at time.Time) error {
	found := dashboard.Troubled{Reason: dashboard.Held}
	var guard string
	var invalid error
	err := d.scanRows(ctx, []any{&found.ID, &found.Name, &guard}, func() {
		kept, err := parseGuard(guard)
		if err != nil {
			invalid = err
		} else if kept.IsHeld() && !kept.IsOver(at) {
			h.Troubled = append(h.Troubled, found)
		}
	}, guardedAgents, company)
	return cmp.Or(err, invalid)
}

func (d dashboards) troubled(ctx context.Context, h *dashboard.Health, why dashboard.Trouble, statement *prepared, args ...any) error {
	one := dashboard.Troubled{Reason: why}
	return d.scanRows(ctx, []any{&one.ID, &one.Name}, func() { h.Troubled = append(h.Troubled, one) }, statement, args...)
}

var (
	teamTallies = asked("SELECT scope_id, status, n FROM tallies WHERE company_id = {1} AND scope = 'team'")
	daysSince   = asked("SELECT day, what, n FROM day_tallies WHERE company_id = {1} AND day >= {2}")
)

func (d dashboards) Tasks(ctx context.Context, of id.Company, since time.Time) (found store.Tasks, err error) {
	found = store.Tasks{OfTeams: map[id.Team]map[issue.Status]int64{}, OfDays: map[string]map[issue.Status]int64{}}
	var key, status string
	var n int64
	err = d.scanRows(ctx, []any{&key, &status, &n}, func() {
		add(found.OfTeams, id.Team(key), issue.Status(status), n)
	}, teamTallies, string(of))
	if err != nil {
		return found, err
	}
	err = d.scanRows(ctx, []any{&key, &status, &n}, func() {
		add(found.OfDays, key, issue.Status(status), n)
	}, daysSince, string(of), since.Format(time.DateOnly))
	return found, err
}

func add[K comparable](to map[K]map[issue.Status]int64, key K, status issue.Status, n int64) {
	if to[key] == nil {
		to[key] = map[issue.Status]int64{}
	}
	to[key][status] = n
}
