package company_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/money"
)

var later = noon.Add(time.Hour)

func TestAPatchChangesWhatItNamesAndReportsWhatWasThere(t *testing.T) {
	t.Parallel()
	oldBudget := event.F("budget", acme(company.Active).Budget.Fields())
	oldUpdate := event.F("updatedAt", "2026-04-11T11:00:00.000Z")
	for _, c := range []struct {
		name     string
		patch    company.Patch
		change   func(*company.Company)
		previous event.Fields
	}{
		{
			"name",
			company.Patch{Name: new(" Ajax ")},
			func(c *company.Company) { c.Name = "Ajax" },
			event.Fields{event.F("name", "Acme"), oldUpdate},
		},
		{
			"description",
			company.Patch{Settings: company.Settings{Description: new("")}},
			func(c *company.Company) { c.Description = "" },
			event.Fields{event.F("description", "Everything"), oldUpdate},
		},
		{
			"adapter",
			company.Patch{Settings: company.Settings{DefaultAdapter: new("process")}},
			func(c *company.Company) { c.DefaultAdapter = "process" },
			event.Fields{event.F("defaultAdapter", "http"), oldUpdate},
		},
		{
			"the fiscal period, which leaves the budget's alone",
			company.Patch{Settings: company.Settings{FiscalPeriod: new("daily")}},
			func(c *company.Company) { c.FiscalPeriod = budget.Daily },
			event.Fields{event.F("fiscalPeriod", "quarterly"), oldUpdate},
		},
		{
			"one figure of the budget",
			company.Patch{Settings: company.Settings{Budget: &budget.Change{USD: new(money.Number("0.5"))}}},
			func(c *company.Company) { c.Budget.USD = money.Dollar / 2 },
			event.Fields{oldBudget, oldUpdate},
		},
		{
			"the period of the budget",
			company.Patch{Settings: company.Settings{Budget: &budget.Change{Period: new("weekly")}}},
			func(c *company.Company) { c.Budget.Period = budget.Weekly },
			event.Fields{oldBudget, oldUpdate},
		},
		{
			"a pause of its work",
			company.Patch{WorkPaused: new(true)},
			func(c *company.Company) { c.WorkPaused = true },
			event.Fields{event.F("workPaused", false), oldUpdate},
		},
		{
			"several, one of them as it is",
			company.Patch{Name: new("Acme"), Settings: company.Settings{
				Description: new("All"), Budget: &budget.Change{ReservePercent: new(money.Number("0"))},
			}},
			func(c *company.Company) { c.Description, c.Budget.ReservePercent = "All", 0 },
			event.Fields{event.F("description", "Everything"), oldBudget, oldUpdate},
		},
	} {
		before := acme(company.Active)
		want := before
		c.change(&want)
		want.UpdatedAt, want.Version = later, before.Version+1

		got, updated, err := before.Apply(c.patch, adapters, later)
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v\n%s", c.name, err, diff)
			continue
		}
		wantEvent := event.Event{
			Company:  acmeID,
			Type:     event.CompanyUpdated,
			Subject:  event.Subject{Type: "company", ID: string(acmeID)},
			Data:     want.Fields(),
			Previous: c.previous,
		}
		if diff := cmp.Diff(&wantEvent, updated, cmp.Transformer("text", shown)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestAPatchThatChangesNothingIsNoEvent(t *testing.T) {
	t.Parallel()
	for name, patch := range map[string]company.Patch{
		"empty":        {},
		"empty budget": {Settings: company.Settings{Budget: &budget.Change{}}},
		"equal name":   {Name: new("  Acme ")},
		"equal figures": {Settings: company.Settings{
			Budget: &budget.Change{USD: new(money.Number("15e2")), ReservePercent: new(money.Number("12.50"))},
		}},
		"all of it": {Name: new("Acme"), WorkPaused: new(false), Settings: company.Settings{
			Description: new("Everything"), DefaultAdapter: new("http"), FiscalPeriod: new("quarterly"),
			Budget: &budget.Change{USD: new(money.Number("1500")), Period: new("monthly"), ReservePercent: new(money.Number("12.5"))},
		}},
	} {
		got, updated, err := acme(company.Active).Apply(patch, adapters, later)
		if got != acme(company.Active) || updated != nil || err != nil {
			t.Errorf("%s: %+v, %+v, %v", name, got, updated, err)
		}
	}
}

func TestACompanyKeepsAnAdapterThatIsNoLongerInstalled(t *testing.T) {
	t.Parallel()
	got, _, err := acme(company.Active).Apply(company.Patch{Name: new("Ajax")}, []string{"process"}, later)
	if err != nil || got.DefaultAdapter != "http" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEveryFieldOfAPatchObeysItsRule(t *testing.T) {
	t.Parallel()
	for _, c := range faults {
		if c.draftOnly {
			continue
		}
		var sent company.Draft
		c.sent(&sent)
		got, updated, err := acme(company.Active).Apply(
			company.Patch{Name: sent.Name, Settings: sent.Settings, Problems: sent.Problems}, adapters, later)
		faulttest.Check(t, c.name, err, c.want)
		if got != acme(company.Active) || updated != nil {
			t.Errorf("%s: refused, yet changed to %+v", c.name, got)
		}
	}
}

func TestReadOnlyFieldsAreReportedAlone(t *testing.T) {
	t.Parallel()
	patch := company.Patch{Name: new("")}
	want := "immutable_field"
	for _, field := range []string{
		"id", "slug", "createdAt", "updatedAt", "teamCount", "agentCount", "status", "startingTeams", "archivedAt", "restorableUntil",
	} {
		patch.Problems.Add(fault.Fieldf(field, fault.UnknownField, "there is no field %s", field))
		want += " " + field + ":immutable"
	}
	patch.Problems.Add(
		fault.Fieldf("colour", fault.UnknownField, "there is no field colour"),
		fault.Fieldf("budget.id", fault.UnknownField, "there is no field budget.id"),
		fault.Fieldf("description", fault.NotNull, "description must not be null"),
	)
	_, _, err := acme(company.Active).Apply(patch, adapters, later)
	faulttest.Check(t, "patch", err, want)
}

func TestOneCodeAnswersForAPatchInAnyState(t *testing.T) {
	t.Parallel()
	fine := company.Patch{Name: new("Ajax")}
	invalid := company.Patch{Name: new("")}
	immutable := company.Patch{Problems: fault.Problems{fault.Fieldf("slug", fault.UnknownField, "there is no field slug")}}
	for _, c := range []struct {
		status company.Status
		patch  company.Patch
		want   fault.Code
	}{
		{company.Active, fine, ""},
		{company.Active, invalid, fault.ValidationFailed},
		{company.Active, immutable, fault.ImmutableField},
		{company.Archived, fine, fault.CompanyArchived},
		{company.Archived, invalid, fault.CompanyArchived},
		{company.Archived, immutable, fault.CompanyArchived},
		{company.Deleting, fine, fault.InvalidTransition},
		{company.Deleting, invalid, fault.ValidationFailed},
		{company.Deleting, immutable, fault.ImmutableField},
	} {
		if _, _, err := acme(c.status).Apply(c.patch, adapters, later); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v; want %q", c.status, err, c.want)
		}
	}
}

// shown is what the API shows of fields, so that pointers and their values compare equal.
func shown(fields event.Fields) string {
	text, err := fields.MarshalJSON()
	if err != nil {
		return err.Error()
	}
	return string(text)
}
