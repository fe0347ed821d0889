package fault_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"holdco/domain/fault"
)

func TestEveryErrorHasACode(t *testing.T) {
	t.Parallel()
	refusal := fault.New(fault.SlugInUse, "The slug %q is taken.", "acme")
	for _, c := range []struct {
		err  error
		want fault.Code
	}{
		{nil, ""},
		{refusal, fault.SlugInUse},
		{fmt.Errorf("adding: %w", refusal), fault.SlugInUse},
		{errors.Join(errors.New("other"), refusal), fault.SlugInUse},
		{errors.New("disk on fire"), fault.Internal},
		{fault.New(fault.Unavailable, "Later.").Because(refusal), fault.Unavailable},
	} {
		if got := fault.CodeOf(c.err); got != c.want {
			t.Errorf("%v: %q; want %q", c.err, got, c.want)
		}
		if (fault.Of(c.err) == nil) != (c.want == "" || c.want == fault.Internal) {
			t.Errorf("%v: refusal %v", c.err, fault.Of(c.err))
		}
	}
}

func TestTheCauseIsForTheLogAlone(t *testing.T) {
	t.Parallel()
	cause := errors.New("connection refused")
	plain := fault.New(fault.Unavailable, "The store cannot be reached.")
	caused := plain.Because(cause)
	if !errors.Is(caused, cause) || caused.Message != plain.Message || errors.Is(plain, cause) {
		t.Errorf("%+v, %+v", caused, plain)
	}
	if got, want := caused.Error(), "unavailable: The store cannot be reached.: connection refused"; got != want {
		t.Errorf("%q; want %q", got, want)
	}
	if got, want := plain.Error(), "unavailable: The store cannot be reached."; got != want {
		t.Errorf("%q; want %q", got, want)
	}
}

func TestAPanicBecomesAnErrorWithItsStack(t *testing.T) {
	t.Parallel()
	err := fault.Contain(func() error { panic("out of order") })
	if fault.CodeOf(err) != fault.Internal || !strings.HasPrefix(err.Error(), "panic: out of order\n") ||
		!strings.Contains(err.Error(), "fault_test.go") {
		t.Errorf("%v", err)
	}
	refused := fault.New(fault.NotFound, "No.")
	if err := fault.Contain(func() error { return refused }); !errors.Is(err, refused) {
		t.Errorf("%v", err)
	}
}

func TestMoreIsSaidByACopy(t *testing.T) {
	t.Parallel()
	plain := fault.New(fault.SlugInUse, "No.")
	one := plain.With("from", "active")
	two := fault.Transition("active", "restore", "A company that is %s cannot.", "active")
	if later := plain.After(time.Second); later.RetryAfter != time.Second || plain.RetryAfter != 0 {
		t.Errorf("%v, %v", later.RetryAfter, plain.RetryAfter)
	}
	if plain.Details != nil || len(one.Details) != 1 {
		t.Errorf("%v, %v", plain.Details, one.Details)
	}
	if diff := cmp.Diff(map[string]any{"from": "active", "action": "restore"}, two.Details); diff != "" {
		t.Error(diff)
	}
	if two.Code != fault.InvalidTransition || two.Message != "A company that is active cannot." {
		t.Errorf("%+v", two)
	}
}

func TestAnAdapterThatIsNotInstalledIsNamedWithThoseThatAre(t *testing.T) {
	t.Parallel()
	got := fault.NotInstalled("fax", []string{"process", "http"})
	want := &fault.Error{
		Code: fault.AdapterNotInstalled, Message: `The adapter "fax" is not installed on this instance; installed are: process, http.`,
		Details: map[string]any{"adapter": "fax", "installed": []string{"process", "http"}},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(fault.Error{})); diff != "" {
		t.Error(diff)
	}
}

func TestNothingWithinAFieldAtFaultIsToldToo(t *testing.T) {
	t.Parallel()
	var problems fault.Problems
	for _, path := range []string{"teams.1", "teams.1.name", "teams.10", "teams.1.lead.name", "teams", "teams.2", "team"} {
		problems.Add(fault.Fieldf(path, fault.WrongType, "no"))
	}
	var got []string
	for _, problem := range problems {
		got = append(got, problem.Path)
	}
	if diff := cmp.Diff([]string{"teams.1", "teams.10", "teams", "team"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestOfSeveralFaultsOfOneFieldTheFirstIsTold(t *testing.T) {
	t.Parallel()
	name := fault.Fieldf("name", fault.WrongType, "name must be a %s", "string")
	budget := fault.Fieldf("budget.usd", fault.OutOfRange, "budget.usd must be 0 or more")
	var problems fault.Problems
	problems.Add()
	if problems != nil {
		t.Errorf("%v", problems)
	}
	problems.Add(name, budget, fault.Fieldf("name", fault.Required, "name is required"))
	problems.Add(fault.Fieldf("budget.usd", fault.TooPrecise, "budget.usd must have at most 6 decimals"))
	if diff := cmp.Diff(fault.Problems{name, budget}, problems); diff != "" {
		t.Error(diff)
	}
	whole := fault.Problems{fault.Fieldf("", fault.InvalidFormat, "the line is not JSON")}
	if whole.Add(name); len(whole) != 1 {
		t.Errorf("of what is at fault as a whole, a field is reported: %v", whole)
	}
	for _, c := range []struct {
		refusal *fault.Error
		want    fault.Code
	}{
		{fault.Validation(problems), fault.ValidationFailed},
		{fault.Immutables(problems), fault.ImmutableField},
		{fault.Budget(problems), fault.BudgetInvalid},
	} {
		if c.refusal.Code != c.want || !cmp.Equal(c.refusal.Fields, []fault.Field(problems)) {
			t.Errorf("%+v; want %s", c.refusal, c.want)
		}
	}
}
