package storetest

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/store"
)

var issueListRules = []rule{
	{"a list has the issues that meet one condition, in every order and page by page", issueFilters},
	{"a list has the issues that meet two conditions", issueFilterPairs},
	{"words are found anywhere in title and description, whatever their case", issueWords},
	{"a search finds the few among many that do not match, in every order", issueSearchFar},
	{"a position of another list is refused", issueForeignPositions},
	{"issues that match are counted by state, up to a bound", issueCounts},
}

func (f *fixture) issuePages(filter store.IssueFilter, size int) pages[issue.Issue] {
	return func(after page.Position) (page.Page[issue.Issue], error) {
		return f.store.Issues().List(f.ctx, filter, after, size)
	}
}

var issueSorts = []store.IssueSort{store.ByCreation, store.ByUpdate, store.ByPriority, store.ByDueDate}

// issueCondition is one condition of a filter.
type issueCondition struct {
	kind string // of those of one kind, a filter has one
	set  func(*store.IssueFilter)
	met  func(issue.Issue) bool
}

// mixedIssues files issues whose fields are drawn at random, many with equal values, in a company and another. It returns all of
// them, and conditions that some meet.
func (f *fixture) mixedIssues() (of id.Company, all []issue.Issue, conditions []issueCondition) {
	f.Helper()
	acme, other := f.found("acme").ID, f.found("other").ID
	draw := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same in every run
	began := f.clock.Now()
	agents, teams, parents := []id.Agent{"", "agt_a", "agt_b"}, []id.Team{"", "tm_a", "tm_b"}, []id.Issue{"", "iss_p", "iss_q"}
	for n := range 90 {
		if n%3 == 0 {
			f.clock.Advance(time.Millisecond)
		}
		i := f.newIssue([]id.Company{acme, acme, acme, acme, acme, other}[draw.IntN(6)])
		i.Title, i.Description = []string{"Call", "Write", "Call now"}[draw.IntN(3)], []string{"", "NOW", "later"}[draw.IntN(3)]
		i.Status = issue.Statuses[draw.IntN(len(issue.Statuses))]
		i.Priority = []issue.Priority{issue.Low, issue.Normal, issue.High, issue.Urgent}[draw.IntN(4)]
		who := draw.IntN(3)
		i.Agent, i.AgentTeam, i.Team, i.Parent = agents[who], teams[who], teams[draw.IntN(3)], parents[draw.IntN(3)]
		i.Project, i.Goal = []id.Project{"", "prj_a", "prj_b"}[draw.IntN(3)], []id.Goal{"", "gl_a", "gl_b"}[draw.IntN(3)]
		i.Workflow = []id.Workflow{"", "wf_a", "wf_b"}[draw.IntN(3)]
		i.IsContainer = i.Workflow != "" && draw.IntN(2) == 0
		for _, label := range []string{"x", "y", "two words"} {
			if draw.IntN(2) == 0 {
				i.Labels = append(i.Labels, label)
			}
		}
		i.UpdatedAt = began.Add(time.Duration(draw.IntN(5)) * time.Minute)
		if due := draw.IntN(5); due > 0 {
			i.DueAt = began.Add(time.Duration(due-2) * time.Hour)
		}
		all = append(all, i)
	}
	f.update(filing(all...))

	states := func(states ...issue.Status) issueCondition {
		return issueCondition{"status", func(f *store.IssueFilter) { f.Status = states },
			func(i issue.Issue) bool { return slices.Contains(states, i.Status) }}
	}
	parent := func(which id.Issue) issueCondition {
		return issueCondition{"parent", func(f *store.IssueFilter) { f.Parent = &which },
			func(i issue.Issue) bool { return i.Parent == which }}
	}
	label := func(name string) issueCondition {
		return issueCondition{"label", func(f *store.IssueFilter) { f.Label = name },
			func(i issue.Issue) bool { return slices.Contains(i.Labels, name) }}
	}
	priority := func(p issue.Priority) issueCondition {
		return issueCondition{"priority", func(f *store.IssueFilter) { f.Priority = p },
			func(i issue.Issue) bool { return i.Priority == p }}
	}
	words := func(words ...string) issueCondition {
		return issueCondition{"words", func(f *store.IssueFilter) { f.Words = words }, func(i issue.Issue) bool {
			text := strings.ToLower(i.Title + " " + i.Description)
			return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
		}}
	}
	middle := all[45].CreatedAt
	since := func(at time.Time) issueCondition {
		return issueCondition{"since", func(f *store.IssueFilter) { f.Since = at },
			func(i issue.Issue) bool { return !i.CreatedAt.Before(at) }}
	}
	until := func(at time.Time) issueCondition {
		return issueCondition{"until", func(f *store.IssueFilter) { f.Until = at },
			func(i issue.Issue) bool { return i.CreatedAt.Before(at) }}
	}
	return acme, all, []issueCondition{
		{"none", func(*store.IssueFilter) {}, func(issue.Issue) bool { return true }},
		states(issue.Queued), states(issue.Done, issue.Running), states(issue.Statuses...),
		states(issue.Review, issue.Queued, issue.Review),
		{"agent", func(f *store.IssueFilter) { f.Agent = "agt_a" }, func(i issue.Issue) bool { return i.Agent == "agt_a" }},
		{"team", func(f *store.IssueFilter) { f.Team = "tm_a" }, func(i issue.Issue) bool { return i.TeamInCharge() == "tm_a" }},
		{"project", func(f *store.IssueFilter) { f.Project = "prj_a" }, func(i issue.Issue) bool { return i.Project == "prj_a" }},
		{"goal", func(f *store.IssueFilter) { f.Goal = "gl_a" }, func(i issue.Issue) bool { return i.Goal == "gl_a" }},
		{"workflow", func(f *store.IssueFilter) { f.Workflow = "wf_a" },
			func(i issue.Issue) bool { return i.Workflow == "wf_a" && i.IsContainer }},
		parent(""), parent("iss_p"), parent("iss_none"), label("x"), label("two words"), label("none"),
		priority(issue.Urgent), priority(issue.Low), words("now"), words("call", "later"), words("none"),
		since(middle), since(middle.Add(time.Microsecond)), until(middle), until(middle.Add(time.Microsecond)),
	}
}

// listed are the issues of a company that meet all conditions, in an order.
func listed(of id.Company, all []issue.Issue, sort store.IssueSort, conditions ...issueCondition) (want []issue.Issue) {
	for _, i := range all {
		if i.Company == of && !slices.ContainsFunc(conditions, func(c issueCondition) bool { return !c.met(i) }) {
			want = append(want, i)
		}
	}
	slices.SortFunc(want, func(a, b issue.Issue) int {
		newest := cmp.Compare(b.ID, a.ID)
		switch sort {
		case store.ByUpdate:
			return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), newest)
		case store.ByPriority:
			return cmp.Or(cmp.Compare(b.Priority.Rank(), a.Priority.Rank()), b.CreatedAt.Compare(a.CreatedAt), newest)
		case store.ByDueDate:
			switch {
			case a.DueAt.IsZero() && !b.DueAt.IsZero():
				return 1
			case !a.DueAt.IsZero() && b.DueAt.IsZero():
				return -1
			}
			return cmp.Or(a.DueAt.Compare(b.DueAt), -newest)
		default:
			return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), newest)
		}
	})
	return want
}

func filterOf(company id.Company, sort store.IssueSort, conditions ...issueCondition) store.IssueFilter {
	filter := store.IssueFilter{Company: company, Sort: sort}
	for _, c := range conditions {
		c.set(&filter)
	}
	return filter
}

func issueFilters(f *fixture) {
	acme, all, conditions := f.mixedIssues()
	for n, c := range conditions {
		for _, sort := range issueSorts {
			want := listed(acme, all, sort, c)
			sizes := []int{11, page.DefaultSize, page.DefaultSize - 1, len(want) + 1}
			if n < 3 {
				sizes = append(sizes, 1, 3)
			}
			for _, size := range sizes {
				f.same(walk(f, size, f.issuePages(filterOf(acme, sort, c), size)), want)
			}
		}
	}
	for _, of := range []id.Company{"", "cmp_none"} {
		f.same(len(walk(f, 3, f.issuePages(store.IssueFilter{Company: of}, 3))), 0)
	}
}

func issueFilterPairs(f *fixture) {
	acme, all, conditions := f.mixedIssues()
	some := 0
	for n, one := range conditions {
		for m, two := range conditions[n+1:] {
			if one.kind == two.kind {
				continue
			}
			sort := issueSorts[(n+m)%len(issueSorts)]
			want := listed(acme, all, sort, one, two)
			for _, size := range []int{9, page.DefaultSize} {
				f.same(walk(f, size, f.issuePages(filterOf(acme, sort, one, two), size)), want)
			}
			if len(want) > 9 {
				some++
			}
		}
	}
	if some < 50 {
		f.Errorf("only %d pairs of conditions are met by more than a page", some)
	}
}

func issueWords(f *fixture) {
	acme := f.found("acme").ID
	titles := []string{"Straße 7", "100% _done_", `back\slash`, "ÄRGER", "plain"}
	made := f.files(acme, len(titles), func(n int, i *issue.Issue) {
		i.Title, i.Description = titles[n], fmt.Sprintf("Text\nof NUMBER-%d", n)
	})
	for _, c := range []struct {
		words []string
		want  []int
	}{
		{[]string{"strasse"}, []int{0}}, {[]string{"ass"}, []int{0}}, {[]string{"%"}, []int{1}}, {[]string{"_"}, []int{1}},
		{[]string{`\s`}, []int{2}}, {[]string{"ärger"}, []int{3}}, {[]string{"number-4"}, []int{4}},
		{[]string{"number-", "plain"}, []int{4}}, {[]string{"plain", "number-3"}, nil}, {[]string{"text", "of"}, []int{4, 3, 2, 1, 0}},
		{[]string{"7\ntext"}, []int{0}}, // a client sends no such word
	} {
		var want []issue.Issue
		for _, n := range c.want {
			want = append(want, made[n])
		}
		for _, size := range []int{1, 2, page.DefaultSize} {
			f.same(walk(f, size, f.issuePages(store.IssueFilter{Company: acme, Words: c.words}, size)), want)
		}
	}
}

func issueSearchFar(f *fixture) {
	acme := f.found("acme").ID
	made := f.files(acme, 1010, func(n int, i *issue.Issue) {
		if n < 2 || n == 50 || n == 1008 {
			i.Title = "Needle"
		}
		i.Priority = []issue.Priority{issue.High, issue.Low}[n%2]
	})
	low := issueCondition{"priority", func(f *store.IssueFilter) { f.Priority = issue.Low },
		func(i issue.Issue) bool { return i.Priority == issue.Low }}
	for _, conditions := range [][]issueCondition{nil, {low}} {
		needle := issueCondition{"words", func(f *store.IssueFilter) { f.Words = []string{"needle"} },
			func(i issue.Issue) bool { return i.Title == "Needle" }}
		conditions = append(conditions, needle)
		for _, sort := range issueSorts {
			want := listed(acme, made, sort, conditions...)
			for _, size := range []int{1, page.DefaultSize} {
				f.same(walk(f, size, f.issuePages(filterOf(acme, sort, conditions...), size)), want)
			}
			got, err := f.store.Issues().Count(f.ctx, filterOf(acme, sort, conditions...), 10)
			f.ok(err)
			f.same(got, issue.Counts{Of: map[issue.Status]int64{issue.Queued: int64(len(want))}})
		}
	}
}

func issueForeignPositions(f *fixture) {
	acme := f.found("acme").ID
	f.files(acme, 3, func(int, *issue.Issue) {})
	for _, sort := range issueSorts {
		filters := []store.IssueFilter{
			{}, {Label: "x"}, {Words: []string{"x"}}, {Status: []issue.Status{issue.Queued, issue.Done}}, {Since: f.clock.Now()},
		}
		for _, filter := range filters {
			filter.Company, filter.Sort = acme, sort
			for _, values := range [][]string{nil, {"x"}, {"1", "x"}, {"1", "2", "3"}, {""}} {
				for _, size := range []int{2, page.DefaultSize} {
					_, err := f.issuePages(filter, size)(page.Position{Values: values, ID: "iss_some"})
					f.code(err, fault.InvalidCursor)
				}
			}
		}
	}
}

func issueCounts(f *fixture) {
	acme, all, conditions := f.mixedIssues()
	for n, one := range conditions {
		for _, two := range conditions[n:] {
			if one.kind == two.kind && n > 0 {
				continue
			}
			matching := listed(acme, all, store.ByCreation, one, two)
			for _, most := range []int{1, 5, len(matching), 1000} {
				got, err := f.store.Issues().Count(f.ctx, filterOf(acme, store.ByCreation, one, two), most)
				f.ok(err)
				want := issue.Counts{Of: map[issue.Status]int64{}, Truncated: len(matching) > most}
				for _, i := range matching[:min(most, len(matching))] {
					want.Of[i.Status]++
				}
				f.same(got, want)
			}
		}
	}
}
