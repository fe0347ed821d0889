package price_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"holdco/domain/fault"
	"holdco/domain/price"
)

// litellm has what LiteLLM's file has.
const litellm = `{
	"sample_spec": {"input_cost_per_token": "a number", "litellm_provider": 7},
	"fallback_generalizations": {"rules": [{"input_cost_per_token": -1}]},
	"claude-x": {
		"cache_creation_input_token_cost": 3.75e-06, "cache_creation_input_token_cost_above_1hr": 6e-06,
		"cache_creation_input_token_cost_above_1hr_above_200k_tokens": 12e-06,
		"cache_read_input_token_cost": 3e-07, "input_cost_per_token": 3e-06, "input_cost_per_token_above_200k_tokens": 6e-06,
		"input_cost_per_token_above_128k_tokens": 4e-06, "input_cost_per_token_batches": "whatever",
		"litellm_provider": "anthropic", "max_tokens": 64000, "mode": "chat", "output_cost_per_token": 1.5e-05,
		"search_context_cost_per_query": {"high": [0.01, {"input_cost_per_token": -1}]}, "supports_vision": true
	},
	"dall-e": {"input_cost_per_pixel": 1.9e-08, "litellm_provider": "openai", "mode": "image_generation"},
	"embedding": {"input_cost_per_token": 1e-07, "mode": "embedding"},
	"long only": {"input_cost_per_token_above_128k_tokens": 1, "output_cost_per_token": 1},
	"nothing": {},
	"local/free": {"input_cost_per_token": 0.0, "output_cost_per_token": 0, "cache_read_input_token_cost": null},
	"together/BAAI": {"input_cost_per_token": 8e-09, "output_cost_per_token": 0.0},
	"together/baai": {"output_cost_per_token": 0, "input_cost_per_token": 0.8e-08}
}`

func steps(prices ...price.Price) (all price.Steps) {
	for n, p := range prices {
		all = append(all, price.Step{Above: []int64{0, 128_000, 200_000}[n], Price: p})
	}
	return all
}

func TestLiteLLMsFileIsReadAsItIs(t *testing.T) {
	t.Parallel()
	got, err := price.Read(iotest.OneByteReader(strings.NewReader(litellm)))
	if err != nil {
		t.Fatal(err)
	}
	want := price.File{Skipped: 6, Models: []price.Model{
		{
			ID: "claude-x", Provider: "anthropic", Input: steps(3e6, 4e6, 6e6), Output: steps(15e6), CacheRead: steps(3e5),
			CacheWrite: steps(3_750_000),
		},
		{ID: "local/free", Input: steps(0), Output: steps(0)},
		{ID: "together/BAAI", Input: steps(8000), Output: steps(0)},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestAFaultyFileIsRefusedWithAllThatIsWrong(t *testing.T) {
	t.Parallel()
	const good = `"input_cost_per_token": 1e-6, "output_cost_per_token": 1e-6`
	deep := strings.Repeat("[", 20_000)
	for sent, want := range map[string]string{
		``:               "it is cut off",
		`[]`:             "it must be a JSON object of models",
		`"a"`:            "it must be a JSON object of models",
		`{}`:             "it has no model with the prices input_cost_per_token and output_cost_per_token",
		`{"a": {}}`:      `it has no model with the prices input_cost_per_token and output_cost_per_token`,
		`{"a": {` + good: `it is cut off, in or after the entry "a"`,
		`{"a": {` + good + `}, "b": {"input_cost`: `it is cut off, in or after the entry "b"`,
		`{"a": {` + good + `}}  {}`:               `something follows the JSON object of models, in or after the entry "a"`,
		`{"a": {` + good + `}} x`:                 `something follows the JSON object of models, in or after the entry "a"`,
		`{"a": 3, "b": [], "": null}`:             `"a": it must be an object; "b": it must be an object; "": it must be an object`,
		`{"a": {"input_cost_per_token": "3e-6", "output_cost_per_token": true, "litellm_provider": 3}}`: `"a": input_cost_per_token must ` +
			`be a number; "a": output_cost_per_token must be a number; "a": litellm_provider must be a string`,
		`{"a": {` + good + `, "cache_read_input_token_cost": -1e-9}, "b": {"input_cost_per_token_above_200k_tokens": 2}}`: `"a": ` +
			`cache_read_input_token_cost: it must not be negative; "b": input_cost_per_token_above_200k_tokens: it must be at most 1 USD ` +
			`per token, which is 1000000 per million`,
		`{"a": {` + good + `, "input_cost_per_token": 1e-6}}`:                          `"a": input_cost_per_token is there twice`,
		`{"a": {` + good + `}, "A": {` + good + `, "cache_read_input_token_cost": 0}}`: `"A": it is there twice, at different prices`,
		`{"` + strings.Repeat("x", 201) + `": {` + good + `}}`:                         `at most 200 are allowed`,
		`{"a\u0000": {` + good + `}}`:                                                  "its id must be UTF-8",
		`{"a": {"x": ` + deep:                                                          "exceeded max depth",
		`{"a": {"input_cost_per_token": 01}}`:                                          `it is no JSON at byte 32: invalid character`,
		"{\"a\xff\": {}}":                                                              "invalid UTF-8",
		`{"a": {"x": "` + strings.Repeat("y", price.MostBytes) + `"}}`:                 `it has more than 32 MiB, in or`,
	} {
		file, err := price.Read(strings.NewReader(sent))
		if err == nil {
			t.Errorf("%.100s was taken", sent)
			continue
		}
		got := err.Error()
		if refused := fault.Of(err); refused != nil {
			var all []string
			for _, field := range refused.Fields {
				all = append(all, field.Message)
			}
			got = strings.Join(all, "; ")
		}
		if !strings.Contains(got, want) || file.Models != nil {
			t.Errorf("%.100s: %s; want %s", sent, got, want)
		}
	}
}

func TestAFileThatIsCutAnywhereIsRefused(t *testing.T) {
	t.Parallel()
	for end := range len(litellm) {
		file, err := price.Read(strings.NewReader(litellm[:end]))
		if err == nil || !strings.HasPrefix(err.Error(), "it is cut off") || file.Models != nil {
			t.Errorf("up to byte %d: %v", end, err)
		}
	}
}

func TestAFileIsReadInBounds(t *testing.T) {
	t.Parallel()
	some := func(n int, body string) string {
		var text strings.Builder
		for i := range n {
			fmt.Fprintf(&text, `,"%d":{%s}`, i, body)
		}
		return "{" + text.String()[1:] + "}"
	}
	const good = `"input_cost_per_token":1,"output_cost_per_token":1`
	if file, err := price.Read(strings.NewReader(some(price.MostModels, good))); err != nil || len(file.Models) != price.MostModels {
		t.Errorf("%d models, %v", len(file.Models), err)
	}
	_, err := price.Read(strings.NewReader(some(price.MostModels+1, good)))
	if err == nil || !strings.HasPrefix(err.Error(), "it has more than 20000 models") {
		t.Error(err)
	}
	if _, err := price.Read(strings.NewReader(some(1000, `"input_cost_per_token":-1`))); len(fault.Of(err).Fields) != 100 {
		t.Error(err)
	}
	// What was kept is read whatever its length, and refused without a fault.
	if models, err := price.Parse("{" + strings.Repeat(" ", price.MostBytes) + "}"); len(models) > 0 || err != nil {
		t.Error(err)
	}
	if _, err := price.Parse(`{"a": 3}`); err == nil || fault.Of(err) != nil {
		t.Error(err)
	}
	broken := errors.New("the disk is broken")
	if _, err := price.Read(io.MultiReader(strings.NewReader(`{"a":{`), iotest.ErrReader(broken))); !errors.Is(err, broken) {
		t.Error(err)
	}
}

// What was read is written, read again, and the same, to the byte.
func TestAFileIsWrittenAsItWasRead(t *testing.T) {
	t.Parallel()
	check := func(t interface {
		Fatalf(format string, args ...any)
	}, models []price.Model) {
		written := price.Format(models)
		again, err := price.Read(strings.NewReader(string(written)))
		if err != nil || !cmp.Equal(again, price.File{Models: models}) || string(price.Format(again.Models)) != string(written) {
			t.Fatalf("%s: %v\n%s", written, err, cmp.Diff(models, again.Models))
		}
	}
	check(t, price.Initial().Models)
	drawn := rapid.Custom(func(t *rapid.T) price.Steps {
		bounds := rapid.SliceOfNDistinct(rapid.Int64Range(1, 1<<20-1), 0, 2, rapid.ID).Draw(t, "bounds")
		all := price.Steps{{Price: anyPrice.Draw(t, "price")}}
		slices.Sort(bounds)
		for _, bound := range bounds {
			all = append(all, price.Step{Above: bound * 1000, Price: anyPrice.Draw(t, "price above")})
		}
		return all
	})
	rapid.Check(t, func(t *rapid.T) {
		m := price.Model{
			ID:       rapid.StringMatching(`[a-z"\\<ö/.:@-]{1,20}`).Draw(t, "id"),
			Provider: rapid.StringMatching(`[A-Za-z_"]{0,5}`).Draw(t, "provider"),
			Input:    drawn.Draw(t, "input"), Output: drawn.Draw(t, "output"),
		}
		if rapid.Bool().Draw(t, "is cached") {
			m.CacheRead = drawn.Draw(t, "cacheRead")
			m.CacheWrite = drawn.Draw(t, "cacheWrite")[1:]
		}
		if len(m.CacheWrite) == 0 {
			m.CacheWrite = nil
		}
		check(t, []price.Model{m})
	})
}
