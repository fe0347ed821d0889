package demo_test

import (
	"testing"
	"time"

	"holdco/domain/budget"
	"holdco/domain/demo"
	"holdco/domain/issue"
	"holdco/domain/money"
)

func TestPeopleRespondToWhatWaitsForThem(t *testing.T) {
	t.Parallel()
	d := demo.NewDice(1)
	count := map[issue.Action]int{}
	for range 1000 {
		first, isDue := demo.Respond(d, issue.Review, false, 1)
		if !isDue || (first.Action == issue.Reject) != (first.Note != "") {
			t.Fatalf("%+v", first)
		}
		count[first.Action]++
		if again, _ := demo.Respond(d, issue.Review, false, 2); again.Action != issue.Accept {
			t.Fatalf("in the second attempt %+v", again)
		}
		if handed, isDue := demo.Respond(d, issue.Handoff, false, 1); !isDue || handed.Action != issue.Assign || handed.Note == "" {
			t.Fatalf("%+v", handed)
		}
	}
	if count[issue.Reject] == 0 || count[issue.Accept] < 900 {
		t.Errorf("%v", count)
	}
	for status, isElsewhere := range map[issue.Status]bool{issue.Review: true, issue.Handoff: true, issue.Running: false} {
		if what, isDue := demo.Respond(d, status, isElsewhere, 1); isDue {
			t.Errorf("%s: %+v", status, what)
		}
	}
}

func TestTheBudgetIsRaisedToTheMillionth(t *testing.T) {
	t.Parallel()
	if _, isDue := demo.Raised(100*money.Dollar, budget.None); isDue {
		t.Error("it is raised for nothing")
	}
	if to, isDue := demo.Raised(100*money.Dollar+1, budget.Soft); !isDue || to.String() != "150.000001" {
		t.Errorf("%s, %t", to, isDue)
	}
}

func TestAReleaseIsFiledOnceAWeek(t *testing.T) {
	t.Parallel()
	days := 0
	for n := range 7 {
		if demo.IsReleaseDay(time.Date(2026, time.April, 11+n, 7, 0, 0, 0, time.UTC)) {
			days++
		}
	}
	if task := demo.ReleaseTask(5); days != 1 || task.Workflow != demo.WorkflowSlug || task.Title != "Release 2.1.1" {
		t.Errorf("on %d days %+v", days, task)
	}
}
