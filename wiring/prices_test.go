package wiring_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
)

// awaitPrices waits until the server charges by a revision of the prices.
func (w worker) awaitPrices(t *testing.T, revision int) {
	t.Helper()
	await(t, fmt.Sprintf("revision %d of the prices", revision), func() bool {
		answer := w.In(t).Get(me)
		answer.Is(t, 200, "")
		return resttest.Data[struct{ Prices struct{ Revision int } }](t, answer).Prices.Revision == revision
	})
}

// A charge of tokens goes by the prices that the server has when it comes, and stays as it is. Prices that another process changes
// reach a running server.
func TestTokensAreChargedByThePriceTable(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in, _, hired := s.workers(t, 1)
		ada := hired[0]
		s.file(t, in, "")
		lease := ada.claim(t, "")
		const tokens = `"tokens":{"input":1000,"output":2000,"cacheRead":10000,"cacheWrite":100}`
		charge := func(key, model, more, usd string, unpriced, duplicate bool) {
			t.Helper()
			state := ada.state(t, lease, "costs",
				fmt.Sprintf(`"costs":[{"key":%q,"kind":"llm","model":%q,%s%s}]`, key, model, tokens, more))
			if e := state.Entries[0]; e.Usd != json.Number(usd) || e.Unpriced != unpriced || e.Duplicate != duplicate {
				t.Errorf("%s: %+v", key, e)
			}
		}
		ada.awaitPrices(t, 1)
		charge("snapshot", "claude-sonnet-4-5-20250929", "", "0.036375", false, false)
		charge("long-name", "Anthropic/Claude-Sonnet-4-5", "", "0.036375", false, false)
		charge("unknown", "mine", "", "0.3165", true, false)

		s.command(t, "prices set mine --input 0.1 --output 0.2 --cache-read 0")
		s.command(t, "prices fallback --input 20 --output 75")
		ada.awaitPrices(t, 3)
		charge("unknown", "mine", "", "0.3165", true, true) // under the same key it is the same charge at another price
		charge("known", "mine", "", "0.00051", false, false)
		charge("prefixed", "other/mine", `,"calls":3`, "0.00051", false, false)
		charge("still-unknown", "other", "", "0.372", true, false)

		file := filepath.Join(t.TempDir(), "prices.json")
		must(t, os.WriteFile(file, []byte(`{"mine": {"input_cost_per_token": 2e-7, "input_cost_per_token_above_11k_tokens": 4e-7,
			"output_cost_per_token": 1e-6, "cache_read_input_token_cost": 1e-12}}`), 0o600))
		s.command(t, "prices import", file)
		ada.awaitPrices(t, 4)
		charge("known", "mine", "", "0.00051", false, true)
		charge("long-call", "mine", "", "0.002441", false, false) // (1000 + 100) * 0.4 + 2000 + 0.01 millionths
		charge("calls", "mine", `,"calls":2`, "0.002221", false, false)
		charge("sent", "mine", `,"usd":7`, "7", false, false)
		ada.call(t, lease, "costs", `"costs":[{"key":"known","kind":"llm","model":"mine","usd":0.00051,`+tokens+`}]`).
			Is(t, 409, "idempotency_conflict")

		s.command(t, "prices rm MINE")
		ada.awaitPrices(t, 5)
		ended, _ := ada.ends(t, lease, "complete", `"result":1,"costs":[{"key":"last","kind":"llm","model":"mine",`+tokens+`}]`)
		if ended.Budget.SpentUsd != "8.138932" {
			t.Errorf("all cost %s", ended.Budget.SpentUsd)
		}

		var all []string
		for _, e := range s.events(t, "") {
			if e.Subject.Type == "price" {
				revision := member(t, e, "revision")
				all = append(all, fmt.Sprintf("%s %s by %s: %s %s", e.Type, e.Subject.ID, e.Actor, revision, e.Previous.Append(nil)))
			}
		}
		if diff := cmp.Diff([]string{
			"price.set mine by system:cli: 2 {}",
			`price.fallback  by system:cli: 3 {"input":15}`,
			"price.imported  by system:cli: 4 {}",
			"price.removed mine by system:cli: 5 {}",
		}, all); diff != "" {
			t.Error(diff)
		}
	})
}

func member(t *testing.T, of event.Event, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	must(t, json.Unmarshal(of.Data.Append(nil), &members))
	return string(members[name])
}

// What is charged at a price goes beyond no bound.
func TestTokensOfAnAbsurdPriceAreRefused(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		in, _, hired := s.workers(t, 1)
		s.file(t, in, "")
		s.command(t, "prices set dear --input 1000000 --output 1000000")
		ada := hired[0]
		ada.awaitPrices(t, 2)
		answer := ada.call(t, ada.claim(t, ""), "costs", `"costs":[{"key":"k","kind":"llm","model":"dear","tokens":{"input":1000001}}]`)
		answer.Is(t, 422, "validation_failed")
		if got := fmt.Sprint(details(t, answer)["fields"]); got != "[map[code:out_of_range field:costs.0.tokens "+
			"message:costs.0.tokens must not cost more than 1000000 USD, and cost 1000001]]" {
			t.Error(got)
		}
	})
}
