package agent_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
)

const (
	acme  = id.Company("cmp_01h455vb4pex5vsknk084sn02q")
	sales = id.Team("tm_01h455vb4pex5vsknk084sn02q")
	desk  = id.Slot("slt_01h455vb4pex5vsknk084sn02q")
	adaID = id.Agent("agt_01h455vb4pex5vsknk084sn02q")
)

var (
	noon  = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	later = noon.Add(time.Hour)

	token    = access.NewAgentToken([32]byte{1})
	newToken = access.NewAgentToken([32]byte{2})

	admin  = agent.Rules{Adapters: []string{"process", "http"}, MayRunOnHost: true}
	writer = agent.Rules{Adapters: []string{"process", "http"}}

	statuses = []agent.Status{agent.Active, agent.Paused, agent.Retired}
)

// ada is an agent in the given state, with a value in every field.
func ada(status agent.Status) agent.Agent {
	a := agent.Agent{
		ID: adaID, Company: acme, Team: sales, Slot: desk, Name: "Ada", Role: "Engineer", Adapter: "http",
		AdapterConfig: `{"url":"https://a.example","n":1e3}`, Model: "claude", Status: status,
		MemoryScopes: []agent.MemoryScope{"project", "agent"},
		Budget:       agent.Budget{PerTask: budget.Of(2_500_000)},
		Requires:     []string{"issue.create", "deploy.*"},
		Instructions: "*Tests* first.",
		Hash:         token.Hash(),
		Stats:        agent.Stats{Completed: 2, Failed: 1, Spent: 10 * money.Dollar, LastActiveAt: noon, AdapterFailures: 4},
		CreatedAt:    noon.Add(-time.Hour), UpdatedAt: noon, Version: 7,
	}
	if status == agent.Retired {
		a.Slot = ""
	}
	return a
}

func TestEveryStateHasItsActions(t *testing.T) {
	t.Parallel()
	// The next state; one that is absent: refused.
	table := map[agent.Action]map[agent.Status]agent.Status{
		agent.Update:      {agent.Active: agent.Active, agent.Paused: agent.Paused},
		agent.Pause:       {agent.Active: agent.Paused},
		agent.Resume:      {agent.Paused: agent.Active},
		agent.Retire:      {agent.Active: agent.Retired, agent.Paused: agent.Retired},
		agent.RotateToken: {agent.Active: agent.Active, agent.Paused: agent.Paused},
	}
	types := map[agent.Action]event.Type{
		agent.Update: event.AgentUpdated, agent.Pause: event.AgentPaused, agent.Resume: event.AgentResumed,
		agent.Retire: event.AgentRetired, agent.RotateToken: event.AgentTokenRotated,
	}
	for action, row := range table {
		for _, from := range statuses {
			before := ada(from)
			got, happened, err := do(before, action)
			allowed := before.Allows(action)
			next, ok := row[from]
			if !ok {
				if fault.CodeOf(err) != fault.InvalidTransition || fault.CodeOf(allowed) != fault.InvalidTransition {
					t.Errorf("%s of %s: %v, allowed: %v", action, from, err, allowed)
					continue
				}
				if details := fault.Of(err).Details; details["from"] != string(from) || details["action"] != string(action) {
					t.Errorf("%s of %s: details %v", action, from, details)
				}
				if !cmp.Equal(before, got) || happened.Type != "" {
					t.Errorf("%s of %s is refused, yet: %+v, %+v", action, from, got, happened)
				}
				continue
			}
			want := before
			want.Status, want.UpdatedAt, want.Version = next, later, 8
			switch action {
			case agent.Update:
				want.Name = "Eve"
			case agent.Retire:
				want.Slot = ""
			case agent.RotateToken:
				want.Hash = newToken.Hash()
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil || allowed != nil {
				t.Errorf("%s of %s: %v, allowed: %v\n%s", action, from, err, allowed, diff)
				continue
			}
			happened.Previous = nil
			checkEvent(t, happened, types[action], got)
		}
	}
}

// do takes an action. The update changes the name to Eve.
func do(a agent.Agent, action agent.Action) (agent.Agent, event.Event, error) {
	switch action {
	case agent.Pause:
		return a.Pause(later)
	case agent.Resume:
		return a.Resume(later)
	case agent.Retire:
		return a.Retire(later)
	case agent.RotateToken:
		return a.RotateToken(newToken, later)
	}
	next, updated, err := a.Apply(agent.Patch{Settings: agent.Settings{Name: new("Eve")}}, admin, later)
	if updated == nil {
		return next, event.Event{}, err
	}
	return next, *updated, err
}

func TestAnAgentIsEmployedUntilItRetires(t *testing.T) {
	t.Parallel()
	for status, want := range map[agent.Status]bool{agent.Active: true, agent.Paused: true, agent.Retired: false} {
		if got := ada(status).IsEmployed(); got != want {
			t.Errorf("%s: %t", status, got)
		}
	}
}

func TestAHireFillsASlot(t *testing.T) {
	t.Parallel()
	made := ada(agent.Active)
	made.Slot = ""
	got, hired := made.Hired(desk)
	if diff := cmp.Diff(ada(agent.Active), got); diff != "" {
		t.Error(diff)
	}
	checkEvent(t, hired, event.AgentHired, got, event.F("instructions", "*Tests* first."))
}

func TestAnAgentIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	const full = `{"id":"agt_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q",` +
		`"teamId":"tm_01h455vb4pex5vsknk084sn02q","slotId":"slt_01h455vb4pex5vsknk084sn02q","name":"Ada","role":"Engineer",` +
		`"adapter":"http","adapterConfig":{"url":"https://a.example","n":1e3},"model":"claude","status":"active","hold":null,` +
		`"memoryScopes":["project","agent"],"budget":{"perTaskUsd":2.5,"dailyUsd":null},` +
		`"approvalPolicy":{"requires":["issue.create","deploy.*"]},` +
		`"stats":{"tasksCompleted":2,"tasksFailed":1,"averageTaskUsd":3.333333,"lastActiveAt":"2026-04-11T12:00:00.000Z",` +
		`"adapterFailures":4},"createdAt":"2026-04-11T11:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z",` +
		`"instructions":"*Tests* first."}`
	const bare = `{"id":"agt_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q",` +
		`"teamId":"tm_01h455vb4pex5vsknk084sn02q","slotId":null,"name":"Ada","role":"Engineer",` +
		`"adapter":"process","adapterConfig":{},"model":"","status":"retired","hold":null,"memoryScopes":[],` +
		`"budget":{"perTaskUsd":null,"dailyUsd":0},"approvalPolicy":{"requires":[]},` +
		`"stats":{"tasksCompleted":0,"tasksFailed":0,"averageTaskUsd":null,"lastActiveAt":null,"adapterFailures":0},` +
		`"createdAt":"2026-04-11T12:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z","instructions":""}`
	for want, a := range map[string]agent.Agent{
		full: ada(agent.Active),
		bare: {
			ID: adaID, Company: acme, Team: sales, Name: "Ada", Role: "Engineer", Adapter: "process", AdapterConfig: agent.NoConfig,
			Status: agent.Retired, Budget: agent.Budget{Daily: budget.Of(0)}, Hash: token.Hash(), CreatedAt: noon, UpdatedAt: noon,
		},
	} {
		if diff := cmp.Diff(want, shown(a.Fields())); diff != "" {
			t.Error(diff)
		}
	}
	if a := ada(agent.Active); a.Owner() != acme || a.CurrentVersion() != 7 {
		t.Errorf("%s, %d", a.Owner(), a.CurrentVersion())
	}
}

func TestTheAverageTaskIsRoundedDown(t *testing.T) {
	t.Parallel()
	for want, stats := range map[string]agent.Stats{
		`"averageTaskUsd":0.666666,`: {Completed: 2, Failed: 1, Spent: 2 * money.Dollar},
		`"averageTaskUsd":0,`:        {Failed: 3, Spent: 2},
		`"averageTaskUsd":5,`:        {Completed: 1, Spent: 5 * money.Dollar},
		`"averageTaskUsd":null,`:     {Spent: 5 * money.Dollar},
	} {
		if got := shown(agent.Agent{AdapterConfig: agent.NoConfig, Stats: stats}.Fields()); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func shown(fields event.Fields) string { return string(fields.Append(nil)) }

// checkEvent checks an event of an agent without previous values, whose data has more fields than lists show.
func checkEvent(t *testing.T, got event.Event, what event.Type, a agent.Agent, more ...event.Field) {
	t.Helper()
	want := event.Event{
		Company: acme, Type: what, Subject: event.Subject{Type: "agent", ID: string(adaID)}, Data: append(a.ListedFields(), more...),
	}
	if diff := cmp.Diff(want, got, cmp.Transformer("text", shown)); diff != "" {
		t.Errorf("%s: %s", what, diff)
	}
}

// refused spells a refusal of one field, as faulttest.Check wants it. No code is no refusal.
func refused(path, code string) string {
	if code == "" {
		return ""
	}
	return "validation_failed " + path + ":" + code
}
