package issue_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
)

// What pointers point to when null was sent.
var (
	noLimit  *money.Number
	noParent *string
	never    *time.Time
)

// staffed is a company with both teams and agents, where ada is idle and nobody of support, and issues 1 to 4, the last of which is
// cancelled.
func staffed() *office {
	o := &office{agents: map[id.Agent]id.Team{ada: sales, eve: support}, idle: map[id.Team]id.Agent{sales: ada, support: ""}}
	o.add(1, issue.Queued, "")
	o.add(2, issue.Done, "")
	o.add(3, issue.Failed, "")
	o.add(4, issue.Cancelled, "")
	return o
}

func file(draft issue.Draft, others issue.Others) (issue.Issue, error) {
	return issue.New(callID, acme, draft, "token:tok_1", others, noon)
}

// titled is the least that files an issue, with settings that are sent too.
func titled(sent issue.Settings) issue.Draft { return issue.Draft{Title: new("Call"), Settings: sent} }

// ids is a list of issues as it is sent.
func ids(numbers ...int) *[]string {
	var list []string
	for _, n := range numbers {
		list = append(list, string(numbered[id.Issue](n)))
	}
	return &list
}

// below is a parent as it is sent.
func below(n int) **string { return new(new(string(numbered[id.Issue](n)))) }

func TestAnIssueHasWhatWasSent(t *testing.T) {
	t.Parallel()
	full := least()
	full.Description, full.Priority, full.Parent = "*Now*\n", issue.Urgent, numbered[id.Issue](1)
	full.BlockedBy, full.OpenBlockers = []id.Issue{numbered[id.Issue](3), numbered[id.Issue](2), numbered[id.Issue](1)}, 2
	full.FailedBlockers = 1
	full.Labels, full.PerTask, full.MaxAttempts, full.RequiresReview = []string{"b", "a"}, budget.Of(0), 20, false
	full.DueAt, full.NotBefore, full.Waiting = noon.Add(-time.Hour), noon.Add(time.Millisecond), true
	full.Status, full.Agent, full.AgentTeam, full.Binding = issue.Assigned, eve, support, issue.Named
	berlin := time.FixedZone("Berlin", 7200)
	for name, c := range map[string]struct {
		draft issue.Draft
		want  issue.Issue
	}{
		"the least": {titled(issue.Settings{}), least()},
		"nothing in everything": {titled(issue.Settings{
			Description: new(""), Priority: new("normal"), Parent: &noParent, BlockedBy: new([]string{}), Labels: new([]string{}),
			PerTask: &noLimit, MaxAttempts: new(int64(3)), RequiresReview: new(true), DueAt: &never, NotBefore: &never,
		}), least()},
		"everything": {issue.Draft{Title: new("\tCall "), Agent: new(string(eve)), Settings: issue.Settings{
			Description: new("*Now*\n"), Priority: new("urgent"), Parent: below(1), BlockedBy: ids(3, 2, 3, 1),
			Labels: new([]string{" b", "a", "b "}), PerTask: new(new(money.Number("0"))), MaxAttempts: new(int64(20)),
			RequiresReview: new(false), DueAt: new(new(noon.Add(-time.Hour).In(berlin))),
			NotBefore: new(new(noon.Add(1999 * time.Microsecond).In(berlin))),
		}}, full},
	} {
		got, err := file(c.draft, staffed())
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		for _, at := range []time.Time{got.DueAt, got.NotBefore} {
			if at.Location() != time.UTC {
				t.Errorf("%s: %v", name, at)
			}
		}
	}
}

func TestAnIssueThatIsFiledGetsItsNumber(t *testing.T) {
	t.Parallel()
	got, created := least().Created(12)
	want := least()
	want.Number = 12
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	checkEvent(t, "created", created, event.IssueCreated, want, "")
}

func TestWhoGetsAnIssueIsNamedOrPicked(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		agent, team *string
		want        issue.Issue // whom it is assigned to
	}{
		"an agent":                       {new(string(eve)), nil, namedFor(eve, support, "")},
		"a team":                         {nil, new(string(sales)), pickedFrom(sales, ada)},
		"a team in which nobody is idle": {nil, new(string(support)), openTo(support)},
	} {
		filed, err := file(issue.Draft{Title: new("Call"), Agent: c.agent, Team: c.team}, staffed())
		want := least()
		assignTo(&want, c.want)
		if diff := cmp.Diff(want, filed); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
		to, err := issue.AssignmentDraft{Agent: c.agent, Team: c.team}.Parse(staffed())
		if err != nil {
			t.Fatal(err)
		}
		for _, from := range []issue.Status{issue.Queued, issue.Assigned, issue.Handoff} {
			before := call(from)
			assigned, _, err := before.Assign(to, later)
			want := before
			want.UpdatedAt, want.Version = later, 8
			assignTo(&want, c.want)
			if diff := cmp.Diff(want, assigned); diff != "" || err != nil {
				t.Errorf("%s, from %s: %v\n%s", name, from, err, diff)
			}
		}
	}
}

// namedFor, pickedFrom and openTo are whom an issue is assigned to, for assignTo.

func namedFor(agent id.Agent, its, of id.Team) issue.Issue {
	return issue.Issue{Status: issue.Assigned, Agent: agent, AgentTeam: its, Team: of, Binding: issue.Named}
}

func pickedFrom(team id.Team, agent id.Agent) issue.Issue {
	return issue.Issue{Status: issue.Assigned, Agent: agent, AgentTeam: team, Team: team}
}

func openTo(team id.Team) issue.Issue { return issue.Issue{Status: issue.Queued, Team: team} }

// assignTo assigns an issue to whom another is assigned to.
func assignTo(i *issue.Issue, as issue.Issue) {
	i.Status, i.Agent, i.AgentTeam, i.Team, i.Binding = as.Status, as.Agent, as.AgentTeam, as.Team, as.Binding
}

func TestWhoIsAssignedHasToBeThere(t *testing.T) {
	t.Parallel()
	form := fault.Problems{fault.Fieldf("agentId", fault.WrongType, "agentId must be text")}
	retired := string(numbered[id.Agent](9))
	for name, c := range map[string]struct {
		agent, team *string
		problems    fault.Problems
		want        string // with the names of the fields of assign
	}{
		"nobody":                         {want: "agentId:required"},
		"both":                           {new(string(ada)), new(string(sales)), nil, "teamId:duplicate"},
		"a retired one":                  {new(retired), nil, nil, "agentId:unknown_value"},
		"no id":                          {new("ada"), nil, nil, "agentId:unknown_value"},
		"an empty id":                    {new(""), nil, nil, "agentId:unknown_value"},
		"the id of a team as an agent's": {new(string(sales)), nil, nil, "agentId:unknown_value"},
		"no such team":                   {nil, new(string(numbered[id.Team](9))), nil, "teamId:unknown_value"},
		"an empty team":                  {nil, new(""), nil, "teamId:unknown_value"},
		"a wrong type":                   {nil, nil, form, "agentId:wrong_type"},
	} {
		_, err := issue.AssignmentDraft{Agent: c.agent, Team: c.team, Problems: c.problems}.Parse(staffed())
		faulttest.Check(t, name, err, "validation_failed "+c.want)
		if c.agent == nil && c.team == nil {
			continue
		}
		_, err = file(issue.Draft{Title: new("Call"), Agent: c.agent, Team: c.team}, staffed())
		faulttest.Check(t, name+" of a new one", err,
			"validation_failed "+strings.NewReplacer("agentId", "assignedAgentId", "teamId", "assignedTeamId").Replace(c.want))
	}
}

func TestAllThatIsWrongWithAnIssueIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	problems := append(make(fault.Problems, 0, 20), fault.Fieldf("colour", fault.UnknownField, "there is no field colour"))
	sent := issue.Settings{
		Description: new("\x00"), Priority: new("High"), Parent: below(4), BlockedBy: new([]string{string(callID), "x"}),
		Labels: new([]string{"ok", " "}), PerTask: new(new(money.Number("-1"))), MaxAttempts: new(int64(0)),
		NotBefore: new(new(noon.Add(issue.LongestDelay + 2*time.Hour))),
	}
	const ofSettings = " description:invalid_characters priority:unknown_value labels.1:required budget.perTaskUsd:out_of_range " +
		"maxAttempts:out_of_range notBefore:out_of_range parentId:unknown_value blockedBy.0:unknown_value blockedBy.1:unknown_value"
	for range 2 { // the problems that were sent are not added to
		got, err := file(issue.Draft{Agent: new("x"), Team: new("y"), Settings: sent, Problems: problems}, staffed())
		faulttest.Check(t, "a draft", err, "validation_failed colour:unknown_field title:required"+ofSettings+" assignedTeamId:duplicate")
		if !cmp.Equal(got, issue.Issue{}) {
			t.Errorf("%+v", got)
		}
		before := call(issue.Done) // what is wrong with a patch is reported before the state
		after, updated, err := before.Apply(issue.Patch{Title: new(""), Settings: sent, Problems: problems}, staffed(), later)
		faulttest.Check(t, "a patch", err, "validation_failed colour:unknown_field title:required"+ofSettings)
		if !cmp.Equal(before, after) || updated != nil {
			t.Errorf("%+v, %+v", after, updated)
		}
	}
}

func TestEverySettingObeysItsRule(t *testing.T) {
	t.Parallel()
	texts := func(n int) *[]string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprint(i))
		}
		return &list
	}
	limit := func(number money.Number) **money.Number { return new(new(number)) }
	instant := func(at time.Time) **time.Time { return new(new(at)) }
	endOfYears := time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -3600)) // with four digits, in UTC
	o := staffed()
	var many []int
	for n := range issue.MostBlockers + 1 {
		many = append(many, 100+n)
		o.add(100+n, issue.Queued, "")
	}
	for _, c := range []struct {
		want string
		sent issue.Settings
	}{
		{"", issue.Settings{Description: new(strings.Repeat("ö", issue.DescriptionLength))}},
		{"description:too_long", issue.Settings{Description: new(strings.Repeat("ö", issue.DescriptionLength+1))}},
		{"", issue.Settings{Priority: new("low")}},
		{"", issue.Settings{Priority: new("high")}},
		{"priority:unknown_value", issue.Settings{Priority: new("")}},
		{"", issue.Settings{Labels: texts(issue.MostLabels)}},
		{"labels:too_many", issue.Settings{Labels: texts(issue.MostLabels + 1)}},
		{"", issue.Settings{Labels: new([]string{strings.Repeat("ö", issue.LabelLength)})}},
		{"labels.0:too_long", issue.Settings{Labels: new([]string{strings.Repeat("ö", issue.LabelLength+1)})}},
		{"labels.1:invalid_characters", issue.Settings{Labels: new([]string{"a", "b\nc"})}},
		{"", issue.Settings{PerTask: limit("1e9")}},
		{"budget.perTaskUsd:out_of_range", issue.Settings{PerTask: limit("1000000000.000001")}},
		{"budget.perTaskUsd:too_precise", issue.Settings{PerTask: limit("0.0000001")}},
		{"", issue.Settings{MaxAttempts: new(int64(1))}},
		{"", issue.Settings{MaxAttempts: new(int64(issue.MostAttempts))}},
		{"maxAttempts:out_of_range", issue.Settings{MaxAttempts: new(int64(issue.MostAttempts + 1))}},
		{"maxAttempts:out_of_range", issue.Settings{MaxAttempts: new(int64(1<<63 - 1))}},
		{"maxAttempts:out_of_range", issue.Settings{MaxAttempts: new(int64(-1 << 63))}},
		{"", issue.Settings{DueAt: instant(time.Unix(0, 0))}},
		{"", issue.Settings{DueAt: instant(endOfYears.Add(-time.Nanosecond))}},
		{"dueAt:out_of_range", issue.Settings{DueAt: instant(time.Unix(0, -1))}},
		{"dueAt:out_of_range", issue.Settings{DueAt: instant(endOfYears)}},
		{"dueAt:out_of_range", issue.Settings{DueAt: instant(time.Time{})}},
		{"", issue.Settings{NotBefore: instant(noon.Add(issue.LongestDelay))}},
		{"", issue.Settings{NotBefore: instant(time.Unix(0, 0))}},
		{"notBefore:out_of_range", issue.Settings{NotBefore: instant(time.Unix(0, -1))}},
		{"notBefore:out_of_range", issue.Settings{NotBefore: instant(endOfYears)}},
		{"notBefore:out_of_range", issue.Settings{NotBefore: instant(noon.Add(issue.LongestDelay + time.Millisecond))}},
		{"", issue.Settings{Parent: below(2)}},
		{"", issue.Settings{Parent: below(3)}},
		{"parentId:unknown_value", issue.Settings{Parent: below(4)}},
		{"parentId:unknown_value", issue.Settings{Parent: below(99)}},
		{"parentId:unknown_value", issue.Settings{Parent: new(new(""))}},
		{"", issue.Settings{BlockedBy: ids(many[1:]...)}},
		{"blockedBy:too_many", issue.Settings{BlockedBy: ids(many...)}},
		{"", issue.Settings{BlockedBy: ids(4)}},
		{"blockedBy.1:unknown_value", issue.Settings{BlockedBy: ids(1, 99)}},
		{"blockedBy.0:unknown_value", issue.Settings{BlockedBy: new([]string{"", string(numbered[id.Issue](1))})}},
	} {
		want := c.want
		if want != "" {
			want = "validation_failed " + want
		}
		got, err := file(titled(c.sent), o)
		faulttest.Check(t, "a draft", err, want)
		if err != nil && !cmp.Equal(got, issue.Issue{}) {
			t.Errorf("%s: refused, yet made %+v", want, got)
		}
		before := call(issue.Queued)
		after, updated, err := before.Apply(issue.Patch{Settings: c.sent}, o, noon)
		faulttest.Check(t, "a patch", err, want)
		if err != nil && (!cmp.Equal(before, after) || updated != nil) {
			t.Errorf("%s: refused, yet changed to %+v", want, after)
		}
	}
	for want, sent := range map[string]string{
		"": strings.Repeat("ö", issue.TitleLength), " title:too_long": strings.Repeat("ö", issue.TitleLength+1),
		" title:required": "\u200b", " title:invalid_characters": "a\nb",
	} {
		if want != "" {
			want = "validation_failed" + want
		}
		_, err := file(issue.Draft{Title: &sent}, o)
		faulttest.Check(t, "a title", err, want)
		_, _, err = call(issue.Queued).Apply(issue.Patch{Title: &sent}, o, noon)
		faulttest.Check(t, "another title", err, want)
	}
}

func TestAPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	o := staffed()
	for name, c := range map[string]struct {
		title    *string
		sent     issue.Settings
		change   func(to *issue.Issue) // nil: nothing changes
		previous string
	}{
		"nothing": {},
		"what was there": {new(" Call"), issue.Settings{
			Description: new("*Now*"), Priority: new("high"), Parent: below(1), BlockedBy: ids(2, 3, 2),
			Labels:  new([]string{"b", "a", "b"}),
			PerTask: new(new(money.Number("25e-1"))), MaxAttempts: new(int64(3)), RequiresReview: new(true),
			DueAt: new(new(noon.Add(24*time.Hour + time.Microsecond))), NotBefore: new(new(noon.Add(-time.Hour))),
		}, nil, ""},
		"everything": {new("Write"), issue.Settings{
			Description: new("Later"), Priority: new("low"), Parent: below(2), BlockedBy: ids(2), Labels: new([]string{"c"}),
			PerTask: new(new(money.Number("1"))), MaxAttempts: new(int64(1)), RequiresReview: new(false), DueAt: new(new(noon)),
			NotBefore: new(new(later.Add(time.Hour))),
		}, func(i *issue.Issue) {
			i.Title, i.Description, i.Priority, i.Parent, i.BlockedBy = "Write", "Later", issue.Low, numbered[id.Issue](2), i.BlockedBy[:1]
			i.OpenBlockers, i.FailedBlockers, i.Labels, i.PerTask = 0, 0, []string{"c"}, budget.Of(money.Dollar)
			i.MaxAttempts, i.RequiresReview = 1, false
			i.DueAt, i.NotBefore, i.Waiting = noon, later.Add(time.Hour), true
		}, `{"title":"Call","description":"*Now*","priority":"high","parentId":"iss_00000000000000000000000001",` +
			`"blockedBy":["iss_00000000000000000000000002","iss_00000000000000000000000003"],"openBlockers":1,"failedBlockers":1,` +
			`"labels":["b","a"],"budget":{"perTaskUsd":2.5,"spentUsd":3},"maxAttempts":3,"requiresReview":true,` +
			`"dueAt":"2026-04-12T12:00:00.000Z",` +
			`"notBefore":"2026-04-11T11:00:00.000Z"}`},
		"to nothing": {nil, issue.Settings{
			Description: new(""), Parent: &noParent, BlockedBy: new([]string{}), Labels: new([]string{}), PerTask: &noLimit, DueAt: &never,
			NotBefore: &never,
		}, func(i *issue.Issue) {
			i.Description, i.Parent, i.BlockedBy, i.OpenBlockers, i.FailedBlockers = "", "", nil, 0, 0
			i.Labels, i.PerTask = nil, budget.Limit{}
			i.DueAt, i.NotBefore = time.Time{}, time.Time{}
		}, `{"description":"*Now*","parentId":"iss_00000000000000000000000001",` +
			`"blockedBy":["iss_00000000000000000000000002","iss_00000000000000000000000003"],"openBlockers":1,"failedBlockers":1,` +
			`"labels":["b","a"],"budget":{"perTaskUsd":2.5,"spentUsd":3},` +
			`"dueAt":"2026-04-12T12:00:00.000Z","notBefore":"2026-04-11T11:00:00.000Z"}`},
		"an instant that has come": {nil, issue.Settings{NotBefore: new(new(later))}, func(i *issue.Issue) { i.NotBefore = later },
			`{"notBefore":"2026-04-11T11:00:00.000Z"}`},
	} {
		for _, status := range issue.Open {
			before := call(status)
			got, updated, err := before.Apply(issue.Patch{Title: c.title, Settings: c.sent}, o, later)
			want := before
			if c.change == nil {
				if diff := cmp.Diff(want, got); diff != "" || err != nil || updated != nil {
					t.Errorf("%s: %v, %v\n%s", name, updated, err, diff)
				}
				continue
			}
			c.change(&want)
			want.UpdatedAt, want.Version = later, 8
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("%s: %v\n%s", name, err, diff)
				continue
			}
			previous := slices.DeleteFunc(slices.Clone(updated.Previous), func(f event.Field) bool { return f.Name == "updatedAt" })
			if diff := cmp.Diff(c.previous, shown(previous)); diff != "" {
				t.Errorf("%s: %s", name, diff)
			}
			updated.Previous = nil
			checkEvent(t, name, *updated, event.IssueUpdated, got, "")
		}
	}
}

func TestAWaitGoesOnUntilItIsEnded(t *testing.T) {
	t.Parallel()
	waiting := call(issue.Running) // whose instant has come, but nothing has woken it
	waiting.Waiting = true
	for name, sent := range map[string]issue.Settings{"nothing": {}, "another": {Priority: new("low")}} {
		got, _, err := waiting.Apply(issue.Patch{Settings: sent}, staffed(), later)
		if err != nil || !got.Waiting {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	got, _, err := waiting.Apply(issue.Patch{Settings: issue.Settings{NotBefore: &never}}, staffed(), later)
	if err != nil || got.Waiting {
		t.Errorf("%v, %+v", err, got)
	}
}

func TestReadOnlyFieldsAreReportedAlone(t *testing.T) {
	t.Parallel()
	patch := issue.Patch{Title: new("")}
	want := "immutable_field"
	for _, field := range []string{
		"id", "number", "companyId", "status", "assignedAgentId", "assignedTeamId", "openBlockers", "failedBlockers",
		"attempt", "result", "error",
		"startedAt", "finishedAt", "retryOf", "createdBy", "createdAt", "updatedAt",
	} {
		patch.Problems.Add(fault.Fieldf(field, fault.UnknownField, "there is no field %s", field))
		want += " " + field + ":immutable"
	}
	patch.Problems.Add(fault.Fieldf("colour", fault.UnknownField, "there is no field colour"))
	for _, status := range issue.Statuses {
		_, _, err := call(status).Apply(patch, staffed(), later)
		faulttest.Check(t, string(status), err, want)
	}
}

func TestEveryFieldIsSettableOrReadOnly(t *testing.T) {
	t.Parallel()
	settable := []string{
		"title", "description", "priority", "parentId", "blockedBy", "labels", "budget", "maxAttempts", "requiresReview", "dueAt",
		"notBefore", "projectId", "goalId",
	}
	for _, field := range least().Fields() {
		patch := issue.Patch{Problems: fault.Problems{fault.Fieldf(field.Name, fault.UnknownField, "there is no field %s", field.Name)}}
		_, _, err := least().Apply(patch, staffed(), later)
		if isReadOnly := fault.CodeOf(err) == fault.ImmutableField; isReadOnly == slices.Contains(settable, field.Name) {
			t.Errorf("%s: %v", field.Name, err)
		}
	}
}

func TestWhatOthersFailWithComesOut(t *testing.T) {
	t.Parallel()
	everything := issue.Settings{
		Parent: below(2), BlockedBy: ids(1),
		Project: new(new(string(numbered[id.Project](2)))), Goal: new(new(string(numbered[id.Goal](2)))),
	}
	patch := func(o *office) error {
		_, updated, err := call(issue.Queued).Apply(issue.Patch{Settings: everything}, o, later)
		if updated != nil {
			t.Errorf("%s fails, yet: %+v", o.fails, updated)
		}
		return err
	}
	draft := func(agent, team *string) func(o *office) error {
		return func(o *office) error {
			_, err := file(issue.Draft{Title: new("Call"), Agent: agent, Team: team, Settings: everything}, o)
			return err
		}
	}
	assign := func(agent, team *string) func(o *office) error {
		return func(o *office) error {
			_, err := issue.AssignmentDraft{Agent: agent, Team: team}.Parse(o)
			return err
		}
	}
	retry := func(binding issue.Binding) func(o *office) error {
		return func(o *office) error {
			i := call(issue.Failed)
			i.Binding = binding
			_, err := i.Again(numbered[id.Issue](9), "token:tok_2", o, later)
			return err
		}
	}
	replace := func(o *office) error {
		_, _, err := call(issue.Queued).Replace(numbered[id.Issue](2), numbered[id.Issue](9), o, later)
		return err
	}
	toAda, toSales := new(string(ada)), new(string(sales))
	for _, c := range []struct {
		fails string
		do    func(o *office) error
	}{
		{"Above", patch}, {"LevelsBelow", patch}, {"Blocking", patch}, {"Blockers", patch},
		{"Above", draft(nil, nil)}, {"Blocking", draft(nil, nil)}, {"Employee", draft(toAda, nil)}, {"HasTeam", draft(nil, toSales)},
		{"Idle", draft(nil, toSales)},
		{"Employee", assign(toAda, nil)}, {"HasTeam", assign(nil, toSales)}, {"Idle", assign(nil, toSales)},
		{"Above", retry(issue.Kept)}, {"Blocking", retry(issue.Kept)}, {"HasTeam", retry(issue.Kept)}, {"Idle", retry(issue.Kept)},
		{"Employee", retry(issue.Named)},
		{"Blocking", replace}, {"Project", patch}, {"Goal", patch}, {"Project", draft(nil, nil)}, {"Goal", draft(nil, nil)},
		{"Project", retry(issue.Kept)}, {"Goal", retry(issue.Kept)},
	} {
		o := planning()
		o.fails = c.fails
		if err := c.do(o); !errors.Is(err, errBroken) {
			t.Errorf("%s fails: %v", c.fails, err)
		}
	}
}
