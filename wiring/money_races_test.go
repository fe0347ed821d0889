package wiring_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// statuses are those of answers, in ascending order.
func statuses(answers []resttest.Answer) string {
	var all []string
	for _, answer := range answers {
		all = append(all, fmt.Sprint(answer.Status))
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// limitOf is the limit of a scope of a company, as it is shown.
func (s *instance) limitOf(t *testing.T, in company, scope string) string {
	t.Helper()
	found := resttest.Data[[]struct{ LimitUsd any }](t, s.In(t).Get(in.path()+"/budgets?scope="+scope))
	if len(found) != 1 {
		t.Fatalf("%d budgets of %s", len(found), scope)
	}
	return fmt.Sprint(found[0].LimitUsd)
}

func TestTheReserveIsGivenOnce(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		for n := range 4 {
			in := s.create(t, named(fmt.Sprint("acme-", n)))
			s.Patch(in.path(), `{"budget":{"usd":100,"reservePercent":20}}`).Is(t, 200, "")
			of := s.found(t, in, `{"name":"Sales","headcount":0,"budget":{"usd":40}}`)
			topup := func(usd string) func() resttest.Answer {
				return func() resttest.Answer {
					return s.Post(in.path()+"/costs/topup", `{"teamId":"`+of.ID+`","usd":`+usd+`}`)
				}
			}
			// Any two of them are more than the reserve.
			both := race(topup("10.000001"), topup("1e1"), topup("11"))
			given := slices.IndexFunc(both, func(one resttest.Answer) bool { return one.Status == 200 })
			if got := statuses(both); got != "200 422 422" {
				t.Fatalf("the topups got %s", got)
			}
			want := [][2]string{{"90.000001", "50.000001"}, {"90", "50"}, {"91", "51"}}[given]
			if ofCompany, ofTeam := s.limitOf(t, in, "company"), s.limitOf(t, in, "team"); ofCompany != want[0] || ofTeam != want[1] {
				t.Errorf("the limits are %s and %s, want %v", ofCompany, ofTeam, want)
			}

			// A smaller budget has a smaller reserve, of which not enough is left: the topup was before that, or is refused.
			both = race(topup("8"), func() resttest.Answer { return s.Patch(in.path(), `{"budget":{"usd":80}}`) })
			both[1].Is(t, 200, "")
			isGiven := both[0].Status == 200
			if !isGiven {
				both[0].Is(t, 422, "reserve_exhausted")
			}
			ofCompany, ofTeam := map[bool][]string{ // of 80 are 16 reserved
				false: {"74.000001", "74", "75"}, true: {"80", "80", "80"},
			}[isGiven][given], map[bool][]string{false: {"50.000001", "50", "51"}, true: {"58.000001", "58", "59"}}[isGiven][given]
			if gotCompany, gotTeam := s.limitOf(t, in, "company"), s.limitOf(t, in, "team"); gotCompany != ofCompany || gotTeam != ofTeam {
				t.Errorf("given: %t. The limits are %s and %s, want %s and %s", isGiven, gotCompany, gotTeam, ofCompany, ofTeam)
			}
		}
	})
}

func TestCorrectionsAtOnceLeaveNoEntryBelowNothing(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		p := s.pays(t)
		for _, entry := range s.entries(t, p.company, "&agent="+p.by[1].ID+"&kind=llm") { // it costs 2 dollars
			adjust := func() resttest.Answer {
				return s.Post(p.path()+"/costs/adjust", `{"entryId":"`+entry.ID+`","usd":-0.700001,"reason":"Credit"}`)
			}
			if got := statuses(race(adjust, adjust, adjust, adjust)); got != "200 200 422 422" {
				t.Errorf("the corrections got %s", got)
			}
		}
		if got := s.costsOf(t, p.company, "").Breakdown.Llm; got != "1.599998" { // of 3
			t.Errorf("models cost %s", got)
		}
	})
}

func TestAChargeIsCountedOnceWhoeverSendsIt(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in, _, all := s.workers(t, 2)
		ada, eve := all[0], all[1]
		s.file(t, in, `,"assignedAgentId":"`+ada.ID+`"`)
		lease := ada.claim(t, "")
		sends := func(by worker, key, usd string) func() resttest.Answer {
			return func() resttest.Answer {
				return by.Post(lease.path()+"/costs", lease.body(`"costs":[{"key":"`+key+`","kind":"tools","usd":`+usd+`}]`))
			}
		}
		for n, usd := range []string{"0", "0.000001", "1e-6", "1e3", "1E+3", "999999.999999", "1000000"} {
			key := fmt.Sprint("same-", n)
			same := race(sends(ada, key, usd), sends(ada, key, usd), sends(ada, key, usd))
			duplicates := 0
			for _, answer := range same {
				answer.Is(t, 200, "")
				told := resttest.Data[struct{ Entries []struct{ Duplicate bool } }](t, answer)
				if told.Entries[0].Duplicate {
					duplicates++
				}
			}
			if duplicates != 2 {
				t.Errorf("%d of %d are duplicates", duplicates, len(same))
			}
			// A key means one charge: of two others that are sent at once, one counts.
			key = fmt.Sprint("other-", n)
			if got := statuses(race(sends(ada, key, "0.25"), sends(ada, key, "0.250001"))); got != "200 409" {
				t.Errorf("two charges under one key got %s", got)
			}
			sends(eve, key, "0.25")().Is(t, 404, "not_found")
		}
		for usd, want := range map[string]string{
			"1000000.000001": "out_of_range", "-0.000001": "out_of_range", "-1E-7": "out_of_range", "1e400": "out_of_range",
		} {
			body := lease.body(`"costs":[{"key":"refused","kind":"tools","usd":` + usd + `}]`)
			refused := send(ada.Client, "POST", lease.path()+"/costs", body)
			refused.Is(t, 422, "validation_failed")
			if got := strings.Join(wrong(refused), ","); got != "costs.0.usd "+want {
				t.Errorf("%s: %s", usd, got)
			}
		}
		if got := len(s.entries(t, in, "")); got != 14 {
			t.Errorf("%d entries", got)
		}
	})
}
