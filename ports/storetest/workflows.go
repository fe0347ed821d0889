package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/workflow"
	"holdco/ports/store"
)

var workflowRules = anyWorkflow.rules([]rule{
	{"a company has no two workflows of one slug", workflowSlugs},
	{"a workflow is found by its slug in its company", workflowBySlug},
	{"the oldest workflows of a company are found", workflowsOfCompany},
	{"the steps of each version are kept until the workflow is removed", workflowVersions},
	{"the open issues of a workflow are its containers, or else what is charged to it", workflowIssues},
	{"the workflows are found that have steps for a team", workflowTeams},
	{"the steps of a container are found in the order of their numbers", stepsOfContainer},
	{"containers are counted apart for what they are for", containersCounted},
	{"a removed workflow has no limit any more", workflowLimit},
	{"the account of a workflow outlives it", workflowAccount},
})

var anyWorkflow = aggregate[id.Workflow, workflow.Workflow]{
	of:  func(r store.Reader) store.Getter[id.Workflow, workflow.Workflow] { return r.Workflows() },
	in:  func(tx store.Tx) store.Repository[id.Workflow, workflow.Workflow] { return tx.Workflows() },
	new: func(f *fixture) workflow.Workflow { return f.newWorkflow(f.employer()) },
	list: func(f *fixture, size int) pages[workflow.Workflow] {
		return func(after page.Position) (page.Page[workflow.Workflow], error) {
			return f.store.Workflows().List(f.ctx, f.employer(), after, size)
		}
	},
	remove: func(f *fixture, which id.Workflow) {
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Workflows().Remove(ctx, which)
		})
	},
	full: func(f *fixture, w *workflow.Workflow) {
		w.Description, w.Budget = "*All*", budget.Of(budget.Most)
		w.Steps = []issue.Step{
			{Key: "a", Title: "A \"quoted\"", Instructions: "First line\nsecond line", Team: "tm_some", Gate: issue.ApprovalGate},
			{Key: "b", Title: "B", Gate: issue.NoGate},
		}
		w.UpdatedAt, w.Version = f.clock.Now().Add(time.Minute), 1<<53+1
	},
	edit: func(f *fixture, w *workflow.Workflow) {
		w.Company, w.CreatedAt = "cmp_other", f.clock.Now().Add(time.Hour)
		w.Name, w.Slug, w.Description, w.Budget = "New", "new", "", budget.Limit{}
		w.Steps = []issue.Step{{Key: "c", Title: "C", Gate: issue.ReviewGate}}
		w.UpdatedAt = f.clock.Now().Add(time.Hour)
	},
	permanent: []string{"Company", "CreatedAt"},
	texts: func(w *workflow.Workflow, text string) {
		w.Name, w.Description = text, text
		w.Steps = []issue.Step{{Key: text, Title: text, Instructions: text, Team: id.Team(text), Gate: issue.Gate(text)}}
	},
}

// newWorkflow makes a workflow that is in no store yet.
func (f *fixture) newWorkflow(of id.Company) workflow.Workflow {
	newID := id.New[id.Workflow](f.ids.UUIDv7())
	return workflow.Workflow{
		ID: newID, Company: of, Name: "Newsletter", Slug: string(newID)[len("wf_"):], Version: 1,
		Steps:     []issue.Step{{Key: "write", Title: "Write", Gate: issue.NoGate}},
		CreatedAt: f.clock.Now(), UpdatedAt: f.clock.Now(),
	}
}

// someWorkflow adds a workflow with a limit.
func someWorkflow(f *fixture, of id.Company) unit {
	made := f.newWorkflow(of)
	made.Budget = budget.Of(5)
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Workflows().Add(ctx, made)
	}
}

func workflowSlugs(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	add := func(of id.Company, slug string) error {
		made := f.newWorkflow(of)
		made.Slug = slug
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Workflows().Add(ctx, made)
		})
	}
	f.ok(add(acme, "a"))
	f.ok(add(other, "a"))
	f.code(add(acme, "a"), fault.Internal) // the domain has asked whether it is taken
}

func workflowBySlug(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	want := anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company, w.Slug = acme, "news" })
	anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company, w.Slug = acme, "other" })
	got, err := f.store.Workflows().BySlug(f.ctx, acme, "news")
	f.ok(err)
	f.same(got, want)
	for _, c := range []struct {
		of   id.Company
		slug string
	}{{other, "news"}, {acme, ""}, {acme, "new"}} {
		_, err = f.store.Workflows().BySlug(f.ctx, c.of, c.slug)
		f.code(err, fault.NotFound)
	}
}

func workflowsOfCompany(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	var want []workflow.Workflow
	for n := range 6 {
		made := anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company = []id.Company{acme, acme, other}[n%3] })
		if n%3 < 2 {
			want = append(want, made)
		}
		f.clock.Advance(time.Millisecond)
	}
	for _, most := range []int{1, 3, 10} {
		got, err := f.store.Workflows().OfCompany(f.ctx, acme, most)
		f.ok(err)
		f.same(got, want[:min(most, len(want))])
	}
}

func workflowVersions(f *fixture) {
	other := anyWorkflow.add(f)
	w := anyWorkflow.add(f)
	steps := map[int64][]issue.Step{1: w.Steps}
	for n := range 5 {
		w = anyWorkflow.edited(f, w, func(w *workflow.Workflow) {
			w.Name = fmt.Sprint("Version ", n)
			if n%2 == 0 {
				w.Steps = append(slices.Clone(w.Steps), issue.Step{Key: fmt.Sprint("step-", n), Title: "More", Gate: issue.ReviewGate})
			}
		})
		steps[w.Version] = w.Steps
	}
	for version, want := range steps {
		got, err := f.store.Workflows().Steps(f.ctx, w.ID, version)
		f.ok(err)
		f.same(got, want)
	}
	_, err := f.store.Workflows().Steps(f.ctx, w.ID, 0)
	f.code(err, fault.NotFound)
	anyWorkflow.remove(f, w.ID)
	_, err = f.store.Workflows().Steps(f.ctx, w.ID, 1)
	f.code(err, fault.NotFound)
	_, err = f.store.Workflows().Get(f.ctx, w.ID)
	f.code(err, fault.NotFound)
	got, err := f.store.Workflows().Steps(f.ctx, other.ID, 1)
	f.ok(err)
	f.same(got, other.Steps)
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Workflows().Remove(ctx, w.ID)
	})
}

func workflowIssues(f *fixture) {
	acme := f.found("acme").ID
	open := func(of id.Workflow, containers, others int64) {
		f.Helper()
		got, err := f.store.Workflows().OpenIssues(f.ctx, of)
		f.ok(err)
		f.same(got, workflow.OpenIssues{Containers: containers, Others: others})
	}
	open("wf_a", 0, 0)
	containers := f.files(acme, 2, func(_ int, i *issue.Issue) { i.Workflow, i.IsContainer = "wf_a", true })
	f.files(acme, 3, func(_ int, i *issue.Issue) { i.Workflow = "wf_a" })
	f.files(acme, 2, func(_ int, i *issue.Issue) { i.Workflow, i.Status = "wf_a", issue.Done })
	f.files(acme, 1, func(int, *issue.Issue) {})
	open("wf_a", 2, 3)
	open("wf_b", 0, 0)
	open("", 0, 0)
	for _, one := range containers {
		anyIssue.edited(f, one, func(i *issue.Issue) { i.Status = issue.Cancelled })
	}
	open("wf_a", 0, 3)
}

func workflowTeams(f *fixture) {
	acme := f.employer()
	found := func(which id.Team, want ...string) {
		f.Helper()
		got, err := f.store.Workflows().WithStepsFor(f.ctx, acme, which, 2)
		f.ok(err)
		f.same(got, want)
	}
	one := []issue.Step{{Key: "a", Title: `"Team":"tm_b"`, Gate: issue.NoGate}, {Key: "b", Title: "B", Team: "tm_a", Gate: issue.NoGate}}
	var all []workflow.Workflow
	for _, slug := range []string{"c", "a", "b"} {
		all = append(all, anyWorkflow.add(f, func(w *workflow.Workflow) { w.Slug, w.Steps = slug, one }))
	}
	f.found("elsewhere")
	found("tm_a", "a", "b")
	found("tm_b")
	found("tm_")
	for n, w := range all {
		all[n] = anyWorkflow.edited(f, w, func(w *workflow.Workflow) { w.Steps = one[:1] })
	}
	found("tm_a")
	container := f.files(acme, 1, func(_ int, i *issue.Issue) { i.Workflow, i.IsContainer, i.WorkflowVersion = all[2].ID, true, 1 })[0]
	found("tm_a", "b")
	anyIssue.edited(f, container, func(i *issue.Issue) { i.Status = issue.Cancelled })
	found("tm_a")
}

func stepsOfContainer(f *fixture) {
	acme := f.found("acme").ID
	var want []issue.StepState
	numbers := []int64{5, 3, 4, 1, 2, 6}
	f.files(acme, len(numbers), func(n int, i *issue.Issue) {
		i.Number, i.Container, i.Place = numbers[n], []id.Issue{"iss_a", "iss_a", "iss_b"}[n%3], n+1
		i.WorkflowVersion, i.StepKey, i.Gate = 1, "write", issue.NoGate
		i.Status = issue.Statuses[n]
		if i.Container == "iss_a" {
			want = append(want, issue.StepState{ID: i.ID, Place: i.Place, Status: i.Status})
		}
	})
	f.files(acme, 2, func(int, *issue.Issue) {})
	order := map[int]int64{}
	for n, number := range numbers {
		order[n+1] = number
	}
	slices.SortFunc(want, func(a, b issue.StepState) int { return int(order[a.Place] - order[b.Place]) })
	got, err := f.store.Issues().Steps(f.ctx, "iss_a")
	f.ok(err)
	f.same(got, want)
	for _, of := range []id.Issue{"", "iss_none"} {
		got, err := f.store.Issues().Steps(f.ctx, of)
		f.ok(err)
		f.same(len(got), 0)
	}
}

func containersCounted(f *fixture) {
	acme := f.found("acme").ID
	launch := anyProject.add(f, func(p *goal.Project) { p.Company = acme })
	aim := anyGoal.add(f, func(g *goal.Goal) { g.Company = acme })
	issues := f.files(acme, 9, func(n int, i *issue.Issue) {
		i.Project, i.Goal, i.Workflow, i.IsContainer = launch.ID, aim.ID, "wf_some", n%3 == 0
		i.Status = issue.Statuses[n%len(issue.Statuses)]
	})
	check := func() {
		f.Helper()
		every := func(issue.Issue) bool { return true }
		f.tallyIs(store.Tally{Company: acme}, issues, every)
		f.tallyIs(store.Tally{Company: acme, Project: launch.ID}, issues, every)
		f.tallyIs(store.Tally{Company: acme, Goal: aim.ID}, issues, every)
		want := map[issue.Status]int64{}
		for _, i := range issues {
			if !i.IsContainer {
				want[i.Status]++
			}
		}
		counts, err := f.store.Projects().Work(f.ctx, acme, []id.Project{launch.ID})
		f.ok(err)
		done, err := f.store.Goals().Work(f.ctx, acme, []id.Goal{aim.ID})
		f.ok(err)
		for _, status := range issue.Statuses {
			f.same(counts[launch.ID].Issues.Of[status], want[status])
			f.same(done[aim.ID].Issues.Of[status], want[status])
		}
	}
	check()
	for n := range issues {
		issues[n] = anyIssue.edited(f, issues[n], func(i *issue.Issue) { i.Status = issue.Statuses[(n+3)%len(issue.Statuses)] })
	}
	check()
}

func workflowLimit(f *fixture) {
	acme := f.found("acme").ID
	w := anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company, w.Budget = acme, budget.Of(7) })
	w = anyWorkflow.edited(f, w, func(w *workflow.Workflow) { w.Budget = budget.Of(9) })
	accounts, err := f.store.Envelopes().Accounts(f.ctx, acme, string(w.ID))
	f.ok(err)
	f.same(accounts[string(w.ID)].Limit, budget.Of(9))
	limited, err := f.store.Envelopes().Limited(f.ctx, acme, budget.OfWorkflow, "", 10)
	f.ok(err)
	f.same(len(limited), 1)
	f.same(limited[0].Set, budget.Of(9))
	anyWorkflow.remove(f, w.ID)
	accounts, err = f.store.Envelopes().Accounts(f.ctx, acme, string(w.ID))
	f.ok(err)
	f.same(accounts[string(w.ID)].Limit, budget.Limit{})
}

func workflowAccount(f *fixture) {
	acme := f.found("acme").ID
	w := anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company, w.Budget = acme, budget.Of(7) })
	other := anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company, w.Budget = acme, budget.Of(8) })
	unused := anyWorkflow.add(f, func(w *workflow.Workflow) { w.Company = acme })
	f.update(func(ctx context.Context, tx store.Tx) error {
		accounts, err := tx.Envelopes().Accounts(ctx, acme, string(w.ID))
		if err != nil {
			return err
		}
		used := accounts[string(w.ID)]
		used.Period, used.Start, used.Spent, used.Held = budget.Always, f.clock.Now(), 5, 2
		tx.Unrecorded()
		return tx.Envelopes().Save(ctx, []budget.Account{used})
	})
	read := func() map[string]budget.Account {
		found, err := f.store.Envelopes().Accounts(f.ctx, acme, string(w.ID), string(other.ID), string(unused.ID))
		f.ok(err)
		return found
	}
	want := read()
	anyWorkflow.remove(f, w.ID)
	anyWorkflow.remove(f, unused.ID)
	kept := want[string(w.ID)]
	kept.Limit = budget.Limit{}
	want[string(w.ID)] = kept
	f.same(read(), want)
	f.same(kept.Spent, money.USD(5))
}

func (f *fixture) workflowWrites() map[string]writeCase {
	kept, leaving := anyWorkflow.add(f), anyWorkflow.add(f)
	newcomer := f.newWorkflow(kept.Company)
	return map[string]writeCase{
		"Workflows.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Workflows().Lock(ctx, kept.ID)
			return err
		}},
		"Workflows.Add": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Workflows().Add(ctx, newcomer) }},
		"Workflows.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := tx.Workflows().Lock(ctx, kept.ID)
			if err != nil {
				return err
			}
			locked.Steps, locked.Version = []issue.Step{{Key: "new", Title: "New"}}, locked.Version+1
			return tx.Workflows().Save(ctx, locked)
		}},
		"Workflows.Remove": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Workflows().Remove(ctx, leaving.ID) }},
	}
}
