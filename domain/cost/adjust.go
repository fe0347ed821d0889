package cost

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
	"holdco/domain/text"
)

// ReasonLength bounds the characters of the reason of a correction.
const ReasonLength = 500

// AdjustmentDraft is what was sent of a correction; nil fields were absent.
type AdjustmentDraft struct {
	Entry, Reason *string
	USD           *money.Number
	Problems      fault.Problems // what is wrong with its form
}

// Entries are the entries of a company, as a correction needs them.
type Entries interface {
	// Corrected returns an entry and the sum of its corrections, or fault.NotFound.
	Corrected(which id.Cost) (of Entry, by money.USD, err error)
}

// Adjust makes the correction of an entry, which counts at the instant of that, and its event. With its corrections an entry costs
// from 0 to Most.
func Adjust(newID id.Cost, draft AdjustmentDraft, in Entries, at time.Time) (Entry, event.Event, error) {
	problems := draft.Problems
	reason := draft.reason(&problems)
	amount, isAmount := draft.amount(&problems)
	of, by, err := draft.entry(in, &problems)
	switch {
	case err != nil:
		return Entry{}, event.Event{}, err
	case of.ID != "" && isAmount && (of.USD+by+amount < 0 || of.USD+by+amount > Most):
		problems.Add(fault.Fieldf("usd", fault.OutOfRange, "usd must be from %s to %s: the entry costs %s now", -of.USD-by, Most-of.USD-by,
			of.USD+by))
	}
	if len(problems) > 0 {
		return Entry{}, event.Event{}, fault.Validation(problems)
	}
	made := Entry{
		ID: newID, Company: of.Company, Issue: of.Issue, Run: of.Run, Agent: of.Agent, Team: of.Team, Project: of.Project,
		Key: string(newID), Kind: of.Kind, USD: amount, Model: of.Model, Billing: of.Billing,
		Adjusts: of.ID, Reason: reason, At: of.At, AdjustedAt: at,
	}
	return made, event.Of(event.CostAdjusted, made.Company, string(made.ID), made.Fields()), nil
}

func (d AdjustmentDraft) reason(problems *fault.Problems) string {
	if d.Reason == nil {
		problems.Add(fault.Fieldf("reason", fault.Required, "reason is required"))
		return ""
	}
	reason, wrong := text.Name("reason", *d.Reason, ReasonLength)
	problems.Add(wrong...)
	return reason
}

func (d AdjustmentDraft) amount(problems *fault.Problems) (amount money.USD, ok bool) {
	if d.USD == nil {
		problems.Add(fault.Fieldf("usd", fault.Required, "usd is required"))
		return 0, false
	}
	amount, wrong := money.ParseBetween("usd", *d.USD, -Most, Most)
	if wrong == nil && amount == 0 {
		wrong = []fault.Field{fault.Fieldf("usd", fault.OutOfRange, "usd must not be 0")}
	}
	problems.Add(wrong...)
	return amount, wrong == nil
}

func (d AdjustmentDraft) entry(in Entries, problems *fault.Problems) (of Entry, by money.USD, err error) {
	if d.Entry == nil {
		problems.Add(fault.Fieldf("entryId", fault.Required, "entryId is required"))
		return Entry{}, 0, nil
	}
	which, _ := id.Parse[id.Cost](*d.Entry)
	of, by, err = in.Corrected(which)
	switch {
	case fault.CodeOf(err) == fault.NotFound:
		problems.Add(fault.Fieldf("entryId", fault.UnknownValue, "entryId must be the id of a cost entry of the company"))
		return Entry{}, 0, nil
	case err == nil && of.Adjusts != "":
		problems.Add(fault.Fieldf("entryId", fault.UnknownValue, "entryId must not be a correction itself; correct %s", of.Adjusts))
		return Entry{}, 0, nil
	}
	return of, by, err
}

// Owner returns the company, for generic code.
func (e Entry) Owner() id.Company { return e.Company }

// Fields returns the entry as the API shows it.
func (e Entry) Fields() event.Fields {
	var revision *int64
	if e.Revision > 0 {
		revision = &e.Revision
	}
	return event.Fields{
		event.F("id", string(e.ID)),
		event.F("at", instant.Format(e.At)),
		event.F("key", e.Key),
		event.F("kind", string(e.Kind)),
		event.F("usd", e.USD),
		event.Optional("model", e.Model),
		event.F("tokens", e.Tokens.Fields()),
		event.F("calls", e.Calls),
		event.F("unpriced", e.Unpriced),
		event.F("late", e.Late),
		event.Optional("billing", e.Billing),
		event.Optional("session", e.Session),
		event.F("reported", e.IsReported),
		event.F("reportedUsd", e.reportedUSD()),
		event.F("revision", revision),
		event.F("runId", string(e.Run)),
		event.F("issueId", string(e.Issue)),
		event.F("agentId", string(e.Agent)),
		event.F("teamId", string(e.Team)),
		event.Optional("projectId", e.Project),
		event.Optional("adjusts", e.Adjusts),
		event.Optional("reason", e.Reason),
	}
}
