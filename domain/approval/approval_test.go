package approval_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/approval"
	"holdco/domain/budget"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/money"
	"holdco/domain/run"
)

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

const person event.Actor = "token:tok_1"

var attempt = run.Run{ID: "run_1", Company: "cmp_1", Issue: "iss_1", Agent: "agt_1", Attempt: 2, Lease: run.Lease{ID: "lse_1"}}

func draft() approval.Draft {
	return approval.Draft{ActionName: new("deploy.shop"), Action: new("Deploy")}
}

func asked(t *testing.T, status approval.Status) approval.Approval {
	t.Helper()
	made, _, err := approval.New("apr_1", attempt, "tm_1", 0, draft(), noon)
	if err != nil {
		t.Fatal(err)
	}
	made.Status = status
	if !status.IsOpen() {
		made.DecidedAt = noon
	}
	return made
}

func TestWhatIsAskedForIsPendingForFourHoursUnlessGiven(t *testing.T) {
	t.Parallel()
	sent := draft()
	sent.Reasoning, sent.IfDenied, sent.SideEffects = new("Why"), new("Wait"), new([]string{"a", "b"})
	sent.USD, sent.Tokens = new(money.Number("1.5")), new(int64(7))
	made, requested, err := approval.New("apr_1", attempt, "tm_1", approval.MostOpen-1, sent, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := approval.Approval{
		ID: "apr_1", Company: "cmp_1", Issue: "iss_1", Run: "run_1", Agent: "agt_1", Team: "tm_1", Status: approval.Pending,
		ActionName: "deploy.shop", Action: "Deploy", Reasoning: "Why", IfDenied: "Wait", SideEffects: []string{"a", "b"},
		Cost: approval.Cost{USD: budget.Of(1_500_000), Tokens: 7}, CreatedAt: noon, ExpiresAt: noon.Add(4 * time.Hour), Version: 1,
	}
	if diff := cmp.Diff(want, made); diff != "" {
		t.Error(diff)
	}
	if requested.Type != event.ApprovalRequested || requested.Subject != (event.Subject{Type: "approval", ID: "apr_1"}) {
		t.Errorf("%+v", requested)
	}
	const shown = `{"id":"apr_1","companyId":"cmp_1","issueId":"iss_1","runId":"run_1","agentId":"agt_1","status":"pending",` +
		`"actionName":"deploy.shop","action":"Deploy","reasoning":"Why","cost":{"usd":1.5,"tokens":7},"sideEffects":["a","b"],` +
		`"ifDenied":"Wait","edits":null,"note":"","parked":false,"commentCount":0,"decidedBy":null,` +
		`"requestedAt":"2026-04-11T12:00:00.000Z","expiresAt":"2026-04-11T16:00:00.000Z","decidedAt":null}`
	if diff := cmp.Diff(shown, string(made.Fields().Append(nil))); diff != "" {
		t.Error(diff)
	}
	parked, requested := made.Park()
	if !parked.Parked || !strings.Contains(string(requested.Data.Append(nil)), `"parked":true`) {
		t.Errorf("%+v", requested)
	}
}

func TestAllFaultyFieldsAreNamedAtOnce(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", approval.TextLength+1)
	effects := slices.Repeat([]string{"a"}, approval.MostEffects+1)
	for name, c := range map[string]struct {
		sent approval.Draft
		want []string
	}{
		"nothing": {approval.Draft{}, []string{"actionName required", "action required"}},
		"too much": {approval.Draft{
			ActionName: new(strings.Repeat("x", 101)), Action: &long, Reasoning: &long, IfDenied: &long, SideEffects: &effects,
			USD: new(money.Number("-1")), Tokens: new(int64(-1)), ExpiresIn: new(int64(604_801)),
		}, []string{
			"actionName too_long", "action too_long", "reasoning too_long", "ifDenied too_long", "cost.usd out_of_range",
			"cost.tokens out_of_range", "sideEffects too_many", "expiresIn out_of_range",
		}},
		"blanks": {approval.Draft{
			ActionName: new(" "), Action: new("\n"), SideEffects: &[]string{"a", " "}, ExpiresIn: new(int64(59)),
			Problems: fault.Problems{fault.Fieldf("fencingToken", fault.Required, "")},
		}, []string{
			"fencingToken required", "actionName required", "action required", "sideEffects.1 required", "expiresIn out_of_range",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := approval.New("apr_1", attempt, "", approval.MostOpen, c.sent, noon)
			wrong(t, err, c.want)
		})
	}
	_, _, err := approval.New("apr_1", attempt, "", approval.MostOpen, draft(), noon)
	if fault.CodeOf(err) != fault.TooManyOf {
		t.Error(err)
	}
	for _, seconds := range []int64{60, 604_800} {
		sent := draft()
		sent.ExpiresIn = &seconds
		made, _, err := approval.New("apr_1", attempt, "", 0, sent, noon)
		if err != nil || made.ExpiresAt.Sub(noon) != time.Duration(seconds)*time.Second {
			t.Error(made.ExpiresAt, err)
		}
	}
}

// wrong fails the test unless an error lists these fields with their codes.
func wrong(t *testing.T, err error, want []string) {
	t.Helper()
	var got []string
	if refused := fault.Of(err); refused != nil && refused.Code == fault.ValidationFailed {
		for _, field := range refused.Fields {
			got = append(got, field.Path+" "+field.Code)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff, err)
	}
}

// moves are all that can be done to an approval.
var moves = map[string]func(a approval.Approval, at time.Time) (approval.Approval, event.Event, error){
	"approve": func(a approval.Approval, at time.Time) (approval.Approval, event.Event, error) {
		return a.Decide(approval.Verdict{Action: approval.Approve, Note: new("Yes")}, person, at)
	},
	"approve-with-edits": func(a approval.Approval, at time.Time) (approval.Approval, event.Event, error) {
		return a.Decide(approval.Verdict{Action: approval.ApproveWithEdits, Edits: []byte(`{"n": 1}`)}, person, at)
	},
	"deny": func(a approval.Approval, at time.Time) (approval.Approval, event.Event, error) {
		return a.Decide(approval.Verdict{Action: approval.Deny, Note: new("No")}, person, at)
	},
	"comment": func(a approval.Approval, at time.Time) (approval.Approval, event.Event, error) {
		next, _, happened, err := a.Ask("cmt_1", issue.Note{Body: new("Why?")}, person, at)
		return next, happened, err
	},
	"answer": func(a approval.Approval, at time.Time) (approval.Approval, event.Event, error) {
		next, _, happened, err := a.Answer("cmt_1", issue.Note{Body: new("So")}, "agent:agt_1", at)
		return next, happened, err
	},
}

func TestWhatEachMoveLeadsTo(t *testing.T) {
	t.Parallel()
	final := []approval.Status{approval.Approved, approval.ApprovedWithEdits, approval.Denied, approval.Expired}
	open := []approval.Status{approval.Pending, approval.AskedQuestion}
	for name, c := range map[string]struct {
		to    approval.Status
		event event.Type
	}{
		"approve": {approval.Approved, event.ApprovalApproved}, "approve-with-edits": {approval.ApprovedWithEdits, event.ApprovalApproved},
		"deny": {approval.Denied, event.ApprovalDenied}, "comment": {approval.AskedQuestion, event.ApprovalCommented},
		"answer": {approval.Pending, event.ApprovalCommented},
	} {
		for _, from := range open {
			before := asked(t, from)
			next, happened, err := moves[name](before, noon.Add(time.Hour))
			if err != nil || next.Status != c.to || happened.Type != c.event || next.Version != 2 {
				t.Errorf("%s from %s: %+v, %s, %v", name, from, next, happened.Type, err)
			}
			if c.to.IsOpen() == !next.DecidedAt.IsZero() || c.to.IsOpen() == (next.DecidedBy == string(person)) {
				t.Errorf("%s: %+v", name, next)
			}
		}
		overdue := asked(t, approval.Pending)
		refusals := map[approval.Status]approval.Approval{approval.Expired: overdue}
		for _, from := range final {
			refusals[from] = asked(t, from)
		}
		for from, before := range refusals {
			at := noon.Add(time.Hour)
			if before.Status.IsOpen() {
				at = before.ExpiresAt
			}
			next, _, err := moves[name](before, at)
			if name == "comment" {
				if err != nil || next.Status != before.Status || next.Comments != 1 || !next.ExpiresAt.Equal(before.ExpiresAt) {
					t.Errorf("comment on %s: %+v, %v", from, next, err)
				}
				continue
			}
			refused := fault.Of(err)
			if refused == nil || refused.Code != fault.InvalidTransition || refused.Details["from"] != string(from) ||
				refused.Details["action"] != name {
				t.Errorf("%s from %s: %v", name, from, err)
			}
		}
	}
	edited, _, _ := moves["approve-with-edits"](asked(t, approval.Pending), noon)
	if edited.Edits != `{"n":1}` {
		t.Error(edited.Edits)
	}
}

func TestAQuestionLeavesAnHourToAnswer(t *testing.T) {
	t.Parallel()
	a := asked(t, approval.Pending)
	late := a.ExpiresAt.Add(-time.Minute)
	next, _, err := moves["comment"](a, late)
	if err != nil || !next.ExpiresAt.Equal(late.Add(time.Hour)) {
		t.Errorf("%v, %v", next.ExpiresAt, err)
	}
	next, _, err = moves["comment"](a, noon)
	if err != nil || !next.ExpiresAt.Equal(a.ExpiresAt) {
		t.Errorf("%v, %v", next.ExpiresAt, err)
	}
}

func TestAnApprovalExpiresWithoutADecision(t *testing.T) {
	t.Parallel()
	a := asked(t, approval.AskedQuestion)
	if a.IsOverdue(a.ExpiresAt.Add(-time.Millisecond)) || !a.IsOverdue(a.ExpiresAt) ||
		asked(t, approval.Denied).IsOverdue(noon.Add(99*time.Hour)) {
		t.Error("it is overdue at another instant")
	}
	next, happened := a.Expire(noon)
	if next.Status != approval.Expired || next.DecidedBy != "" || !next.DecidedAt.Equal(noon) || happened.Type != event.ApprovalExpired {
		t.Errorf("%+v", next)
	}
}

func TestVerdictsAndCommentsAreHeldToTheirBounds(t *testing.T) {
	t.Parallel()
	a := asked(t, approval.Denied) // what is wrong is said first
	long := strings.Repeat("x", approval.NoteLength+1)
	for _, c := range []struct {
		sent approval.Verdict
		want []string
	}{
		{approval.Verdict{Action: approval.Deny}, []string{"note required"}},
		{approval.Verdict{Action: approval.Deny, Note: new(" ")}, []string{"note required"}},
		{approval.Verdict{Action: approval.Approve, Note: &long}, []string{"note too_long"}},
		{approval.Verdict{Action: approval.ApproveWithEdits, Note: &long}, []string{"edits required", "note too_long"}},
		{approval.Verdict{Action: approval.ApproveWithEdits, Edits: []byte(`"` + strings.Repeat("x", approval.EditsSize) + `"`)}, []string{
			"edits too_long",
		}},
		{approval.Verdict{Action: approval.Approve, Problems: fault.Problems{fault.Fieldf("x", fault.UnknownField, "")}}, []string{
			"x unknown_field",
		}},
	} {
		_, _, err := a.Decide(c.sent, person, noon)
		wrong(t, err, c.want)
	}
	_, _, _, err := a.Ask("cmt_1", issue.Note{Body: new("")}, person, noon)
	wrong(t, err, []string{"body required"})
	a.Comments = approval.MostComments
	_, _, _, err = a.Ask("cmt_1", issue.Note{Body: new("More")}, person, noon)
	if fault.CodeOf(err) != fault.TooManyOf {
		t.Error(err)
	}
}

func TestAnApprovalCoversItsRunAndThoseThatGoOnWithIt(t *testing.T) {
	t.Parallel()
	a := asked(t, approval.Approved)
	parked, released := attempt, attempt
	parked.Lease.Reason, released.Lease.Reason = run.Parked, run.Released
	next := attempt
	next.ID = "run_2"
	retried, others, elsewhere := next, next, next
	retried.Attempt, others.Agent, elsewhere.Issue = 3, "agt_2", "iss_2"
	for n, c := range []struct {
		asked, now run.Run
		want       bool
	}{
		{attempt, attempt, true}, {parked, next, true}, {released, next, false}, {parked, retried, false}, {parked, others, false},
		{parked, elsewhere, false},
	} {
		if got := a.Covers("deploy.shop", c.asked, c.now); got != c.want {
			t.Errorf("%d: %t", n, got)
		}
	}
	denied := a
	denied.Status = approval.Expired
	if a.Covers("deploy", attempt, attempt) || denied.Covers("deploy.shop", attempt, attempt) {
		t.Error("it covers another action, or without a decision")
	}
}

// staff has one agent and one team.
type staff struct{}

var ada, sales = id.Agent("agt_01h455vb4pex5vsknk084sn02q"), id.Team("tm_01h455vb4pex5vsknk084sn02q")

func (staff) HasAgent(which id.Agent) (bool, error) { return which == ada, nil }
func (staff) HasTeam(which id.Team) (bool, error)   { return which == sales, nil }

func TestARuleIsHeldToItsBounds(t *testing.T) {
	t.Parallel()
	later := noon.Add(time.Hour)
	good := approval.RuleDraft{
		ActionName: new("deploy.*"), Agent: new(string(ada)), Decision: new("approve"), MaxUSD: new(money.Number("2")), ExpiresAt: &later,
	}
	made, created, err := approval.NewRule("apl_1", "cmp_1", approval.MostRules-1, good, person, staff{}, noon)
	want := approval.Rule{
		ID: "apl_1", Company: "cmp_1", ActionName: "deploy.*", Agent: ada, MaxUSD: budget.Of(2_000_000), Decision: approval.Approve,
		ExpiresAt: later, CreatedBy: person, CreatedAt: noon,
	}
	if diff := cmp.Diff(want, made); diff != "" || err != nil || created.Subject.Type != "approval_rule" {
		t.Error(diff, err, created)
	}
	if made.Delete().Type != event.ApprovalRuleDeleted {
		t.Error(made.Delete())
	}
	_, _, err = approval.NewRule("apl_1", "cmp_1", approval.MostRules, good, person, staff{}, noon)
	if fault.CodeOf(err) != fault.TooManyOf {
		t.Error(err)
	}
	for name, c := range map[string]struct {
		sent approval.RuleDraft
		want []string
	}{
		"nothing": {approval.RuleDraft{}, []string{"actionName required", "decision required"}},
		"unknown": {approval.RuleDraft{
			ActionName: new("a*b"), Agent: new("agt_2"), Decision: new("maybe"), MaxUSD: new(money.Number("-1")), ExpiresAt: &noon,
		}, []string{
			"actionName invalid_format", "agentId unknown_value", "maxUsd out_of_range", "decision unknown_value", "expiresAt out_of_range",
		}},
		"two stars": {approval.RuleDraft{ActionName: new("**"), Team: new("tm_2"), Decision: new("deny")}, []string{
			"actionName invalid_format", "teamId unknown_value",
		}},
		"both": {approval.RuleDraft{
			ActionName: new("*"), Agent: new(string(ada)), Team: new(string(sales)), Decision: new("deny"),
		}, []string{"teamId duplicate"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := approval.NewRule("apl_1", "cmp_1", 0, c.sent, person, staff{}, noon)
			wrong(t, err, c.want)
		})
	}
}

func TestTheFirstRuleThatFitsDecides(t *testing.T) {
	t.Parallel()
	rule := func(which, pattern string, alter func(r *approval.Rule)) approval.Rule {
		r := approval.Rule{ID: id.ApprovalRule(which), ActionName: pattern, Decision: approval.Deny, CreatedAt: noon}
		alter(&r)
		return r
	}
	as := func(*approval.Rule) {}
	ofAgent := func(which id.Agent) func(r *approval.Rule) { return func(r *approval.Rule) { r.Agent = which } }
	ofTeam := func(which id.Team) func(r *approval.Rule) { return func(r *approval.Rule) { r.Team = which } }
	until := func(at time.Time) func(r *approval.Rule) { return func(r *approval.Rule) { r.ExpiresAt = at } }
	later := func(r *approval.Rule) { r.CreatedAt = noon.Add(time.Second) }
	cost := func(most money.USD) func(r *approval.Rule) {
		return func(r *approval.Rule) { r.MaxUSD = budget.Of(most) }
	}
	a := asked(t, approval.Pending)
	a.Cost.USD = budget.Of(5)
	free := a
	free.Cost.USD = budget.Limit{}
	for name, c := range map[string]struct {
		asked approval.Approval
		rules []approval.Rule
		want  string
	}{
		"none":               {a, nil, ""},
		"its name":           {a, []approval.Rule{rule("n", "deploy.shop", as)}, "n"},
		"another name":       {a, []approval.Rule{rule("n", "deploy", as), rule("m", "deploy.shop.all", as)}, ""},
		"a pattern":          {a, []approval.Rule{rule("n", "deploy.*", as)}, "n"},
		"a pattern of all":   {a, []approval.Rule{rule("n", "*", as)}, "n"},
		"another pattern":    {a, []approval.Rule{rule("n", "buy.*", as)}, ""},
		"the cost":           {a, []approval.Rule{rule("n", "*", cost(5))}, "n"},
		"a lower cost":       {a, []approval.Rule{rule("n", "*", cost(4))}, ""},
		"no cost":            {free, []approval.Rule{rule("n", "*", cost(99))}, ""},
		"no cost, no limit":  {free, []approval.Rule{rule("n", "*", as)}, "n"},
		"of another agent":   {a, []approval.Rule{rule("n", "*", ofAgent("agt_2"))}, ""},
		"of another team":    {a, []approval.Rule{rule("n", "*", ofTeam("tm_2"))}, ""},
		"expired":            {a, []approval.Rule{rule("n", "*", until(noon))}, ""},
		"about to":           {a, []approval.Rule{rule("n", "*", until(noon.Add(time.Millisecond)))}, "n"},
		"the newest":         {a, []approval.Rule{rule("o", "*", as), rule("n", "*", later)}, "n"},
		"of one instant":     {a, []approval.Rule{rule("n", "*", as), rule("o", "*", as)}, "o"},
		"agent before team":  {a, []approval.Rule{rule("t", "*", ofTeam("tm_1")), rule("a", "*", ofAgent("agt_1"))}, "a"},
		"team before others": {a, []approval.Rule{rule("z", "*", as), rule("t", "*", ofTeam("tm_1"))}, "t"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			next, decided, fits := c.asked.Apply(c.rules, noon)
			if !fits {
				next.DecidedBy = "rule:"
			}
			isDenied := next.Status == approval.Denied && decided.Type == event.ApprovalDenied
			if next.DecidedBy != "rule:"+c.want || fits != (c.want != "") || fits != isDenied {
				t.Errorf("%+v", next)
			}
		})
	}
	approved, _, _ := a.Apply([]approval.Rule{rule("n", "*", func(r *approval.Rule) { r.Decision = approval.Approve })}, noon)
	if approved.Status != approval.Approved {
		t.Errorf("%+v", approved)
	}
}
