package demo

// What the company is called, and how it is known again: by its description, which says who made it. A company with the slug and
// another description belongs to somebody else.
const (
	Slug        = "demo"
	Name        = "Demo"
	Description = "A small software company, made by \"holdco demo\", which removes it with \"holdco demo --remove\"."

	Budget = "100" // USD a month
)

// Team is a team of the company.
type Team struct{ Name, Slug, Description string }

// Agent is who works in a team.
type Agent struct {
	Name, Role, Team, Model string
	PerTask, Daily          string   // USD; empty: no limit
	Requires                []string // names of actions that it asks about
}

// Goal is what the company wants to reach. Its target is so many days ahead.
type Goal struct {
	Title, Description, Budget string
	Days                       int
}

// Project is a part of the work.
type Project struct {
	Title, Description, Team, Budget string
	Goal                             int // of Goals
}

// Step is a step of the workflow.
type Step struct{ Key, Title, Instructions, Team, Gate string }

// Deploy is the action that agents ask about.
const Deploy = "deploy"

// The teams.
const (
	Engineering = "engineering"
	Support     = "support"
	Content     = "content"
)

// Teams are those that the company starts with.
var Teams = []Team{
	{"Engineering", Engineering, "Builds and runs the product."},
	{"Support", Support, "Answers customers and finds out what is wrong."},
	{"Content", Content, "Writes the help centre, the changelog and the newsletter."},
}

// Agents are those who are hired, one to three for each team.
var Agents = []Agent{
	{"Ada", "Senior engineer", Engineering, "claude-opus-4-5", "0.90", "40", []string{Deploy}},
	{"Bruno", "Engineer", Engineering, "claude-sonnet-4-5", "0.60", "", []string{Deploy}},
	{"Chen", "Test engineer", Engineering, "gpt-5", "0.50", "", []string{Deploy}},
	{"Dilara", "Support lead", Support, "claude-haiku-4-5", "1", "", nil},
	{"Emeka", "Support agent", Support, "gpt-5-mini", "1", "", nil},
	{"Freya", "Writer", Content, "claude-sonnet-4-5", "0.60", "40", nil},
}

// Goals are what the company wants to reach.
var Goals = []Goal{
	{"Ten thousand paying customers", "Invoices that small companies like to send, and that get paid on time.", "2500", 200},
	{"Every question answered within an hour", "Answers that help the first time, and help pages that make them unnecessary.", "", 120},
}

// Projects are how they are pursued.
var Projects = []Project{
	{"Invoicing 2.0", "Recurring invoices, credit notes, and a page on which customers pay.", Engineering, "1200", 0},
	{"Reliability", "Fewer pages at night: slow queries, flaky tests and old dependencies.", Engineering, "", 0},
	{"Help centre", "A page for each question that was asked more than twice.", Content, "400", 1},
}

// WorkflowName and WorkflowSlug are those of the workflow by which the product is released.
const (
	WorkflowName = "Release"
	WorkflowSlug = "release"
)

// Steps are those of the workflow.
var Steps = []Step{
	{"prepare", "Prepare the release", "Collect what was merged, raise the version, and build it.", Engineering, ""},
	{"check", "Check the release", "Install the build on staging, and go through the list of checks.", Engineering, "approval"},
	{"announce", "Announce the release", "Write the entry of the changelog, for people who send invoices.", Content, "review"},
}

// Headcount is how many agents a team has.
func Headcount(team string) (count int) {
	for _, a := range Agents {
		if a.Team == team {
			count++
		}
	}
	return count
}
