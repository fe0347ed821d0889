package demo

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

// Review decides about work that is done: a note is why it is rejected; empty: it is accepted.
func Review(d *Dice, attempt int64) (note string) {
	if attempt == 1 && d.Percent(6) {
		return One(d, rejections)
	}
	return ""
}

// Advice is what a person says about an issue that was handed off.
func Advice(d *Dice) string { return One(d, decisions) }

// Remark is what a person says about an issue now and then.
func Remark(d *Dice) string { return One(d, remarks) }
