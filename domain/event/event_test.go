package event_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/event"
	"holdco/domain/money"
)

func TestTheCategoryGroupsTypes(t *testing.T) {
	t.Parallel()
	for what, want := range map[event.Type]string{
		event.CompanyCreated: "company", event.CompanyDeleted: "company", event.CompanyBudgetBreach: "budget", event.CostAdjusted: "budget",
		event.PriceSet: "budget", event.IssueStarted: "task", event.TokenRotated: "token",
	} {
		if got := what.Category(); got != want {
			t.Errorf("%s: %s; want %s", what, got, want)
		}
	}
}

func TestAnAuditShowsCategoriesThatEventsHave(t *testing.T) {
	for _, one := range event.Audited {
		if !slices.Contains(event.Categories(), one) {
			t.Errorf("no event has the category %s", one)
		}
	}
}

func TestAnEventGetsItsActor(t *testing.T) {
	t.Parallel()
	nobodys := event.Event{Type: event.TokenRevoked}
	if got := nobodys.By("token:tok_1"); got.Actor != "token:tok_1" || got.Type != event.TokenRevoked || nobodys.Actor != "" {
		t.Errorf("%+v, %+v", got, nobodys)
	}
}

func TestFieldsAreWrittenInTheirOrder(t *testing.T) {
	t.Parallel()
	fields := event.Fields{
		event.F("z", "text with \"quotes\" and <tags>"),
		event.F("a", 7),
		event.F("nothing", nil),
		event.F("missing", (*string)(nil)),
		event.F("yes", true),
		event.F("usd", money.USD(1_500_000)),
		event.F("list", []string{"x", "y"}),
		event.F("nested", event.Fields{event.F("b", 1), event.F("a", 2)}),
	}
	got, err := json.Marshal(fields)
	want := `{"z":"text with \"quotes\" and \u003ctags\u003e","a":7,"nothing":null,"missing":null,"yes":true,"usd":1.5,` +
		`"list":["x","y"],"nested":{"b":1,"a":2}}`
	if string(got) != want || err != nil {
		t.Errorf("%s, %v; want %s", got, err, want)
	}
	if got, err := json.Marshal(event.Fields{}); string(got) != "{}" || err != nil {
		t.Errorf("no fields: %s, %v", got, err)
	}
	if got, err := json.Marshal(event.Fields{event.F("broken", func() {})}); err == nil {
		t.Errorf("what is no JSON is written as %s", got)
	}
}

func TestChangedFieldsKeepTheirOldValues(t *testing.T) {
	t.Parallel()
	then := event.Fields{
		event.F("name", "Acme"),
		event.F("count", 1),
		event.F("at", new("noon")),
		event.F("budget", event.Fields{event.F("usd", money.Dollar), event.F("period", "daily")}),
		event.F("scopes", []string{"read"}),
	}
	for _, c := range []struct {
		name string
		now  event.Fields
		want event.Fields
	}{
		{
			"equal values under other pointers",
			event.Fields{then[0], then[1], event.F("at", new("noon")),
				event.F("budget", event.Fields{event.F("usd", money.Dollar), event.F("period", "daily")}),
				event.F("scopes", []string{"read"})},
			nil,
		},
		{
			"one, and one within another",
			event.Fields{event.F("name", "Ajax"), then[1], then[2],
				event.F("budget", event.Fields{event.F("usd", money.Dollar), event.F("period", "weekly")}), then[4]},
			event.Fields{then[0], then[3]},
		},
		{
			"to nothing",
			event.Fields{then[0], then[1], event.F("at", (*string)(nil)), then[3], event.F("scopes", []string{})},
			event.Fields{then[2], then[4]},
		},
		{"fewer fields", then[:3], event.Fields{then[3], then[4]}},
	} {
		if diff := cmp.Diff(c.want, then.Changed(c.now)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// door is a resource.
type door struct {
	open    bool
	version int
}

func (d door) Fields() event.Fields {
	return event.Fields{event.F("open", d.open), event.F("version", d.version), event.F("color", "red")}
}

func TestAnUpdateRecordsTheFormerValuesOfWhatChanged(t *testing.T) {
	t.Parallel()
	record := func(next *door) event.Event {
		next.version++
		return event.Event{Type: event.CompanyUpdated, Data: next.Fields()}
	}
	shut, opened := door{version: 1}, door{open: true, version: 1}
	if next, updated := event.Update(shut, shut, record); next != shut || updated != nil {
		t.Errorf("without a change: %+v, %+v", next, updated)
	}
	next, updated := event.Update(shut, opened, record)
	want := event.Event{
		Type: event.CompanyUpdated, Data: door{true, 2}.Fields(),
		Previous: event.Fields{event.F("open", false), event.F("version", 1)},
	}
	if diff := cmp.Diff(&want, updated); diff != "" || next != (door{true, 2}) {
		t.Errorf("%+v: %s", next, diff)
	}
}

func TestValuesAreSpelledAsEncodingJSONDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.Just("\xff<&>\u2028\u2029\x7f\b\f\"\\/"), rapid.Just("")).Draw(t, "text")
		number := rapid.Int64().Draw(t, "number")
		for _, value := range []any{
			text, &text, []string{text, ""}, []string{}, []string(nil), number, int(number), number > 0, nil, (*string)(nil), (*int)(nil),
			money.USD(number), &number, map[string]string{text: text}, 1.5,
		} {
			var want bytes.Buffer
			encoder := json.NewEncoder(&want)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(map[string]any{"v": value}); err != nil {
				t.Fatal(err)
			}
			if got := event.F("v", value); string(event.Fields{got}.Append(nil))+"\n" != want.String() {
				t.Errorf("%#v: %s, want %s", value, event.Fields{got}.Append(nil), &want)
			}
		}
	})
	list := event.Fields{event.F("list", []event.Fields{{event.F("a", 1)}, {}}), event.F("none", []event.Fields(nil))}
	if got := string(list.Append([]byte("before "))); got != `before {"list":[{"a":1},{}],"none":null}` {
		t.Error(got)
	}
}
