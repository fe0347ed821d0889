package sqlstore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/store"
)

// issues implements store.Issues. Lists are in issue_lists.go, and what Add and Save derive in issue_derived.go.
type issues struct {
	stored[id.Issue, issue.Issue]
}

func issuesOf(s session) issues { return issues{stored[id.Issue, issue.Issue]{s, issueTable}} }

var issueTable = tableOf("issues", fault.New(fault.NotFound, "There is no such issue."),
	asText("id", func(i *issue.Issue) *id.Issue { return &i.ID }),
	asText("company_id", func(i *issue.Issue) *id.Company { return &i.Company }).fixed(),
	asInteger("number", func(i *issue.Issue) *int64 { return &i.Number }).fixed(),
	asText("title", func(i *issue.Issue) *string { return &i.Title }),
	asText("description", func(i *issue.Issue) *string { return &i.Description }),
	asText("status", func(i *issue.Issue) *issue.Status { return &i.Status }).inIndex(),
	derivedFlag("is_open", func(i *issue.Issue) bool { return !i.Status.IsFinal() }).inIndex(),
	asText("priority", func(i *issue.Issue) *issue.Priority { return &i.Priority }),
	derivedInteger("rank", func(i *issue.Issue) int64 { return int64(i.Priority.Rank()) }).inIndex(),
	asText("parent_id", func(i *issue.Issue) *id.Issue { return &i.Parent }).inIndex(),
	asText("project_id", func(i *issue.Issue) *id.Project { return &i.Project }).inIndex(),
	asText("goal_id", func(i *issue.Issue) *id.Goal { return &i.Goal }).inIndex(),
	asText("agent_id", func(i *issue.Issue) *id.Agent { return &i.Agent }).inIndex(),
	asText("agent_team_id", func(i *issue.Issue) *id.Team { return &i.AgentTeam }),
	asText("binding", func(i *issue.Issue) *issue.Binding { return &i.Binding }),
	asText("team_id", func(i *issue.Issue) *id.Team { return &i.Team }),
	derived("team_in_charge", func(i *issue.Issue) string { return string(i.TeamInCharge()) }).inIndex(),
	asWords("blocked_by", func(i *issue.Issue) *[]id.Issue { return &i.BlockedBy }),
	asInteger("open_blockers", func(i *issue.Issue) *int { return &i.OpenBlockers }),
	asInteger("failed_blockers", func(i *issue.Issue) *int { return &i.FailedBlockers }),
	asJSONList("labels", func(i *issue.Issue) *[]string { return &i.Labels }),
	asLimit("per_task_usd", func(i *issue.Issue) *budget.Limit { return &i.PerTask }).inIndex(),
	asInteger("kept_usd", func(i *issue.Issue) *money.USD { return &i.Spent }).readFrom(spentOnIssue),
	asInteger("attempt", func(i *issue.Issue) *int { return &i.Attempt }),
	asInteger("repeats", func(i *issue.Issue) *int { return &i.Repeats }),
	asInteger("max_attempts", func(i *issue.Issue) *int { return &i.MaxAttempts }),
	asBoolean("requires_review", func(i *issue.Issue) *bool { return &i.RequiresReview }),
	asText("result", func(i *issue.Issue) *string { return &i.Result }),
	asText("error", func(i *issue.Issue) *string { return &i.Error }),
	asOptionalMillis("due_at", func(i *issue.Issue) *time.Time { return &i.DueAt }),
	derivedInteger("due_order", dueOrder).inIndex(),
	asOptionalMillis("not_before", func(i *issue.Issue) *time.Time { return &i.NotBefore }).inIndex(),
	asBoolean("waiting", func(i *issue.Issue) *bool { return &i.Waiting }).inIndex(),
	derivedFlag("claimable", func(i *issue.Issue) bool { return i.IsClaimable() }).inIndex(),
	derived("claim_key", func(i *issue.Issue) string { return i.ClaimKey() }).inIndex(),
	derived("need", func(i *issue.Issue) string { return string(i.Need()) }).inIndex(),
	derivedInteger("needed_since", neededSince).inIndex(),
	derived("budget_group", func(i *issue.Issue) string { return i.BudgetGroup() }).inIndex(),
	asOptionalMillis("started_at", func(i *issue.Issue) *time.Time { return &i.StartedAt }),
	asOptionalMillis("finished_at", func(i *issue.Issue) *time.Time { return &i.FinishedAt }),
	asText("retry_of", func(i *issue.Issue) *id.Issue { return &i.RetryOf }).fixed(),
	asText("created_by", func(i *issue.Issue) *event.Actor { return &i.CreatedBy }).fixed(),
	asInteger("fencing_token", func(i *issue.Issue) *int64 { return &i.FencingToken }),
	asText("waiting_for", func(i *issue.Issue) *id.Approval { return &i.WaitingFor }),
	asBoolean("asking", func(i *issue.Issue) *bool { return &i.Asking }),
	asText("workflow_id", func(i *issue.Issue) *id.Workflow { return &i.Workflow }).fixed(),
	containerOf.fixed(),
	asText("container_id", func(i *issue.Issue) *id.Issue { return &i.Container }).fixed(),
	stepColumn.fixed(),
	asMillis(createdAt, func(i *issue.Issue) *time.Time { return &i.CreatedAt }).fixed(),
	asMillis("updated_at", func(i *issue.Issue) *time.Time { return &i.UpdatedAt }),
	asInteger("version", func(i *issue.Issue) *int64 { return &i.Version }),
)

// spentOnIssue is what an issue has cost. While it is running that is the sum of its entries, so that a charge has not to change the
// issue, whose many indexes make that dear. What ends the run saves the sum with the issue: to read a column costs less, and most
// issues of a list are not running. Claims read the column itself: what can be claimed is not running.
var spentOnIssue = fmt.Sprintf("CASE issues.status WHEN '%s' THEN %s ELSE issues.kept_usd END",
	issue.Running, totalOf(budget.OfIssue, "issues"))

// containerOf has the workflow of a container: lists have these alone.
var containerOf = column[issue.Issue]{
	name: "container_of", kind: textKind,
	get: func(of *issue.Issue) any {
		if !of.IsContainer {
			return ""
		}
		return string(of.Workflow)
	},
	set: func(to *issue.Issue, c *cell) error {
		to.IsContainer = c.text != ""
		return nil
	},
}

// neededSince is when an issue that needs a person was changed last; 0: it needs nobody.
func neededSince(i *issue.Issue) int64 {
	if i.Need() == issue.NoNeed {
		return 0
	}
	return millis(i.UpdatedAt)
}

// stepColumn has what a container and a step have of their workflow in one text: most issues are neither, and to read a column costs
// more than it looks.
var stepColumn = column[issue.Issue]{
	name: "step", kind: textKind,
	get: func(of *issue.Issue) any {
		if of.WorkflowVersion == 0 {
			return ""
		}
		return strings.TrimSpace(fmt.Sprintf("%d %d %s %s", of.WorkflowVersion, of.Place, of.StepKey, of.Gate))
	},
	set: func(to *issue.Issue, c *cell) error {
		to.WorkflowVersion, to.Place, to.StepKey, to.Gate = 0, 0, "", ""
		if c.text == "" {
			return nil
		}
		const ofContainer, ofStep = 2, 4
		fields := strings.Fields(c.text)
		if len(fields) == ofStep {
			to.StepKey, to.Gate = fields[2], issue.Gate(fields[3])
		} else if len(fields) != ofContainer {
			return fmt.Errorf("the step of an issue is kept as %q", c.text)
		}
		version, err := strconv.ParseInt(fields[0], 10, 64)
		place, errPlace := strconv.Atoi(fields[1])
		if err != nil || errPlace != nil || version < 1 || place < 0 || (place == 0) != (len(fields) == ofContainer) {
			return fmt.Errorf("the step of an issue is kept as %q", c.text)
		}
		to.WorkflowVersion, to.Place = version, place
		return nil
	},
}

// dueOrder sorts issues without a due date behind all others.
func dueOrder(of *issue.Issue) int64 {
	if of.DueAt.IsZero() {
		return math.MaxInt64
	}
	return millis(of.DueAt)
}

var commentTable = tableOf("issue_comments", nil,
	asText("id", func(c *issue.Comment) *id.Comment { return &c.ID }),
	asText("company_id", func(c *issue.Comment) *id.Company { return &c.Company }).fixed(),
	asText("issue_id", func(c *issue.Comment) *id.Issue { return &c.Issue }).fixed(),
	asText("author", func(c *issue.Comment) *event.Actor { return &c.Author }).fixed(),
	asText("body", func(c *issue.Comment) *string { return &c.Body }).fixed(),
	asText("explains", func(c *issue.Comment) *issue.Action { return &c.Explains }).fixed(),
	asMillis(createdAt, func(c *issue.Comment) *time.Time { return &c.CreatedAt }).fixed(),
)

// comments are the repository of comments.
func (i issues) comments() stored[id.Comment, issue.Comment] {
	return stored[id.Comment, issue.Comment]{i.session, commentTable}
}

func (i issues) AddComment(ctx context.Context, added issue.Comment) error {
	return i.comments().addLater(ctx, added)
}

func (i issues) Comments(ctx context.Context, on id.Issue, after page.Position, size int) (page.Page[issue.Comment], error) {
	return listPage(ctx, i.session, commentTable, []condition{{"issue_id", string(on)}}, after, size)
}

func (i issues) Add(ctx context.Context, added issue.Issue) error {
	if err := i.addLater(ctx, added); err != nil {
		return err
	}
	return i.derive(ctx, nil, &added)
}

func (i issues) Save(ctx context.Context, saved issue.Issue) error {
	before, _ := i.locked(saved)
	if err := i.saveLater(ctx, saved); err != nil {
		return err
	}
	return i.derive(ctx, &before, &saved)
}

var nextIssueNumber = prepare(func(b builder) fmt.Stringer {
	return sqlText("INSERT INTO issue_numbers (company_id, last_number) VALUES (" + b.engine.Placeholder(1) + ", 1) " +
		"ON CONFLICT (company_id) DO UPDATE SET last_number = issue_numbers.last_number + 1 RETURNING last_number")
})

func (i issues) NextNumber(ctx context.Context, of id.Company) (number int64, err error) {
	i.unit.changed = true
	err = i.row(ctx, []any{&number}, nil, nextIssueNumber, string(of))
	return number, err
}

var issuesAbove = prepare(func(b builder) fmt.Stringer {
	return sqlText(fmt.Sprintf(`WITH RECURSIVE above (id, status, project_id, parent_id, level) AS (
			SELECT id, status, project_id, parent_id, 1 FROM issues WHERE id = %s AND company_id = %s
			UNION ALL
			SELECT issues.id, issues.status, issues.project_id, issues.parent_id, above.level + 1
			FROM above JOIN issues ON issues.id = above.parent_id
			WHERE above.level <= %d
		) SELECT id, status, %s FROM above ORDER BY level`,
		b.engine.Placeholder(1), b.engine.Placeholder(2), issue.MostDepth, inArchived(b, "above")))
})

func (i issues) Above(ctx context.Context, of id.Company, which id.Issue) (found []issue.Ancestor, err error) {
	var ancestor, status string
	var isEnding int64
	err = i.scanRows(ctx, []any{&ancestor, &status, &isEnding}, func() {
		found = append(found, issue.Ancestor{ID: id.Issue(ancestor), Status: issue.Status(status), IsEnding: isEnding == 1})
	}, issuesAbove, string(which), string(of))
	return found, err
}

func (i issues) LevelsBelow(ctx context.Context, of id.Company, which id.Issue, most int) (levels int, err error) {
	err = i.scan(ctx, i.engine.DB().NewRaw(`WITH RECURSIVE below (id, level) AS (
			SELECT id, 1 FROM issues WHERE company_id = ? AND parent_id = ?
			UNION ALL
			SELECT issues.id, below.level + 1 FROM below JOIN issues ON issues.company_id = ? AND issues.parent_id = below.id
			WHERE below.level < ?
		) SELECT coalesce(max(level), 0) FROM below`, of, which, of, most).Conn(i.conn), &levels)
	return levels, err
}

func (i issues) States(ctx context.Context, of id.Company, which []id.Issue) (map[id.Issue]issue.Status, error) {
	states := map[id.Issue]issue.Status{}
	if len(which) == 0 {
		return states, nil
	}
	var rows []struct {
		ID     id.Issue
		Status issue.Status
	}
	err := i.scan(ctx, issuesByIDs(i.engine, of, which).Conn(i.conn).Column("id", "status"), &rows)
	for _, row := range rows {
		states[row.ID] = row.Status
	}
	return states, err
}

// issuesByIDs finds those of some issues that a company has. SQLite would search by the company, and read all of its issues,
// rather than by several ids, if there were an index for both.
func issuesByIDs(engine Engine, of id.Company, which []id.Issue) *bun.SelectQuery {
	return engine.DB().NewSelect().Table("issues").Where("id IN (?)", bun.List(which)).Where("company_id || '' = ?", of)
}

func (i issues) Blockers(ctx context.Context, of []id.Issue) (found []id.Issue, err error) {
	for some := range slices.Chunk(of, store.Portion) {
		var blockers []id.Issue
		query := i.selectFrom("issue_blockers").ColumnExpr("DISTINCT blocker_id").Where("issue_id IN (?)", bun.List(some))
		err := i.scan(ctx, query, &blockers)
		if err != nil {
			return nil, err
		}
		found = append(found, blockers...)
	}
	slices.Sort(found)
	return slices.Compact(found), nil
}

// isParent is whether there are issues below one.
const isParent = "CASE WHEN EXISTS (SELECT 1 FROM issues c WHERE c.company_id = issues.company_id AND c.parent_id = issues.id) " +
	"THEN 1 ELSE 0 END"

// isBlocker is whether there are issues that count one as an open blocker.
const isBlocker = "CASE WHEN EXISTS (SELECT 1 FROM issue_blockers b WHERE b.blocker_id = issues.id AND b.is_open = 1) " +
	"THEN 1 ELSE 0 END"

// issueChildren goes on in the index by parents, whose rows come by when they were made.
var issueChildren = prepare(func(b builder) fmt.Stringer {
	return sqlText(fmt.Sprintf(`SELECT id, status, `+isParent+`, `+isBlocker+`
		FROM issues WHERE company_id = %s AND parent_id = %s
			AND (created_at, id) > (coalesce((SELECT created_at FROM issues last WHERE last.id = %s), 0), %s)
		ORDER BY created_at, id LIMIT %d`,
		b.engine.Placeholder(1), b.engine.Placeholder(2), b.engine.Placeholder(3), b.engine.Placeholder(3), store.Portion))
})

func (i issues) Children(ctx context.Context, of id.Company, parent, after id.Issue) ([]store.Child, error) {
	return i.children(ctx, issueChildren, string(of), string(parent), string(after))
}

func (i issues) children(ctx context.Context, statement *prepared, args ...any) (found []store.Child, err error) {
	var which, status string
	var isParent, isBlocker int64
	err = i.scanRows(ctx, []any{&which, &status, &isParent, &isBlocker}, func() {
		found = append(found, store.Child{
			ID: id.Issue(which), Status: issue.Status(status), IsParent: isParent == 1, IsBlocker: isBlocker == 1,
		})
	}, statement, args...)
	return found, err
}

var openInProject = prepare(func(b builder) fmt.Stringer {
	return sqlText(fmt.Sprintf(`SELECT id, status, `+isParent+`, `+isBlocker+`
		FROM issues WHERE project_id = %s AND id > %s AND is_open = 1 AND project_id <> '' ORDER BY id LIMIT %d`,
		b.engine.Placeholder(1), b.engine.Placeholder(2), store.Portion))
})

func (i issues) OpenInProject(ctx context.Context, which id.Project, after id.Issue) ([]store.Child, error) {
	return i.children(ctx, openInProject, string(which), string(after))
}

var stepsOf = prepare(func(b builder) fmt.Stringer {
	return b.db().NewSelect().Table("issues").Column("id", "step", "status").
		Where("container_id = ?", b.arg(1)).Where("container_id <> ''").Order("number")
})

func (i issues) Steps(ctx context.Context, of id.Issue) (found []issue.StepState, err error) {
	var which, step, status string
	var invalid error
	err = i.scanRows(ctx, []any{&which, &step, &status}, func() {
		state, err := stepState(which, step, status)
		found, invalid = append(found, state), errors.Join(invalid, err)
	}, stepsOf, string(of))
	return found, cmp.Or(err, invalid)
}

// stepState makes a StepState of what its row has.
func stepState(which, step, status string) (issue.StepState, error) {
	var row issue.Issue
	err := stepColumn.set(&row, &cell{text: step})
	return issue.StepState{ID: id.Issue(which), Place: row.Place, Status: issue.Status(status)}, err
}

var (
	issueDependents = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("issue_blockers").Column("issue_id").
			Where("blocker_id = ?", b.arg(1)).Where("issue_id > ?", b.arg(2)).Where("is_open = 1").Order("issue_id").Limit(store.Portion)
	})
	abandonableIssues = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("issues").Column("id").
			Where("agent_id = ?", b.arg(1)).Where("id > ?", b.arg(2)).Where("is_open = 1").
			Where("status IN (?, ?, ?)", issue.Queued, issue.Assigned, issue.Running).Order("id").Limit(store.Portion)
	})
	issuesDue = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("issues").Column("id", "company_id").Where("waiting = 1").
			Where("not_before <= ?", b.arg(1)).Where(companyStays("issues")+")", company.Deleting).Order("not_before").Limit(store.Portion)
	})
)

func (i issues) Dependents(ctx context.Context, blocker, after id.Issue) ([]id.Issue, error) {
	return i.ids(ctx, issueDependents, string(blocker), string(after))
}

func (i issues) Abandonable(ctx context.Context, of id.Agent, after id.Issue) ([]id.Issue, error) {
	return i.ids(ctx, abandonableIssues, string(of), string(after))
}

func (i issues) ids(ctx context.Context, statement *prepared, args ...any) (found []id.Issue, err error) {
	var which string
	err = i.scanRows(ctx, []any{&which}, func() { found = append(found, id.Issue(which)) }, statement, args...)
	return found, err
}

func (i issues) Due(ctx context.Context, at time.Time) (found []store.DueIssue, err error) {
	var which, of string
	err = i.scanRows(ctx, []any{&which, &of}, func() {
		found = append(found, store.DueIssue{ID: id.Issue(which), Company: id.Company(of)})
	}, issuesDue, millis(at))
	return found, err
}
