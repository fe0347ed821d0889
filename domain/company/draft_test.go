package company_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/money"
	"holdco/domain/team"
)

func TestANewCompanyHasDefaults(t *testing.T) {
	t.Parallel()
	want := company.Founding{Company: company.Company{
		ID:             acmeID,
		Slug:           "acme",
		Name:           "Acme",
		DefaultAdapter: "process",
		FiscalPeriod:   budget.Monthly,
		Budget:         budget.Budget{Period: budget.Monthly},
		LeaseEpoch:     1,
		Status:         company.Active,
		CreatedAt:      noon,
		UpdatedAt:      noon,
		Version:        1,
	}}
	got, created, err := found(draft(nil))
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatalf("%v\n%s", err, diff)
	}
	checkEvent(t, created, event.CompanyCreated, got.Company)
}

func TestANewCompanyIsWhatWasSent(t *testing.T) {
	t.Parallel()
	got, _, err := found(draft(func(d *company.Draft) {
		d.Name = new(" Acme\u00a0Inc. ")
		d.Description = new("Line\nby line")
		d.DefaultAdapter = new("http")
		d.FiscalPeriod = new("weekly")
		d.Budget = &budget.Change{USD: new(money.Number("1.5e3")), ReservePercent: new(money.Number("12.50"))}
		d.Problems = fault.Problems{}
	}))
	c := got.Company
	if err != nil || c.Name != "Acme\u00a0Inc." || c.Description != "Line\nby line" || c.DefaultAdapter != "http" ||
		c.FiscalPeriod != budget.Weekly {
		t.Errorf("%+v, %v", c, err)
	}
	if want := (budget.Budget{USD: 1500 * money.Dollar, Period: budget.Weekly, ReservePercent: 12_50}); c.Budget != want {
		t.Errorf("budget %+v; want %+v", c.Budget, want)
	}
}

func TestTheBudgetMayHaveAPeriodOfItsOwn(t *testing.T) {
	t.Parallel()
	got, _, err := found(draft(func(d *company.Draft) {
		d.FiscalPeriod = new("quarterly")
		d.Budget = &budget.Change{Period: new("daily")}
	}))
	if err != nil || got.Company.FiscalPeriod != budget.Quarterly || got.Company.Budget.Period != budget.Daily {
		t.Errorf("%+v, %v", got.Company, err)
	}
}

func TestACompanyStartsWithItsTeamsAndEmptySlots(t *testing.T) {
	t.Parallel()
	got, created, err := found(draft(func(d *company.Draft) {
		d.StartingTeams = []team.Draft{
			{Name: new("Sales"), Headcount: new(int64(2))},
			{Name: new("Research"), Headcount: new(int64(0))},
			{Name: new("Support"), Headcount: new(int64(1))},
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got.Company.TeamCount != 3 || got.Company.AgentCount != 0 || len(got.Teams) != 3 || len(got.Slots) != 3 {
		t.Fatalf("%+v", got)
	}
	checkEvent(t, created, event.CompanyCreated, got.Company)
	for i, want := range []int{0, 0, 2} {
		if slot := got.Slots[i]; slot.Team != got.Teams[want].ID || slot.Company != acmeID || slot.Status() != team.Empty {
			t.Errorf("slot %d: %+v", i, slot)
		}
	}

	none, _, err := found(draft(func(d *company.Draft) { d.StartingTeams = []team.Draft{} }))
	if err != nil || none.Teams == nil || none.Slots == nil || none.Company.TeamCount != 0 {
		t.Errorf("no team was sent, in a list: %+v, %v", none, err)
	}
	most, _, err := found(draft(func(d *company.Draft) { d.StartingTeams = teams(company.MostStartingTeams) }))
	if err != nil || most.Company.TeamCount != company.MostStartingTeams {
		t.Errorf("as many teams as allowed: %+v, %v", most.Company, err)
	}
}

// faults are the rules of single fields. A patch can break those of them that are not only of a draft.
var faults = []struct {
	name      string
	sent      func(*company.Draft)
	draftOnly bool
	want      string // as checkRefusal spells it
}{
	{
		name: "no slug", draftOnly: true, want: "validation_failed slug:required",
		sent: func(d *company.Draft) { d.Slug = nil },
	},
	{
		name: "empty slug", draftOnly: true, want: "validation_failed slug:invalid_format",
		sent: func(d *company.Draft) { d.Slug = new("") },
	},
	{
		name: "slug with capitals", draftOnly: true, want: "validation_failed slug:invalid_format",
		sent: func(d *company.Draft) { d.Slug = new("Acme") },
	},
	{
		name: "long slug", draftOnly: true, want: "validation_failed slug:invalid_format",
		sent: func(d *company.Draft) { d.Slug = new(strings.Repeat("a", 64)) },
	},
	{
		name: "no name", draftOnly: true, want: "validation_failed name:required",
		sent: func(d *company.Draft) { d.Name = nil },
	},
	{
		name: "blank name", want: "validation_failed name:required",
		sent: func(d *company.Draft) { d.Name = new(" ") },
	},
	{
		name: "long name", want: "validation_failed name:too_long",
		sent: func(d *company.Draft) { d.Name = new(strings.Repeat("ö", 201)) },
	},
	{
		name: "name of two lines", want: "validation_failed name:invalid_characters",
		sent: func(d *company.Draft) { d.Name = new("a\nb") },
	},
	{
		name: "long description", want: "validation_failed description:too_long",
		sent: func(d *company.Draft) { d.Description = new(strings.Repeat("ö", 4001)) },
	},
	{
		name: "description with NUL", want: "validation_failed description:invalid_characters",
		sent: func(d *company.Draft) { d.Description = new("\x00") },
	},
	{
		name: "unknown period", want: "validation_failed fiscalPeriod:unknown_value",
		sent: func(d *company.Draft) { d.FiscalPeriod = new("yearly") },
	},
	{
		name: "empty period", want: "validation_failed fiscalPeriod:unknown_value",
		sent: func(d *company.Draft) { d.FiscalPeriod = new("") },
	},
	{
		name: "unknown period of the budget", want: "validation_failed budget.period:unknown_value",
		sent: func(d *company.Draft) { d.Budget = &budget.Change{Period: new("Daily")} },
	},
	{
		name: "budget with 7 decimals", want: "validation_failed budget.usd:too_precise",
		sent: func(d *company.Draft) { d.Budget = &budget.Change{USD: new(money.Number("0.0000001"))} },
	},
	{
		name: "budget of too much", want: "validation_failed budget.usd:out_of_range",
		sent: func(d *company.Draft) { d.Budget = &budget.Change{USD: new(money.Number("1000000000.000001"))} },
	},
	{
		name: "budget below zero", want: "budget_invalid budget.usd:out_of_range",
		sent: func(d *company.Draft) { d.Budget = &budget.Change{USD: new(money.Number("-0.01"))} },
	},
	{
		name: "reserve above 100", want: "budget_invalid budget.reservePercent:out_of_range",
		sent: func(d *company.Draft) { d.Budget = &budget.Change{ReservePercent: new(money.Number("100.01"))} },
	},
	{
		name: "unknown adapter", want: "adapter_not_installed",
		sent: func(d *company.Draft) { d.DefaultAdapter = new("fax") },
	},
	{
		name: "empty adapter", want: "adapter_not_installed",
		sent: func(d *company.Draft) { d.DefaultAdapter = new("") },
	},
	{
		name: "too many teams", draftOnly: true, want: "validation_failed startingTeams:too_many",
		sent: func(d *company.Draft) { d.StartingTeams = teams(company.MostStartingTeams + 1) },
	},
	{
		name: "two teams of one name", draftOnly: true, want: "validation_failed startingTeams.2.name:duplicate",
		sent: func(d *company.Draft) {
			d.StartingTeams = append(teams(2), team.Draft{Name: new("TEAM 1"), Headcount: new(int64(1))})
		},
	},
	{
		name: "a form that is wrong", want: "validation_failed colour:unknown_field",
		sent: func(d *company.Draft) {
			d.Problems = fault.Problems{fault.Fieldf("colour", fault.UnknownField, "there is no field colour")}
		},
	},
}

func TestEveryFieldOfADraftObeysItsRule(t *testing.T) {
	t.Parallel()
	for _, c := range faults {
		_, _, err := found(draft(c.sent))
		faulttest.Check(t, c.name, err, c.want)
	}
}

func TestBoundsBelongToWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for name, sent := range map[string]func(*company.Draft){
		"slug":        func(d *company.Draft) { d.Slug = new(strings.Repeat("a", 63)) },
		"name":        func(d *company.Draft) { d.Name = new(strings.Repeat("ö", 200)) },
		"description": func(d *company.Draft) { d.Description = new(strings.Repeat("ö", 4000)) },
		"budget": func(d *company.Draft) {
			d.Budget = &budget.Change{USD: new(money.Number("1e9")), ReservePercent: new(money.Number("100.00"))}
		},
	} {
		if _, _, err := found(draft(sent)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAllThatIsWrongWithADraftIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, _, err := found(company.Draft{
		Name: new("\x00"),
		StartingTeams: []team.Draft{
			{},
			{Name: new("Sales"), Headcount: new(int64(-1))},
			{Name: new("sales"), Headcount: new(int64(1))},
		},
		Settings: company.Settings{
			Description:    new("\x00"),
			DefaultAdapter: new("fax"),
			FiscalPeriod:   new("yearly"),
			Budget: &budget.Change{
				USD: new(money.Number("-1")), Period: new("never"), ReservePercent: new(money.Number("200")),
			},
		},
		Problems: fault.Problems{
			fault.Fieldf("slug", fault.WrongType, "slug must be a string"),
			fault.Fieldf("colour", fault.UnknownField, "there is no field colour"),
		},
	})
	faulttest.Check(t, "everything", err, "validation_failed slug:wrong_type colour:unknown_field name:invalid_characters "+
		"fiscalPeriod:unknown_value description:invalid_characters budget.period:unknown_value "+
		"startingTeams.0.name:required startingTeams.0.headcount:required startingTeams.1.headcount:out_of_range "+
		"startingTeams.2.name:duplicate budget.usd:out_of_range budget.reservePercent:out_of_range")
}

func TestOneCodeAnswersForSeveralFaults(t *testing.T) {
	t.Parallel()
	badBudget := &budget.Change{USD: new(money.Number("-1"))}
	for _, c := range []struct {
		name string
		sent company.Settings
		code fault.Code
	}{
		{"fields before the budget", company.Settings{FiscalPeriod: new("yearly"), Budget: badBudget}, fault.ValidationFailed},
		{"fields before the adapter", company.Settings{FiscalPeriod: new("yearly"), DefaultAdapter: new("fax")}, fault.ValidationFailed},
		{"the budget before the adapter", company.Settings{Budget: badBudget, DefaultAdapter: new("fax")}, fault.BudgetInvalid},
	} {
		if _, _, err := found(draft(func(d *company.Draft) { d.Settings = c.sent })); fault.CodeOf(err) != c.code {
			t.Errorf("%s: a draft gives %v", c.name, err)
		}
		if _, _, err := acme(company.Active).Apply(company.Patch{Settings: c.sent}, adapters, noon); fault.CodeOf(err) != c.code {
			t.Errorf("%s: a patch gives %v", c.name, err)
		}
	}
}

func TestAnAdapterThatIsNotInstalledIsNamedWithThoseThatAre(t *testing.T) {
	t.Parallel()
	_, _, err := found(draft(func(d *company.Draft) { d.DefaultAdapter = new("fax") }))
	want := map[string]any{"adapter": "fax", "installed": adapters}
	if diff := cmp.Diff(want, fault.Of(err).Details); diff != "" {
		t.Error(diff)
	}
}

func TestADraftIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	problems := append(make(fault.Problems, 0, 10), fault.Fieldf("colour", fault.UnknownField, "there is no field colour"))
	for range 2 {
		_, _, err := found(company.Draft{Problems: problems})
		faulttest.Check(t, "draft", err, "validation_failed colour:unknown_field slug:required name:required")
	}
	if after := problems[:2][1]; after != (fault.Field{}) {
		t.Errorf("the problems of the draft were added to: %v", after)
	}
}

// draft is the least that founds a company, changed by sent.
func draft(sent func(*company.Draft)) company.Draft {
	d := company.Draft{Slug: new("acme"), Name: new("Acme")}
	if sent != nil {
		sent(&d)
	}
	return d
}

func found(d company.Draft) (company.Founding, event.Event, error) {
	return company.New(acmeID, d, adapters, new(counter), noon)
}

// teams are n drafts: Team 0, Team 1, ...
func teams(n int) []team.Draft {
	drafts := make([]team.Draft, n)
	for i := range drafts {
		drafts[i] = team.Draft{Name: new(fmt.Sprintf("Team %d", i)), Headcount: new(int64(0))}
	}
	return drafts
}

// counter is a source of ids that counts.
type counter uint64

func (c *counter) UUIDv7() (uuid [16]byte) {
	*c++
	binary.BigEndian.PutUint64(uuid[8:], uint64(*c))
	return uuid
}
