package anyjson_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"holdco/domain/anyjson"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
)

func TestJSONIsKeptWithoutInsignificantSpace(t *testing.T) {
	t.Parallel()
	deep := func(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }
	for sent, want := range map[string]string{
		" { \"n\" : [1.0, 1e400] }\n":        `{"n":[1.0,1e400]}`,
		`"ö\u0000"`:                          `"ö\u0000"`,
		`null`:                               `null`,
		deep(31):                             deep(31),
		"[" + strings.Repeat(" ", 100) + "]": `[]`,
		``:                                   "invalid_format",
		`{`:                                  "invalid_format",
		`1 2`:                                "invalid_format",
		`{"a":1,"a":2}`:                      "invalid_format",
		"\"\xff\"":                           "invalid_format",
		`"\ud83d"`:                           "invalid_format",
		deep(32):                             "invalid_format",
		`"` + deep(32) + `"`:                 "too_long",
	} {
		var problems fault.Problems
		got := anyjson.Check("data", []byte(sent), 62, &problems)
		if len(problems) > 0 {
			got = problems[0].Code
		}
		if got != want {
			t.Errorf("%s: %s, want %s", sent, got, want)
		}
	}
	var problems fault.Problems
	if got := anyjson.Check("data", nil, 1, &problems); got != "" || problems != nil {
		t.Errorf("nothing was sent: %s, %v", got, problems)
	}
	anyjson.Check("data", []byte("x"), 1, &problems)
	faulttest.Check(t, "a refusal", fault.Validation(problems), "validation_failed data:invalid_format")
}

func TestJSONIsTakenApart(t *testing.T) {
	t.Parallel()
	members, err := anyjson.Members([]byte(`{"a\u0062": {"c": 1, "c": 2}, "d":[] }`))
	if got := fmt.Sprintf("%s %v", members, err); got != `[{ab {"c": 1, "c": 2}} {d []}] <nil>` {
		t.Error(got)
	}
	items, err := anyjson.Items([]byte(`[1, "a", {}]`))
	if got := fmt.Sprintf("%s %v", items, err); got != `[1 "a" {}] <nil>` {
		t.Error(got)
	}
	many := "{"
	for n := range anyjson.MostMembers + 1 {
		many += fmt.Sprintf(`"%d":0,`, n)
	}
	for sent, want := range map[string]error{
		`{"a":1,"\u0061":2}`: anyjson.ErrDuplicate, many: anyjson.ErrManyMembers, `{"a":1`: nil, `{} 1`: nil, `{"a"}`: nil,
	} {
		if got, err := anyjson.Members([]byte(sent)); got != nil || err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%.50s: %v, %v", sent, got, err)
		}
	}
	if got, err := anyjson.Items([]byte(`[1,`)); got != nil || err == nil {
		t.Errorf("%v, %v", got, err)
	}
}

func TestKeptJSONIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for kept, want := range map[string]string{"": "null", `{"b":1,"a":1}`: `{"b":1,"a":1}`} {
		if got, err := json.Marshal(anyjson.Shown(kept)); string(got) != want || err != nil {
			t.Errorf("%s, %v", got, err)
		}
	}
}
