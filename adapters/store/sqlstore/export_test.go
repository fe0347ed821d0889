package sqlstore

import (
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/cost"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/store"
)

// OwnedTables are the tables that are emptied with a company, in this order.
func OwnedTables() []string {
	tables := make([]string, len(owned))
	for i, of := range owned {
		tables[i] = of.table
	}
	return tables
}

// ClaimText is the statement that finds the first issues under so many keys. Its arguments are the company and the keys.
func ClaimText(engine Engine, keys, most int) string {
	return (&statements{engine: engine}).text(firstClaims.of(claimShape{keys, most}))
}

// OverdueText and OutdatedText are the statements that find runs whose leases are to be ended. The argument is an instant; the
// arguments are a company and an epoch.
func OverdueText(engine Engine) string  { return (&statements{engine: engine}).text(overdueRuns) }
func OutdatedText(engine Engine) string { return (&statements{engine: engine}).text(outdatedRuns) }

// LimitedIssuesText is the query of Envelopes.Limited for the issues of a company after one.
func LimitedIssuesText(engine Engine, of id.Company, after string) string {
	return envelopes{session{engine: engine, conn: engine.Conn()}}.limited(of, budget.OfIssue, after, 50).String()
}

// OverdueApprovalsText and LockOpenApprovalsText are the statements of Approvals.Overdue and Approvals.LockOpen. The argument is an
// instant; the argument is an issue.
func OverdueApprovalsText(engine Engine) string {
	return (&statements{engine: engine}).text(overdueApprovals)
}
func LockOpenApprovalsText(engine Engine) string {
	return (&statements{engine: engine}).text(lockOpenApprovals)
}

// CountOpenText is the statement that counts the open runs.
func CountOpenText(engine Engine) string { return countOpen(engine).String() }

// ChildrenText, DependentsText, AbandonableText, OpenInProjectText and PendingText are the statements that find a portion of a
// settlement, and which settlements to go on with. The arguments are the company, a parent and an issue; a blocker and an issue; an
// agent and an issue; a project and an issue.
func ChildrenText(engine Engine) string   { return (&statements{engine: engine}).text(issueChildren) }
func DependentsText(engine Engine) string { return (&statements{engine: engine}).text(issueDependents) }
func AbandonableText(engine Engine) string {
	return (&statements{engine: engine}).text(abandonableIssues)
}
func OpenInProjectText(engine Engine) string {
	return (&statements{engine: engine}).text(openInProject)
}
func PendingText(engine Engine) string {
	return pendingSettlements(session{engine: engine}).Limit(16).String()
}

// LockForCallText and LockForEndText are the statements of Runs.LockForCall and Runs.LockForEnd. The arguments are a lease and who
// made comments that are not pending.
func LockForCallText(engine Engine) string { return lockText(engine, callShape{}) }
func LockForEndText(engine Engine) string  { return lockText(engine, callShape{isEnd: true}) }

// SpentTexts are the statements that read an agent and an issue, with what they have spent. The argument is the id.
func SpentTexts(engine Engine) map[string]string {
	of := &statements{engine: engine}
	return map[string]string{"an agent": of.text(agentTable.get), "an issue": of.text(issueTable.get)}
}

func lockText(engine Engine, of callShape) string {
	return (&statements{engine: engine}).text(lockedLeases.of(of))
}

// AtWorkTexts are those of Agents.AtWork for three keys. The arguments are the company, the keys and an agent; the argument is an agent.
func AtWorkTexts(engine Engine) (withFirst, alone string) {
	texts := &statements{engine: engine}
	return texts.text(agentWithFirst.of(3)), texts.text(agentAtWork)
}

// ByIDsText is the statement that finds those of some issues that a company has, and AddBlockersText the one that stores what
// blocks an issue.
func ByIDsText(engine Engine, of id.Company, which []id.Issue) string {
	return issuesByIDs(engine, of, which).Column("id", "status").String()
}

// EmptyingTexts are the statements that remove some rows of a company, or blank them, by their tables.
func EmptyingTexts(engine Engine, which id.Company, most int) map[string]string {
	texts, c := map[string]string{}, companiesOf(session{engine: engine})
	for _, of := range owned {
		var some portion
		if of.aged {
			some = portion{place{1, "act_a"}, place{2, "act_b"}}
		}
		texts[of.table] = c.emptying(of, which, some, most).String()
	}
	return texts
}

func AddBlockersText(engine Engine, of issue.Issue) string { return addBlockers(engine, &of).String() }

// SumsText is the statement that sums costs.
func SumsText(engine Engine, of store.CostsOf, pieces []cost.Piece, by cost.Key) string {
	return costsOf(session{engine: engine}).parts(of, pieces, by).String()
}

// CostListText and CostExportText are the statements that read a page of entries, and a portion of an export, after an entry.
func CostListText(engine Engine, filter store.CostFilter, after cost.Entry) string {
	c := costsOf(session{engine: engine})
	return newest(c.matching(filter), "at", millis(after.At), after.ID, page.DefaultSize+1).String()
}

func CostExportText(engine Engine, filter store.CostFilter, after cost.Entry, asOf time.Time) string {
	return costsOf(session{engine: engine}).portion(filter, &after, asOf, 1000).String()
}

// KeptAccountsText is the statement that reads accounts with what was spent in their periods.
func KeptAccountsText(engine Engine, of id.Company) string {
	return comparison{session: session{engine: engine}, of: of}.keptAccounts().String()
}

// For the tests of checks.
var (
	ChargedTo = chargedTo
	InCycles  = inCycles
)

// StepOf reads what an issue has of its workflow.
func StepOf(kept string) (of issue.Issue, err error) {
	err = stepColumn.set(&of, &cell{text: kept})
	return of, err
}

// StepsOf reads the steps of a workflow, and KeptSteps is what is kept of them.
func StepsOf(kept string) (steps []issue.Step, err error) {
	of := versionRow{}
	err = versionTable.column("steps").set(&of, &cell{text: kept})
	return of.steps, err
}
func KeptSteps(steps []issue.Step) any {
	return versionTable.column("steps").get(&versionRow{steps: steps})
}

// SearchTexts are the statements that read a portion of what searches look at, by what is searched, after a position.
func SearchTexts(engine Engine, of id.Company, after page.Position) (map[string]string, error) {
	s := session{engine: engine}
	in := []condition{{"company_id", string(of)}}
	texts := map[string]string{}
	for name, apply := range map[string]func() (*bun.SelectQuery, error){
		"companies": portionOf(searchOf(s, companyTable, inStates(nil, []company.Status{company.Active}, nil)), after),
		"agents":    portionOf(searchOf(s, agentTable, inStates[agent.Status](in, nil, nil)), after),
		"goals":     portionOf(searchOf(s, goalTable, inStates[goal.Status](in, nil, nil)), after),
		"projects":  portionOf(searchOf(s, projectTable, inStates(in, []goal.ProjectStatus{goal.Underway}, nil)), after),
		"issues":    portionOf(issuesOf(s).search(store.IssueFilter{Company: of}), after),
	} {
		query, err := apply()
		if err != nil {
			return nil, err
		}
		texts[name] = query.String()
	}
	return texts, nil
}

func portionOf[T searched](of search[T], after page.Position) func() (*bun.SelectQuery, error) {
	return func() (*bun.SelectQuery, error) { return of.order.apply(of.some(), after, portionOfSearch) }
}

// ActivityTexts are the statements that find the entries of a filter after a position: one, or one for each type that it allows.
func ActivityTexts(engine Engine, filter store.ActivityFilter, after page.Position, most int) (texts []string, err error) {
	some := activity{session{engine: engine}}.matching(filter)
	conditions := [][]condition{some.where}
	if some.types != nil {
		conditions = nil
		for _, one := range some.types {
			conditions = append(conditions, []condition{{"type", string(one)}})
		}
	}
	for _, where := range conditions {
		var rows []entryRow
		query, err := some.query(&rows, where, after, most)
		if err != nil {
			return nil, err
		}
		texts = append(texts, query.String())
	}
	return texts, nil
}

// InboxTexts returns the statements that read what needs a person and what waits for a decision: in a company, then in all.
func InboxTexts(engine Engine) (texts []string) {
	for _, of := range []inbox{inboxOfOne, inboxOfAll} {
		spelled := &statements{engine: engine}
		texts = append(texts, spelled.text(of.needing), spelled.text(of.undecided))
	}
	return texts
}

// SaveTexts are the statements that save a value of which no column in an index has changed, by their tables.
func SaveTexts(engine Engine) map[string]string {
	texts := map[string]string{}
	for table, saves := range map[string]*preparedFor[columnSet]{
		"agents": &agentTable.saves, "approvals": &approvalTable.saves, "campaigns": &campaignTable.saves,
		"companies": &companyTable.saves, "goals": &goalTable.saves, "imports": &importTable.saves, "issues": &issueTable.saves,
		"partners": &partnerTable.saves, "projects": &projectTable.saves, "runs": &runTable.saves, "secrets": &secretTable.saves,
		"teams": &teamTable.saves, "tokens": &tokenTable.saves, "webhooks": &endpointTable.saves, "workflows": &workflowTable.saves,
	} {
		texts[table] = (&statements{engine: engine}).text(saves.of(0))
	}
	return texts
}
