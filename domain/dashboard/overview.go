package dashboard

import (
	"time"

	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/team"
)

// How much of the past an Overview shows.
const (
	DaysShown    = 14
	EntriesShown = 10 // of the activity
	MostEntries  = 50 // of the activity, where nothing else is shown
)

// Overview is a company at a glance.
type Overview struct {
	Company  company.Company
	Teams    []team.Team                       // the oldest, MostShown at most
	InFlight map[id.Team]int64                 // how many issues of a team somebody works on, reviews or has to decide about
	Tasks    map[issue.Status]int64            // of the company
	Days     map[string]map[issue.Status]int64 // how many issues were done and have failed, by day, such as 2026-04-11
	Spent    map[string]cost.Sum               // by day
	Inbox    InboxCounts
	Cost     cost.Glance
	Health   Health
	Recent   []event.Entry // EntriesShown at most
	At       time.Time
}

// InFlight are the states of issues that a team has in its hands.
var InFlight = []issue.Status{issue.Running, issue.Review, issue.Handoff}

// tasks are the states that are counted as they are now.
var tasks = []issue.Status{issue.Queued, issue.Assigned, issue.Running, issue.Review, issue.Handoff}

// Since is the first day that an Overview at an instant shows.
func Since(at time.Time) time.Time { return at.Truncate(24*time.Hour).AddDate(0, 0, 1-DaysShown) }

// Fields returns the overview as the API shows it.
func (o Overview) Fields() event.Fields {
	teams := make([]event.Fields, len(o.Teams))
	for n, t := range o.Teams {
		teams[n] = event.Fields{
			event.F("id", string(t.ID)), event.F("name", t.Name), event.F("slug", t.Slug), event.F("agentCount", t.AgentCount),
			event.F("tasksInFlight", o.InFlight[t.ID]),
		}
	}
	var counts event.Fields
	for _, status := range tasks {
		counts = append(counts, event.F(string(status), o.Tasks[status]))
	}
	today := o.Days[o.At.Format(time.DateOnly)]
	counts = append(counts, event.F("completedToday", today[issue.Done]), event.F("failedToday", today[issue.Failed]))
	return event.Fields{
		event.F("company", event.Fields{
			event.F("id", string(o.Company.ID)), event.F("slug", o.Company.Slug), event.F("name", o.Company.Name),
			event.F("status", string(o.Company.Status)), event.F("workPaused", o.Company.WorkPaused),
		}),
		event.F("teams", teams),
		event.F("inbox", o.Inbox.Fields()),
		event.F("tasks", counts),
		event.F("cost", o.Cost.Totals()),
		event.F("health", o.Health.counts()),
		event.F("days", o.days()),
		event.F("recentActivity", EntryFields(o.Recent)),
	}
}

// days are the last days, the oldest first.
func (o Overview) days() (shown []event.Fields) {
	for day := Since(o.At); !day.After(o.At); day = day.AddDate(0, 0, 1) {
		name := day.Format(time.DateOnly)
		usd := money.USD(0)
		if sum, found := o.Spent[name]; found {
			usd = sum.USD()
		}
		shown = append(shown, event.Fields{
			event.F("day", name), event.F("done", o.Days[name][issue.Done]), event.F("failed", o.Days[name][issue.Failed]),
			event.F("usd", usd),
		})
	}
	return shown
}

// Entries is what happened last.
type Entries []event.Entry

// Fields returns the entries as the API shows them.
func (e Entries) Fields() event.Fields { return event.Fields{event.F("entries", EntryFields(e))} }

// EntryFields returns entries of the activity log as the API shows them.
func EntryFields(of []event.Entry) []event.Fields {
	shown := make([]event.Fields, len(of))
	for n, e := range of {
		shown[n] = e.Fields()
	}
	return shown
}
