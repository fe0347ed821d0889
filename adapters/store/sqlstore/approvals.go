package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/approval"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

// approvals implements store.Approvals.
type approvals struct {
	stored[id.Approval, approval.Approval]
}

func approvalsOf(s session) approvals {
	return approvals{stored[id.Approval, approval.Approval]{s, approvalTable}}
}

var approvalTable = tableOf("approvals", fault.New(fault.NotFound, "There is no such approval."),
	asText("id", func(a *approval.Approval) *id.Approval { return &a.ID }),
	asText("company_id", func(a *approval.Approval) *id.Company { return &a.Company }).fixed(),
	asText("issue_id", func(a *approval.Approval) *id.Issue { return &a.Issue }).fixed(),
	asText("run_id", func(a *approval.Approval) *id.Run { return &a.Run }).fixed(),
	asText("agent_id", func(a *approval.Approval) *id.Agent { return &a.Agent }).fixed(),
	asText("team_id", func(a *approval.Approval) *id.Team { return &a.Team }).fixed(),
	asText("status", func(a *approval.Approval) *approval.Status { return &a.Status }).inIndex(),
	derivedFlag("is_open", func(a *approval.Approval) bool { return a.Status.IsOpen() }).inIndex(),
	asText("action_name", func(a *approval.Approval) *string { return &a.ActionName }).fixed(),
	asText("action", func(a *approval.Approval) *string { return &a.Action }).fixed(),
	asText("reasoning", func(a *approval.Approval) *string { return &a.Reasoning }).fixed(),
	asLimit("cost_usd", func(a *approval.Approval) *budget.Limit { return &a.Cost.USD }).fixed(),
	asInteger("cost_tokens", func(a *approval.Approval) *int64 { return &a.Cost.Tokens }).fixed(),
	asJSONList("side_effects", func(a *approval.Approval) *[]string { return &a.SideEffects }).fixed(),
	asText("if_denied", func(a *approval.Approval) *string { return &a.IfDenied }).fixed(),
	asText("edits", func(a *approval.Approval) *string { return &a.Edits }),
	asText("note", func(a *approval.Approval) *string { return &a.Note }),
	asBoolean("parked", func(a *approval.Approval) *bool { return &a.Parked }).fixed(),
	asInteger("comments", func(a *approval.Approval) *int { return &a.Comments }),
	asText("decided_by", func(a *approval.Approval) *string { return &a.DecidedBy }),
	asMillis(createdAt, func(a *approval.Approval) *time.Time { return &a.CreatedAt }).fixed(),
	asMillis("expires_at", func(a *approval.Approval) *time.Time { return &a.ExpiresAt }).inIndex(),
	asOptionalMillis("decided_at", func(a *approval.Approval) *time.Time { return &a.DecidedAt }),
	asInteger("version", func(a *approval.Approval) *int64 { return &a.Version }),
)

func (a approvals) Add(ctx context.Context, added approval.Approval) error {
	return a.addLater(ctx, added)
}

func (a approvals) Save(ctx context.Context, saved approval.Approval) error {
	before, _ := a.locked(saved)
	if err := a.saveLater(ctx, saved); err != nil || before.Status != approval.Pending || saved.Status == approval.Pending {
		return err
	}
	return a.raiseWork(ctx, saved.Company) // who waits for it looks at it
}

func (a approvals) List(
	ctx context.Context, filter store.ApprovalFilter, after page.Position, size int,
) (page.Page[approval.Approval], error) {
	if len(filter.Status) > 1 {
		return a.merge(ctx, filter, after, size)
	}
	where := []condition{{"company_id", string(filter.Company)}}
	for _, c := range []condition{
		{"agent_id", string(filter.Agent)}, {"team_id", string(filter.Team)}, {"issue_id", string(filter.Issue)},
	} {
		if c.value != "" {
			where = append(where, c)
		}
	}
	if len(filter.Status) == 1 {
		where = append(where, condition{"status", string(filter.Status[0])})
	}
	if filter.Since.IsZero() && filter.Until.IsZero() {
		return listPage(ctx, a.session, a.table, where, after, size)
	}
	query := meeting(selectRows(a.session, a.table), where)
	if !filter.Since.IsZero() {
		query = query.Where("created_at >= ?", millisFrom(filter.Since))
	}
	if !filter.Until.IsZero() {
		query = query.Where("created_at < ?", millisFrom(filter.Until))
	}
	return queryPage(ctx, a.session, a.table, query, after, size)
}

// merge reads a page of the approvals in several states from the lists of each: an index sorts these, but not all of them together.
func (a approvals) merge(
	ctx context.Context, filter store.ApprovalFilter, after page.Position, size int,
) (merged page.Page[approval.Approval], err error) {
	var found []approval.Approval
	states := slices.Compact(slices.Sorted(slices.Values(filter.Status))) // one that is given twice is listed once
	for status := range slices.Chunk(states, 1) {
		filter.Status = status
		of, err := a.List(ctx, filter, after, size+1)
		if err != nil {
			return merged, err
		}
		found = append(found, of.Items...)
	}
	slices.SortFunc(found, func(x, y approval.Approval) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(y.ID, x.ID))
	})
	return page.Of(found[:min(len(found), size+1)], size, a.table.position), nil
}

// newestApprovals are by how many are read.
var newestApprovals = preparedFor[int]{prepare: func(most int) *prepared {
	return prepare(func(b builder) fmt.Stringer {
		return newest(approvalTable.selects(b.db()).Where("issue_id = ?", b.arg(1)), createdAt, nil, nil, most)
	})
}}

func (a approvals) OnIssue(ctx context.Context, of id.Issue, most int) ([]approval.Approval, error) {
	return readEach(ctx, a.session, a.table, newestApprovals.of(most), string(of))
}

var (
	lastApproved = prepare(func(b builder) fmt.Stringer {
		return newest(approvalTable.selects(b.db()).Where("issue_id = ?", b.arg(1)).Where("agent_id = ?", b.arg(2)).
			Where("action_name = ?", b.arg(3)).Where("status IN (?, ?)", approval.Approved, approval.ApprovedWithEdits),
			createdAt, nil, nil, 1)
	})
	lockOpenApprovals = prepare(func(b builder) fmt.Stringer {
		return b.engine.ForUpdate(approvalTable.selects(b.db()).Where("issue_id = ?", b.arg(1)).Where("is_open = 1").
			Order(createdAt, "id"))
	})
	overdueApprovals = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("approvals").Column("id", "company_id").Where("is_open = 1").
			Where("expires_at <= ?", b.arg(1)).Where(companyStays("approvals")+")", company.Deleting).
			Order("expires_at").Limit(store.Portion)
	})
)

func (a approvals) LastApproved(
	ctx context.Context, of id.Issue, by id.Agent, actionName string,
) (approval.Approval, error) {
	return readOne(ctx, a.session, a.table, lastApproved, string(of), string(by), actionName)
}

func (a approvals) LockOpen(ctx context.Context, on id.Issue) ([]approval.Approval, error) {
	found, err := readEach(ctx, a.session, a.table, lockOpenApprovals, string(on))
	for _, one := range found {
		a.hasLocked(string(one.ID), one)
	}
	return found, err
}

func (a approvals) Overdue(ctx context.Context, at time.Time) (found []store.OpenApproval, err error) {
	var which, of string
	err = a.scanRows(ctx, []any{&which, &of}, func() {
		found = append(found, store.OpenApproval{ID: id.Approval(which), Company: id.Company(of)})
	}, overdueApprovals, millis(at))
	return found, err
}

func (a approvals) Pending(ctx context.Context, which []id.Approval) (pending []id.Approval, err error) {
	for some := range slices.Chunk(which, store.Portion) {
		var found []id.Approval
		err := a.scan(ctx, a.selectFrom("approvals").Column("id").Where("id IN (?)", bun.List(some)).
			Where("status = ?", approval.Pending), &found)
		if err != nil {
			return nil, err
		}
		pending = append(pending, found...)
	}
	return pending, nil
}

var approvalCommentTable = tableOf("approval_comments", nil,
	asText("id", func(c *approval.Comment) *id.Comment { return &c.ID }),
	asText("company_id", func(c *approval.Comment) *id.Company { return &c.Company }).fixed(),
	asText("approval_id", func(c *approval.Comment) *id.Approval { return &c.Approval }).fixed(),
	asText("author", func(c *approval.Comment) *event.Actor { return &c.Author }).fixed(),
	asText("body", func(c *approval.Comment) *string { return &c.Body }).fixed(),
	asMillis(createdAt, func(c *approval.Comment) *time.Time { return &c.CreatedAt }).fixed(),
)

func (a approvals) AddComment(ctx context.Context, added approval.Comment) error {
	return a.changeLater(ctx, approvalCommentTable.insert, approvalCommentTable.inserted(&added)...)
}

var commentsOnApproval = prepare(func(b builder) fmt.Stringer {
	return approvalCommentTable.selects(b.db()).Where("approval_id = ?", b.arg(1)).Order(createdAt, "id").Limit(approval.MostComments)
})

func (a approvals) Comments(ctx context.Context, on id.Approval) ([]approval.Comment, error) {
	return readEach(ctx, a.session, approvalCommentTable, commentsOnApproval, string(on))
}

// approvalRules implements store.ApprovalRules.
type approvalRules struct {
	stored[id.ApprovalRule, approval.Rule]
}

func approvalRulesOf(s session) approvalRules {
	return approvalRules{stored[id.ApprovalRule, approval.Rule]{s, approvalRuleTable}}
}

var approvalRuleTable = tableOf("approval_rules", fault.New(fault.NotFound, "There is no such approval rule."),
	asText("id", func(r *approval.Rule) *id.ApprovalRule { return &r.ID }),
	asText("company_id", func(r *approval.Rule) *id.Company { return &r.Company }).fixed(),
	asText("action_name", func(r *approval.Rule) *string { return &r.ActionName }).fixed(),
	asText("agent_id", func(r *approval.Rule) *id.Agent { return &r.Agent }).fixed(),
	asText("team_id", func(r *approval.Rule) *id.Team { return &r.Team }).fixed(),
	asLimit("max_usd", func(r *approval.Rule) *budget.Limit { return &r.MaxUSD }).fixed(),
	asText("decision", func(r *approval.Rule) *approval.Action { return &r.Decision }).fixed(),
	asOptionalMillis("expires_at", func(r *approval.Rule) *time.Time { return &r.ExpiresAt }).fixed(),
	asText("created_by", func(r *approval.Rule) *event.Actor { return &r.CreatedBy }).fixed(),
	asMillis(createdAt, func(r *approval.Rule) *time.Time { return &r.CreatedAt }).fixed(),
)

func (r approvalRules) List(
	ctx context.Context, of id.Company, after page.Position, size int,
) (page.Page[approval.Rule], error) {
	return listPage(ctx, r.session, r.table, []condition{{"company_id", string(of)}}, after, size)
}

var (
	rulesFor = prepare(func(b builder) fmt.Stringer {
		return approvalRuleTable.selects(b.db()).Where("company_id = ?", b.arg(1)).
			Where("agent_id IN ('', ?)", b.arg(2)).Where("team_id IN ('', ?)", b.arg(3))
	})
	countRules = prepare(func(b builder) fmt.Stringer {
		return b.db().NewSelect().Table("approval_rules").ColumnExpr("count(*)").Where("company_id = ?", b.arg(1))
	})
)

func (r approvalRules) For(ctx context.Context, of id.Company, by id.Agent, in id.Team) ([]approval.Rule, error) {
	return readEach(ctx, r.session, r.table, rulesFor, string(of), string(by), string(in))
}

func (r approvalRules) Count(ctx context.Context, of id.Company) (int, error) {
	var count int64
	err := r.row(ctx, []any{&count}, nil, countRules, string(of))
	return int(count), err
}
