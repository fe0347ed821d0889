package text_test

import (
	"strings"
	"testing"

	"holdco/domain/text"
)

func TestWordsAreFoundInsideOfTextsWhateverTheirCase(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		search string
		texts  []string
		want   bool
	}{
		{"call", []string{"Recall it"}, true},
		{"CALL it", []string{"It was recalled"}, true},
		{"call now", []string{"Call", "Now!"}, true},
		{"call now", []string{"Call", "then"}, false},
		{"callnow", []string{"Call", "now"}, false}, // a word is in one text
		{"strasse", []string{"Straße 3"}, true},
		{"STRAẞE", []string{"strasse"}, true},
		{"Cafe\u0301", []string{"CAF\u00c9"}, true},
		{"cafe", []string{"café"}, false}, // accents are not case
		{"istanbul", []string{"İstanbul"}, true},
		{"ISTANBUL", []string{"İSTANBUL"}, true},
		{"İstanbul", []string{"istanbul"}, true},
		{"ısparta", []string{"ISPARTA"}, true},
		{"ISPARTA", []string{"Isparta ısparta"}, true},
		{"  two\t words ", []string{"words of two"}, true},
		{"50%", []string{"50 of 100"}, false},
	} {
		words, ok := text.ParseWords(c.search)
		if !ok || words.In(c.texts...) != c.want {
			t.Errorf("%q in %q: %v, words %q", c.search, c.texts, !c.want, words)
		}
	}
	if !text.Words(nil).In() {
		t.Error("no words are not found in nothing")
	}
}

func TestSearchesHaveTwoToTwoHundredCharacters(t *testing.T) {
	t.Parallel()
	for search, want := range map[string]bool{
		"ab": true, " ab ": true, "éé": true, strings.Repeat("é", 200): true, strings.Repeat("a b ", 50): true,
		"": false, "a": false, " a ": false, "   ": false, strings.Repeat("a", 201): false,
	} {
		if words, ok := text.ParseWords(search); ok != want || ok && len(words) == 0 {
			t.Errorf("%q: %v, words %q", search, ok, words)
		}
	}
}
