package agent

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Bounds of what clients send.
const (
	NameLength         = 200
	ActionNameLength   = 100
	MostRequires       = 50
	InstructionsLength = 65_536
)

// Draft is what was sent to hire an agent; nil fields were absent. Problems are errors of its form.
type Draft struct {
	Team *string
	Settings
	Problems fault.Problems
}

// Patch is what was sent to change an agent; nil fields stay as they are. Problems are as in Draft.
type Patch struct {
	Settings
	Problems fault.Problems
}

// Settings are the fields that both a Draft and a Patch may carry.
type Settings struct {
	Name          *string
	Role          *string
	Adapter       *string
	AdapterConfig *[]byte // a JSON object; of a patch, merged into what is there
	Model         *string
	MemoryScopes  *[]string
	Budget        *BudgetChange
	Requires      *[]string
	Instructions  **string // a pointer to nil is null: none
}

// BudgetChange is what was sent of a budget; nil fields were absent, and a pointer to nil is null: no limit.
type BudgetChange struct{ PerTask, Daily **money.Number }

// Rules are what the operator and the caller allow.
type Rules struct {
	Adapters     []string // the installed ones
	MayRunOnHost bool     // whether the caller may configure programs that run on the host
}

// New makes an active agent of a company, without a slot yet. The adapter is the company's default unless one was sent.
// TeamExists reports whether the company has a team. New fails with fault.ValidationFailed, which lists every invalid field,
// with fault.AdapterNotInstalled, whoever chose the adapter, with fault.InsufficientScope, or with an error of teamExists.
func New(
	newID id.Agent, company id.Company, defaultAdapter string, draft Draft, token access.Value,
	teamExists func(id.Team) (bool, error), rules Rules, at time.Time,
) (Agent, error) {
	a := Agent{
		ID: newID, Company: company, Adapter: defaultAdapter, AdapterConfig: NoConfig, Status: Active,
		Hash: token.Hash(), CreatedAt: at, UpdatedAt: at, Version: 1,
	}
	problems := slices.Clone(draft.Problems)
	for _, field := range []struct {
		path string
		sent *string
	}{{"teamId", draft.Team}, {"name", draft.Name}, {"role", draft.Role}} {
		if field.sent == nil {
			problems.Add(fault.Fieldf(field.path, fault.Required, "%s is required", field.path))
		}
	}
	if draft.Team != nil {
		a.Team, _ = id.Parse[id.Team](*draft.Team)
		exists, err := teamExists(a.Team)
		if err != nil {
			return Agent{}, err
		}
		if !exists {
			problems.Add(fault.Fieldf("teamId", fault.UnknownValue, "teamId must be the id of a team of the company"))
		}
	}
	a = a.with(draft.Settings, &problems)
	if err := a.check(Agent{}, problems, rules); err != nil {
		return Agent{}, err
	}
	return a, nil
}

// Hired is the event of a new agent in a slot.
func (a Agent) Hired(slot id.Slot) (Agent, event.Event) {
	a.Slot = slot
	hired := a.event(event.AgentHired)
	hired.Data = a.Fields()
	return a, hired
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{"id", "companyId", "teamId", "slotId", "status", "hold", "stats", "createdAt", "updatedAt"}

// Apply merges a patch. It returns the next agent and the event to record, or no event when nothing changed. It fails with
// the faults of Allows, fault.ImmutableField, and those of New. An adapter that is no longer installed may stay.
func (a Agent) Apply(patch Patch, rules Rules, at time.Time) (Agent, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return a, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := a.with(patch.Settings, &problems)
	if err := next.check(a, problems, rules); err != nil {
		return a, nil, err
	}
	if err := a.Allows(Update); err != nil {
		return a, nil, err
	}
	next, updated := event.Update(a, next, func(next *Agent) event.Event {
		if next.Adapter != a.Adapter || next.AdapterConfig != a.AdapterConfig || next.Model != a.Model {
			next.tryAgain() // what failed may work now
		}
		next.changed(at)
		updated := next.event(event.AgentUpdated)
		updated.Data = next.Fields()
		return updated
	})
	if updated != nil && next.Instructions == a.Instructions {
		updated.Data = next.ListedFields()
	}
	return next, updated, nil
}

// check returns what is wrong as one fault, or nil. It holds what differs from before, the zero Agent of a hire, to the rules.
func (a Agent) check(before Agent, problems fault.Problems, rules Rules) error {
	newAdapter, newConfig := a.Adapter != before.Adapter, a.AdapterConfig != before.AdapterConfig
	if newAdapter || newConfig {
		a.duty(&problems)
	}
	switch {
	case len(problems) > 0:
		return fault.Validation(problems)
	case newAdapter && !slices.Contains(rules.Adapters, a.Adapter):
		return fault.NotInstalled(a.Adapter, rules.Adapters)
	case (newAdapter || newConfig) && a.Adapter == ProcessAdapter && a.AdapterConfig != NoConfig && !rules.MayRunOnHost:
		return fault.New(fault.InsufficientScope, "To say which programs an agent runs on the host needs the scope admin.").
			With("required", string(access.Admin))
	}
	return nil
}

// with returns a with the settings that were sent, and adds what is wrong with them to problems.
func (a Agent) with(sent Settings, problems *fault.Problems) Agent {
	text.SetName(&a.Name, "name", sent.Name, NameLength, problems)
	text.SetName(&a.Role, "role", sent.Role, NameLength, problems)
	if sent.Model != nil && *sent.Model == "" {
		a.Model = ""
	} else {
		text.SetName(&a.Model, "model", sent.Model, NameLength, problems)
	}
	if sent.Adapter != nil {
		a.Adapter = *sent.Adapter
	}
	if sent.AdapterConfig != nil {
		a.AdapterConfig = a.AdapterConfig.merge(*sent.AdapterConfig, problems)
	}
	if sent.MemoryScopes != nil {
		a.MemoryScopes = parseScopes(*sent.MemoryScopes, problems)
	}
	if sent.Budget != nil {
		budget.SetAmount(&a.Budget.PerTask, "budget.perTaskUsd", sent.Budget.PerTask, problems)
		budget.SetAmount(&a.Budget.Daily, "budget.dailyUsd", sent.Budget.Daily, problems)
	}
	if sent.Requires != nil {
		a.Requires = parseActions(*sent.Requires, problems)
	}
	switch {
	case sent.Instructions == nil:
	case *sent.Instructions == nil || text.IsBlank(**sent.Instructions):
		a.Instructions = ""
	default:
		text.SetProse(&a.Instructions, "instructions", *sent.Instructions, InstructionsLength, problems)
	}
	return a
}

func parseActions(sent []string, problems *fault.Problems) (actions []string) {
	const path = "approvalPolicy.requires"
	if len(sent) > MostRequires {
		problems.Add(fault.Fieldf(path, fault.TooMany, "%s has %d items; at most %d are allowed", path, len(sent), MostRequires))
		return nil
	}
	for i, raw := range sent {
		name, wrong := text.Name(indexed(path, i), raw, ActionNameLength)
		problems.Add(wrong...)
		if wrong == nil && !slices.Contains(actions, name) {
			actions = append(actions, name)
		}
	}
	return actions
}

func indexed(path string, i int) string { return fmt.Sprintf("%s.%d", path, i) }
