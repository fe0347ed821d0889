package text_test

import (
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/text"
)

func TestACellIsNoFormula(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{
		"": "", "Acme": "Acme", "4.5": "4.5", "a=b": "a=b", "'": "'", "'n Beetje": "'n Beetje", "\n=1": "\n=1",
		"=1+1": "'=1+1", "+4930123456": "'+4930123456", "-1": "'-1", "@acme": "'@acme", "\t=1": "'\t=1", "\r=1": "'\r=1",
		"'=1": "''=1", "''+1": "'''+1",
	} {
		if got := text.Cell(sent); got != want || text.OfCell(got) != sent {
			t.Errorf("%q: %q, which stands for %q", sent, got, text.OfCell(got))
		}
	}
}

func TestACellStandsForTheTextThatItSpells(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sent := rapid.StringMatching(`'{0,3}[=+@\-a']{0,2}.*`).Draw(t, "text")
		if cell := text.Cell(sent); text.OfCell(cell) != sent {
			t.Fatalf("%q: %q, which stands for %q", sent, cell, text.OfCell(cell))
		}
	})
}
