package webhook

import (
	"fmt"
	"slices"
	"time"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/text"
)

// Bounds of what clients send.
const (
	URLLength         = 2048
	DescriptionLength = 1000
	MostPatterns      = 100
)

// Draft is what was sent to create an endpoint; nil fields were absent. Problems are errors of its form.
type Draft struct {
	Company *string
	Settings
	Problems fault.Problems
}

// Patch is what was sent to change an endpoint; nil fields stay as they are. Problems are as in Draft.
type Patch struct {
	Settings
	Problems fault.Problems
}

// Settings are the fields that both a Draft and a Patch may carry.
type Settings struct {
	URL         *string
	Events      *[]string
	Enabled     *bool
	Description *string
}

// New makes an endpoint, by default enabled and for all events. It fails with fault.ValidationFailed, which lists every
// invalid field, or with an error of resolve.
func New(newID id.Webhook, draft Draft, secret Sealed, resolve company.Resolve, at time.Time) (Endpoint, event.Event, error) {
	e := Endpoint{
		ID: newID, Events: []Pattern{Everything}, Enabled: true, Secret: secret, CreatedAt: at, UpdatedAt: at, Version: 1,
	}
	problems := slices.Clone(draft.Problems)
	if draft.URL == nil {
		problems.Add(fault.Fieldf("url", fault.Required, "url is required"))
	}
	e = e.with(draft.Settings, &problems)
	if draft.Company != nil {
		which, _ := id.Parse[id.Company](*draft.Company) // a slug will not do
		_, found, err := resolve(string(which))
		if err != nil {
			return Endpoint{}, event.Event{}, err
		}
		if !found {
			problems.Add(fault.Fieldf("companyId", fault.UnknownValue, "companyId must be the id of a company"))
		}
		e.Company = which
	}
	if len(problems) > 0 {
		return Endpoint{}, event.Event{}, fault.Validation(problems)
	}
	return e, e.event(event.WebhookCreated), nil
}

// readOnly are the fields of the resource that no patch can change.
var readOnly = []string{"id", "companyId", "disabledReason", "secret", "createdAt", "updatedAt"}

// Apply merges a patch. It returns the next endpoint and the event to record, or no event when nothing changed.
// Enabling or disabling the endpoint clears DisabledReason. An endpoint that has ended, because its company was removed
// and nothing is left to send, cannot be enabled: fault.InvalidTransition. Other faults are fault.ImmutableField and
// fault.ValidationFailed.
func (e Endpoint) Apply(patch Patch, ended bool, at time.Time) (Endpoint, *event.Event, error) {
	if immutable := patch.Problems.Immutable(readOnly); immutable != nil {
		return e, nil, fault.Immutables(immutable)
	}
	problems := slices.Clone(patch.Problems)
	next := e.with(patch.Settings, &problems)
	if len(problems) > 0 {
		return e, nil, fault.Validation(problems)
	}
	if ended && next.Enabled && !e.Enabled {
		return e, nil, fault.New(fault.InvalidTransition, "The company of this webhook was deleted, and nothing is left to send.").
			With("from", "disabled").With("action", "enable")
	}
	if patch.Enabled != nil {
		next.DisabledReason = ""
	}
	next, updated := event.Update(e, next, func(next *Endpoint) event.Event {
		next.changed(at)
		return next.event(event.WebhookUpdated)
	})
	return next, updated, nil
}

// with returns e with the settings that were sent, and adds what is wrong with them to problems.
func (e Endpoint) with(sent Settings, problems *fault.Problems) Endpoint {
	if sent.URL != nil {
		e.URL = *sent.URL
		problems.Add(CheckURL("url", *sent.URL)...)
	}
	if sent.Events != nil {
		var wrong []fault.Field
		e.Events, wrong = parsePatterns(*sent.Events)
		problems.Add(wrong...)
	}
	if sent.Enabled != nil {
		e.Enabled = *sent.Enabled
	}
	text.SetProse(&e.Description, "description", sent.Description, DescriptionLength, problems)
	return e
}

func parsePatterns(sent []string) ([]Pattern, []fault.Field) {
	switch {
	case len(sent) == 0:
		return nil, []fault.Field{fault.Fieldf("events", fault.Required, "events must name at least one event, or * for all")}
	case len(sent) > MostPatterns:
		return nil, []fault.Field{fault.Fieldf("events", fault.TooMany,
			"events has %d items; at most %d are allowed", len(sent), MostPatterns)}
	}
	var patterns []Pattern
	var wrong []fault.Field
	for i, text := range sent {
		pattern, ok := ParsePattern(text)
		if !ok {
			path := fmt.Sprintf("events.%d", i)
			wrong = append(wrong, fault.Fieldf(path, fault.UnknownValue,
				"%s matches no event; it must be the name of an event, or a pattern such as company.* or *", path))
		} else if !slices.Contains(patterns, pattern) {
			patterns = append(patterns, pattern)
		}
	}
	return patterns, wrong
}
