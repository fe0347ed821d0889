package demo

import (
	"holdco/domain/budget"
	"holdco/domain/issue"
	"holdco/domain/money"
)

// Words of people.
var (
	approvals  = []string{"Go.", "Fine, but watch the mail queue.", "Yes. Tell support first.", "Approved; roll back if in doubt."}
	denials    = []string{"Not today: the big customers close their month.", "Please wait until the fix for imports is in."}
	rejections = []string{
		"Nearly. The empty list still shows an error.", "Please add a test for the second case.",
		"Too long for a first page. Half of it, please.",
	}
	decisions = []string{"Say yes this once, and note it in the account.", "Take what can be undone.", "No, offer a month for free."}
	editsOf   = []string{"Tonight, after ten.", "To half of the customers first."}
	remarks   = []string{
		"Thanks, this was quick.", "Two customers asked about it again today.", "Please have a look at the issue before this one too.",
	}
)

// Verdict is what a person decides about an approval.
type Verdict int

// What there is.
const (
	Approve Verdict = iota
	ApproveWithEdits
	Deny
)

// Decide decides about an approval, and says why. Edits are those of ApproveWithEdits.
func Decide(d *Dice) (verdict Verdict, note string, edits map[string]any) {
	switch roll := d.Below(100); { //nolint:mnd // per cent
	case roll < 10: //nolint:mnd // per cent
		return Deny, One(d, denials), nil
	case roll < 20: //nolint:mnd // per cent
		return ApproveWithEdits, "", map[string]any{"when": One(d, editsOf)}
	}
	return Approve, One(d, approvals), nil
}

// Response is what a person does about an issue that waits for one.
type Response struct {
	Action issue.Action // Accept, Reject, or Assign: it goes on with the agent who has handed it off
	Note   string       // why it is rejected, or what the person says before it is assigned; empty: nothing
}

// Respond decides about an issue in review or handed off. It is not due when the issue waits for something else than a person.
func Respond(d *Dice, status issue.Status, isElsewhere bool, attempt int64) (_ Response, isDue bool) {
	switch {
	case isElsewhere:
		return Response{}, false
	case status == issue.Handoff:
		return Response{issue.Assign, One(d, decisions)}, true
	case status != issue.Review:
		return Response{}, false
	case attempt == 1 && d.Percent(6): //nolint:mnd // per cent
		return Response{issue.Reject, One(d, rejections)}, true
	}
	return Response{Action: issue.Accept}, true
}

// IsRetried decides whether what has failed is done again.
func IsRetried(d *Dice) bool { return !d.Percent(40) } //nolint:mnd // per cent

// Remark is what a person says about an issue that was filed; empty: nothing, as about most.
func Remark(d *Dice) string {
	if !d.Percent(8) { //nolint:mnd // per cent
		return ""
	}
	return One(d, remarks)
}

// raise is by how much people raise the budget of the company.
const raise = 50 * money.Dollar

// Raised is what people raise the budget of the company to. It is due when most of it is spent.
func Raised(from money.USD, level budget.Level) (to money.USD, isDue bool) {
	return from + raise, level != budget.None
}
