package approval

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/agent"
	"holdco/domain/anyjson"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/run"
	"holdco/domain/text"
)

// Bounds of what is sent, and of how much there is.
const (
	TextLength      = 20_000
	NoteLength      = 20_000
	CommentLength   = 20_000
	EffectLength    = 1_000
	MostEffects     = 20
	MostTokens      = 1_000_000_000_000
	EditsSize       = 64 << 10 // bytes of JSON
	MostComments    = 100      // on one approval
	MostOpen        = 20       // open approvals on one issue: those of its run, and of the parked ones that it goes on with
	ShortestWait    = time.Minute
	LongestWait     = 7 * 24 * time.Hour
	defaultWait     = 4 * time.Hour
	waitAfterAsking = time.Hour // at least, for the agent to answer
)

// Draft is what an agent sent to ask for an approval; nil fields were absent. Problems are errors of its form.
type Draft struct {
	ActionName, Action, Reasoning, IfDenied *string

	USD         *money.Number
	Tokens      *int64
	SideEffects *[]string
	ExpiresIn   *int64 // seconds
	Park        *bool
	Problems    fault.Problems
}

// New makes an approval that a run of an agent of a team asks for, while so many are open on its issue. It fails with
// fault.ValidationFailed or fault.TooManyOf.
func New(
	newID id.Approval, by run.Run, of id.Team, open int, draft Draft, at time.Time,
) (Approval, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	a := Approval{
		ID: newID, Company: by.Company, Issue: by.Issue, Run: by.ID, Agent: by.Agent, Team: of, Status: Pending,
		ActionName: parseName("actionName", draft.ActionName, &problems),
		Action:     parseText("action", draft.Action, true, TextLength, &problems),
		Reasoning:  parseText("reasoning", draft.Reasoning, false, TextLength, &problems),
		IfDenied:   parseText("ifDenied", draft.IfDenied, false, TextLength, &problems),
		CreatedAt:  at, ExpiresAt: at.Add(defaultWait), Version: 1,
	}
	if draft.USD != nil {
		cost, wrong := budget.ParseAmount("cost.usd", *draft.USD)
		problems.Add(wrong...)
		a.Cost.USD = cost
	}
	if draft.Tokens != nil {
		if *draft.Tokens < 0 || *draft.Tokens > MostTokens {
			problems.Add(fault.Fieldf("cost.tokens", fault.OutOfRange, "cost.tokens must be from 0 to %d", MostTokens))
		}
		a.Cost.Tokens = *draft.Tokens
	}
	if draft.SideEffects != nil {
		a.SideEffects = parseEffects(*draft.SideEffects, &problems)
	}
	if draft.ExpiresIn != nil {
		least, most := int64(ShortestWait/time.Second), int64(LongestWait/time.Second)
		if *draft.ExpiresIn < least || *draft.ExpiresIn > most {
			problems.Add(fault.Fieldf("expiresIn", fault.OutOfRange, "expiresIn must be from %d to %d", least, most))
		} else {
			a.ExpiresAt = at.Add(time.Duration(*draft.ExpiresIn) * time.Second)
		}
	}
	switch {
	case len(problems) > 0:
		return Approval{}, event.Event{}, fault.Validation(problems)
	case open >= MostOpen:
		return Approval{}, event.Event{}, fault.New(fault.TooManyOf, "An issue can have at most %d open approvals.", MostOpen).
			With("limit", MostOpen)
	}
	return a, a.event(event.ApprovalRequested), nil
}

// Park returns the approval as one that ended its run, which waits for it, and the event to record instead of that of New.
func (a Approval) Park() (Approval, event.Event) {
	a.Parked = true
	return a, a.event(event.ApprovalRequested)
}

func parseName(path string, sent *string, problems *fault.Problems) string {
	if sent == nil {
		problems.Add(fault.Fieldf(path, fault.Required, "%s is required", path))
		return ""
	}
	name, wrong := text.Name(path, *sent, agent.ActionNameLength)
	problems.Add(wrong...)
	return name
}

func parseText(path string, sent *string, isRequired bool, most int, problems *fault.Problems) string {
	if sent == nil && !isRequired {
		return ""
	}
	if sent == nil || isRequired && text.IsBlank(*sent) {
		problems.Add(fault.Fieldf(path, fault.Required, "%s is required, and must not be blank", path))
		return ""
	}
	prose, wrong := text.Prose(path, *sent, most)
	problems.Add(wrong...)
	return prose
}

func parseEffects(sent []string, problems *fault.Problems) (effects []string) {
	const path = "sideEffects"
	if len(sent) > MostEffects {
		problems.Add(fault.Fieldf(path, fault.TooMany, "%s has %d items; at most %d are allowed", path, len(sent), MostEffects))
		return nil
	}
	for n, raw := range sent {
		effects = append(effects, parseText(fmt.Sprintf("%s.%d", path, n), &raw, true, EffectLength, problems))
	}
	return effects
}

// Verdict is a decision that somebody sent; nil fields were absent. Problems are errors of its form.
type Verdict struct {
	Action   Action // Approve, ApproveWithEdits or Deny
	Edits    []byte // of ApproveWithEdits, JSON; nil: none
	Note     *string
	Problems fault.Problems
}

// Action is what somebody does to an approval.
type Action string

// The actions.
const (
	Approve          Action = "approve"
	ApproveWithEdits Action = "approve-with-edits" // needs edits
	Deny             Action = "deny"               // needs a note
	Answer           Action = "answer"
)

// parse returns the edits and the note of a verdict.
func (v Verdict) parse() (edits, note string, err error) {
	problems := slices.Clone(v.Problems)
	if v.Action == ApproveWithEdits {
		if v.Edits == nil {
			problems.Add(fault.Fieldf("edits", fault.Required, "edits is required, and must not be null"))
		}
		edits = anyjson.Check("edits", v.Edits, EditsSize, &problems)
	}
	note = parseText("note", v.Note, v.Action == Deny, NoteLength, &problems)
	if len(problems) > 0 {
		return "", "", fault.Validation(problems)
	}
	return edits, note, nil
}
