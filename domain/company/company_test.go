package company_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
)

const (
	acmeID    = id.Company("cmp_01h455vb4pex5vsknk084sn02q")
	retention = 720 * time.Hour
)

var (
	noon     = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	adapters = []string{"process", "http"}
	statuses = []company.Status{company.Active, company.Archived, company.Deleting}
)

// acme is a company in the given state. It was archived, if it was, at noon.
func acme(status company.Status) company.Company {
	c := company.Company{
		ID:             acmeID,
		Slug:           "acme",
		Name:           "Acme",
		Description:    "Everything",
		DefaultAdapter: "http",
		FiscalPeriod:   budget.Quarterly,
		Budget:         budget.Budget{USD: 1500 * money.Dollar, Period: budget.Monthly, ReservePercent: 12_50},
		TeamCount:      2,
		AgentCount:     5,
		LeaseEpoch:     3,
		Status:         status,
		CreatedAt:      noon.Add(-24 * time.Hour),
		UpdatedAt:      noon.Add(-time.Hour),
		Version:        7,
	}
	switch status {
	case company.Archived:
		c.ArchivedAt, c.RestorableUntil, c.UpdatedAt = noon, noon.Add(retention), noon
	case company.Deleting:
		c.DeletedBy = "token:somebody"
	}
	return c
}

func TestEveryStateKnowsItsMoves(t *testing.T) {
	t.Parallel()
	type outcome struct {
		code fault.Code
		next company.Status
	}
	refused := outcome{code: fault.InvalidTransition}
	table := map[company.Action]map[company.Status]outcome{
		company.Update: {
			company.Active:   {next: company.Active},
			company.Archived: {code: fault.CompanyArchived},
			company.Deleting: refused,
		},
		company.Archive: {
			company.Active:   {next: company.Archived},
			company.Archived: refused,
			company.Deleting: refused,
		},
		company.Restore: {
			company.Active:   refused,
			company.Archived: {next: company.Active},
			company.Deleting: refused,
		},
		company.Delete: {
			company.Active:   {next: company.Deleting},
			company.Archived: {next: company.Deleting},
			company.Deleting: {next: company.Deleting},
		},
	}
	for action, row := range table {
		for _, from := range statuses {
			want := row[from]
			before := acme(from)
			next, err := do(before, action)
			if fault.CodeOf(err) != want.code || fault.CodeOf(before.Allows(action)) != want.code {
				t.Errorf("%s of %s: %v, allowed: %v; want %q", action, from, err, before.Allows(action), want.code)
			}
			if err == nil && next.Status != want.next {
				t.Errorf("%s of %s leads to %s; want %s", action, from, next.Status, want.next)
			}
			if err != nil && next != before {
				t.Errorf("%s of %s is refused, yet changes the company to %+v", action, from, next)
			}
			if want == refused {
				if got := fault.Of(err).Details; got["from"] != string(from) || got["action"] != string(action) {
					t.Errorf("%s of %s: details %v", action, from, got)
				}
			}
		}
	}
}

func do(c company.Company, action company.Action) (company.Company, error) {
	var err error
	switch action {
	case company.Update:
		c, _, err = c.Apply(company.Patch{}, adapters, noon)
	case company.Archive:
		c, _, err = c.Archive(noon, retention)
	case company.Restore:
		c, _, err = c.Restore(noon)
	case company.Delete:
		c, err = c.Delete("token:somebody", noon)
	}
	return c, err
}

func TestArchiveStartsTheGraceWindow(t *testing.T) {
	t.Parallel()
	before := acme(company.Active)
	want := before
	want.Status, want.ArchivedAt, want.RestorableUntil, want.UpdatedAt, want.Version = company.Archived, noon, noon.Add(retention), noon, 8
	want.LeaseEpoch = 4 // no lease from before is live, even once the company is restored

	got, happened, err := before.Archive(noon, retention)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	checkEvent(t, happened, event.CompanyArchived, got)
}

func TestRestoreWorksUntilTheWindowCloses(t *testing.T) {
	t.Parallel()
	before := acme(company.Archived)
	closing := noon.Add(retention)
	for at, code := range map[time.Time]fault.Code{
		noon:                               "",
		closing.Add(-time.Millisecond):     "",
		closing:                            "",
		closing.Add(time.Millisecond):      fault.RestoreWindowExpired,
		closing.Add(100 * 365 * time.Hour): fault.RestoreWindowExpired,
	} {
		got, happened, err := before.Restore(at)
		if fault.CodeOf(err) != code {
			t.Errorf("at %v: %v; want %q", at, err, code)
			continue
		}
		if err != nil {
			if got != before || fault.Of(err).Details["restorableUntil"] != "2026-05-11T12:00:00.000Z" {
				t.Errorf("at %v: %+v, %+v", at, got, fault.Of(err).Details)
			}
			continue
		}
		want := before
		want.Status, want.ArchivedAt, want.RestorableUntil, want.UpdatedAt, want.Version = company.Active, time.Time{}, time.Time{}, at, 8
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("at %v: %s", at, diff)
		}
		checkEvent(t, happened, event.CompanyRestored, got)
	}
}

func TestDeleteMarksTheCompanyOnce(t *testing.T) {
	t.Parallel()
	for _, from := range []company.Status{company.Active, company.Archived} {
		want := acme(company.Active)
		want.Status, want.DeletedBy, want.UpdatedAt, want.LeaseEpoch, want.Version = company.Deleting, "token:boss", noon, 4, 8
		got, err := acme(from).Delete("token:boss", noon)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", from, err, diff)
		}
		again, err := got.Delete("token:latecomer", noon.Add(time.Hour))
		if again != got || err != nil {
			t.Errorf("%s, again: %+v, %v", from, again, err)
		}
	}
}

func TestTheEndOfADeletionReportsNoMoreThanIdAndSlug(t *testing.T) {
	t.Parallel()
	want := event.Event{
		Type:    event.CompanyDeleted,
		Actor:   "token:somebody",
		Subject: event.Subject{Type: "company", ID: string(acmeID)},
		Data:    event.Fields{event.F("id", string(acmeID)), event.F("slug", "acme")},
	}
	if diff := cmp.Diff(want, acme(company.Deleting).Deleted()); diff != "" {
		t.Error(diff)
	}
}

func TestTeamsAndAgentsAreCounted(t *testing.T) {
	t.Parallel()
	for _, more := range []struct{ teams, agents int }{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		before := acme(company.Active)
		want := before
		want.TeamCount, want.AgentCount, want.Version = 2+more.teams, 5+more.agents, 8
		if diff := cmp.Diff(want, before.Counting(more.teams, more.agents)); diff != "" {
			t.Errorf("%+v: %s", more, diff)
		}
	}
}

func TestACompanyIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	for status, tail := range map[company.Status]string{
		company.Active: `"status":"active","createdAt":"2026-04-10T12:00:00.000Z","updatedAt":"2026-04-11T11:00:00.000Z",` +
			`"archivedAt":null,"restorableUntil":null}`,
		company.Archived: `"status":"archived","createdAt":"2026-04-10T12:00:00.000Z","updatedAt":"2026-04-11T12:00:00.000Z",` +
			`"archivedAt":"2026-04-11T12:00:00.000Z","restorableUntil":"2026-05-11T12:00:00.000Z"}`,
	} {
		want := `{"id":"cmp_01h455vb4pex5vsknk084sn02q","slug":"acme","name":"Acme","description":"Everything","defaultAdapter":"http",` +
			`"fiscalPeriod":"quarterly","budget":{"usd":1500,"period":"monthly","reservePercent":12.5},` +
			`"teamCount":2,"agentCount":5,"workPaused":false,` + tail
		got, err := json.Marshal(acme(status).Fields())
		if diff := cmp.Diff(want, string(got)); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
}

// checkEvent checks an event of a company without previous values.
func checkEvent(t *testing.T, got event.Event, what event.Type, c company.Company) {
	t.Helper()
	want := event.Event{
		Company: c.ID,
		Type:    what,
		Subject: event.Subject{Type: "company", ID: string(c.ID)},
		Data:    c.Fields(),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
