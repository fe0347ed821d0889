package event

import (
	"slices"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Categories returns all categories of events, sorted.
func Categories() []string {
	var all []string
	for _, t := range types {
		all = append(all, t.Category())
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Audited are the categories that an audit shows: what was decided, paid, opened and locked, and what came and went.
var Audited = []string{"agent", "approval", "backup", "budget", "company", "key", "partner", "secret", "store", "team", "token", "webhook"}

// Related is what else an event is about; empty: nothing of the kind.
type Related struct{ Issue, Agent, Run string }

// Related returns what an event is about beside its subject, or as its subject. An agent that did it is related to it.
func (e Event) Related() Related {
	r := Related{Issue: e.about("issue", "issueId"), Agent: e.about("agent", "agentId", "assignedAgentId"), Run: e.about("run", "runId")}
	if r.Agent == "" {
		r.Agent, _ = strings.CutPrefix(string(e.Actor), "agent:")
		if r.Agent == string(e.Actor) {
			r.Agent = ""
		}
	}
	return r
}

// about is the id of the subject, if that is of a kind, or else the first of some fields that has one.
func (e Event) about(kind string, names ...string) string {
	if e.Subject.Type == kind {
		return e.Subject.ID
	}
	for _, name := range names {
		if which := e.text(name); which != "" {
			return which
		}
	}
	return ""
}

// text is the text of a field, if it has any.
func (e Event) text(name string) string {
	at := slices.IndexFunc(e.Data, func(f Field) bool { return f.Name == name })
	if at < 0 {
		return ""
	}
	switch value := e.Data[at].Value.(type) {
	case string:
		return value
	case *string:
		if value != nil {
			return *value
		}
	case interface{ String() string }: // a number
		return value.String()
	}
	return ""
}

// words are the fields that a search looks into.
var words = []string{"number", "title", "name", "note", "notes", "reason"}

// HasWords reports whether words are in the text of an event: its type, its actor, the id of its subject, and of its data the
// number, the title or the name, and the notes.
func (e Event) HasWords(all text.Words) bool {
	parts := []string{string(e.Type), string(e.Actor), e.Subject.ID}
	for _, name := range words {
		parts = append(parts, e.text(name))
	}
	return all.In(parts...)
}

// Filter says which events are wanted: those that meet every condition that is set.
type Filter struct {
	Company    *id.Company // nil: any; empty: those of the instance alone
	Type       Type        // "": any
	Categories []string    // any of these; nil: any, empty: no event has one
	Actor      string      // exactly, or a prefix that ends in ":"
	Subject    Subject     // what is not empty of it
	Related    Related     // what is not empty of it
	Since      time.Time   // at or after; zero: from the beginning
	Until      time.Time   // before; zero: to the end
	Words      text.Words  // in the text of the event; nil: any
}

// HasActorPrefix reports whether the filter wants all actors of a kind.
func (f Filter) HasActorPrefix() bool { return strings.HasSuffix(f.Actor, ":") }

// Matches reports whether an event meets every condition.
func (f Filter) Matches(e Event) bool {
	is := func(wanted, found string) bool { return wanted == "" || wanted == found }
	related := e.Related()
	switch {
	case f.Company != nil && *f.Company != e.Company,
		f.Type != "" && f.Type != e.Type,
		f.Categories != nil && !slices.Contains(f.Categories, e.Type.Category()),
		!f.HasActorPrefix() && !is(f.Actor, string(e.Actor)),
		f.HasActorPrefix() && !strings.HasPrefix(string(e.Actor), f.Actor),
		!is(f.Subject.Type, e.Subject.Type), !is(f.Subject.ID, e.Subject.ID),
		!is(f.Related.Issue, related.Issue), !is(f.Related.Agent, related.Agent), !is(f.Related.Run, related.Run),
		!f.Since.IsZero() && e.At.Before(f.Since),
		!f.Until.IsZero() && !e.At.Before(f.Until):
		return false
	}
	return f.Words == nil || e.HasWords(f.Words)
}

// Types returns the types that the filter allows; nil: all.
func (f Filter) Types() []Type {
	if f.Type == "" && f.Categories == nil {
		return nil
	}
	return slices.DeleteFunc(Types(), func(t Type) bool {
		return f.Type != "" && f.Type != t || f.Categories != nil && !slices.Contains(f.Categories, t.Category())
	})
}

// ParseType parses the name of a type that events have.
func ParseType(sent string) (Type, error) {
	if t := Type(sent); slices.Contains(types, t) {
		return t, nil
	}
	refused := fault.New(fault.InvalidParameter, "action must be the name of an event, such as company.created.")
	return "", refused.With("parameter", "action")
}

// Entry is an event as the activity log shows it.
type Entry struct{ Event }

// Payload is what the event is about, after the change, with previous as in what webhooks send: the changed fields with their old
// values.
func (e Entry) Payload() Fields {
	payload := append(Fields{}, e.Data...)
	if e.Previous != nil {
		payload = append(payload, F("previous", e.Previous))
	}
	return payload
}

// Fields are the fields of an entry.
func (e Entry) Fields() Fields {
	related := e.Related()
	return Fields{
		F("id", string(e.ID)),
		F("companyId", orNull(string(e.Company))),
		F("category", e.Type.Category()),
		F("action", string(e.Type)),
		F("actor", string(e.Actor)),
		F("subject", Fields{F("type", e.Subject.Type), F("id", e.Subject.ID)}),
		F("related", Fields{
			F("issueId", orNull(related.Issue)), F("agentId", orNull(related.Agent)), F("runId", orNull(related.Run)),
		}),
		F("payload", e.Payload()),
		F("at", instant.Format(e.At)),
	}
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
