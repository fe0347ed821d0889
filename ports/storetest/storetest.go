// Package storetest is the conformance suite of ports/store: every store passes all of it.
//
// RunAll is the way in. There is one file of rules per area; each rule is a sentence about a store, and a function that
// tests a fresh store against it. history.go compares random histories with model.go, a store
// that is a few maps in memory.
package storetest

import (
	"testing"

	"holdco/domain/id"
	"holdco/ports/outbound"
)

// RunAll tests a store against its contract. Open returns a fresh, migrated store that takes the time from clock and takes new
// ids from ids; it closes the store when its test ends.
func RunAll(t *testing.T, open func(t *testing.T, clock outbound.Clock, ids outbound.IDs) Opened) {
	for _, area := range areas {
		t.Run(area.name, func(t *testing.T) {
			t.Parallel()
			for _, rule := range area.rules {
				t.Run(rule.name, func(t *testing.T) {
					t.Parallel()
					clock, ids := NewClock(), NewIDs()
					opened := open(t, clock, ids)
					rule.check(&fixture{
						reporter: t, t: t, ctx: t.Context(), store: opened.Store, dump: opened.Dump, clock: clock, ids: ids,
					})
				})
			}
		})
	}
}

// rule is one thing that every store does, and its test.
type rule struct {
	name  string
	check func(f *fixture)
}

var areas = []struct {
	name  string
	rules []rule
}{
	{"companies", companyRules},
	{"teams", teamRules},
	{"agents", agentRules},
	{"issues", issueRules},
	{"settlements", settlementRules},
	{"goals", goalRules},
	{"projects", projectRules},
	{"workflows", workflowRules},
	{"runs", runRules},
	{"claims", claimRules},
	{"envelopes", envelopeRules},
	{"costs", costRules},
	{"checks", checkRules},
	{"retention", retentionRules},
	{"approvals", approvalRules},
	{"dashboards", dashboardRules},
	{"tokens", tokenRules},
	{"sessions", sessionRules},
	{"partners", partnerRules},
	{"activity", activityRules},
	{"receipts", receiptRules},
	{"webhooks", webhookRules},
	{"deliveries", deliveryRules},
	{"outbox", outboxRules},
	{"queues", queueRules},
	{"cursors", cursorRules},
	{"key", instanceKeyRules},
	{"leads", leadRules},
	{"lead changes", leadChangeRules},
	{"the feed of leads", leadFeedRules},
	{"lead search", leadSearchRules},
	{"campaigns", campaignRules},
	{"taxonomy", taxonomyRules},
	{"imports", importRules},
	{"prices", priceRules},
	{"backups", backupRules},
	{"replicas", replicaRules},
	{"secrets", secretRules},
	{"units", unitRules},
	{"clock", clockRules},
	{"writes", writeRules},
	{"isolation", isolationRules},
	{"contention", contentionRules},
	{"deletion", deletionRules},
	{"removals", removalRules},
	{"paging", pagingRules},
	{"texts", textRules},
	{"histories", historyRules},
}

// writers make the cases of all methods that write.
var writers = []func(f *fixture) map[string]writeCase{
	(*fixture).companyWrites,
	(*fixture).teamWrites,
	(*fixture).agentWrites,
	(*fixture).issueWrites,
	(*fixture).settlementWrites,
	(*fixture).goalWrites,
	(*fixture).workflowWrites,
	(*fixture).runWrites,
	(*fixture).envelopeWrites,
	(*fixture).checkWrites,
	(*fixture).retentionWrites,
	(*fixture).approvalWrites,
	(*fixture).tokenWrites,
	(*fixture).sessionWrites,
	(*fixture).partnerWrites,
	(*fixture).receiptWrites,
	(*fixture).webhookWrites,
	(*fixture).removalWrites,
	(*fixture).leadWrites,
	(*fixture).importWrites,
	(*fixture).priceWrites,
	(*fixture).backupWrites,
	(*fixture).replicaWrites,
	(*fixture).secretWrites,
}

// ofCompanies make units that add a new one of each kind that belongs to a company, with rows in all of its tables.
var ofCompanies = []func(f *fixture, of id.Company) unit{
	someTeam,
	someAgent,
	someIssue,
	someRun,
	someEnvelope,
	someGoal,
	someWorkflow,
	someApproval,
	someSecret,
}

// ofTheInstance are the same for kinds that belong to no company.
var ofTheInstance = []func(f *fixture) unit{
	somePartner,
	someSession,
	someSweep,
	someSchedule,
	someReplica,
	somePrices,
	someImport,
}
