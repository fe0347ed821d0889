package store

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/text"
)

// IssueReader reads issues and their comments.
type IssueReader interface {
	Getter[id.Issue, issue.Issue]

	// List returns at most size of the issues that match and come after a position, in the order of the filter. A page of a search
	// by words can have fewer, even none, while another follows: it looks at MostSearched issues at most.
	List(ctx context.Context, filter IssueFilter, after page.Position, size int) (page.Page[issue.Issue], error)

	// Count counts the issues that match, up to most.
	Count(ctx context.Context, filter IssueFilter, most int) (issue.Counts, error)

	// Tally returns the counts that are kept of a company, or of one of its teams, agents, projects or goals. The cost does
	// not grow with them.
	Tally(ctx context.Context, of Tally) (issue.Counts, error)

	// Above returns an issue of a company and its ancestors, the issue first; none if there is no such issue.
	Above(ctx context.Context, of id.Company, which id.Issue) ([]issue.Ancestor, error)

	// LevelsBelow returns how many levels of issues are below one of a company, most at most.
	LevelsBelow(ctx context.Context, of id.Company, which id.Issue, most int) (int, error)

	// States returns the states of those issues that a company has.
	States(ctx context.Context, of id.Company, issues []id.Issue) (map[id.Issue]issue.Status, error)

	// Blockers returns what blocks any of some issues, each once.
	Blockers(ctx context.Context, of []id.Issue) ([]id.Issue, error)

	// Children returns the issues of a company that have a parent and come after another of them, oldest first, and by ascending id
	// within one instant: Portion at most. After is empty for the first. The cost does not grow with what came before.
	Children(ctx context.Context, of id.Company, parent, after id.Issue) ([]Child, error)

	// Steps returns the steps of a container, those that were retried too, in the order in which they were made.
	Steps(ctx context.Context, of id.Issue) ([]issue.StepState, error)

	// OpenInProject returns the open issues of a project that come after an id, by ascending id: Portion at most.
	OpenInProject(ctx context.Context, which id.Project, after id.Issue) ([]Child, error)

	// Dependents returns the issues that count a blocker as open and come after an id, by ascending id: Portion at most. The cost
	// does not grow with what came before.
	Dependents(ctx context.Context, blocker, after id.Issue) ([]id.Issue, error)

	// Abandonable returns the issues of an agent that issue.Issue.Abandon can take from it and that come after an id, by ascending id:
	// Portion at most.
	Abandonable(ctx context.Context, of id.Agent, after id.Issue) ([]id.Issue, error)

	// Due returns the issues of all companies, but those being deleted, that wait for an instant that has come, the earliest first:
	// Portion at most.
	Due(ctx context.Context, at time.Time) ([]DueIssue, error)

	// Claimable returns the first issues that may be leased under some keys, in the order in which they are taken: by descending
	// rank, then by number. Of each key it returns most at most. A unit that has the turn of the company can save them as if it had
	// locked them.
	Claimable(ctx context.Context, of id.Company, keys []string, most int) ([]issue.Issue, error)

	// ClaimableByBudget returns issues as Claimable does: of each budget group under each key most at most, of so many groups. Of each it
	// returns only ID, Company, Priority, Number, Parent, Project, Goal, Workflow, PerTask and Spent.
	ClaimableByBudget(ctx context.Context, of id.Company, keys []string, groups, most int) ([]issue.Issue, error)

	// ClaimableKeys returns how many issues may be leased under each of some keys, and nothing of keys without any. It counts a
	// Portion of each at most.
	ClaimableKeys(ctx context.Context, of id.Company, keys []string) (map[string]int, error)

	// Revisions returns the work revisions of companies.
	Revisions(ctx context.Context, of []id.Company) (map[id.Company]int64, error)

	// Comments returns at most size comments on an issue that come after a position: newest first, and by descending id within
	// one instant.
	Comments(ctx context.Context, on id.Issue, after page.Position, size int) (page.Page[issue.Comment], error)
}

// Portion is how many dependent rows one unit of work changes.
const Portion = 200

// MostSearched bounds how many rows one search by words looks at.
const MostSearched = 20_000

// IssueFilter says which issues a list holds: those that meet every condition that is set.
type IssueFilter struct {
	Company  id.Company
	Number   int64          // 0: any
	Status   []issue.Status // nil: any
	Agent    id.Agent       // "": any
	Team     id.Team        // in charge; "": any
	Parent   *id.Issue      // "": those without; nil: any
	Project  id.Project     // "": any
	Goal     id.Goal        // "": any
	Workflow id.Workflow    // of containers, which the list has alone; "": any
	Label    string         // "": any
	Priority issue.Priority // "": any
	Words    text.Words     // in the title or the description; nil: any
	Since    time.Time      // created at or after; zero: any
	Until    time.Time      // created before; zero: any
	Sort     IssueSort
}

// IssueSort is the order of a list of issues.
type IssueSort string

// The orders. Within equal values the newest come first; by due date the oldest.
const (
	ByCreation IssueSort = ""         // newest first
	ByUpdate   IssueSort = "updated"  // newest first
	ByPriority IssueSort = "priority" // urgent first
	ByDueDate  IssueSort = "due"      // earliest first, none last
)

// Tally names what is counted.
type Tally struct {
	Company id.Company
	Team    id.Team    // in charge; "": any
	Agent   id.Agent   // "": any
	Project id.Project // "": any
	Goal    id.Goal    // "": any. Not two of these are set.
}

// IsOne reports whether no two of the fields beside the company are set.
func (t Tally) IsOne() bool {
	set := 0
	for _, which := range []string{string(t.Team), string(t.Agent), string(t.Project), string(t.Goal)} {
		if which != "" {
			set++
		}
	}
	return set < 2
}

// Child is an issue below another, or in a project.
type Child struct {
	ID       id.Issue
	Status   issue.Status
	IsParent bool // there are issues below it

	IsBlocker bool // there are issues that count it as an open blocker
}

// DueIssue is an issue whose wait is over.
type DueIssue struct {
	ID      id.Issue
	Company id.Company
}

// Issues reads and changes issues and their comments. Add and Save keep what is derived from issues: the counts of Tally and of
// days, what Dependents and Blockers find, and the work revision of the company, which they raise when an issue becomes claimable
// or is so for others. An open blocker is one that was not done when the issue was last saved with other blockers or another
// OpenBlockers.
type Issues interface {
	IssueReader

	// No two issues of a company have one number. Save does not change the company, the number, RetryOf, CreatedBy and CreatedAt,
	// which are permanent, and what makes it a container or a step. While an issue is running, Spent is the sum of its charges, whatever
	// Save says: Runs.AddCharges alone changes it. A Save that ends that keeps its Spent, which is to be what was locked and whatever the
	// unit has charged since.
	Repository[id.Issue, issue.Issue]

	// NextNumber returns the number of the next issue of a company, which no other will have.
	NextNumber(ctx context.Context, of id.Company) (int64, error)

	// AddComment inserts a comment.
	AddComment(ctx context.Context, added issue.Comment) error
}
