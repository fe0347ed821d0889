package usage_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
	"holdco/domain/usage"
)

const sonnet = "claude-sonnet-4-5-20250929"

func TestWhatProgramsPrintIsUnderstood(t *testing.T) {
	t.Parallel()
	charge := func(usd int64, model string, tokens cost.Tokens) cost.Entry {
		return cost.Entry{Key: "usage-1", Kind: cost.LLM, USD: money.USD(usd), Model: model, Tokens: tokens, Calls: 1}
	}
	for _, c := range []struct {
		file    string
		kind    usage.Kind
		charges []cost.Entry
		isError bool
		message string
	}{
		{
			file: "claude.json", kind: usage.ClaudeJSON,
			charges: []cost.Entry{charge(187_345, sonnet, cost.Tokens{Input: 1244, Output: 2872, CacheRead: 86498, CacheWrite: 17606})},
		},
		{
			file: "claude-stream.jsonl", kind: usage.ClaudeJSON,
			charges: []cost.Entry{{
				Key: "usage-1", Kind: cost.LLM, USD: 26_675, Model: "of the agent", Calls: 2,
				Tokens: cost.Tokens{Input: 10, Output: 70, CacheRead: 6120, CacheWrite: 6330},
			}},
		},
		{
			file: "claude-verbose.json", kind: usage.ClaudeJSON,
			charges: []cost.Entry{charge(10_000, sonnet, cost.Tokens{Input: 3, Output: 20, CacheRead: 12000})},
		},
		{
			file: "claude-turns.json", kind: usage.ClaudeJSON, isError: true, message: "Reached maximum number of turns (40)",
			charges: []cost.Entry{
				charge(1_402_094, sonnet, cost.Tokens{Input: 2409, Output: 15946, CacheRead: 1617801, CacheWrite: 29104}),
			},
		},
		{
			file: "claude-error.json", kind: usage.ClaudeJSON, isError: true, message: "API Error: 401 Invalid authentication credentials",
			charges: []cost.Entry{charge(0, "of the agent", cost.Tokens{})},
		},
		{
			file: "codex.jsonl", kind: usage.CodexJSON,
			charges: []cost.Entry{{
				Key: "usage-1", Kind: cost.LLM, Model: "of the agent", Calls: 2, Unpriced: true,
				Session: "0199a213-81c0-7800-8aa1-bbab2a035a53",
				Tokens:  cost.Tokens{Input: 315, Output: 122, CacheRead: 24448},
			}},
		},
		{
			file: "codex-failed.jsonl", kind: usage.CodexJSON, isError: true,
			message: "stream disconnected before completion: the server closed the connection",
		},
		{
			file: "holdco.jsonl", kind: usage.HoldcoJSON,
			charges: []cost.Entry{
				{Key: "call-1", Kind: cost.LLM, USD: 12_500, Model: "claude-sonnet-4", Calls: 1},
				{
					Key: "usage-2", Kind: cost.LLM, Model: "gpt-5", Calls: 2, Unpriced: true,
					Tokens: cost.Tokens{Input: 1200, Output: 80, CacheRead: 400},
				},
				{Key: "usage-3", Kind: cost.Tools, USD: 2000, Calls: 1, Billing: "prepaid"},
			},
		},
		{file: "claude.json", kind: usage.None},
		{file: "claude.json", kind: usage.CodexJSON},
		{file: "codex.jsonl", kind: usage.HoldcoJSON},
		{file: "holdco.jsonl", kind: usage.ClaudeJSON},
	} {
		printed, err := os.ReadFile("testdata/" + c.file)
		if err != nil {
			t.Fatal(err)
		}
		for _, end := range []string{"\n", "", "\r\n", "\nBye\n"} {
			got := reported(c.kind, strings.TrimSuffix(string(printed), "\n")+end)
			if diff := cmp.Diff(c.charges, chargesOf(t, got)); diff != "" || got.Dropped != 0 {
				t.Errorf("%s as %s: %d dropped, %s", c.file, c.kind, got.Dropped, diff)
			}
			if got.IsError != c.isError || got.Message != c.message {
				t.Errorf("%s as %s: failed %t: %q", c.file, c.kind, got.IsError, got.Message)
			}
		}
	}
}

func TestWhatIsPrintedForPeopleIsUnderstood(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"claude.json", "claude-verbose.json", "claude-turns.json", "claude-error.json"} {
		printed, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		want := reported(usage.ClaudeJSON, string(printed))
		for _, indent := range []string{" ", "  ", "\t"} {
			var pretty bytes.Buffer
			if err := json.Indent(&pretty, printed, "", indent); err != nil {
				t.Fatal(err)
			}
			for _, before := range []string{"", "Hello {\n", "{\n", "{ it starts\n    at once\n"} {
				text := before + strings.TrimSpace(pretty.String())
				for _, all := range []string{text, text + "\nBye\n", strings.ReplaceAll(text, "\n", "\r\n"), text + "\n" + text} {
					if diff := cmp.Diff(want, reported(usage.ClaudeJSON, all)); diff != "" {
						t.Errorf("%s: %s", all, diff)
					}
				}
			}
		}
	}
}

// No charge comes of what cannot be one, and it is counted. What has nothing to do with costs is not.
func TestWhatCannotBeAChargeIsCounted(t *testing.T) {
	t.Parallel()
	claude := func(usd, more string) string {
		return `{"type":"result","subtype":"success","is_error":false,"total_cost_usd":` + usd + more + `}`
	}
	codex := func(usage string) string { return `{"type":"turn.completed","usage":` + usage + `}` }
	holdco := func(charge string) string { return `{"holdco":{"cost":` + charge + `}}` }
	for _, c := range []struct {
		kind             usage.Kind
		printed          string
		charges, dropped int
	}{
		{usage.ClaudeJSON, "", 0, 0},
		{usage.ClaudeJSON, "hello\n{}\n{\n{braces}\n[info] {started}\n[]\n[1,2]\n null \n\"text\"\n", 0, 0},
		{usage.ClaudeJSON, `{"type":"result","is_error":false}`, 0, 0},
		{usage.ClaudeJSON, claude("null", ""), 0, 0},
		{usage.ClaudeJSON, claude("0", ""), 1, 0},
		{usage.ClaudeJSON, claude(`"0.5"`, ""), 0, 1},
		{usage.ClaudeJSON, claude("-0.5", ""), 0, 1},
		{usage.ClaudeJSON, claude("1e400", ""), 0, 1},
		{usage.ClaudeJSON, claude("1e7", ""), 0, 1},
		{usage.ClaudeJSON, claude("1000000", ""), 1, 0},
		{usage.ClaudeJSON, claude("NaN", ""), 0, 1},
		{usage.ClaudeJSON, "{\n" + claude("0.5", ""), 1, 0},
		{usage.ClaudeJSON, "{ started\n  at main.go:7 {\n" + claude("0.5", ""), 1, 0},
		{usage.ClaudeJSON, "  {\n  " + claude("0.5", "") + ",\n", 1, 0},
		{usage.ClaudeJSON, "{\n\n  \"type\": \"result\",\n\n  \"total_cost_usd\": 0.5\n\n}\n", 1, 0},
		{usage.ClaudeJSON, "{\n  \"type\": \"result\",\n  \"total_cost_usd\": 0.5\nBye\n}\n", 0, 1},
		{usage.ClaudeJSON, "{\n  \"type\": \"result\",\n  \"total_cost_usd\": 0.5\n", 0, 1},
		{usage.ClaudeJSON, "{\n  \"type\": \"result\",\n  \"total_cost_usd\": 0.5,\n  \"result\": \"no\n\"}\n", 0, 1},
		{usage.ClaudeJSON, claude("0.5", `,"total_cost_usd":0.6`), 0, 1},
		{usage.ClaudeJSON, claude("0.5", "") + claude("0.6", ""), 0, 1},
		{usage.ClaudeJSON, strings.TrimSuffix(claude("0.5", ""), "}"), 0, 1},
		{usage.ClaudeJSON, claude("0.5", ",\n"), 0, 1},
		{usage.ClaudeJSON, claude("0.5", `,"usage":{"input_tokens":"7"}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"usage":{"input_tokens":-7}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"usage":{"input_tokens":1e400}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"usage":7`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":[]`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"usage":null,"modelUsage":{}`), 1, 0},
		{usage.ClaudeJSON, claude("0.5", `,"usage":{"input_tokens":1,"input_tokens":1}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":{"a":{},"a":{}}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":{"a":{"inputTokens":1,"inputTokens":1}}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":{"a":7}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"permission_denials":[{"a":1,"a":1}]`), 1, 0},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":{"a":{"inputTokens":1e9},"b":{"inputTokens":1e9}}`), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":{"`+strings.Repeat("m", 201)+`":{"inputTokens":1,"costUSD":0.5}}`), 1, 0},
		{usage.ClaudeJSON, claude("0.5", `,"modelUsage":{" ":{"inputTokens":1,"costUSD":0.5}}`), 1, 0},
		{usage.ClaudeJSON, claude("0.5", "") + "\n" + claude("true", ""), 1, 1},
		{usage.ClaudeJSON, claude("0.5", `,"result":"`+strings.Repeat("x", usage.MostObject)+`"`), 0, 1},
		{usage.ClaudeJSON, `{"result":"` + strings.Repeat("x", usage.MostObject) + `"}`, 0, 0},
		{usage.ClaudeJSON, strings.Repeat("x", usage.MostObject) + claude("0.5", ""), 0, 0},
		{usage.ClaudeJSON, "[" + claude("0.4", "") + "," + claude("0.5", ""), 1, 0},
		{usage.ClaudeJSON, "[" + claude("0.4", "") + ", {\n" + claude("0.5", ""), 1, 0},
		{usage.ClaudeJSON, `[{"text":"` + strings.Repeat("x", usage.MostObject) + `"},` + claude("0.5", "") + "]", 1, 0},
		{usage.ClaudeJSON, strings.Repeat("[", 100_000) + claude("0.5", ""), 0, 0},
		{usage.ClaudeJSON, `{"type":"result","deep":` + strings.Repeat("[", 100_000) + `,"total_cost_usd":1}`, 0, 1},

		{usage.CodexJSON, codex(`{"input_tokens":5,"cached_input_tokens":5,"output_tokens":1}`), 1, 0},
		{usage.CodexJSON, codex(`{"input_tokens":5}`), 1, 0},
		{usage.CodexJSON, codex(`{"input_tokens":5,"cached_input_tokens":6,"output_tokens":1}`), 0, 1},
		{usage.CodexJSON, codex(`{"input_tokens":"5","output_tokens":1}`), 0, 1},
		{usage.CodexJSON, codex(`{"input_tokens":5.5,"output_tokens":1}`), 0, 1},
		{usage.CodexJSON, codex(`{"input_tokens":5,"output_tokens":1e10}`), 0, 1},
		{usage.CodexJSON, codex(`{"input_tokens":5,"input_tokens":5}`), 0, 1},
		{usage.CodexJSON, codex(`{}`), 0, 1},
		{usage.CodexJSON, codex(`null`), 0, 1},
		{usage.CodexJSON, `{"type":"turn.completed"`, 0, 1},
		{usage.CodexJSON, `{"type":"item.completed","item":{"type":"command_execution"}}`, 0, 0},
		{
			usage.CodexJSON,
			`{"type":"thread.started","thread_id":"a"}` + "\n" + codex(`{"input_tokens":1e9}`) + "\n" +
				`{"type":"thread.started","thread_id":"b"}` + "\n" + codex(`{"input_tokens":1}`), 2, 0,
		},

		{usage.HoldcoJSON, `{"holdco":7}`, 0, 1},
		{usage.HoldcoJSON, `{"holdco":{"costs":[]}}`, 0, 1},
		{usage.HoldcoJSON, `{"holdco":{"cost":`, 0, 1},
		{usage.HoldcoJSON, holdco(`[]`), 0, 1},
		{usage.HoldcoJSON, holdco(`{}`), 0, 1},
		{usage.HoldcoJSON, holdco(`{"kind":"tools","usd":1}`), 1, 0},
		{usage.HoldcoJSON, holdco(`{"kind":"tools","usd":"1"}`), 0, 1},
		{usage.HoldcoJSON, holdco(`{"kind":"tools","usd":1,"more":1}`), 0, 1},
		{usage.HoldcoJSON, holdco(`{"kind":"tools","usd":1,"usd":1}`), 0, 1},
		{usage.HoldcoJSON, holdco(`{"kind":"tools","usd":1,"billing":"` + "\xff" + `"}`), 0, 1},
		{usage.HoldcoJSON, holdco(`{"key":"","kind":"tools","usd":1}`), 0, 1},
		{usage.HoldcoJSON, holdco(`{"key":"a","kind":"tools","usd":1}`) + "\n" + holdco(`{"key":"a","kind":"tools","usd":2}`), 1, 1},
		{usage.HoldcoJSON, holdco(`{"key":"usage-2","kind":"tools","usd":1}`) + "\n" + holdco(`{"kind":"tools","usd":1}`), 2, 0},
		{usage.HoldcoJSON, strings.Repeat(holdco(`{"kind":"tools","usd":1}`)+"\n", usage.MostCharges+2), usage.MostCharges, 2},
	} {
		got := reported(c.kind, c.printed)
		if len(chargesOf(t, got)) != c.charges || got.Dropped != c.dropped || got.IsError {
			t.Errorf("%s %.200s: %d charges, %d dropped; want %d, %d",
				c.kind, c.printed, len(got.Charges), got.Dropped, c.charges, c.dropped)
		}
	}
}

func TestTheLastResultOfClaudeCounts(t *testing.T) {
	t.Parallel()
	const first = `{"type":"result","subtype":"success","is_error":true,"result":"no","total_cost_usd":0.2}`
	const second = `{"type":"result","subtype":"success","is_error":false,"result":"yes","total_cost_usd":0.5}`
	got := reported(usage.ClaudeJSON, first+"\n"+second+"\n")
	if charges := chargesOf(t, got); len(charges) != 1 || charges[0].USD != 500_000 || got.IsError || got.Message != "" {
		t.Errorf("%+v", got)
	}
	got = reported(usage.ClaudeJSON, second+"\n"+first+"\n")
	if charges := chargesOf(t, got); len(charges) != 1 || charges[0].USD != 200_000 || !got.IsError || got.Message != "no" {
		t.Errorf("%+v", got)
	}
}

// Codex reports the usage of a thread from its beginning on with every turn.
func TestOfEachThreadOfCodexTheLastReportCounts(t *testing.T) {
	t.Parallel()
	thread := func(name string) string { return fmt.Sprintf(`{"type":"thread.started","thread_id":%q}`+"\n", name) }
	turn := func(input int) string {
		return fmt.Sprintf(`{"type":"turn.completed","usage":{"input_tokens":%d,"output_tokens":0}}`+"\n", input)
	}
	printed := thread("a") + turn(10) + turn(30) + thread("b") + turn(1) + thread("a") + turn(50)
	charges := chargesOf(t, reported(usage.CodexJSON, printed))
	if len(charges) != 2 || charges[0].Tokens.Input != 50 || charges[0].Calls != 3 || charges[0].Session != "a" ||
		charges[1].Tokens.Input != 1 || charges[1].Calls != 1 || charges[1].Session != "b" {
		t.Errorf("%+v", charges)
	}
	parser := usage.NewParser(usage.CodexJSON, usage.Options{})
	parser.Write([]byte(turn(1)))
	if charges := chargesOf(t, tell(parser)); len(charges) != 1 || charges[0].Model != "codex" || !charges[0].Unpriced {
		t.Errorf("without a model: %+v", charges)
	}
}

func TestOnlyTheLastTurnOfCodexFailsTheRun(t *testing.T) {
	t.Parallel()
	const failed, started = `{"type":"turn.failed","error":{"message":"no"}}` + "\n", `{"type":"turn.started"}` + "\n"
	const completed, trouble = `{"type":"turn.completed","usage":{"input_tokens":1}}` + "\n", `{"type":"error","message":"oops"}` + "\n"
	for printed, want := range map[string]string{
		started + failed:                                          "true no",
		started + trouble + failed:                                "true no",
		started + failed + started:                                "false ",
		started + failed + started + completed:                    "false ",
		started + trouble:                                         "false oops",
		started + trouble + completed:                             "false ",
		started + trouble + `{"type":"turn.failed","error":null}`: "true oops",
	} {
		if got := reported(usage.CodexJSON, printed); fmt.Sprint(got.IsError, " ", got.Message) != want {
			t.Errorf("%s: %t %q; want %s", printed, got.IsError, got.Message, want)
		}
	}
}

func TestAMessageIsProseOfBoundedLength(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		`"result":" \u001b[31mno\u0000 way\n"`:                    "[31mno way",
		`"result":"\ud83d"`:                                       "\ufffd",
		`"result":"","errors":["a",7,"b"]`:                        "a\nb",
		`"result":7,"errors":"a"`:                                 "error_during_execution",
		`"result":"` + strings.Repeat("ö", 3000) + `"`:            strings.Repeat("ö", usage.MessageLength),
		`"errors":["` + strings.Repeat("\\u0001", 10) + `"]`:      "error_during_execution",
		`"result":"` + strings.Repeat("\\ufeff ", 5000) + `done"`: strings.Repeat("\ufeff ", usage.MessageLength/2),
	} {
		got := reported(usage.ClaudeJSON, `{"type":"result","subtype":"error_during_execution",`+sent+`}`)
		if !got.IsError || got.Message != want || !utf8.ValidString(got.Message) || got.Dropped != 0 {
			t.Errorf("%.50s: %q", sent, got.Message)
		}
	}
}

// However the output is cut into pieces, and however often the report is asked for, it says the same.
func TestPiecesOfOutputMakeNoDifference(t *testing.T) {
	t.Parallel()
	var lines []string
	for _, printed := range captures(t) {
		lines = append(lines, strings.SplitAfter(string(printed), "\n")...)
	}
	lines = append(lines, "{\n", "  \"type\": \"result\",\n", "  \"total_cost_usd\": 0.5\n", "  \"a\": {\n", "  }\n", "}\n")
	lines = append(lines, "\n", "Hello {\n", "[info] x\n", `[{"type":"result",`, "\xff\r\n", "]\n",
		`{"holdco":{"cost":{"kind":"tools","usd":1}}}`)
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom(usage.Kinds).Draw(t, "kind")
		printed := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 12).Draw(t, "lines"), "")
		if from := rapid.IntRange(0, len(printed)).Draw(t, "from"); rapid.Bool().Draw(t, "is cut") {
			printed = printed[from:]
		}
		want := reported(kind, printed)
		parser := usage.NewParser(kind, usage.Options{Model: "of the agent"})
		most := rapid.SampledFrom([]int{1, 3, 40, 5000}).Draw(t, "most")
		for rest := printed; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, most).Draw(t, "piece"))
			piece := []byte(rest[:n])
			parser.Write(piece)
			clear(piece) // nothing of it may be kept
			rest = rest[n:]
		}
		if first, second := parser.Report(noon), parser.Report(noon); !cmp.Equal(first, second) {
			t.Fatalf("%q: %+v, then %+v", printed, first, second)
		}
		if diff := cmp.Diff(want, tell(parser)); diff != "" {
			t.Fatalf("%q: %s", printed, diff)
		}
	})
}

func FuzzParser(f *testing.F) {
	for _, printed := range captures(f) {
		f.Add(printed, 7)
	}
	f.Fuzz(func(t *testing.T, printed []byte, cut int) {
		for _, kind := range usage.Kinds {
			want := reported(kind, string(printed))
			chargesOf(t, want)
			parser := usage.NewParser(kind, usage.Options{Model: "of the agent"})
			at := min(max(cut, 0), len(printed))
			parser.Write(printed[:at])
			parser.Write(printed[at:])
			if diff := cmp.Diff(want, tell(parser)); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// Not parallel: it measures the memory of the process.
func TestAParserKeepsLittleOfWhatAProgramWrites(t *testing.T) {
	for name, piece := range map[string]string{
		"a line without end":    "{" + strings.Repeat("x", 1<<16),
		"text without end":      strings.Repeat("x", 1<<16),
		"lines without end":     "{\n" + strings.Repeat("  \"a\":1,\n", 1<<13),
		"a list without end":    `[{"a":"` + strings.Repeat("x", 1<<16),
		"items without end":     strings.Repeat(`{"a":1},`, 1<<13),
		"turns without end":     strings.Repeat(`{"type":"turn.completed","usage":{"input_tokens":1}}`+"\n", 1<<10),
		"messages without end":  strings.Repeat(`{"type":"error","message":"`+strings.Repeat("x", 1<<10)+`"}`+"\n", 1<<6),
		"large objects":         `{"a":"` + strings.Repeat("x", 1<<20) + `"}` + "\n",
		"objects of many names": "{" + strings.Repeat(`"a":1,`, 1<<14),
	} {
		parser := usage.NewParser(usage.CodexJSON, usage.Options{})
		before := inUse()
		if strings.HasPrefix(name, "items") {
			parser.Write([]byte("["))
		}
		for range 2 * usage.MostObject / len(piece) {
			parser.Write([]byte(piece))
		}
		if after := inUse(); after > before+3*usage.MostObject {
			t.Errorf("%s: %d bytes are kept", name, after-before)
		}
		parser.Report(noon)
	}
}

func inUse() uint64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// told is all that a parser says of a run.
type told struct {
	usage.Report

	Charges []cost.Draft
}

// reported is what a parser says of a run that printed this at once.
func reported(kind usage.Kind, printed string) told {
	parser := usage.NewParser(kind, usage.Options{Model: "of the agent"})
	parser.Write([]byte(printed))
	return tell(parser)
}

// noon is when runs of these tests end.
var noon = time.Date(2026, 9, 4, 12, 0, 0, 0, time.UTC)

// tell is the end of a run.
func tell(parser *usage.Parser) told { return tellAt(parser, noon) }

func tellAt(parser *usage.Parser, now time.Time) told {
	all := told{Report: parser.Report(now)}
	for due := parser.Due(7); len(due) > 0; due = parser.Due(7) {
		all.Charges = append(all.Charges, due...)
		var problems fault.Problems
		parser.Charged(cost.Parse(due, nil, &problems)...)
	}
	return all
}

// chargesOf are the charges of a run, which must be valid and have keys of their own.
func chargesOf(t *testing.T, all told) (entries []cost.Entry) {
	t.Helper()
	keys := map[string]bool{}
	for _, draft := range all.Charges {
		var problems fault.Problems
		parsed := cost.Parse([]cost.Draft{draft}, nil, &problems)
		if len(problems) > 0 {
			t.Fatalf("%+v: %v", draft, problems)
		}
		entry := parsed[0]
		if keys[entry.Key] {
			t.Errorf("two charges have the key %s", entry.Key)
		}
		keys[entry.Key] = true
		entries = append(entries, entry)
	}
	return entries
}

func jsonOf(value any) string {
	written, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(written)
}

// captures are the outputs of programs in testdata.
func captures(t testing.TB) (printed [][]byte) {
	t.Helper()
	for _, pattern := range []string{"testdata/*.json*", "testdata/real/*"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			printed = append(printed, content)
		}
	}
	return printed
}
