package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/workflow"
)

// workflows implements store.Workflows.
type workflows struct {
	stored[id.Workflow, workflow.Workflow]
}

func workflowsOf(s session) workflows {
	return workflows{stored[id.Workflow, workflow.Workflow]{s, workflowTable}}
}

var workflowTable = tableOf("workflows", fault.New(fault.NotFound, "There is no such workflow."),
	asText("id", func(w *workflow.Workflow) *id.Workflow { return &w.ID }),
	asText("company_id", func(w *workflow.Workflow) *id.Company { return &w.Company }).fixed(),
	asText("name", func(w *workflow.Workflow) *string { return &w.Name }),
	asText("slug", func(w *workflow.Workflow) *string { return &w.Slug }).inIndex(),
	asText("description", func(w *workflow.Workflow) *string { return &w.Description }),
	asLimit("budget_usd", func(w *workflow.Workflow) *budget.Limit { return &w.Budget }),
	asSteps("steps", func(w *workflow.Workflow) *[]issue.Step { return &w.Steps }),
	asMillis(createdAt, func(w *workflow.Workflow) *time.Time { return &w.CreatedAt }).fixed(),
	asMillis("updated_at", func(w *workflow.Workflow) *time.Time { return &w.UpdatedAt }),
	asInteger("version", func(w *workflow.Workflow) *int64 { return &w.Version }),
)

// versionRow is the steps of a workflow from a version on, until the next one that is kept.
type versionRow struct {
	workflow id.Workflow
	company  id.Company
	from     int64
	steps    []issue.Step
}

var versionTable = tableOf("workflow_versions", nil,
	asText("workflow_id", func(v *versionRow) *id.Workflow { return &v.workflow }),
	asText("company_id", func(v *versionRow) *id.Company { return &v.company }).fixed(),
	asInteger("from_version", func(v *versionRow) *int64 { return &v.from }).fixed(),
	asSteps("steps", func(v *versionRow) *[]issue.Step { return &v.steps }).fixed(),
)

// storedStep is a step of a workflow as it is kept: its names stay, whatever issue.Step is called by.
type storedStep struct {
	Key          string     `json:"Key"`
	Title        string     `json:"Title"`
	Instructions string     `json:"Instructions"`
	Team         id.Team    `json:"Team"`
	Gate         issue.Gate `json:"Gate"`
}

// withStepsFor is a pattern of the JSON of steps that has one for a team.
func withStepsFor(which id.Team) string { return fmt.Sprintf(`%%"Team":%q%%`, which) }

// asSteps keeps the steps of a workflow as JSON.
func asSteps[T any](name string, field func(*T) *[]issue.Step) column[T] {
	return column[T]{
		name: name, kind: textKind,
		get: func(of *T) any {
			var kept []storedStep
			for _, step := range *field(of) {
				kept = append(kept, storedStep(step))
			}
			encoded, _ := json.Marshal(kept) // texts cannot fail
			return string(encoded)
		},
		set: func(to *T, c *cell) error {
			var kept []storedStep
			err := json.Unmarshal([]byte(c.text), &kept)
			steps := make([]issue.Step, len(kept))
			for n, step := range kept {
				steps[n] = issue.Step(step)
			}
			*field(to) = steps
			return err
		},
	}
}

// Add keeps the budget of the workflow where charges are counted. So does Save.
func (w workflows) Add(ctx context.Context, added workflow.Workflow) error {
	if err := w.stored.Add(ctx, added); err != nil {
		return err
	}
	if err := w.keepSteps(ctx, added); err != nil {
		return err
	}
	return w.setLimit(ctx, added.Company, string(added.ID), budget.Limit{}, added.Budget)
}

func (w workflows) Save(ctx context.Context, saved workflow.Workflow) error {
	before, _ := w.locked(saved)
	if err := w.stored.Save(ctx, saved); err != nil {
		return err
	}
	if !slices.Equal(before.Steps, saved.Steps) {
		if err := w.keepSteps(ctx, saved); err != nil {
			return err
		}
	}
	return w.setLimit(ctx, saved.Company, string(saved.ID), before.Budget, saved.Budget)
}

func (w workflows) keepSteps(ctx context.Context, of workflow.Workflow) error {
	kept := versionRow{workflow: of.ID, company: of.Company, from: of.Version, steps: of.Steps}
	return insertMany(ctx, w.session, versionTable, []versionRow{kept})
}

// Remove keeps the account without a limit: what its runs have spent counts, and they may report costs later.
func (w workflows) Remove(ctx context.Context, which id.Workflow) error {
	versions := w.engine.DB().NewDelete().Conn(w.conn).Table("workflow_versions").Where("workflow_id = ?", which)
	if _, err := w.change(ctx, versions); err != nil {
		return err
	}
	account := w.engine.DB().NewUpdate().Conn(w.conn).Table("envelopes").Set("limit_usd = NULL").Where("id = ?", which)
	if _, err := w.change(ctx, account); err != nil {
		return err
	}
	return w.stored.Remove(ctx, which)
}

var workflowBySlug = prepare(func(b builder) fmt.Stringer {
	return workflowTable.selects(b.db()).Where("company_id = ?", b.arg(1)).Where("slug = ?", b.arg(2))
})

func (w workflows) BySlug(ctx context.Context, of id.Company, slug string) (workflow.Workflow, error) {
	return readOne(ctx, w.session, w.table, workflowBySlug, string(of), slug)
}

func (w workflows) List(
	ctx context.Context, of id.Company, after page.Position, size int,
) (page.Page[workflow.Workflow], error) {
	return listPage(ctx, w.session, w.table, []condition{{"company_id", string(of)}}, after, size)
}

func (w workflows) OfCompany(ctx context.Context, which id.Company, most int) ([]workflow.Workflow, error) {
	return readAll(ctx, w.session, w.table, ofCompany(w.session, w.table, which).Limit(int64(most)))
}

func (w workflows) Steps(ctx context.Context, of id.Workflow, version int64) ([]issue.Step, error) {
	found, err := readAll(ctx, w.session, versionTable, selectRows(w.session, versionTable).
		Where("workflow_id = ?", of).Where("from_version <= ?", version).OrderExpr("from_version DESC").Limit(1))
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, w.table.missing
	}
	return found[0].steps, nil
}

func (w workflows) OpenIssues(ctx context.Context, of id.Workflow) (open workflow.OpenIssues, err error) {
	err = w.scan(ctx, w.selectFrom("issues").
		ColumnExpr("count(CASE WHEN container_of <> '' THEN 1 END)").ColumnExpr("count(CASE WHEN container_of = '' THEN 1 END)").
		Where("workflow_id = ?", of).Where("workflow_id <> ''").Where("is_open = 1"), &open.Containers, &open.Others)
	return open, err
}

func (w workflows) WithStepsFor(ctx context.Context, of id.Company, which id.Team, most int) ([]string, error) {
	containers := w.selectFrom("issues").ColumnExpr("1").Where("issues.workflow_id = workflows.id").Where("issues.workflow_id <> ''").
		Where("is_open = 1").Where("container_of <> ''")
	versions := w.selectFrom("workflow_versions").ColumnExpr("1").Where("workflow_versions.workflow_id = workflows.id").
		Where("workflow_versions.steps LIKE ?", withStepsFor(which))
	found, err := readAll(ctx, w.session, w.table, selectRows(w.session, w.table).Where("company_id = ?", of).
		Where("(steps LIKE ? OR EXISTS (?) AND EXISTS (?))", withStepsFor(which), versions, containers).
		OrderExpr("slug").Limit(int64(most)))
	var slugs []string
	for _, one := range found {
		slugs = append(slugs, one.Slug)
	}
	return slugs, err
}
