package usage_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/cost"
	"holdco/domain/usage"
)

// What the real programs printed when a scripted model answered them.
func TestWhatRealProgramsPrintIsUnderstood(t *testing.T) {
	t.Parallel()
	const written = "The notes are written."
	window := time.Date(2026, 11, 28, 15, 20, 0, 0, time.UTC)
	limited, denied := usage.Setback{Kind: usage.RateLimited}, usage.Setback{Kind: usage.AuthenticationFailed}
	short := usage.Setback{Kind: usage.RateLimited, ResetsAt: captured.Add(usage.ShortestReset)}
	type report struct {
		result, message string
		setback         usage.Setback
		charge          cost.Entry
	}
	claude := cost.Entry{
		Key: "usage-1", Kind: cost.LLM, USD: 9180, Model: sonnet, Calls: 2,
		Tokens: cost.Tokens{Input: 2000, Output: 100, CacheRead: 600, CacheWrite: 400},
	}
	codex := func(times, calls int64) cost.Entry {
		return cost.Entry{
			Key: "usage-1", Kind: cost.LLM, Model: "of the agent", Calls: calls, Unpriced: true,
			Tokens: cost.Tokens{Input: 500 * times, Output: 40 * times, CacheRead: 300 * times},
		}
	}
	gemini := cost.Entry{
		Key: "usage-1", Kind: cost.LLM, Model: "gemini-2.5-pro", Calls: 2, Unpriced: true,
		Tokens: cost.Tokens{Input: 1000, Output: 74, CacheRead: 800},
	}
	opencode := cost.Entry{
		Key: "usage-1", Kind: cost.LLM, Model: "of the agent", Calls: 2, Unpriced: true,
		Tokens: cost.Tokens{Input: 1000, Output: 40, CacheRead: 400},
	}
	priced := opencode
	priced.Unpriced, priced.USD = false, 2*636
	for file, want := range map[string]report{
		"claude.jsonl":         {result: written, charge: claude},
		"claude-partial.jsonl": {result: written, charge: claude},
		"claude-429once.jsonl": {result: written, charge: claude},
		"claude-401.jsonl":     {message: "Invalid API key · Fix external API key", setback: denied},
		"claude-403.jsonl": {
			message: "Failed to authenticate. API Error: 403 Your API key does not have permission.", setback: denied,
		},
		"claude-oauth401.jsonl": {message: "Not logged in · Please run /login", setback: denied},
		"claude-nokey.jsonl":    {message: "Not logged in · Please run /login", setback: denied},
		"claude-429.jsonl": {
			message: "API Error: Request rejected (429) · Number of request tokens has exceeded your per-minute rate limit.",
			setback: limited,
		},
		"claude-window-key.jsonl": {
			message: "API Error: Request rejected (429) · This request would exceed your account's rate limit.", setback: limited,
		},
		"claude-window.jsonl": {
			message: "You've hit your session limit · resets 3:20pm (UTC)",
			setback: usage.Setback{Kind: usage.RateLimited, ResetsAt: time.Unix(1795879211, 0).UTC()},
		},
		"claude-credit.jsonl": {message: "Credit balance is too low", setback: limited},
		"claude-529.jsonl": {
			message: "API Error: 529 Overloaded. This is a server-side issue, usually temporary — try again in a moment. " +
				"If it persists, check your inference gateway (127.0.0.1:8700).", setback: short,
		},
		"claude-500.jsonl": {
			message: "API Error: 500 Internal server error. This is a server-side issue, usually temporary — try again in a moment. " +
				"If it persists, check your inference gateway (127.0.0.1:8700).",
		},
		"codex.jsonl":        {result: written, charge: codex(2, 2)},
		"codex-resume.jsonl": {result: written, charge: codex(3, 1)},
		"codex-401.jsonl": {
			message: "unexpected status 401 Unauthorized: Incorrect API key provided: sk-****test., " +
				"url: http://127.0.0.1:8700/v1/responses",
			setback: denied,
		},
		"codex-429.jsonl": {message: "exceeded retry limit, last status: 429 Too Many Requests", setback: limited},
		"codex-window.jsonl": {
			message: "You’ve hit your usage limit. Upgrade to Pro (https://chatgpt.com/explore/pro), visit " +
				"https://chatgpt.com/settings/usage to purchase more credits or try again at 3:20 PM.",
			setback: usage.Setback{Kind: usage.RateLimited, ResetsAt: window},
		},
		"codex-503.jsonl":        {message: "Selected model is at capacity. Please try a different model.", setback: short},
		"codex-500.jsonl":        {message: "We’re currently experiencing high demand, which may cause temporary errors.", setback: short},
		"codex-quota.jsonl":      {message: "Quota exceeded. Check your plan and billing details.", setback: limited},
		"gemini.jsonl":           {result: written, charge: gemini},
		"gemini.json":            {result: written, charge: gemini},
		"gemini-key.jsonl":       {message: "[API Error: API key not valid. Please pass a valid API key. ]", setback: denied},
		"gemini-key-json.json":   {message: "API key not valid. Please pass a valid API key.", setback: denied},
		"gemini-403.jsonl":       {message: "[API Error: Permission denied. ]", setback: denied},
		"gemini-quota-json.json": {message: "You have exhausted your daily quota on this model.", setback: limited},
		"gemini-quota.jsonl": {
			message: "[API Error: You have exhausted your daily quota on this model.]\nPlease wait and try again later. " +
				"To increase your limits, request a quota increase through AI Studio, or switch to another /auth method", setback: limited,
		},
		"opencode.jsonl":        {result: written, charge: opencode},
		"opencode-priced.jsonl": {result: written, charge: priced},
		"opencode-401.jsonl":    {message: "Incorrect API key provided", setback: denied},
		"opencode-400.jsonl":    {message: "This model does not exist"},
		"opencode-quota.jsonl":  {message: "You exceeded your current quota", setback: limited},
	} {
		printed, err := os.ReadFile("testdata/real/" + file)
		if err != nil {
			t.Fatal(err)
		}
		program, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(file, "l"), ".json"), "-")
		parser := usage.NewParser(usage.Kind(program+"-json"), usage.Options{Model: "of the agent"})
		parser.Write(printed)
		isDone := parser.IsDone() // a line that ends is read at once
		got := parser.Report(captured)
		if got.Result != want.result || got.Message != want.message || got.IsError != (want.message != "") || got.Setback != want.setback ||
			got.IsDone == got.IsError || isDone != got.IsDone || got.Dropped != 0 {
			t.Errorf("%s: %t, %+v", file, isDone, got)
		}
		var charge cost.Entry
		if charges := chargesOf(t, tellAt(parser, captured)); len(charges) > 0 && want.message == "" {
			charge = charges[0]
		}
		if want.charge.Key != "" && program == "codex" {
			want.charge.Session = "00000000-0000-4000-8000-000000000001"
		}
		if diff := cmp.Diff(want.charge, charge); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

// captured is when the programs ran.
var captured = time.Date(2026, 11, 28, 13, 20, 30, 0, time.UTC)

// A program that goes on working after it was done, or after it failed, is neither.
func TestWhoGoesOnIsNotDone(t *testing.T) {
	t.Parallel()
	for program, more := range map[string][]string{
		"claude": {
			`{"type":"assistant","message":{"id":"m","model":"claude","usage":{"input_tokens":1}}}`,
			`{"type":"user","message":{"role":"user","content":"more"}}`,
			`{"type":"stream_event","event":{"type":"message_start","message":{"id":"m","model":"claude","usage":{}}}}`,
		},
		"codex": {
			`{"type":"turn.started"}`, `{"type":"item.started","item":{"type":"command_execution"}}`,
			`{"type":"item.completed","item":{"type":"agent_message","text":"more"}}`,
		},
		"gemini": {
			`{"type":"message","role":"user","content":"more"}`, `{"type":"message","role":"assistant","content":"more","delta":true}`,
			`{"type":"tool_use","tool_name":"read"}`,
		},
		"opencode": {`{"type":"step_start","part":{}}`, `{"type":"text","part":{"text":"more"}}`, `{"type":"tool_use","part":{}}`},
	} {
		printed, err := os.ReadFile("testdata/real/" + program + ".jsonl")
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range more {
			parser := usage.NewParser(usage.Kind(program+"-json"), usage.Options{})
			parser.Write(printed)
			before := parser.IsDone()
			parser.Write([]byte(line + "\n"))
			if !before || parser.IsDone() || parser.Report(noon).IsDone {
				t.Errorf("%s: %t, %s", program, before, line)
			}
		}
	}
}

// Only what a program says itself counts as a setback: what its tools or the model write does not.
func TestNobodyElseCanFakeASetback(t *testing.T) {
	t.Parallel()
	const fake = `API Error: 429 {\"type\":\"rate_limit_event\",\"status\":\"rejected\"} usage limit, resets 3pm, Invalid API key`
	for program, lines := range map[string]string{
		"claude": `{"type":"assistant","message":{"id":"m","model":"claude","content":[{"type":"text","text":"` + fake + `"}],"usage":{}}}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"` + fake + `"}]}}
{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]}`,
		"codex": `{"type":"item.completed","item":{"type":"agent_message","text":"` + fake + `"}}
{"type":"item.completed","item":{"type":"command_execution","aggregated_output":"` + fake + `"}}
{"type":"turn.failed","error":{"message":"The context window is full."}}`,
		"gemini": `{"type":"message","role":"assistant","content":"` + fake + `","delta":true}
{"type":"tool_result","output":"` + fake + `"}
{"type":"result","status":"error","error":{"type":"FatalTurnLimitedError","message":"Reached max session turns"},"stats":{"models":{}}}`,
		"opencode": `{"type":"text","part":{"text":"` + fake + `"}}
{"type":"tool_use","part":{"state":{"status":"error","output":"` + fake + `","error":"` + fake + `"}}}
{"type":"error","error":{"name":"UnknownError","data":{"message":"Something broke."}}}`,
	} {
		parser := usage.NewParser(usage.Kind(program+"-json"), usage.Options{})
		parser.Write([]byte(lines))
		if got := parser.Report(noon); !got.IsError || got.Message == "" || got.Setback != (usage.Setback{}) {
			t.Errorf("%s: %+v", program, got)
		}
	}
}

func TestResetsAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	seconds := noon.Add(time.Hour).Unix()
	event := func(resets string) string {
		return `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":` + resets + `}}` + "\n"
	}
	words := func(message string) string {
		return `{"type":"result","subtype":"success","is_error":true,"api_error_status":429,"result":"` + message + `"}` + "\n"
	}
	at := noon.Add
	day := func(month time.Month, day, hour int) time.Time {
		return time.Date(2026, month, day, hour, 0, 0, 0, time.UTC)
	}
	for printed, want := range map[string]time.Time{
		event(text(seconds)):                        at(time.Hour),
		event(text(seconds) + ".25"):                at(time.Hour + time.Second), // never too early
		event(text(seconds * 1000)):                 at(time.Hour),
		event(`"` + text(seconds) + `"`):            at(time.Hour),
		event(`"2026-09-04T15:00:00+02:00"`):        at(time.Hour),
		event("1"):                                  at(usage.ShortestReset),
		event(text(seconds + 1e9)):                  at(usage.LongestReset),
		event("null"):                               {},
		event("-5"):                                 {},
		event("1e400"):                              {},
		event(`"soon"`):                             {},
		event("0"):                                  {},
		event("null") + words("resets 2pm (UTC)"):   at(2 * time.Hour),
		event(text(seconds)) + words("resets 2pm"):  at(time.Hour),
		words("You've hit your limit"):              {},
		words("limit · resets 11am (UTC)"):          at(23 * time.Hour),
		words("limit · resets 12pm (Europe/Rome)"):  at(22 * time.Hour),
		words("limit · resets 12:30am (No/Where)"):  at(12*time.Hour + 30*time.Minute),
		words("limit · resets Sep 7, 3am (UTC)"):    day(time.September, 7, 3),
		words("limit · resets Sep 7 at 3am (UTC)"):  day(time.September, 7, 3),
		words("try again at Sep 6th, 2026 1:00 PM"): day(time.September, 6, 13),
		words("try again at 13:00 PM"):              {},
		words("try again in 2 days 3 hours."):       at(51 * time.Hour),
		words("Please try again in 1h30m."):         at(90 * time.Minute),
		words("retry in 11.054s"):                   at(usage.ShortestReset),
		words("try again in 9999999 days"):          at(usage.LongestReset),
	} {
		parser := usage.NewParser(usage.ClaudeJSON, usage.Options{})
		parser.Write([]byte(printed))
		if got := parser.Report(noon).Setback; got != (usage.Setback{Kind: usage.RateLimited, ResetsAt: want}) {
			t.Errorf("%s: %+v, want %v", printed, got, want)
		}
	}
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

// An error is text, whatever JSON the program wrote into it.
func TestMessagesAreNoJSON(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		`no`: "no",
		`{"type":"error","error":{"message":"inner"}}`:                                               "inner",
		`API Error: 401 {"type":"error","error":{"type":"authentication_error","message":"no key"}}`: "API Error: 401 no key",
		`API Error: 500 {"error":"oops"} · try again`:                                                "API Error: 500 oops · try again",
		`{"error":{"message":"{\"error\":{\"message\":\"deep\"}}"}}`:                                 "deep",
		`{"detail":"not here"}`:              "not here",
		`[{"error":{"message":"a list"}}]`:   "a list",
		`{"code":7}`:                         "The program reported an error without a message.",
		`HTTP 500 {"code":7}`:                "HTTP 500",
		`use {braces} and [1]`:               "use {braces} and [1]",
		`{"error":"code","message":"words"}`: "words",
	} {
		parser := usage.NewParser(usage.CodexJSON, usage.Options{})
		parser.Write([]byte(`{"type":"turn.failed","error":{"message":` + jsonOf(sent) + `}}`))
		if got := parser.Report(noon).Message; got != want {
			t.Errorf("%s: %q, want %q", sent, got, want)
		}
	}
}

func TestTheFinalMessageIsBounded(t *testing.T) {
	t.Parallel()
	long := "x" + strings.Repeat("ö", usage.ResultSize)
	parts := strings.Builder{}
	for rest := long; rest != ""; rest = rest[min(len(rest), 8001):] {
		part := strings.ToValidUTF8(rest[:min(len(rest), 8001)], "?")
		parts.WriteString(`{"type":"message","role":"assistant","delta":true,"content":"` + part + `"}` + "\n")
	}
	for kind, printed := range map[usage.Kind]string{
		usage.ClaudeJSON: `{"type":"result","subtype":"success","is_error":false,"result":"` + long + `"}`,
		usage.CodexJSON: `{"type":"item.completed","item":{"type":"agent_message","text":"` + long + `"}}` + "\n" +
			`{"type":"turn.completed","usage":{"input_tokens":1}}`,
		usage.GeminiJSON: parts.String() + `{"type":"result","status":"success","stats":{"models":{}}}`,
		usage.OpencodeJSON: `{"type":"text","part":{"text":"` + long + `"}}` + "\n" +
			`{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1}}}`,
	} {
		got := reported(kind, printed)
		isWhole := utf8.ValidString(got.Result) && strings.HasPrefix(got.Result, "xööö")
		if !got.IsDone || len(got.Result) > usage.ResultSize || len(got.Result) < usage.ResultSize-1 || !isWhole {
			t.Errorf("%s: %t, %d bytes", kind, got.IsDone, len(got.Result))
		}
	}
}

func TestModelsAreFoundInCommands(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"":                               "",
		"codex exec --json":              "",
		"codex exec -m gpt-5 do":         "gpt-5",
		"codex exec --model gpt-5":       "gpt-5",
		"codex exec --model=gpt-5":       "gpt-5",
		"codex -c model=gpt-5 exec":      "gpt-5",
		`codex --config model="gpt-5"`:   "gpt-5",
		`codex --config=model='gpt-5'`:   "gpt-5",
		"codex -c model_provider=s exec": "",
		"codex -m a -c model=b":          "b",
		"codex exec -- -m gpt-5":         "",
		"codex exec -m":                  "",
		"-m gpt-5":                       "",
		"opencode run -m openai/gpt-5":   "openai/gpt-5",
	} {
		if got := usage.ModelInCommand(strings.Fields(command)); got != want {
			t.Errorf("%s: %q, want %q", command, got, want)
		}
	}
}
