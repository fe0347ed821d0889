package httpkit_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
)

func TestBodiesAreReadByValue(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ body, read string }{
		{`{}`, `{"name":null,"tags":null}`},
		{`{"name":"x","tags":[]}`, `{"name":"x","tags":[]}`},
		{`{"name":"","tags":["a","b"]}`, `{"name":"","tags":["a","b"]}`},
		{`{"count":3}`, `{"name":null,"count":3,"tags":null}`},
		{`{"count":3.000}`, `{"name":null,"count":3,"tags":null}`},
		{`{"count":-30e-1}`, `{"name":null,"count":-3,"tags":null}`},
		{`{"count":9223372036854775807}`, `{"name":null,"count":9223372036854775807,"tags":null}`},
		{`{"price":0.10}`, `{"name":null,"price":"0.10","tags":null}`},
		{`{"price":1e400}`, `{"name":null,"price":"1e400","tags":null}`},
		{`{"until":null}`, `{"name":null,"tags":null}`},
		{`{"until":"x"}`, `{"name":null,"until":"x","tags":null}`},
		{`{"end":null}`, `{"name":null,"end":null,"tags":null}`},
		{`{"end":"x"}`, `{"name":null,"end":"x","tags":null}`},
		{`{"wanted":false}`, `{"name":null,"wanted":false,"tags":null}`},
		{`{"part":{"name":"p","sub":{"name":"s"}}}`, `{"name":null,"part":{"name":"p","sub":{"name":"s"}},"tags":null}`},
		{`{"parts":[{},{"name":"p"}]}`, `{"name":null,"parts":[{"name":null},{"name":"p"}],"tags":null}`},
	} {
		value, problems := httpkit.Decode[thing]([]byte(c.body))
		read, err := json.Marshal(value)
		if err != nil || problems != nil || string(read) != c.read {
			t.Errorf("%s is read as %s, %v, %v", c.body, read, problems, err)
		}
	}
	if value, problems := httpkit.Decode[thing](nil); value.Name != nil || problems != nil {
		t.Errorf("no body is read as %+v, %v", value, problems)
	}
}

func TestAnyJSONIsPassedOnAsItWasSent(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"b": 1e3, "a":[null]}`, `[ ]`, `"\u0041"`, `1.50`, `true`, `false`} {
		if value, problems := httpkit.Decode[thing]([]byte(`{"any":` + text + `}`)); string(value.Any) != text || problems != nil {
			t.Errorf("%s is read as %s, %v", text, value.Any, problems)
		}
	}
	for _, absent := range []string{`{}`, `{"any":null}`} {
		if value, problems := httpkit.Decode[thing]([]byte(absent)); value.Any != nil || problems != nil {
			t.Errorf("%s is read as %s, %v", absent, value.Any, problems)
		}
	}
}

func TestAllProblemsOfABodyAreListed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		body string
		want map[string]string
	}{
		{`{"nope":{"a":[1]},"Name":"x","":1}`, map[string]string{"nope": "unknown_field", "Name": "unknown_field", "": "unknown_field"}},
		{`{"name":1,"count":"1","price":"1","wanted":"true","part":[],"parts":{},"tags":"a"}`, map[string]string{
			"name": "wrong_type", "count": "wrong_type", "price": "wrong_type", "wanted": "wrong_type",
			"part": "wrong_type", "parts": "wrong_type", "tags": "wrong_type",
		}},
		{`{"name":null,"count":null,"price":null,"wanted":null,"part":null,"parts":null,"tags":null}`, map[string]string{
			"name": "not_null", "count": "not_null", "price": "not_null", "wanted": "not_null",
			"part": "not_null", "parts": "not_null", "tags": "not_null",
		}},
		{`{"end":5}`, map[string]string{"end": "wrong_type"}},
		{`{"count":3.5}`, map[string]string{"count": "wrong_type"}},
		{`{"count":9223372036854775808}`, map[string]string{"count": "out_of_range"}},
		{`{"count":-1e999999999999}`, map[string]string{"count": "out_of_range"}},
		{`{"part":{"name":5,"sub":{"sub":{"nope":1}}}}`,
			map[string]string{"part.name": "wrong_type", "part.sub.sub.nope": "unknown_field"}},
		{`{"parts":[{"name":"a"},{"name":5},null,"x"],"tags":["a",1,null]}`, map[string]string{
			"parts.1.name": "wrong_type", "parts.2": "not_null", "parts.3": "wrong_type", "tags.1": "wrong_type", "tags.2": "not_null",
		}},
	} {
		value, problems := httpkit.Decode[thing]([]byte(c.body))
		got := map[string]string{}
		for _, p := range problems {
			got[p.Path] = p.Code
			if !strings.HasPrefix(p.Message, p.Path+" ") {
				t.Errorf("%s: the message %q", c.body, p.Message)
			}
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s: %s", c.body, diff)
		}
		if value.Name != nil || value.Count != nil || value.Price != nil {
			t.Errorf("%s: a field at fault was read: %+v", c.body, value)
		}
	}
}

func TestABodyFullOfFaultsCostsLittle(t *testing.T) {
	t.Parallel()
	var body strings.Builder
	body.WriteString(`{"tags":[`)
	for i := range 100_000 {
		body.WriteString(strconv.Itoa(i) + ",")
	}
	body.WriteString(`"last"]}`)
	value, problems := httpkit.Decode[thing]([]byte(body.String()))
	if len(problems) != 1000 || len(value.Tags) != 100_001 {
		t.Errorf("%d problems, %d tags", len(problems), len(value.Tags))
	}
}

func FuzzBody(f *testing.F) {
	for _, body := range []string{
		`{"name":"x","count":1e2,"price":0.1,"part":{"sub":{}},"parts":[null],"tags":["a"]}`,
		`{"a":1,"a":2}`, `[]`, `{"x":[[[]]]}`, `{"name":"\ud800"}`, "{\"\x00\":null} x", `{"count":-0e-9999999999999}`,
	} {
		f.Add(body)
	}
	k := newKit(f)
	f.Fuzz(func(t *testing.T, body string) {
		answer := k.ask("POST", "/things", body)
		switch {
		case answer.status == 200 && json.Valid([]byte(body)):
		case answer.status == 422 && len(answer.Error.Details.Fields) > 0 && answer.Error.Code == string(fault.ValidationFailed):
		case answer.status == 400 && answer.Error.Code == string(fault.InvalidJSON):
		case answer.status == 413 || answer.status == 415 && body == "":
		default:
			t.Errorf("%q: %d %s", body, answer.status, answer.text)
		}
	})
}
