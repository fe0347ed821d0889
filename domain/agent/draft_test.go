package agent_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/id"
	"holdco/domain/money"
)

// null is what a limit points to when null was sent.
var null *money.Number

func isSales(team id.Team) (bool, error) { return team == sales, nil }

// draft is the least that hires an agent, with settings that are sent too. It must not set Name or Role.
func draft(sent agent.Settings) agent.Draft {
	sent.Name, sent.Role = new("Ada"), new("Engineer")
	return agent.Draft{Team: new(string(sales)), Settings: sent}
}

// hire makes an agent in a company whose default adapter is process.
func hire(draft agent.Draft, rules agent.Rules) (agent.Agent, error) {
	return agent.New(adaID, acme, "process", draft, token, isSales, rules, noon)
}

func TestAHireHasWhatWasSent(t *testing.T) {
	t.Parallel()
	bare := agent.Agent{
		ID: adaID, Company: acme, Team: sales, Name: "Ada", Role: "Engineer", Adapter: "process", AdapterConfig: agent.NoConfig,
		Status: agent.Active, Hash: token.Hash(), CreatedAt: noon, UpdatedAt: noon, Version: 1,
	}
	full := bare
	full.Adapter, full.AdapterConfig, full.Model = "http", `{"a":{},"b":[null]}`, "claude"
	full.MemoryScopes, full.Requires = []agent.MemoryScope{"company", "agent"}, []string{"b", "a"}
	full.Budget = agent.Budget{PerTask: budget.Of(0), Daily: budget.Of(budget.Most)}
	full.Instructions = " # How\n"
	for name, c := range map[string]struct {
		draft agent.Draft
		want  agent.Agent
	}{
		"the least": {draft(agent.Settings{}), bare},
		"nothing in everything": {draft(agent.Settings{
			AdapterConfig: new([]byte(` { "a" : null } `)), Model: new(""), MemoryScopes: new([]string{}), Requires: new([]string{}),
			Budget: &agent.BudgetChange{PerTask: &null}, Instructions: new(new(" \n")),
		}), bare},
		"everything": {agent.Draft{Team: new(string(sales)), Settings: agent.Settings{
			Name: new(" Ada "), Role: new("Engineer\t"), Adapter: new("http"), Model: new(" claude "),
			AdapterConfig: new([]byte(`{"a":{"x":null},"b":[null]}`)),
			MemoryScopes:  new([]string{"company", "agent", "company"}),
			Requires:      new([]string{"b", "a", " b "}),
			Budget:        &agent.BudgetChange{PerTask: new(new(money.Number("0"))), Daily: new(new(money.Number("1e9")))},
			Instructions:  new(new(" # How\n")),
		}}, full},
	} {
		got, err := hire(c.draft, writer)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
		}
	}
}

func TestAllThatIsWrongWithAHireIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	problems := append(make(fault.Problems, 0, 20), fault.Fieldf("colour", fault.UnknownField, "there is no field colour"))
	for range 2 { // the problems that were sent are not added to
		got, err := hire(agent.Draft{
			Team: new("sales"),
			Settings: agent.Settings{
				Role: new(" "), Adapter: new("fax"), AdapterConfig: new([]byte(`{"a":{"secret":"x"}}`)), Model: new("a\nb"),
				MemoryScopes: new([]string{"agent", "world"}), Requires: new([]string{"ok", ""}),
				Budget: &agent.BudgetChange{PerTask: new(new(money.Number("-1"))), Daily: new(new(money.Number("1e-7")))},
			},
			Problems: problems,
		}, agent.Rules{})
		faulttest.Check(t, "everything", err, "validation_failed colour:unknown_field name:required teamId:unknown_value role:required "+
			"model:invalid_characters memoryScopes.1:unknown_value budget.perTaskUsd:out_of_range "+
			"budget.dailyUsd:too_precise approvalPolicy.requires.1:required adapterConfig:unknown_value")
		if !cmp.Equal(got, agent.Agent{}) {
			t.Errorf("%+v", got)
		}
	}
	_, err := hire(agent.Draft{}, admin)
	faulttest.Check(t, "nothing", err, "validation_failed teamId:required name:required role:required")
}

func TestATeamIsOneOfTheCompany(t *testing.T) {
	t.Parallel()
	other := draft(agent.Settings{})
	other.Team = new("tm_01h455vb4pex5vsknk084sn02r")
	_, err := hire(other, admin)
	faulttest.Check(t, "another team", err, refused("teamId", fault.UnknownValue))

	broken := errors.New("broken")
	_, err = agent.New(adaID, acme, "process", draft(agent.Settings{}), token,
		func(id.Team) (bool, error) { return false, broken }, admin, noon)
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

// faults are settings with one mistake each, and at the empty key some that are at their bounds.
func faults() map[string]agent.Settings {
	actions := func(n int) *[]string {
		var names []string
		for i := range n {
			names = append(names, fmt.Sprint(i))
		}
		return &names
	}
	limit := func(number money.Number) **money.Number { return new(new(number)) }
	return map[string]agent.Settings{
		"model:too_long":                               {Model: new(strings.Repeat("x", agent.NameLength+1))},
		"model:required":                               {Model: new(" ")},
		"memoryScopes.0:unknown_value":                 {MemoryScopes: new([]string{"Agent"})},
		"memoryScopes.1:unknown_value":                 {MemoryScopes: new([]string{"client", "", "project"})},
		"budget.perTaskUsd:out_of_range":               {Budget: &agent.BudgetChange{PerTask: limit("1000000000.000001")}},
		"budget.dailyUsd:out_of_range":                 {Budget: &agent.BudgetChange{PerTask: limit("1"), Daily: limit("-0.01")}},
		"budget.dailyUsd:too_precise":                  {Budget: &agent.BudgetChange{PerTask: &null, Daily: limit("0.0000001")}},
		"approvalPolicy.requires:too_many":             {Requires: actions(agent.MostRequires + 1)},
		"approvalPolicy.requires.0:too_long":           {Requires: new([]string{strings.Repeat("x", agent.ActionNameLength+1)})},
		"approvalPolicy.requires.1:invalid_characters": {Requires: new([]string{"a", "b\x00"})},
		"adapterConfig:wrong_type":                     {AdapterConfig: new([]byte(`[]`))},
		"instructions:too_long":                        {Instructions: new(new(strings.Repeat("x", agent.InstructionsLength+1)))},
		"instructions:invalid_characters":              {Instructions: new(new("a\x1bb"))},
		"": {
			Requires: actions(agent.MostRequires), Model: new(strings.Repeat("ö", agent.NameLength)),
			Instructions: new(new(strings.Repeat("ö", agent.InstructionsLength))),
		},
	}
}

func TestEverySettingObeysItsRule(t *testing.T) {
	t.Parallel()
	for want, sent := range faults() {
		if want != "" {
			want = "validation_failed " + want
		}
		_, err := hire(draft(sent), admin)
		faulttest.Check(t, "a hire", err, want)
		before := ada(agent.Active)
		got, updated, err := before.Apply(agent.Patch{Settings: sent}, admin, later)
		faulttest.Check(t, "a patch", err, want)
		if err != nil && (!cmp.Equal(before, got) || updated != nil) {
			t.Errorf("%s: refused, yet changed to %+v", want, got)
		}
	}
	for name, sent := range map[string]string{
		"required": " ", "too_long": strings.Repeat("x", agent.NameLength+1), "invalid_characters": "\x00",
	} {
		_, _, err := ada(agent.Active).Apply(agent.Patch{Settings: agent.Settings{Name: &sent, Role: &sent}}, admin, later)
		faulttest.Check(t, name, err, "validation_failed name:"+name+" role:"+name)
	}
}

func TestAPatchChangesWhatItNames(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		sent     agent.Settings
		change   func(to *agent.Agent) // nil: nothing changes
		previous string
	}{
		"nothing":       {},
		"empty members": {sent: agent.Settings{AdapterConfig: new([]byte(`{}`)), Budget: &agent.BudgetChange{}}},
		"what was there": {sent: agent.Settings{
			Name: new(" Ada"), Role: new("Engineer"), Adapter: new("http"), Model: new("claude"),
			Requires:      new([]string{"issue.create", "deploy.*"}),
			AdapterConfig: new([]byte(`{"n":1e3,"x":null}`)), MemoryScopes: new([]string{"project", "agent", "agent"}),
			Instructions: new(new("*Tests* first.")),
			Budget:       &agent.BudgetChange{PerTask: new(new(money.Number("25e-1"))), Daily: &null},
		}},
		"name and role": {
			agent.Settings{Name: new("Eve"), Role: new("Lead")}, func(a *agent.Agent) { a.Name, a.Role = "Eve", "Lead" },
			`{"name":"Ada","role":"Engineer"}`,
		},
		"the adapter, which leaves its configuration": {
			agent.Settings{Adapter: new("process")}, func(a *agent.Agent) { a.Adapter = "process" }, `{"adapter":"http"}`,
		},
		"a member of the configuration": {
			agent.Settings{AdapterConfig: new([]byte(`{"url":null,"m":"<&>"}`))},
			func(a *agent.Agent) { a.AdapterConfig = `{"n":1e3,"m":"<&>"}` },
			`{"adapterConfig":{"url":"https://a.example","n":1e3}}`,
		},
		"no model": {agent.Settings{Model: new("")}, func(a *agent.Agent) { a.Model = "" }, `{"model":"claude"}`},
		"instructions": {
			agent.Settings{Instructions: new(new("Be brief."))}, func(a *agent.Agent) { a.Instructions = "Be brief." },
			`{"instructions":"*Tests* first."}`,
		},
		"no instructions": {
			agent.Settings{Instructions: new((*string)(nil))}, func(a *agent.Agent) { a.Instructions = "" },
			`{"instructions":"*Tests* first."}`,
		},
		"a list is replaced, and can be emptied": {
			agent.Settings{MemoryScopes: new([]string{"client"}), Requires: new([]string{})},
			func(a *agent.Agent) { a.MemoryScopes, a.Requires = []agent.MemoryScope{"client"}, nil },
			`{"memoryScopes":["project","agent"],"approvalPolicy":{"requires":["issue.create","deploy.*"]}}`,
		},
		"one limit": {
			agent.Settings{Budget: &agent.BudgetChange{Daily: new(new(money.Number("0")))}},
			func(a *agent.Agent) { a.Budget.Daily = budget.Of(0) }, `{"budget":{"perTaskUsd":2.5,"dailyUsd":null}}`,
		},
		"no limit": {
			agent.Settings{Budget: &agent.BudgetChange{PerTask: &null}},
			func(a *agent.Agent) { a.Budget.PerTask = budget.Limit{} }, `{"budget":{"perTaskUsd":2.5,"dailyUsd":null}}`,
		},
	} {
		before := ada(agent.Paused)
		got, updated, err := before.Apply(agent.Patch{Settings: c.sent}, admin, later)
		want := before
		if c.change == nil {
			if diff := cmp.Diff(want, got); diff != "" || err != nil || updated != nil {
				t.Errorf("%s: %v, %v\n%s", name, updated, err, diff)
			}
			continue
		}
		c.change(&want)
		want.UpdatedAt, want.Version = later, 8
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, diff)
			continue
		}
		previous := slices.DeleteFunc(slices.Clone(updated.Previous), func(f event.Field) bool { return f.Name == "updatedAt" })
		if diff := cmp.Diff(c.previous, shown(previous)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		updated.Previous = nil
		var more []event.Field
		if want.Instructions != before.Instructions {
			more = []event.Field{event.F("instructions", want.Instructions)}
		}
		checkEvent(t, *updated, event.AgentUpdated, want, more...)
	}
}

func TestReadOnlyFieldsAreReportedAlone(t *testing.T) {
	t.Parallel()
	patch := agent.Patch{Settings: agent.Settings{Name: new("")}}
	want := "immutable_field"
	for _, field := range []string{"id", "companyId", "teamId", "slotId", "status", "stats", "createdAt", "updatedAt"} {
		patch.Problems.Add(fault.Fieldf(field, fault.UnknownField, "there is no field %s", field))
		want += " " + field + ":immutable"
	}
	patch.Problems.Add(fault.Fieldf("colour", fault.UnknownField, "there is no field colour"))
	for _, status := range statuses {
		_, _, err := ada(status).Apply(patch, admin, later)
		faulttest.Check(t, string(status), err, want)
	}
	// What is wrong with a patch is reported before the state.
	_, _, err := ada(agent.Retired).Apply(agent.Patch{Settings: agent.Settings{Name: new("")}}, admin, later)
	faulttest.Check(t, "retired", err, refused("name", fault.Required))
}

func TestTheAdapterOfAHireIsInstalled(t *testing.T) {
	t.Parallel()
	web := agent.Rules{Adapters: []string{"http", "sse"}}
	_, err := hire(draft(agent.Settings{Adapter: new("http")}), web)
	faulttest.Check(t, "installed", err, "")
	for name, sent := range map[string]agent.Settings{
		"process": {},
		"fax":     {Adapter: new("fax")},
	} {
		_, err := hire(draft(sent), web)
		faulttest.Check(t, name, err, "adapter_not_installed")
		want := map[string]any{"adapter": name, "installed": web.Adapters}
		if diff := cmp.Diff(want, fault.Of(err).Details); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestAnAgentKeepsAnAdapterThatIsNoLongerInstalled(t *testing.T) {
	t.Parallel()
	none := agent.Rules{Adapters: []string{"process"}, MayRunOnHost: true}
	for name, c := range map[string]struct {
		sent agent.Settings
		want string
	}{
		"a name":                  {agent.Settings{Name: new("Eve")}, ""},
		"the same adapter":        {agent.Settings{Adapter: new("http"), Name: new("Eve")}, ""},
		"its configuration":       {agent.Settings{AdapterConfig: new([]byte(`{"x":1}`))}, ""},
		"an installed adapter":    {agent.Settings{Adapter: new("process")}, ""},
		"another that is missing": {agent.Settings{Adapter: new("fax")}, "adapter_not_installed"},
		"none":                    {agent.Settings{Adapter: new("")}, "adapter_not_installed"},
	} {
		_, _, err := ada(agent.Active).Apply(agent.Patch{Settings: c.sent}, none, later)
		faulttest.Check(t, name, err, c.want)
	}
}

func TestOnlyAdminsChangeWhichProgramsRunOnTheHost(t *testing.T) {
	t.Parallel()
	const program = `{"command":["true"],"env":{"A":"1"}}`
	config := func(text string) *[]byte { return new([]byte(text)) }
	toProcess := new("process")
	for name, c := range map[string]struct {
		adapter string
		before  agent.Config
		sent    agent.Settings
		refused bool
	}{
		"a program":                 {"process", agent.NoConfig, agent.Settings{AdapterConfig: config(program)}, true},
		"another program":           {"process", program, agent.Settings{AdapterConfig: config(`{"command":["false"]}`)}, true},
		"a part of its environment": {"process", program, agent.Settings{AdapterConfig: config(`{"env":null}`)}, true},
		"the adapter of a program":  {"http", program, agent.Settings{Adapter: toProcess}, true},
		"both":                      {"http", agent.NoConfig, agent.Settings{Adapter: toProcess, AdapterConfig: config(program)}, true},
		"no program":                {"process", program, agent.Settings{AdapterConfig: config(`{"command":null,"env":null}`)}, false},
		"a program elsewhere":       {"process", program, agent.Settings{Adapter: new("http")}, false},
		"the adapter without one":   {"http", `{"a":1}`, agent.Settings{Adapter: toProcess, AdapterConfig: config(`{"a":null}`)}, false},
		"what runs elsewhere":       {"http", program, agent.Settings{AdapterConfig: config(`{"command":["false"]}`)}, false},
		"something else":            {"process", program, agent.Settings{Name: new("Eve")}, false},
		"the same adapter":          {"process", program, agent.Settings{Adapter: toProcess}, false},
		"the same program":          {"process", program, agent.Settings{AdapterConfig: config(program)}, false},
		"an empty patch of it":      {"process", program, agent.Settings{AdapterConfig: config(`{}`), Adapter: toProcess}, false},
		"nothing that was there":    {"process", program, agent.Settings{AdapterConfig: config(`{"x":null}`), Name: new("Eve")}, false},
	} {
		before := ada(agent.Active)
		before.Adapter, before.AdapterConfig = c.adapter, c.before
		checkHost(t, name, c.refused, func(rules agent.Rules) error {
			_, _, err := before.Apply(agent.Patch{Settings: c.sent}, rules, later)
			return err
		})
	}
	for name, c := range map[string]struct {
		sent    agent.Settings
		refused bool
	}{
		"a program of the default adapter": {agent.Settings{AdapterConfig: config(program)}, true},
		"a program":                        {agent.Settings{Adapter: toProcess, AdapterConfig: config(program)}, true},
		"no program":                       {agent.Settings{Adapter: toProcess, AdapterConfig: config(`{"command":null}`)}, false},
		"what runs elsewhere":              {agent.Settings{Adapter: new("http"), AdapterConfig: config(program)}, false},
	} {
		checkHost(t, "a hire with "+name, c.refused, func(rules agent.Rules) error {
			_, err := hire(draft(c.sent), rules)
			return err
		})
	}
}

// checkHost checks that an admin may, and whether a writer may not.
func checkHost(t *testing.T, name string, refused bool, try func(agent.Rules) error) {
	t.Helper()
	faulttest.Check(t, name, try(admin), "")
	err := try(writer)
	if !refused {
		faulttest.Check(t, name, err, "")
		return
	}
	faulttest.Check(t, name, err, "insufficient_scope")
	if got := fault.Of(err).Details["required"]; got != "admin" {
		t.Errorf("%s: %v", name, got)
	}
}
