package approval

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
)

// Rule decides approvals as soon as they are asked for. It never changes.
type Rule struct {
	ID         id.ApprovalRule
	Company    id.Company
	ActionName string       // of what it decides; with a * at the end, all names that begin with what is before it
	Agent      id.Agent     // whose approvals it decides; empty: of any
	Team       id.Team      // of whose agents; empty: of any. Not both are set.
	MaxUSD     budget.Limit // up to which cost, and then only of those that say one; not set: whatever it is
	Decision   Action       // Approve or Deny
	ExpiresAt  time.Time    // from then on it decides nothing; zero: never
	CreatedBy  event.Actor
	CreatedAt  time.Time
}

// MostRules bounds how many rules a company has.
const MostRules = 500

// RuleDraft is what was sent to make a rule; nil fields were absent. Problems are errors of its form.
type RuleDraft struct {
	ActionName, Agent, Team, Decision *string

	MaxUSD    *money.Number
	ExpiresAt *time.Time
	Problems  fault.Problems
}

// Others is what a rule has to know of its company.
type Others interface {
	HasAgent(which id.Agent) (bool, error)
	HasTeam(which id.Team) (bool, error)
}

// NewRule makes a rule of a company that has so many. It fails with fault.ValidationFailed, which lists every invalid field, with
// fault.TooManyOf, or with an error of others.
func NewRule(
	newID id.ApprovalRule, of id.Company, count int, draft RuleDraft, by event.Actor, others Others, at time.Time,
) (Rule, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	r := Rule{ID: newID, Company: of, ActionName: parseName("actionName", draft.ActionName, &problems), CreatedBy: by, CreatedAt: at}
	if star := strings.IndexByte(r.ActionName, '*'); star >= 0 && star != len(r.ActionName)-1 {
		problems.Add(fault.Fieldf("actionName", fault.InvalidFormat, "actionName can have one *, at its end"))
	}
	if err := r.scope(draft, others, &problems); err != nil {
		return Rule{}, event.Event{}, err
	}
	if draft.MaxUSD != nil {
		limit, wrong := budget.ParseAmount("maxUsd", *draft.MaxUSD)
		problems.Add(wrong...)
		r.MaxUSD = limit
	}
	switch {
	case draft.Decision == nil:
		problems.Add(fault.Fieldf("decision", fault.Required, "decision is required"))
	case *draft.Decision != string(Approve) && *draft.Decision != string(Deny):
		problems.Add(fault.Fieldf("decision", fault.UnknownValue, "decision must be one of approve, deny"))
	default:
		r.Decision = Action(*draft.Decision)
	}
	if draft.ExpiresAt != nil {
		r.ExpiresAt = instant.Cut(*draft.ExpiresAt)
		if !r.ExpiresAt.After(at) || r.ExpiresAt.Year() > 9999 {
			problems.Add(fault.Fieldf("expiresAt", fault.OutOfRange, "expiresAt must be later than now, and before the year 10000"))
		}
	}
	switch {
	case len(problems) > 0:
		return Rule{}, event.Event{}, fault.Validation(problems)
	case count >= MostRules:
		return Rule{}, event.Event{}, fault.New(fault.TooManyOf, "A company can have at most %d approval rules.", MostRules).
			With("limit", MostRules)
	}
	return r, r.event(event.ApprovalRuleCreated), nil
}

// scope sets whose approvals the rule decides.
func (r *Rule) scope(draft RuleDraft, others Others, problems *fault.Problems) error {
	if draft.Agent != nil && draft.Team != nil {
		problems.Add(fault.Fieldf("teamId", fault.Duplicate, "agentId and teamId exclude each other"))
		return nil
	}
	if draft.Agent != nil {
		r.Agent, _ = id.Parse[id.Agent](*draft.Agent)
		if has, err := others.HasAgent(r.Agent); err != nil {
			return err
		} else if !has {
			problems.Add(fault.Fieldf("agentId", fault.UnknownValue, "agentId must be the id of an agent of the company"))
		}
	}
	if draft.Team != nil {
		r.Team, _ = id.Parse[id.Team](*draft.Team)
		if has, err := others.HasTeam(r.Team); err != nil {
			return err
		} else if !has {
			problems.Add(fault.Fieldf("teamId", fault.UnknownValue, "teamId must be the id of a team of the company"))
		}
	}
	return nil
}

// Delete returns the event of the end of the rule.
func (r Rule) Delete() event.Event { return r.event(event.ApprovalRuleDeleted) }

// Owner returns the company, for generic code.
func (r Rule) Owner() id.Company { return r.Company }

// CurrentVersion is 1, for generic code.
func (r Rule) CurrentVersion() int64 { return 1 }

// Apply decides an approval that was just asked for by the first of some rules that fits: those for its agent come before those for its
// team, and these before the others; the newest of them first. It reports whether one fits.
func (a Approval) Apply(rules []Rule, at time.Time) (next Approval, decided event.Event, fits bool) {
	ordered := slices.SortedFunc(slices.Values(rules), func(x, y Rule) int {
		return cmp.Or(cmp.Compare(y.rank(), x.rank()), y.CreatedAt.Compare(x.CreatedAt), cmp.Compare(y.ID, x.ID))
	})
	first := slices.IndexFunc(ordered, func(r Rule) bool { return r.fits(a, at) })
	if first < 0 {
		return a, event.Event{}, false
	}
	next, decided = a.decide(ordered[first].Decision, ruleActor+string(ordered[first].ID), "", at)
	return next, decided, true
}

// ruleActor is before the id of the rule that decided an approval: see Approval.DecidedBy.
const ruleActor = "rule:"

// isByPerson reports whether a person has decided it: no rule has, and it has not expired.
func (a Approval) isByPerson() bool {
	return a.DecidedBy != "" && !strings.HasPrefix(a.DecidedBy, ruleActor)
}

func (r Rule) rank() int {
	switch {
	case r.Agent != "":
		return 2 //nolint:mnd // an order
	case r.Team != "":
		return 1
	default:
		return 0
	}
}

func (r Rule) fits(a Approval, at time.Time) bool {
	prefix, isPattern := strings.CutSuffix(r.ActionName, "*")
	isNamed := a.ActionName == r.ActionName || isPattern && strings.HasPrefix(a.ActionName, prefix)
	isTheirs := (r.Agent == "" || r.Agent == a.Agent) && (r.Team == "" || r.Team == a.Team)
	isWithin := !r.MaxUSD.IsSet || a.Cost.USD.IsSet && a.Cost.USD.USD <= r.MaxUSD.USD
	return isNamed && isTheirs && isWithin && (r.ExpiresAt.IsZero() || at.Before(r.ExpiresAt))
}

// Fields returns the rule as the API shows it.
func (r Rule) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(r.ID)),
		event.F("companyId", string(r.Company)),
		event.F("actionName", r.ActionName),
		event.Optional("agentId", r.Agent),
		event.Optional("teamId", r.Team),
		r.MaxUSD.Field("maxUsd"),
		event.F("decision", string(r.Decision)),
		event.F("expiresAt", instant.Optional(r.ExpiresAt)),
		event.F("createdBy", string(r.CreatedBy)),
		event.F("createdAt", instant.Format(r.CreatedAt)),
	}
}

func (r Rule) event(what event.Type) event.Event {
	made := event.Of(what, r.Company, string(r.ID), r.Fields())
	made.Subject.Type = "approval_rule"
	return made
}
