package agent

import (
	"encoding/json"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Agent works in a slot of a team. New and stores make an Agent, and only its methods change it: each returns the next agent
// and the event to record with it.
type Agent struct {
	ID            id.Agent
	Company       id.Company
	Team          id.Team // permanent; the team may have been deleted since the agent retired
	Slot          id.Slot // of the team; empty: retired
	Name          string  // 1 to NameLength characters
	Role          string  // 1 to NameLength characters
	Adapter       string  // one of those installed when it was set
	AdapterConfig Config
	Model         string // at most NameLength characters
	Status        Status
	MemoryScopes  []MemoryScope // each once
	Budget        Budget
	Requires      []string // the names of actions that need an approval, each once
	Instructions  string   // how it is to work, Markdown, at most InstructionsLength characters; lists leave it out
	Hash          string   // of its token: access.Value.Hash
	Stats         Stats
	Guard         Guard
	CreatedAt     time.Time
	UpdatedAt     time.Time
	Version       int64 // grows by one with every change but of Stats.LastActiveAt and Stats.Spent; ETags of the API begin with it
}

// Status is a state of an agent.
type Status string

// The states.
const (
	Active  Status = "active"
	Paused  Status = "paused"  // is offered no new work; what runs finishes
	Retired Status = "retired" // final: its token is dead and its slot is free
)

// MemoryScope is something that an agent may remember.
type MemoryScope string

// memoryScopes are all that there are.
var memoryScopes = []MemoryScope{"agent", "project", "client", "company"}

// Budget limits what an agent may spend.
type Budget struct {
	PerTask budget.Limit
	Daily   budget.Limit // in a UTC calendar day
}

// Stats are what an agent has done.
type Stats struct {
	Completed       int       // issues that became done under it
	Failed          int       // issues that became failed under it
	Spent           money.USD // by its runs; follows from its charges
	LastActiveAt    time.Time // its last call of the gateway; zero: none
	AdapterFailures int       // setbacks in a row: see Setback
	RetryAt         time.Time // it gets no work before, because of setbacks or a hold; zero: it need not wait
}

// Work is what is added to Stats.
type Work struct{ Completed, Failed int }

// averageTask is the cost of a completed or failed task, rounded down to millionths of a dollar; nil before there is one.
func (s Stats) averageTask() any {
	if ended := s.Completed + s.Failed; ended > 0 {
		return s.Spent / money.USD(ended)
	}
	return nil
}

// Owner returns the company, for generic code.
func (a Agent) Owner() id.Company { return a.Company }

// HasWords reports whether words are in its name or its role.
func (a Agent) HasWords(words text.Words) bool { return words.In(a.Name, a.Role) }

// CurrentVersion returns Version, for generic code.
func (a Agent) CurrentVersion() int64 { return a.Version }

// IsEmployed reports whether the agent works for its company: it has not retired.
func (a Agent) IsEmployed() bool { return a.Status != Retired }

// Action is a state transition that a client asks for.
type Action string

// The actions.
const (
	Update      Action = "update"
	Pause       Action = "pause"
	Resume      Action = "resume"
	Retire      Action = "retire"
	RotateToken Action = "rotate-token"
	ReleaseHold Action = "release-hold"
)

// moves is the state machine: an action that is not in it is refused.
var moves = map[Action]map[Status]Status{
	Update:      {Active: Active, Paused: Paused},
	Pause:       {Active: Paused},
	Resume:      {Paused: Active},
	Retire:      {Active: Retired, Paused: Retired},
	RotateToken: {Active: Active, Paused: Paused},
}

// Allows refuses an action that the state of the agent does not allow: fault.InvalidTransition.
func (a Agent) Allows(action Action) error {
	if _, ok := moves[action][a.Status]; ok {
		return nil
	}
	return fault.Transition(string(a.Status), string(action), "An agent that is %s cannot take the action %s.", a.Status, action)
}

// Pause keeps new work from the agent.
func (a Agent) Pause(at time.Time) (Agent, event.Event, error) {
	return a.move(Pause, event.AgentPaused, at)
}

// Resume reverses Pause. It ends a hold too.
func (a Agent) Resume(at time.Time) (Agent, event.Event, error) {
	if a.Status == Paused {
		a.tryAgain()
	}
	return a.move(Resume, event.AgentResumed, at)
}

// Retire ends the agent and its token for good. Its slot is free from then on.
func (a Agent) Retire(at time.Time) (Agent, event.Event, error) {
	if err := a.Allows(Retire); err != nil {
		return a, event.Event{}, err
	}
	a.Slot = ""
	return a.move(Retire, event.AgentRetired, at)
}

// RotateToken gives the agent a new token. The old one ends.
func (a Agent) RotateToken(token access.Value, at time.Time) (Agent, event.Event, error) {
	a, rotated, err := a.move(RotateToken, event.AgentTokenRotated, at)
	if err == nil {
		a.Hash = token.Hash()
	}
	return a, rotated, err
}

func (a Agent) move(action Action, what event.Type, at time.Time) (Agent, event.Event, error) {
	if err := a.Allows(action); err != nil {
		return a, event.Event{}, err
	}
	a.Status = moves[action][a.Status]
	a.changed(at)
	return a, a.event(what), nil
}

// Fields returns the agent as the API shows it, without its token.
func (a Agent) Fields() event.Fields {
	return append(a.ListedFields(), event.F("instructions", a.Instructions))
}

// ListedFields returns the agent as lists show it, and events that do not change its instructions: without these, which can be long.
func (a Agent) ListedFields() event.Fields {
	return event.Fields{
		event.F("id", string(a.ID)),
		event.F("companyId", string(a.Company)),
		event.F("teamId", string(a.Team)),
		event.F("slotId", a.slot()),
		event.F("name", a.Name),
		event.F("role", a.Role),
		event.F("adapter", a.Adapter),
		event.F("adapterConfig", json.RawMessage(a.AdapterConfig)),
		event.F("model", a.Model),
		event.F("status", string(a.Status)),
		a.Guard.field(),
		event.F("memoryScopes", words(a.MemoryScopes)),
		event.F("budget", event.Fields{a.Budget.PerTask.Field("perTaskUsd"), a.Budget.Daily.Field("dailyUsd")}),
		event.F("approvalPolicy", event.Fields{event.F("requires", words(a.Requires))}),
		event.F("stats", event.Fields{
			event.F("tasksCompleted", a.Stats.Completed),
			event.F("tasksFailed", a.Stats.Failed),
			event.F("averageTaskUsd", a.Stats.averageTask()),
			event.F("lastActiveAt", instant.Optional(a.Stats.LastActiveAt)),
			event.F("adapterFailures", a.Stats.AdapterFailures),
		}),
		event.F("createdAt", instant.Format(a.CreatedAt)),
		event.F("updatedAt", instant.Format(a.UpdatedAt)),
	}
}

func (a Agent) slot() any {
	if a.Slot == "" {
		return nil
	}
	return string(a.Slot)
}

// words are a list as the API shows it: an empty one is [].
func words[S ~string](list []S) []string {
	shown := make([]string, len(list))
	for i, word := range list {
		shown[i] = string(word)
	}
	return shown
}

func (a *Agent) changed(at time.Time) {
	a.UpdatedAt = at
	a.Version++
}

func (a Agent) event(what event.Type) event.Event {
	return event.Of(what, a.Company, string(a.ID), a.ListedFields())
}

// parseScopes parses memory scopes. One that is given twice is kept once.
func parseScopes(sent []string, problems *fault.Problems) (scopes []MemoryScope) {
	for i, name := range sent {
		scope := MemoryScope(name)
		switch {
		case !slices.Contains(memoryScopes, scope):
			problems.Add(fault.Fieldf(indexed("memoryScopes", i), fault.UnknownValue,
				"%s must be one of agent, project, client, company", indexed("memoryScopes", i)))
		case !slices.Contains(scopes, scope):
			scopes = append(scopes, scope)
		}
	}
	return scopes
}
