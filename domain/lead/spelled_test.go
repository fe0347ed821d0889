package lead_test

import (
	"reflect"
	"testing"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

func TestFiltersThatAskForTheSameHaveOneText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, time.April, 11, 12, 0, 0, 0, time.UTC)
	one := lead.Filter{
		Campaigns: []id.Campaign{spring, autumn}, Verticals: []id.Vertical{dental}, HasWebsite: new(true), MinRating: new(lead.Rating(400)),
		Since: at, Domain: "acme.example", View: lead.View{NoContacts: true},
	}
	same := one
	same.Campaigns, same.Since = []id.Campaign{autumn, spring, autumn}, at.In(time.FixedZone("", 7200))
	same.MinRating, same.View = new(lead.Rating(400)), lead.View{}
	const want = "\ndomain=acme.example\ncampaign_id=cam_autumn,cam_spring\nvertical_id=vrt_dental\nhas_website=true\n" +
		"min_google_rating=4\nsince=2026-04-11T12:00:00.000Z"
	if one.Text() != want || same.Text() != want || (lead.Filter{}).Text() != "" {
		t.Errorf("%q; %q", one.Text(), same.Text())
	}
	if none := (lead.CampaignFilter{}).Text() + (lead.RemovedQuery{}).Text(); none != "" {
		t.Errorf("what asks for nothing has the text %q", none)
	}
}

// A condition that is left out of the text would let a cursor go on with another filter.
func TestEachConditionIsInTheText(t *testing.T) {
	t.Parallel()
	for _, of := range []any{&lead.Filter{}, &lead.CampaignFilter{}, &lead.RemovedQuery{}} {
		filter := reflect.ValueOf(of).Elem()
		texts := map[string]string{filter.Addr().Interface().(interface{ Text() string }).Text(): "nothing"}
		for i := range filter.NumField() {
			name := filter.Type().Field(i).Name
			switch name {
			case "None", "View", "After", "Skip", "Size": // are not sent as conditions
				continue
			}
			one := reflect.New(filter.Type()).Elem()
			set(one.Field(i))
			text := one.Addr().Interface().(interface{ Text() string }).Text()
			if before, taken := texts[text]; taken {
				t.Errorf("%s with %s has the text of %s: %q", filter.Type(), name, before, text)
			}
			texts[text] = name
		}
	}
}

// set gives a value that is not the zero value to a field.
func set(field reflect.Value) {
	switch field.Kind() {
	case reflect.String:
		field.SetString("x")
	case reflect.Bool:
		field.SetBool(true)
	case reflect.Int16, reflect.Int64:
		field.SetInt(3)
	case reflect.Pointer:
		field.Set(reflect.New(field.Type().Elem()))
		set(field.Elem())
	case reflect.Slice:
		field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		set(field.Index(0))
	case reflect.Struct:
		field.Set(reflect.ValueOf(time.Date(2026, time.April, 11, 0, 0, 0, 0, time.UTC)))
	default:
		panic("a condition of another kind: " + field.Kind().String())
	}
}
