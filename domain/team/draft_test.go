package team_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/team"
)

const (
	manager  = id.Agent("agt_01h455vb4pex5vsknk084sn02q")
	stranger = id.Agent("agt_01h455vb4pex5vsknk084sn02r") // who does not work for the company
)

// What settings point to when null was sent.
var (
	nobody  *string
	noLimit *budget.LimitDraft
)

// others is a company with teams of these slugs, one called "Ops", and one agent.
type others []string

func (o others) SlugsFrom(string) ([]string, error)   { return o, nil }
func (o others) HasName(name string) (bool, error)    { return strings.EqualFold(name, "ops"), nil }
func (o others) Employs(agent id.Agent) (bool, error) { return agent == manager, nil }

func TestANewTeamHasWhatWasSent(t *testing.T) {
	t.Parallel()
	made, created, err := team.New(acme, team.Draft{Name: new(" Field Sales "), Headcount: new(int64(1)), Settings: team.Settings{
		Description: new("Two\nlines"), Manager: new(new(string(manager))), Budget: new(&budget.LimitDraft{USD: new(money.Number("1.5"))}),
	}}, others{"field-sales", "field-sales-3"}, new(counter), noon)
	want := team.Change{
		Team: team.Team{
			ID: numbered[id.Team](1), Company: acme, Name: "Field Sales", Slug: "field-sales-2", Description: "Two\nlines",
			Headcount: 1, Manager: manager, Budget: budget.Of(1_500_000), CreatedAt: noon, UpdatedAt: noon, Version: 1,
		},
		Added: []team.Slot{{ID: numbered[id.Slot](2), Company: acme, Team: numbered[id.Team](1), CreatedAt: noon}},
	}
	if diff := cmp.Diff(want, made); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	if created.Type != event.TeamCreated || created.Company != acme ||
		created.Subject != (event.Subject{Type: "team", ID: string(made.Team.ID)}) {
		t.Errorf("%+v", created)
	}
	const shown = `{"id":"tm_00000000000000000000000001","companyId":"cmp_01h455vb4pex5vsknk084sn02q","name":"Field Sales",` +
		`"slug":"field-sales-2","description":"Two\nlines","headcount":1,"agentCount":0,` +
		`"managerAgentId":"agt_01h455vb4pex5vsknk084sn02q","budget":{"usd":1.5},` +
		`"createdAt":"2026-04-11T12:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z"}`
	if got := string(created.Data.Append(nil)); got != shown {
		t.Error(got)
	}
}

func TestAPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	before := team.Team{
		ID: "tm_1", Company: acme, Name: "Sales", Slug: "sales", Description: "d", Headcount: 3, AgentCount: 2, Manager: manager,
		Budget: budget.Of(5), CreatedAt: noon, UpdatedAt: noon, Version: 4,
	}
	later := noon.Add(time.Hour)
	for name, c := range map[string]struct {
		patch          team.Patch
		change         func(to *team.Team)
		added, dropped int
		previous       string
	}{
		"nothing":        {patch: team.Patch{}},
		"the same":       {patch: team.Patch{Name: new("Sales"), Headcount: new(int64(3))}},
		"name":           {team.Patch{Name: new("Own")}, func(to *team.Team) { to.Name = "Own" }, 0, 0, `{"name":"Sales"}`},
		"more heads":     {team.Patch{Headcount: new(int64(5))}, func(to *team.Team) { to.Headcount = 5 }, 2, 0, `{"headcount":3}`},
		"the empty slot": {team.Patch{Headcount: new(int64(2))}, func(to *team.Team) { to.Headcount = 2 }, 0, 1, `{"headcount":3}`},
		"no limit": {
			team.Patch{Settings: team.Settings{Budget: &noLimit}}, func(to *team.Team) { to.Budget = budget.Limit{} }, 0, 0,
			`{"budget":{"usd":0.000005}}`,
		},
		"nobody": {
			team.Patch{Settings: team.Settings{Manager: &nobody}}, func(to *team.Team) { to.Manager = "" }, 0, 0,
			`{"managerAgentId":"` + string(manager) + `"}`,
		},
		"empty description": {
			team.Patch{Settings: team.Settings{Description: new("")}}, func(to *team.Team) { to.Description = "" }, 0, 0,
			`{"description":"d"}`,
		},
	} {
		got, updated, err := before.Apply(c.patch, others(nil), new(counter), later)
		want := before
		if c.change == nil {
			if diff := cmp.Diff(team.Change{Team: before}, got); diff != "" || err != nil || updated != nil {
				t.Errorf("%s: %v, %v %s", name, updated, err, diff)
			}
			continue
		}
		c.change(&want)
		want.UpdatedAt, want.Version = later, 5
		if diff := cmp.Diff(want, got.Team); diff != "" || err != nil || len(got.Added) != c.added || got.Dropped != c.dropped {
			t.Errorf("%s: %v, %d added, %d dropped %s", name, err, len(got.Added), got.Dropped, diff)
			continue
		}
		for _, slot := range got.Added {
			if slot.Team != before.ID || slot.Company != acme || slot.Status() != team.Empty || slot.CreatedAt != later {
				t.Errorf("%s: %+v", name, slot)
			}
		}
		previous := slices.DeleteFunc(slices.Clone(updated.Previous), func(f event.Field) bool { return f.Name == "updatedAt" })
		if updated.Type != event.TeamUpdated || string(previous.Append(nil)) != c.previous {
			t.Errorf("%s: %s %s", name, updated.Type, previous.Append(nil))
		}
	}
}

func TestAPatchThatIsRefusedChangesNothing(t *testing.T) {
	t.Parallel()
	before := team.Team{ID: "tm_1", Company: acme, Name: "Sales", Slug: "sales", Headcount: 3, AgentCount: 2, Version: 4}
	for name, c := range map[string]struct {
		patch team.Patch
		want  string
	}{
		"fewer heads than agents": {team.Patch{Headcount: new(int64(1))}, "headcount_limit"},
		"read-only": {team.Patch{Name: new(" "), Problems: fault.Problems{fault.Fieldf("slug", fault.UnknownField, "slug")}},
			"immutable_field slug:immutable"},
		"a name in use": {team.Patch{Name: new("OPS"), Headcount: new(int64(0))}, "validation_failed name:duplicate"},
		"everything": {team.Patch{Name: new(" "), Headcount: new(int64(1001)), Settings: team.Settings{
			Description: new(strings.Repeat("x", 4001)), Manager: new(new("agt_nobody")), Budget: new(&budget.LimitDraft{}),
		}}, "validation_failed name:required headcount:out_of_range description:too_long budget.usd:required managerAgentId:unknown_value"},
	} {
		got, updated, err := before.Apply(c.patch, others(nil), new(counter), noon)
		refusal := strings.TrimSpace(fmt.Sprint(fault.CodeOf(err), " ", spelled(fault.Of(err).Fields)))
		if refusal != c.want || updated != nil || !cmp.Equal(got, team.Change{Team: before}) {
			t.Errorf("%s: %s, %+v", name, refusal, got)
		}
	}
	broken := errors.New("broken")
	for _, patch := range []team.Patch{{Name: new("New")}, {Settings: team.Settings{Manager: new(new(string(stranger)))}}} {
		if _, _, err := before.Apply(patch, failing{err: broken}, new(counter), noon); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

// failing is a company of which nothing can be read.
type failing struct{ err error }

func (f failing) SlugsFrom(string) ([]string, error) { return nil, f.err }
func (f failing) HasName(string) (bool, error)       { return false, f.err }
func (f failing) Employs(id.Agent) (bool, error)     { return false, f.err }

func TestAManagerWorksForTheCompanyOrIsThePresentOne(t *testing.T) {
	t.Parallel()
	const retired = stranger
	for name, c := range map[string]struct {
		present id.Agent
		sent    *string
		want    string
		next    id.Agent
	}{
		"an agent":                            {"", new(string(manager)), "", manager},
		"a retired one":                       {"", new(string(retired)), "managerAgentId:unknown_value", ""},
		"the present one, who retired":        {retired, new(string(retired)), "", retired},
		"after one who retired":               {retired, new(string(manager)), "", manager},
		"nobody after one who retired":        {retired, nil, "", ""},
		"back to one who retired":             {manager, new(string(retired)), "managerAgentId:unknown_value", manager},
		"no id where nobody is":               {"", new(""), "managerAgentId:unknown_value", ""},
		"the id of something else":            {manager, new("tm_01h455vb4pex5vsknk084sn02q"), "managerAgentId:unknown_value", manager},
		"an id that is not one to the letter": {manager, new(strings.ToUpper(string(manager))), "managerAgentId:unknown_value", manager},
	} {
		before := team.Team{ID: "tm_1", Company: acme, Name: "Sales", Slug: "sales", Manager: c.present, Version: 4}
		patch := team.Patch{Settings: team.Settings{Description: new("d"), Manager: &c.sent}}
		got, _, err := before.Apply(patch, others(nil), new(counter), noon)
		if listed := spelled(fieldsOf(err)); listed != c.want || got.Team.Manager != c.next {
			t.Errorf("%s: %v, managed by %q", name, err, got.Team.Manager)
		}
	}
	draft := team.Draft{Name: new("Sales"), Headcount: new(int64(0)), Settings: team.Settings{Manager: new(new(string(retired)))}}
	if _, _, err := team.New(acme, draft, others(nil), new(counter), noon); spelled(fieldsOf(err)) != "managerAgentId:unknown_value" {
		t.Errorf("a new team: %v", err)
	}
}

// fieldsOf are the fields at fault of a refusal.
func fieldsOf(err error) []fault.Field {
	if refusal := fault.Of(err); refusal != nil {
		return refusal.Fields
	}
	return nil
}

func TestANewTeamMayHaveNoManagerAndNoLimit(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]team.Settings{"absent": {}, "null": {Manager: &nobody, Budget: &noLimit}} {
		draft := team.Draft{Name: new("Sales"), Headcount: new(int64(0)), Settings: sent}
		made, _, err := team.New(acme, draft, others(nil), new(counter), noon)
		if err != nil || made.Team.Manager != "" || made.Team.Budget.IsSet {
			t.Errorf("%s: %+v, %v", name, made.Team, err)
		}
	}
}

func TestAgentsAreCountedUpToTheHeadcount(t *testing.T) {
	t.Parallel()
	before := team.Team{ID: "tm_1", Company: acme, Name: "Sales", Headcount: 2, AgentCount: 1, UpdatedAt: noon, Version: 4}
	full := before
	full.AgentCount, full.Version = 2, 5
	got, err := before.Hire()
	if diff := cmp.Diff(full, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	refused, err := full.Hire()
	if fault.CodeOf(err) != fault.HeadcountLimit || fault.Of(err).Details["agentCount"] != 2 || refused != full {
		t.Errorf("%v, %+v", err, refused)
	}
	if _, err := (team.Team{}).Hire(); fault.CodeOf(err) != fault.HeadcountLimit {
		t.Errorf("a team without slots: %v", err)
	}
	again := before
	again.Version = 6
	if diff := cmp.Diff(again, full.Retire()); diff != "" {
		t.Error(diff)
	}
}

func TestATeamWithAgentsOpenIssuesOrStepsIsNotDeleted(t *testing.T) {
	t.Parallel()
	for _, refused := range []struct {
		agents    int
		issues    int64
		workflows []string
		want      map[string]any
	}{
		{1, 0, nil, map[string]any{"agentCount": 1}},
		{0, 2, nil, map[string]any{"openIssues": int64(2)}},
		{1, 2, []string{"release"}, map[string]any{"agentCount": 1}},
		{0, 0, []string{"release"}, map[string]any{"workflows": []string{"release"}}},
	} {
		_, err := team.Team{AgentCount: refused.agents}.Delete(refused.issues, refused.workflows)
		if diff := cmp.Diff(refused.want, fault.Of(err).Details); fault.CodeOf(err) != fault.TeamNotEmpty || diff != "" {
			t.Errorf("%+v: %v, %s", refused, err, diff)
		}
	}
	if deleted, err := (team.Team{ID: "tm_1"}).Delete(0, nil); err != nil || deleted.Type != event.TeamDeleted {
		t.Error(deleted, err)
	}
}

func TestNewTeamsGetFreeSlugs(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"Sales", "!", "Продажи", strings.Repeat("x", 63), strings.Repeat("ab ", 40), strings.Repeat("x", 56) + " y",
	} {
		var inUse []string
		for range 12 {
			made, _, err := team.New(acme, team.Draft{Name: &name, Headcount: new(int64(0))}, others(inUse), new(counter), noon)
			if err != nil || slices.Contains(inUse, made.Team.Slug) {
				t.Fatalf("%q: %q, %v", name, made.Team.Slug, err)
			}
			inUse = append(inUse, made.Team.Slug)
		}
	}
}
