package demo

import (
	"slices"
	"strconv"
	"time"
)

// Beat is one step of a script: to think, to say how far the work is, and to do something. What thinking costs is charged after it.
type Beat struct {
	Think  time.Duration // at the usual pace
	Note   string        // of a checkpoint; empty: none
	Tokens Tokens        // that thinking took; zero: none
	Do     Act
}

// Tokens are what a model used.
type Tokens struct{ Input, Output, CacheRead int64 }

// Act is what a beat does.
type Act int

// What there is. Complete, Fail and HandOff end the script.
const (
	GoOn Act = iota
	Ask      // ask for an approval of Deploy, and wait for it
	Complete
	Fail
	HandOff
)

// Situation is what decides how an agent goes about an issue.
type Situation struct {
	Number  int64
	Attempt int64
	Labels  []string
	IsBegun bool // an agent has worked on it before, in this attempt or in another
	IsStep  bool // it is a step of a workflow
	IsLucky bool // it does not fail by chance
}

// ScriptFor is what an agent does for an issue: the same whenever it is asked in the same situation.
func ScriptFor(s Situation) []Beat {
	begun := uint64(0)
	if s.IsBegun {
		begun = 1
	}
	d := NewDice(uint64(s.Number), uint64(s.Attempt), begun) //nolint:gosec // neither is negative
	plan := One(d, plans)
	ends, most := Complete, d.Between(2, len(plan)) //nolint:mnd // two steps at least
	switch has := func(label string) bool { return slices.Contains(s.Labels, label) }; {
	case has(Decision) && !s.IsBegun:
		ends, most = HandOff, 2
	case has(Flaky) && s.Attempt == 1, !s.IsStep && !s.IsLucky && d.Percent(2):
		ends, most = Fail, 1
	case has(Release):
		plan, most = rollout, len(rollout)
	}
	var beats []Beat
	for _, note := range plan[:most] {
		beats = append(beats, Beat{Think: pause(d), Note: note, Tokens: used(d)})
	}
	if ends == Complete && slices.Contains(s.Labels, Release) {
		beats[0].Do = Ask
	}
	return append(beats, Beat{Think: pause(d), Tokens: used(d), Do: ends})
}

func pause(d *Dice) time.Duration { return time.Duration(d.Between(2000, 9000)) * time.Millisecond }

func used(d *Dice) Tokens {
	return Tokens{
		Input: int64(d.Between(2_000, 16_000)), Output: int64(d.Between(300, 2_200)), CacheRead: int64(d.Between(5_000, 60_000)),
	}
}

// plans are what agents write down on the way.
var plans = [][]string{
	{
		"I have read the issue and what was said about it, and know where to begin.",
		"I can reproduce it: it happens when the list is empty.",
		"The change is small, and everything that uses it still works. Tests are next.",
		"The tests pass, with one more that failed before.",
	},
	{
		"I looked at the last five issues like this one. Two of them had the same cause.",
		"A first version works. I go through the odd cases now.",
		"I removed what turned out not to be needed, and read all of it once more.",
	},
	{
		"I gathered what we know, and what we do not.",
		"I have a draft. It is too long, so I cut it to what a reader needs.",
		"The draft is half as long, and says more.",
	},
	{
		"I measured how it is today, so that there is something to compare with.",
		"The first idea made no difference, and I took it back.",
		"The second one does: a third of the time, with the same results.",
		"I wrote down the numbers beside the change.",
	},
	{
		"I asked myself what could go wrong here, and wrote a list of six things.",
		"Four of them are covered. I am working on the other two.",
		"All six are covered.",
	},
}

var rollout = []string{
	"The build of yesterday is on staging, and its error rate is as before.",
	"It is deployed to a tenth of the customers. Nothing unusual so far.",
	"It is deployed to all customers; I watched it for ten minutes.",
}

// Words of agents. They are picked by the number of the issue, so that a repeat says the same.
var (
	summaries = []string{
		"It is done, and a test keeps it that way.",
		"Done. I left everything else as it was.",
		"It works now. Two small things that I noticed on the way are worth an issue of their own.",
		"Done as described. It took one more step than I had planned.",
		"It is finished; the numbers before and after are in the checkpoints.",
	}
	failures = []string{
		"The build ran out of time while it installed its dependencies.",
		"The service that I need for this answered with errors for ten minutes.",
		"The test environment was restarted in the middle of the work.",
	}
	questions = []string{
		"I gathered both sides, and they weigh the same. Which one matters more to us is not for me to decide.",
		"Our rules do not say what to do here. I would say yes this once; please decide.",
		"There are two ways, and one cannot be undone. Please say which one you want.",
	}
)

func pick(of []string, number int64) string { return of[int(number%int64(len(of)))] }

// Summary is what an agent says when it completes an issue.
func Summary(number int64) string { return pick(summaries, number) }

// Result is the result of an issue.
func Result(number int64, summary string) map[string]any {
	const most = 9
	return map[string]any{"summary": summary, "filesChanged": 1 + number%most}
}

// ChargeKey is the key under which the thinking before a beat is charged, from 1 on.
func ChargeKey(beat int) string { return "step-" + strconv.Itoa(beat) }

// Failure is why an attempt failed.
func Failure(number int64) (code, message string) { return "environment", pick(failures, number) }

// Question is why an agent hands an issue off.
func Question(number int64) string { return pick(questions, number) }

// Asking is what an agent asks for before it deploys.
type Asking struct {
	Action, Reasoning, IfDenied string
	SideEffects                 []string
}

// AskingFor is what it asks for, for an issue with a title.
func AskingFor(title string) Asking {
	return Asking{
		Action:      "Deploy: " + title + ".",
		Reasoning:   "It was on staging for a day without an error.",
		IfDenied:    "Everything stays as it is, and the build is kept.",
		SideEffects: []string{"Sessions of a few customers are signed out."},
	}
}

// What agents say at other times.
const (
	Answer      = "The error rate on staging has not changed, and to roll back takes a minute."
	NotAllowed  = "I was not allowed to deploy, so everything stays as it is."
	OutOfBudget = "The budget is spent, so I stopped here and wrote down how far it is."
)
