package dashboard

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/page"
)

// ItemKind says what a person has to do.
type ItemKind string

// The kinds. Those of issues that wait for a person are the values of issue.Need.
const (
	Approval ItemKind = "approval" // an agent asks for permission
	Question ItemKind = "question" // a person has asked the agent something, and the answer is due
	Handoff  ItemKind = "handoff"  // an agent does not know on
	Blocked  ItemKind = "blocked"  // what blocks an issue has failed or was cancelled
	Review   ItemKind = "review"   // a result is to be accepted or rejected
	Waiting  ItemKind = "waiting"  // an issue is for an agent that does not call
)

// AbsentAfter is how long an agent has not called when it is absent, and the issues for it count as Waiting.
const AbsentAfter = 15 * time.Minute

// MostCounted bounds what is counted one by one: approvals with questions together, issues that are Waiting, and runs without costs. Of
// more, the number says no more than that. Of the other kinds there are tallies, which have no bound.
const MostCounted = 10_000

// Item is something that waits for a person.
type Item struct {
	Kind     ItemKind
	Company  Name
	Since    time.Time   // when it began to wait
	Deadline time.Time   // when an approval expires, or an issue is due; zero: there is none
	Issue    IssueLine   // the issue, or that of the approval
	Agent    Name        // who asked, works on the issue or is to; Name{}: nobody
	Approval id.Approval // empty: it is not about one
	Asked    string      // what the approval is asked for; empty: it is not about one
}

// Name is something as a link shows it. Slug is empty of what has none.
type Name struct{ ID, Slug, Name string }

// IssueLine is an issue in a line of a list.
type IssueLine struct {
	ID                      id.Issue
	Number                  int64
	Title, Status, Priority string
}

// Fields returns the item as the API shows it.
func (i Item) Fields() event.Fields {
	subject := event.Fields{event.F("type", "issue"), event.F("id", string(i.Issue.ID))}
	if i.Approval != "" {
		subject = event.Fields{event.F("type", "approval"), event.F("id", string(i.Approval))}
	}
	var agent any
	if i.Agent.ID != "" {
		agent = event.Fields{event.F("id", i.Agent.ID), event.F("name", i.Agent.Name)}
	}
	return event.Fields{
		event.F("kind", string(i.Kind)),
		event.F("company", event.Fields{event.F("id", i.Company.ID), event.F("slug", i.Company.Slug), event.F("name", i.Company.Name)}),
		event.F("subject", subject),
		event.F("issue", event.Fields{
			event.F("id", string(i.Issue.ID)), event.F("number", i.Issue.Number), event.F("title", i.Issue.Title),
			event.F("status", i.Issue.Status), event.F("priority", i.Issue.Priority),
		}),
		event.F("agent", agent),
		event.F("action", orNull(i.Asked)),
		event.F("since", instant.Format(i.Since)),
		event.F("deadline", instant.Optional(i.Deadline)),
	}
}

// InboxCounts is how many items of each kind wait for a person; see MostCounted.
type InboxCounts map[ItemKind]int64

// Total is how many items wait in all.
func (i InboxCounts) Total() (all int64) {
	for _, n := range i {
		all += n
	}
	return all
}

// Fields returns the counts as the API shows them.
func (i InboxCounts) Fields() event.Fields {
	return event.Fields{
		event.F("approvals", i[Approval]), event.F("handoffs", i[Handoff]), event.F("questions", i[Question]),
		event.F("reviews", i[Review]), event.F("blocked", i[Blocked]), event.F("waiting", i[Waiting]), event.F("total", i.Total()),
	}
}

// Inbox is what waits for a person in a company: how many items, and the first of them.
type Inbox struct {
	InboxCounts

	Items       []Item // MostShown at most
	IsTruncated bool   // there are more
}

// Fields returns the inbox as the API shows it.
func (i Inbox) Fields() event.Fields {
	items := make([]event.Fields, len(i.Items))
	for n, one := range i.Items {
		items[n] = one.Fields()
	}
	return append(i.InboxCounts.Fields(), event.F("items", items), event.F("truncated", i.IsTruncated))
}

// Position is where the item stands in a list: those that have waited longest come first.
func (i Item) Position() page.Position {
	which := string(i.Issue.ID)
	if i.Approval != "" {
		which = string(i.Approval)
	}
	return page.Position{Values: []string{strconv.FormatInt(i.Since.UnixMilli(), 10)}, ID: which}
}

// InOrder makes a page of at most size items, of which it gets one more, in any order, when there is a next page.
func InOrder(items []Item, size int) page.Page[Item] {
	slices.SortFunc(items, func(a, b Item) int {
		return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Position().ID, b.Position().ID))
	})
	return page.Of(items[:min(len(items), size+1)], size, Item.Position)
}
