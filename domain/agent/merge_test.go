package agent_test

import (
	"strings"
	"testing"

	"holdco/domain/agent"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
)

// configured is the configuration of an agent that had one, after a patch, and what is wrong with the patch.
func configured(before agent.Config, patch string) (agent.Config, error) {
	a := ada(agent.Active)
	a.Adapter, a.AdapterConfig = "http", before
	next, _, err := a.Apply(agent.Patch{Settings: agent.Settings{AdapterConfig: new([]byte(patch))}}, admin, later)
	return next.AdapterConfig, err
}

func TestAConfigurationIsMerged(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, patch, want string }{
		// The examples of RFC 7396, those of objects within others.
		{`{"v":{"a":"b"}}`, `{"v":{"a":"c"}}`, `{"v":{"a":"c"}}`},
		{`{"v":{"a":"b"}}`, `{"v":{"b":"c"}}`, `{"v":{"a":"b","b":"c"}}`},
		{`{"v":{"a":"b"}}`, `{"v":{"a":null}}`, `{"v":{}}`},
		{`{"v":{"a":"b","b":"c"}}`, `{"v":{"a":null}}`, `{"v":{"b":"c"}}`},
		{`{"v":{"a":["b"]}}`, `{"v":{"a":"c"}}`, `{"v":{"a":"c"}}`},
		{`{"v":{"a":"c"}}`, `{"v":{"a":["b"]}}`, `{"v":{"a":["b"]}}`},
		{`{"v":{"a":{"b":"c"}}}`, `{"v":{"a":{"b":"d","c":null}}}`, `{"v":{"a":{"b":"d"}}}`},
		{`{"v":{"a":[{"b":"c"}]}}`, `{"v":{"a":[1]}}`, `{"v":{"a":[1]}}`},
		{`{"v":["a","b"]}`, `{"v":["c","d"]}`, `{"v":["c","d"]}`},
		{`{"v":{"a":"b"}}`, `{"v":["c"]}`, `{"v":["c"]}`},
		{`{"v":{"a":"foo"}}`, `{"v":null}`, `{}`},
		{`{"v":{"a":"foo"}}`, `{"v":"bar"}`, `{"v":"bar"}`},
		{`{"v":{"e":null}}`, `{"v":{"a":1}}`, `{"v":{"e":null,"a":1}}`},
		{`{"v":[1,2]}`, `{"v":{"a":"b","c":null}}`, `{"v":{"a":"b"}}`},
		{`{"v":{}}`, `{"v":{"a":{"bb":{"ccc":null}}}}`, `{"v":{"a":{"bb":{}}}}`},

		// Order: what is there stays in its place, what is new follows.
		{`{"z":1,"m":2,"a":3}`, `{"b":4,"m":5,"A":6,"z":null}`, `{"m":5,"a":3,"b":4,"A":6}`},
		{`{}`, `{"z":{"y":1,"x":2},"a":1}`, `{"z":{"y":1,"x":2},"a":1}`},

		// What is within a list is no patch.
		{`{}`, `{"args":[null,{"a":null},[null]]}`, `{"args":[null,{"a":null},[null]]}`},

		// Texts and numbers stay as they were sent, and space goes.
		{`{}`, `{"a":"<b> & 'c' / \u00e9 \/ \u2028 ` + "\u2028" + `"}`, `{"a":"<b> & 'c' / \u00e9 \/ \u2028 ` + "\u2028" + `"}`},
		{`{}`, `{"<&>":1e400,"n":-0.10,"big":12345678901234567890123}`, `{"<&>":1e400,"n":-0.10,"big":12345678901234567890123}`},
		{`{"a":1}`, " {\n\t\"b\" : [ 1 , { \"c d\" : \" e \" } ] ,\r\n \"f\" : { } } ", `{"a":1,"b":[1,{"c d":" e "}],"f":{}}`},

		// A name is one however it is spelled, and keeps its first spelling.
		{`{"a":1,"\u0062":2}`, `{"\u0061":3,"b":null}`, `{"a":3}`},
		{`{}`, `{"\u0061":1,"":2}`, `{"\u0061":1,"":2}`},
	} {
		if got, err := configured(agent.Config(c.before), c.patch); string(got) != c.want || err != nil {
			t.Errorf("%s with %s: %s, %v; want %s", c.before, c.patch, got, err, c.want)
		}
	}
}

func TestAConfigurationHasBounds(t *testing.T) {
	t.Parallel()
	const before = `{"a":1}`
	fits := strings.Repeat("x", agent.ConfigSize-len(`{"a":1,"b":""}`))
	for patch, want := range map[string]string{
		`{"b":"` + fits + `"}`:               "",
		`{"b":"` + fits + `x"}`:              fault.TooLong,
		`{"b":   "` + fits + `"}`:            "", // without insignificant space
		`{"a":null,"b":"` + fits + `xxxxx"}`: "", // it counts what results
		`[]`:                                 fault.WrongType,
		`null`:                               fault.WrongType,
		`{"a":}`:                             fault.WrongType,
		``:                                   fault.WrongType,
		`{"a":1}}`:                           fault.WrongType,
	} {
		got, err := configured(before, patch)
		faulttest.Check(t, patch[:min(len(patch), 20)], err, refused("adapterConfig", want))
		if err != nil && got != before {
			t.Errorf("%.20s: %.40s, %v", patch, got, err)
		}
	}
}

func TestReferencesToSecretsAreRefusedAtAnyDepth(t *testing.T) {
	t.Parallel()
	for patch, reference := range map[string]bool{
		`{"secret":"name"}`:                     true,
		`{"a":{"secret":"name"}}`:               true,
		`{"a":{"secret":""}}`:                   true,
		`{"a":{"\u0073ecret":"name"}}`:          true,
		`{"a":[1,[{"secret":"name"}]]}`:         true,
		`{"a":{"b":{"c":[{},{"secret":"x"}]}}}`: true,
		`{"a":1,"b":{"secret":"x"},"c":2}`:      true,
		`{"a":{"x":1,"y":{"secret":"x"}}}`:      true,
		strings.Repeat(`{"a":`, 31) + `{"secret":"x"}` + strings.Repeat(`}`, 31): true,

		`{"secret":"name","other":1}`:       false,
		`{"a":{"other":1,"secret":"name"}}`: false,
		`{"secret":1}`:                      false,
		`{"secret":["x"]}`:                  false,
		`{"secret":{}}`:                     false,
		`{"secret":null}`:                   false,
		`{"Secret":"name"}`:                 false,
		`{"a":["secret","name"]}`:           false,
		`{"a":[{},"secret","name"]}`:        false,
		`{"a":"{\"secret\":\"name\"}"}`:     false,
	} {
		_, err := configured(agent.NoConfig, patch)
		want := ""
		if reference {
			want = fault.UnknownValue
		}
		faulttest.Check(t, patch, err, refused("adapterConfig", want))
	}
	// A reference is what results, not what was sent.
	_, err := configured(`{"a":{"secret":"name","other":1}}`, `{"a":{"other":null}}`)
	faulttest.Check(t, "what is left", err, refused("adapterConfig", fault.UnknownValue))
	if got, err := configured(`{"a":{"other":1}}`, `{"a":{"secret":"name"}}`); err != nil || got != `{"a":{"other":1,"secret":"name"}}` {
		t.Errorf("%s, %v", got, err)
	}
}
