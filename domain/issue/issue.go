package issue

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdco/domain/anyjson"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Issue is a task of a company. New and stores make an Issue, and only its methods change it: each returns the next issue and
// the event to record with it.
type Issue struct {
	ID             id.Issue
	Company        id.Company
	Number         int64  // 1, 2, 3, ... in its company
	Title          string // 1 to TitleLength characters
	Description    string // Markdown, at most DescriptionLength characters
	Status         Status
	Priority       Priority
	Parent         id.Issue   // of the same company; empty: none
	Project        id.Project // of the same company; empty: none
	Goal           id.Goal    // of the same company; empty: none. Unless named, that which the project had when the issue was filed.
	Agent          id.Agent   // who is assigned, works on it, or worked on it last; empty: nobody
	AgentTeam      id.Team    // of Agent; empty without one
	Binding        Binding    // of Agent
	Team           id.Team    // whose agents may take it when it is not bound; empty: any of the company
	BlockedBy      []id.Issue
	OpenBlockers   int      // how many of BlockedBy are not done
	FailedBlockers int      // how many of BlockedBy have failed or were cancelled: they will never be done
	Labels         []string // each once
	PerTask        budget.Limit
	Spent          money.USD // by all of its runs; while it is running it follows from its charges
	Attempt        int       // the number of the attempt that runs or comes next, from 1 on
	Repeats        int       // how often the attempt was given back although its work may have been done: see MostRepeats
	MaxAttempts    int       // 1 to MostAttempts
	RequiresReview bool      // a person accepts or rejects what an agent completed
	Result         string    // JSON, what the last complete run returned; empty: none
	Error          string    // JSON, why the last run failed; empty: it did not
	DueAt          time.Time // zero: none
	NotBefore      time.Time // it is not leased earlier; zero: at any time
	Waiting        bool      // for NotBefore, until Wake; false if Status is final
	StartedAt      time.Time // the first lease; zero: none yet
	FinishedAt     time.Time // zero unless Status is final
	RetryOf        id.Issue  // the issue that failed or was cancelled; empty: none
	CreatedBy      event.Actor
	FencingToken   int64       // of its last lease; 0: it had none. It only grows.
	WaitingFor     id.Approval // of Handoff what its agent waits for, of Review what its gate asked for; empty: nothing but a person
	Asking         bool        // its agent has asked for approvals, of which some may be open: see EndsApprovals

	// What has a workflow is charged to its budget: a container, which was filed with it, the steps of that, and what was filed by the
	// agents of these.
	Workflow        id.Workflow // of the same company; empty: none
	WorkflowVersion int64       // which steps a container has; 0 of what is neither it nor a step
	IsContainer     bool        // it works by its steps, and is never leased
	Container       id.Issue    // of which it is a step; empty: none
	Place           int         // of a step, from 1 on
	StepKey         string      // of a step
	Gate            Gate        // of a step

	CreatedAt time.Time
	UpdatedAt time.Time
	Version   int64 // grows by one with every change, but not with charges while it is running; ETags of the API begin with it
}

// Status is a state of an issue.
type Status string

// The states. Done, Failed and Cancelled are final.
const (
	Queued    Status = "queued"   // waits for an agent
	Assigned  Status = "assigned" // waits for its agent, or for any of the team if Holdco picked the agent
	Running   Status = "running"  // an agent holds its lease
	Review    Status = "review"   // is complete, and waits for a person to accept or reject it
	Handoff   Status = "handoff"  // waits for a person to take or assign it
	Done      Status = "done"
	Failed    Status = "failed"
	Cancelled Status = "cancelled"
)

// Statuses are all states, in the order in which an issue goes through them.
var Statuses = []Status{Queued, Assigned, Running, Review, Handoff, Done, Failed, Cancelled}

// Open are the states that are not final.
var Open = []Status{Queued, Assigned, Running, Review, Handoff}

// IsFinal reports whether nothing follows.
func (s Status) IsFinal() bool { return s == Done || s == Failed || s == Cancelled }

// Priority says which of two issues is taken first.
type Priority string

// The priorities.
const (
	Low    Priority = "low"
	Normal Priority = "normal"
	High   Priority = "high"
	Urgent Priority = "urgent"
)

var ranks = map[Priority]int{Low: 0, Normal: 1, High: 2, Urgent: 3}

// Rank is 3 for Urgent down to 0 for Low: the higher is taken first.
func (p Priority) Rank() int { return ranks[p] }

// Binding says whether an issue is kept for its agent.
type Binding string

// The bindings.
const (
	Loose Binding = ""      // any agent of the team may take it, or any at all: Holdco picked its agent, or there is none
	Kept  Binding = "kept"  // only its agent, which worked on it before; an expiry or a release ends that
	Named Binding = "named" // only its agent, which a person named
)

// Owner returns the company, for generic code.
func (i Issue) Owner() id.Company { return i.Company }

// CurrentVersion returns Version, for generic code.
func (i Issue) CurrentVersion() int64 { return i.Version }

// HasWords reports whether words are in the title or the description.
func (i Issue) HasWords(words text.Words) bool { return words.In(i.Title, i.Description) }

// TeamInCharge is the team that an issue is counted under: that of its agent, else the one that it is open to.
func (i Issue) TeamInCharge() id.Team {
	if i.AgentTeam != "" {
		return i.AgentTeam
	}
	return i.Team
}

// IsClaimable reports whether the state of the issue itself allows a lease.
func (i Issue) IsClaimable() bool {
	isUsedUp := i.PerTask.IsSet && i.Spent >= i.PerTask.USD
	return (i.Status == Queued || i.Status == Assigned) && i.OpenBlockers == 0 && !i.Waiting && !isUsedUp && !i.IsContainer
}

// Need is what a person has to do about an issue before work on it goes on.
type Need string

// The needs.
const (
	NoNeed      Need = ""
	NeedsReview Need = "review"  // accept or reject the result
	NeedsHelp   Need = "handoff" // say what to do, and give it back to an agent
	IsBlocked   Need = "blocked" // retry what blocks it, or do without
)

// Need returns what a person has to do about the issue. An approval that it waits for is a thing of its own, and a
// container needs what its steps need.
func (i Issue) Need() Need {
	switch {
	case i.IsContainer || i.WaitingFor != "":
		return NoNeed
	case i.Status == Handoff:
		return NeedsHelp
	case i.Status == Review:
		return NeedsReview
	case (i.Status == Queued || i.Status == Assigned) && i.FailedBlockers > 0:
		return IsBlocked
	}
	return NoNeed
}

// BudgetGroup names the limits that a lease on the issue meets besides those of who works on it. In a group it depends on what the issue
// has spent alone whether it can be leased.
func (i Issue) BudgetGroup() string {
	group := string(i.Goal) + " " + string(i.Project)
	if i.Workflow != "" {
		group += " " + string(i.Workflow)
	}
	if i.PerTask.IsSet {
		group += " " + strconv.FormatInt(int64(i.PerTask.USD), 10)
	}
	return strings.TrimLeft(group, " ")
}

// Charge adds to what the issue has cost. UpdatedAt stays.
func (i Issue) Charge(more money.USD) Issue {
	i.Spent += more
	i.Version++
	return i
}

// ClaimKey names who may take the issue: its agent, any agent of a team, or any of the company. It is one of ClaimKeys of each
// agent who may.
func (i Issue) ClaimKey() string {
	switch {
	case i.Binding != Loose:
		return "a:" + string(i.Agent)
	case i.Team != "":
		return "t:" + string(i.Team)
	default:
		return openToAll
	}
}

const openToAll = "c"

// ClaimKeys are the keys of the issues that an agent of a team may take.
func ClaimKeys(agent id.Agent, team id.Team) [3]string {
	return [3]string{"a:" + string(agent), "t:" + string(team), openToAll}
}

// Fields returns the issue as the API shows it.
func (i Issue) Fields() event.Fields {
	return slices.Concat(event.Fields{
		event.F("id", string(i.ID)),
		event.F("number", i.Number),
		event.F("companyId", string(i.Company)),
		event.F("title", i.Title),
		event.F("description", i.Description),
		event.F("status", string(i.Status)),
		event.F("priority", string(i.Priority)),
		event.Optional("parentId", i.Parent),
		event.Optional("projectId", i.Project),
		event.Optional("goalId", i.Goal),
		event.Optional("assignedAgentId", i.Agent),
		event.Optional("assignedTeamId", i.Team),
	}, i.workflowFields(), event.Fields{
		i.stepField(),
		event.F("blockedBy", texts(i.BlockedBy)),
		event.F("openBlockers", i.OpenBlockers),
		event.F("failedBlockers", i.FailedBlockers),
		event.F("labels", texts(i.Labels)),
		event.F("budget", event.Fields{i.PerTask.Field("perTaskUsd"), event.F("spentUsd", i.Spent)}),
		event.F("attempt", i.Attempt),
		event.F("maxAttempts", i.MaxAttempts),
		event.F("requiresReview", i.RequiresReview),
		event.F("result", anyjson.Shown(i.Result)),
		event.F("error", anyjson.Shown(i.Error)),
		event.Optional("waitingFor", i.WaitingFor),
		event.F("dueAt", instant.Optional(i.DueAt)),
		event.F("notBefore", instant.Optional(i.NotBefore)),
		event.F("startedAt", instant.Optional(i.StartedAt)),
		event.F("finishedAt", instant.Optional(i.FinishedAt)),
		event.Optional("retryOf", i.RetryOf),
		event.F("createdBy", string(i.CreatedBy)),
		event.F("createdAt", instant.Format(i.CreatedAt)),
		event.F("updatedAt", instant.Format(i.UpdatedAt)),
	})
}

// texts are a list as the API shows it: an empty one is [].
func texts[S ~string](list []S) []string {
	shown := make([]string, len(list))
	for i, item := range list {
		shown[i] = string(item)
	}
	return shown
}

func (i *Issue) changed(at time.Time) {
	i.UpdatedAt = at
	i.Version++
}

// event makes an event of the issue, whose data has more fields than the issue if there are any.
func (i Issue) event(what event.Type, more ...event.Field) event.Event {
	return event.Of(what, i.Company, string(i.ID), append(i.Fields(), more...))
}
