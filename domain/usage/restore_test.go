package usage_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"holdco/domain/cost"
	"holdco/domain/fault"
	"holdco/domain/money"
	"holdco/domain/usage"
)

// charging charges what is due of a parser as a server does: under one key once.
func charging(parser *usage.Parser, kept map[string]cost.Entry) {
	for due := parser.Due(cost.MostInCall); len(due) > 0; due = parser.Due(cost.MostInCall) {
		var none fault.Problems
		for _, entry := range cost.Parse(due, flatPrices{}, &none) {
			if former, found := kept[entry.Key]; found {
				entry = former
			}
			kept[entry.Key] = entry
			parser.Charged(entry)
		}
	}
}

func total(kept map[string]cost.Entry) (sum money.USD, tokens cost.Tokens) {
	for _, entry := range kept {
		sum, tokens = sum+entry.USD, tokens.Plus(entry.Tokens)
	}
	return sum, tokens
}

// A server is killed at any moment. The next one reads the same output from its beginning, and charges what is missing, no more.
func TestWhatAnotherProcessHasChargedIsNotChargedAgain(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/real/*")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		printed, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		program, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(filepath.Base(file), "l"), ".json"), "-")
		kind := usage.Kind(program + "-json")
		if !slices.Contains(usage.Kinds, kind) {
			t.Fatalf("%s is of no form", file)
		}
		lines := bytes.SplitAfter(printed, []byte("\n"))
		for shown := range lines {
			for charged := range shown + 1 {
				before, left := map[string]cost.Entry{}, map[string]cost.Entry{}
				whole, killed, next := newParser(kind), newParser(kind), newParser(kind)
				output := bytes.Join(lines[:shown], nil)
				killed.Write(bytes.Join(lines[:charged], nil))
				charging(killed, left)
				next.Write(output)
				var kept []cost.Entry
				for _, key := range usage.Keys(1, cost.MostInCall) {
					if entry, found := left[key]; found {
						kept = append(kept, entry)
					}
				}
				next.Restore(kept)
				whole.Write(bytes.Join(lines[:charged], nil))
				charging(whole, before)
				whole.Write(bytes.Join(lines[charged:shown], nil))
				whole.Report(noon)
				charging(whole, before)
				next.Report(noon)
				charging(next, left)
				sum, tokens := total(before)
				if got, gotTokens := total(left); got != sum || gotTokens != tokens {
					t.Fatalf("%s: of %d lines %d were charged: %s and %+v; want %s and %+v", file, shown, charged, got, gotTokens, sum,
						tokens)
				}
			}
		}
	}
}

func newParser(kind usage.Kind) *usage.Parser {
	return usage.NewParser(kind, usage.Options{Model: "of the agent"})
}
