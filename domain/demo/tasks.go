package demo

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// The labels of issues. Those that say how the work goes decide the script: see ScriptFor.
const (
	Bug      = "bug"
	Release  = "release"  // the agent asks before it deploys
	Flaky    = "flaky"    // the first attempt fails
	Decision = "decision" // a person has to decide
)

// Task is an issue to be filed.
type Task struct {
	Title, Description string
	Team, Priority     string
	Labels             []string
	Project            int    // of Projects; -1: none
	NeedsNoReview      bool   // a person need not accept it
	Attempts           int    // that it may have; 0: as usual
	Workflow           string // its slug; empty: it is for Team
}

// kind is what issues of one kind have in common. {thing} in its texts stands for one of things.
type kind struct {
	weight             int // how often it comes
	team               string
	labels             []string
	project            int
	needsNoReview      bool
	titles             []string
	description        string
	things             []string
	isUrgentNowAndThen bool
}

var (
	features = []string{
		"the invoice editor", "recurring invoices", "credit notes", "the payment page", "the customer list", "CSV exports", "reminders",
		"the mobile layout", "VAT numbers", "the API for accountants", "bank imports", "the sign-in page", "PDF templates",
		"the dashboard of open invoices", "currency conversion", "search",
	}
	systems = []string{
		"the mail queue", "the nightly backup", "the search index", "the PDF renderer", "the webhook sender", "the rate limiter",
		"the login service", "the billing job", "the import worker", "the image cache",
	}
	topics = []string{
		"how to send a first invoice", "how reminders work", "how to import customers", "what a credit note is", "VAT in other countries",
		"how to change the logo", "how to export for an accountant", "two-factor sign-in", "how refunds are booked",
		"how to cancel a subscription",
	}
	customers = []string{
		"Northwind Bikes", "Atelier Lumen", "Hafen Coffee", "Pixel & Pine", "Orchard Dental", "Kite Logistics", "Sable Books",
		"Tidal Surf School", "Quarry Architects", "Meadow Bakery", "Juniper Yoga", "Copper Street Garage",
	}
)

var kinds = []kind{
	{
		weight: 20, team: Engineering, labels: []string{Bug}, project: 1, things: features, isUrgentNowAndThen: true,
		titles:      []string{"Fix the error in {thing}", "Fix what breaks {thing} after a reload", "Fix rounding in {thing}"},
		description: "Customers report it for {thing}. Find out when it happens, mend it, and add a test that fails without the change.",
	},
	{
		weight: 16, team: Engineering, labels: []string{"feature"}, project: 0, things: features,
		titles: []string{
			"Add filters to {thing}", "Add an empty state to {thing}", "Make {thing} work by keyboard", "Add undo to {thing}",
		},
		description: "A small step for {thing}, behind no flag. Keep to the patterns that are there.",
	},
	{
		weight: 9, team: Engineering, labels: []string{"performance"}, project: 1, things: systems, needsNoReview: true,
		titles:      []string{"Make {thing} faster", "Find out why {thing} is slow on Mondays", "Bound the memory of {thing}"},
		description: "Measure {thing} first, change one thing, and measure again.",
	},
	{
		weight: 6, team: Engineering, labels: []string{"tests", Flaky}, project: 1, things: systems, needsNoReview: true,
		titles:      []string{"Mend the flaky test of {thing}", "Find out why the build of {thing} fails at night"},
		description: "It fails once in twenty runs. Reproduce it before anything is changed.",
	},
	{
		weight: 7, team: Engineering, labels: []string{Release}, project: 0, things: features, isUrgentNowAndThen: true,
		titles:      []string{"Roll out {thing} to all customers", "Deploy the fix for {thing}"},
		description: "It was on staging for a day. Ask before you deploy, watch the error rate for ten minutes, and roll back if it rises.",
	},
	{
		weight: 5, team: Engineering, labels: []string{"dependencies"}, project: 1, things: systems, needsNoReview: true,
		titles:      []string{"Update the libraries of {thing}"},
		description: "Read the changelogs, update {thing} in one commit, and run everything.",
	},
	{
		weight: 20, team: Support, labels: []string{"question"}, project: -1, things: customers, needsNoReview: true,
		titles: []string{
			"Answer {thing} about a missing payment", "Answer {thing} about their VAT number", "Help {thing} with an import",
			"Explain to {thing} why an invoice was sent twice",
		},
		description: "{thing} wrote to us. Look at their account, and answer in words that they use themselves.",
	},
	{
		weight: 4, team: Support, labels: []string{"refund", Decision}, project: -1, things: customers, isUrgentNowAndThen: true,
		titles:      []string{"Decide about a refund for {thing}", "Decide whether {thing} gets a longer trial"},
		description: "{thing} asks for something that is outside of the rules. Gather what speaks for it and against it.",
	},
	{
		weight: 9, team: Content, labels: []string{"help"}, project: 2, things: topics,
		titles:      []string{"Write a help page on {thing}", "Rewrite the help page on {thing}", "Add pictures to the page on {thing}"},
		description: "One page on {thing}, for somebody who has five minutes. One picture, no jargon.",
	},
	{
		weight: 3, team: Content, labels: []string{"newsletter"}, project: -1, things: features,
		titles:      []string{"Write a paragraph on {thing} for the newsletter"},
		description: "What is new in {thing}, in eighty words, with a link.",
	},
}

var weights = func() (sum int) {
	for _, k := range kinds {
		sum += k.weight
	}
	return sum
}()

// NextTask makes up an issue.
func NextTask(d *Dice) Task {
	at, n := d.Below(weights), 0
	for at >= kinds[n].weight {
		at -= kinds[n].weight
		n++
	}
	k := kinds[n]
	about := One(d, k.things)
	fill := func(text string) string { return capital(strings.ReplaceAll(text, "{thing}", about)) }
	task := Task{
		Title: fill(One(d, k.titles)), Description: fill(k.description), Team: k.team, Priority: "normal", Labels: k.labels,
		Project: k.project, NeedsNoReview: k.needsNoReview,
	}
	if slices.Contains(task.Labels, Flaky) && d.Percent(12) {
		task.Attempts = 1
	}
	switch {
	case k.isUrgentNowAndThen && d.Percent(12):
		task.Priority = "urgent"
	case d.Percent(15):
		task.Priority = "high"
	case d.Percent(18):
		task.Priority = "low"
	}
	return task
}

// capital is a text that begins with a capital letter, as all in this package begin with a letter of ASCII.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

// NextTaskNow makes up an issue for a company that somebody watches: they do not wait for the day of a release.
func NextTaskNow(d *Dice) Task {
	if d.Percent(3) {
		return ReleaseTask(d.Below(100)) //nolint:mnd // versions
	}
	return NextTask(d)
}

// IsReleaseDay reports whether people file a release on a day, as they do once a week.
func IsReleaseDay(day time.Time) bool { return day.Weekday() == time.Tuesday }

// Backlog is how many issues are to wait for an agent: people file more until there are so many.
const Backlog = 6

// ReleaseTask is an issue that goes through the workflow.
func ReleaseTask(number int) Task {
	return Task{
		Title: "Release " + version(number), Description: "What was merged since the last release, on a calm morning.",
		Labels: []string{"train"}, Priority: "high", Project: 0, Workflow: WorkflowSlug,
	}
}

func version(number int) string {
	const perMinor = 4
	return "2." + strconv.Itoa(number/perMinor) + "." + strconv.Itoa(number%perMinor)
}

// TaskWith makes up an issue with a label that NextTask uses.
func TaskWith(d *Dice, label string) Task {
	for {
		if task := NextTask(d); slices.Contains(task.Labels, label) {
			return task
		}
	}
}
