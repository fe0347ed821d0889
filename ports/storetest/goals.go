package storetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/store"
)

var goalRules = anyGoal.rules([]rule{
	{"a list has the goals in some states", goalFilters},
	{"the work for a goal is each issue with it or in its projects, once, whatever moves", goalWork},
	{"what was spent on goals and projects is what their accounts have", purposesSpent},
})

var projectRules = anyProject.rules([]rule{
	{"a list has the projects that meet every condition", projectFilters},
	{"the open issues of a project are found in portions by their ids", openInProject},
})

var anyGoal = aggregate[id.Goal, goal.Goal]{
	of:  func(r store.Reader) store.Getter[id.Goal, goal.Goal] { return r.Goals() },
	in:  func(tx store.Tx) store.Repository[id.Goal, goal.Goal] { return tx.Goals() },
	new: func(f *fixture) goal.Goal { return f.newGoal(f.employer()) },
	list: func(f *fixture, size int) pages[goal.Goal] {
		return f.goalPages(store.GoalFilter{Company: f.employer()}, size)
	},
	full: func(f *fixture, g *goal.Goal) {
		g.Description, g.Budget, g.TargetDate, g.Status = "*All*", budget.Of(budget.Most), "2026-12-31", goal.Abandoned
		g.UpdatedAt, g.Version = f.clock.Now().Add(time.Minute), 1<<53+1
	},
	edit: func(f *fixture, g *goal.Goal) {
		g.Company, g.CreatedAt = "cmp_other", f.clock.Now().Add(time.Hour)
		g.Title, g.Description, g.Budget, g.TargetDate, g.Status = "New", "", budget.Limit{}, "", goal.Active
		g.UpdatedAt = f.clock.Now().Add(time.Hour)
	},
	permanent: []string{"Company", "CreatedAt"},
	texts:     func(g *goal.Goal, text string) { g.Title, g.Description, g.TargetDate = text, text, text },
}

var anyProject = aggregate[id.Project, goal.Project]{
	of:  func(r store.Reader) store.Getter[id.Project, goal.Project] { return r.Projects() },
	in:  func(tx store.Tx) store.Repository[id.Project, goal.Project] { return tx.Projects() },
	new: func(f *fixture) goal.Project { return f.newProject(f.employer()) },
	list: func(f *fixture, size int) pages[goal.Project] {
		return f.projectPages(store.ProjectFilter{Company: f.employer()}, size)
	},
	full: func(f *fixture, p *goal.Project) {
		p.Goal, p.Description, p.Budget, p.OwnerTeam, p.Status = "gl_some", "*All*", budget.Of(budget.Most), "tm_some", goal.Archived
		p.UpdatedAt, p.Version = f.clock.Now().Add(time.Minute), 1<<53+1
	},
	edit: func(f *fixture, p *goal.Project) {
		p.Company, p.CreatedAt = "cmp_other", f.clock.Now().Add(time.Hour)
		p.Goal, p.Title, p.Description, p.Budget, p.OwnerTeam, p.Status = "", "New", "", budget.Limit{}, "", goal.Underway
		p.UpdatedAt = f.clock.Now().Add(time.Hour)
	},
	permanent: []string{"Company", "CreatedAt"},
	texts:     func(p *goal.Project, text string) { p.Title, p.Description = text, text },
}

// newGoal makes a goal that is in no store yet.
func (f *fixture) newGoal(of id.Company) goal.Goal {
	f.Helper()
	draft := goal.Draft{PurposeDraft: goal.PurposeDraft{Title: new("Grow")}}
	made, _, err := goal.New(id.New[id.Goal](f.ids.UUIDv7()), of, draft, f.clock.Now())
	f.ok(err)
	return made
}

// newProject makes a project that is in no store yet.
func (f *fixture) newProject(of id.Company) goal.Project {
	f.Helper()
	draft := goal.ProjectDraft{PurposeDraft: goal.PurposeDraft{Title: new("Launch")}}
	made, _, err := goal.NewProject(id.New[id.Project](f.ids.UUIDv7()), of, draft, nil, f.clock.Now())
	f.ok(err)
	return made
}

// someGoal adds a goal, and a project of it with an issue.
func someGoal(f *fixture, of id.Company) unit {
	made, project, filed := f.newGoal(of), f.newProject(of), f.newIssue(of)
	project.Goal, filed.Project, filed.Goal = made.ID, project.ID, made.ID
	return func(ctx context.Context, tx store.Tx) error {
		if err := tx.Goals().Add(ctx, made); err != nil {
			return err
		}
		if err := tx.Projects().Add(ctx, project); err != nil {
			return err
		}
		return filing(filed)(ctx, tx)
	}
}

func (f *fixture) goalPages(filter store.GoalFilter, size int) pages[goal.Goal] {
	return func(after page.Position) (page.Page[goal.Goal], error) {
		return f.store.Goals().List(f.ctx, filter, after, size)
	}
}

func (f *fixture) projectPages(filter store.ProjectFilter, size int) pages[goal.Project] {
	return func(after page.Position) (page.Page[goal.Project], error) {
		return f.store.Projects().List(f.ctx, filter, after, size)
	}
}

func goalFilters(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	var all []goal.Goal
	for n := range 12 {
		all = append(all, anyGoal.add(f, func(g *goal.Goal) {
			g.Company = []id.Company{acme, acme, other}[n%3]
			g.Status = []goal.Status{goal.Active, goal.Achieved, goal.Abandoned, goal.Active}[n%4]
			g.Title, g.Description = fmt.Sprint("Grow ", n), []string{"", "Straße and\nAvenue"}[n/4%2]
		}))
		f.clock.Advance(time.Duration(n%2) * time.Millisecond)
	}
	anyGoal.sortNewestFirst(all)
	for _, states := range [][]goal.Status{nil, {goal.Active}, {goal.Achieved, goal.Abandoned}, {goal.Active, goal.Active}, {"none"}} {
		for _, words := range []text.Words{nil, {"strasse"}, {"grow", "1", "avenue"}, {"none"}} {
			var want []goal.Goal
			for _, g := range all {
				if g.Company == acme && (states == nil || slices.Contains(states, g.Status)) && words.In(g.Title, g.Description) {
					want = append(want, g)
				}
			}
			for _, size := range []int{1, 2, page.DefaultSize} {
				f.same(walk(f, size, f.goalPages(store.GoalFilter{Company: acme, Status: states, Words: words}, size)), want)
			}
		}
	}
}

func projectFilters(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	goals := []id.Goal{"", "gl_a", "gl_b"}
	var all []goal.Project
	for n := range 36 {
		all = append(all, anyProject.add(f, func(p *goal.Project) {
			p.Company = []id.Company{acme, acme, other}[n%3]
			p.Goal = goals[n/3%3]
			p.Status = []goal.ProjectStatus{goal.Underway, goal.Archived}[n/9%2]
			p.Title, p.Description = fmt.Sprint("Build ", n), []string{"", "A HOUSE"}[n/2%2]
		}))
		f.clock.Advance(time.Duration(n%2) * time.Millisecond)
	}
	anyProject.sortNewestFirst(all)
	for _, of := range goals {
		count, err := f.store.Projects().Count(f.ctx, of)
		f.ok(err)
		has := func(p goal.Project) bool { return of != "" && p.Goal == of }
		f.same(count, len(slices.DeleteFunc(slices.Clone(all), func(p goal.Project) bool { return !has(p) })))
		for _, filter := range []store.ProjectFilter{
			{}, {Status: []goal.ProjectStatus{goal.Underway}}, {Status: []goal.ProjectStatus{goal.Archived, goal.Underway}},
			{Words: text.Words{"house"}}, {Words: text.Words{"1", "house"}, Status: []goal.ProjectStatus{goal.Archived}},
		} {
			filter.Company, filter.Goal = acme, of
			var want []goal.Project
			for _, p := range all {
				if p.Company == acme && (of == "" || p.Goal == of) && filter.Words.In(p.Title, p.Description) &&
					(filter.Status == nil || slices.Contains(filter.Status, p.Status)) {
					want = append(want, p)
				}
			}
			for _, size := range []int{2, page.DefaultSize} {
				f.same(walk(f, size, f.projectPages(filter, size)), want)
			}
		}
	}
}

func goalWork(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	var goals []goal.Goal
	var projects []goal.Project
	for range 3 {
		goals = append(goals, anyGoal.add(f, func(g *goal.Goal) { g.Company = acme }))
	}
	for n := range 4 {
		projects = append(projects, anyProject.add(f, func(p *goal.Project) {
			if p.Company = acme; n < 3 {
				p.Goal = goals[n/2].ID
			}
		}))
		f.clock.Advance(time.Millisecond)
	}
	anyProject.add(f, func(p *goal.Project) { p.Company, p.Goal = other, goals[0].ID }) // of no company that is asked for
	issues := f.files(acme, 60, func(n int, i *issue.Issue) {
		if n%5 < 4 {
			i.Project = projects[n%5].ID
		}
		if n%4 < 3 {
			i.Goal = goals[n%4].ID
		}
		i.Status = issue.Statuses[n%len(issue.Statuses)]
	})
	which := []id.Goal{goals[0].ID, goals[1].ID, goals[2].ID, "gl_none"}
	check := func() {
		f.Helper()
		done, err := f.store.Goals().Work(f.ctx, acme, which)
		f.ok(err)
		f.same(len(done), len(which))
		kept := map[id.Project]id.Goal{}
		for _, p := range projects {
			kept[p.ID] = p.Goal
		}
		count := func(meets func(i issue.Issue) bool) map[issue.Status]int64 {
			want := map[issue.Status]int64{}
			for _, i := range issues {
				if meets(i) {
					want[i.Status]++
				}
			}
			return want
		}
		for _, one := range which {
			var its []id.Project
			for _, p := range projects {
				if p.Goal == one {
					its = append(its, p.ID)
				}
			}
			f.same(done[one].Projects, its)
			counted := map[issue.Status]int64{}
			for status, n := range done[one].Issues.Of {
				if n != 0 {
					counted[status] = n
				}
			}
			f.same(counted, count(func(i issue.Issue) bool { return i.Goal == one || i.Project != "" && kept[i.Project] == one }))
			f.tallyIs(store.Tally{Company: acme, Goal: one}, issues, func(i issue.Issue) bool { return i.Goal == one })
		}
		ids := []id.Project{projects[0].ID, projects[3].ID, "prj_none"}
		work, err := f.store.Projects().Work(f.ctx, acme, ids)
		f.ok(err)
		f.same(len(work), len(ids))
		for _, one := range ids {
			f.same(fmt.Sprint(work[one].Issues.Open()), fmt.Sprint(issue.Counts{Of: count(func(i issue.Issue) bool {
				return i.Project == one
			})}.Open()))
			f.tallyIs(store.Tally{Company: acme, Project: one}, issues, func(i issue.Issue) bool { return i.Project == one })
		}
	}
	check()
	projects[0] = anyProject.edited(f, projects[0], func(p *goal.Project) { p.Goal = goals[2].ID })
	projects[3] = anyProject.edited(f, projects[3], func(p *goal.Project) { p.Goal = goals[0].ID })
	projects[1] = anyProject.edited(f, projects[1], func(p *goal.Project) { p.Goal = "" })
	check()
	for n := range 20 {
		issues[n] = anyIssue.edited(f, issues[n], func(i *issue.Issue) {
			i.Status = issue.Statuses[(n+3)%len(issue.Statuses)]
			i.Project, i.Goal = issues[n+1].Project, issues[n+2].Goal
		})
	}
	check()
	none, err := f.store.Goals().Work(f.ctx, acme, nil)
	f.ok(err)
	f.same(len(none), 0)
}

func purposesSpent(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	limited := func(of *budget.Limit) { *of = budget.Of(5) }
	grow := anyGoal.add(f, func(g *goal.Goal) { g.Company = acme; limited(&g.Budget) })
	save := anyGoal.add(f, func(g *goal.Goal) { g.Company = acme })
	launch := anyProject.add(f, func(p *goal.Project) { p.Company, p.Goal = acme, grow.ID; limited(&p.Budget) })
	cut := anyProject.add(f, func(p *goal.Project) { p.Company = acme })
	is := func(ofGrow, ofLaunch money.USD) {
		f.Helper()
		goals, err := f.store.Goals().Work(f.ctx, acme, []id.Goal{grow.ID, save.ID, "gl_none"})
		f.ok(err)
		f.same([]money.USD{goals[grow.ID].Spent, goals[save.ID].Spent, goals["gl_none"].Spent}, []money.USD{ofGrow, 0, 0})
		projects, err := f.store.Projects().Work(f.ctx, acme, []id.Project{cut.ID, launch.ID})
		f.ok(err)
		f.same([]money.USD{projects[launch.ID].Spent, projects[cut.ID].Spent}, []money.USD{ofLaunch, 0})
	}
	is(0, 0)
	spends := func(of id.Company, which string, usd money.USD) budget.Account {
		return budget.Account{ID: which, Company: of, Period: budget.Always, Spent: usd, Held: 3}
	}
	f.update(accounting(spends(acme, string(grow.ID), 1<<53+1), spends(acme, string(launch.ID), 7), spends(other, "gl_none", 9)))
	is(1<<53+1, 7)
	grow = anyGoal.edited(f, grow, func(g *goal.Goal) { g.Budget = budget.Limit{} }) // an account stays without its limit
	f.update(accounting(spends(acme, string(grow.ID), 2)))
	is(2, 7)
}

func openInProject(f *fixture) {
	acme := f.found("acme").ID
	var want []store.Child
	f.files(acme, 2*store.Portion+80, func(n int, i *issue.Issue) {
		i.Project = []id.Project{"prj_a", "prj_a", "prj_b", ""}[n%4]
		if i.Status = issue.Statuses[n%len(issue.Statuses)]; i.Project == "prj_a" && !i.Status.IsFinal() {
			want = append(want, store.Child{ID: i.ID, Status: i.Status, IsParent: n == 1})
		}
		if n == 4 {
			i.Parent = want[1].ID
		}
	})
	f.files(acme, 2*store.Portion, func(_ int, i *issue.Issue) {
		i.Project = "prj_a"
		want = append(want, store.Child{ID: i.ID, Status: i.Status})
	})
	slices.SortFunc(want, func(a, b store.Child) int { return slices.Compare([]byte(a.ID), []byte(b.ID)) })
	var got []store.Child
	for after := id.Issue(""); ; {
		portion, err := f.store.Issues().OpenInProject(f.ctx, "prj_a", after)
		f.ok(err)
		got = append(got, portion...)
		if len(portion) < store.Portion {
			break
		}
		after = portion[len(portion)-1].ID
	}
	f.same(got, want)
}

func (f *fixture) goalWrites() map[string]writeCase {
	aim, launch := anyGoal.add(f), anyProject.add(f)
	newGoal, newProject := f.newGoal(aim.Company), f.newProject(aim.Company)
	return map[string]writeCase{
		"Goals.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := tx.Goals().Lock(ctx, aim.ID); return err }},
		"Goals.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Goals().Add(ctx, newGoal) }},
		"Goals.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := tx.Goals().Lock(ctx, aim.ID)
			if err != nil {
				return err
			}
			locked.Status, locked.Version = goal.Achieved, locked.Version+1
			return tx.Goals().Save(ctx, locked)
		}},
		"Projects.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Projects().Lock(ctx, launch.ID)
			return err
		}},
		"Projects.Add": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Projects().Add(ctx, newProject) }},
		"Projects.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := tx.Projects().Lock(ctx, launch.ID)
			if err != nil {
				return err
			}
			locked.Status, locked.Version = goal.Archived, locked.Version+1
			return tx.Projects().Save(ctx, locked)
		}},
	}
}
