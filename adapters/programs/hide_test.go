package programs_test

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/adapters/programs"
)

func TestTextsAreHiddenHoweverTheyArrive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab\n")), 0, 8, -1)
		hidden := rapid.MapOfN(text, rapid.StringOfN(rapid.RuneFrom([]rune("XY")), 0, 3, -1), 0, 4).Draw(t, "hidden")
		chunks := rapid.SliceOfN(rapid.StringOfN(rapid.RuneFrom([]rune("ab\nc")), 0, 12, -1), 0, 8).Draw(t, "chunks")
		shown := programs.Hide(hidden, chunks)
		delete(hidden, "")
		if got, want := strings.Join(shown, ""), replaced(hidden, strings.Join(chunks, "")); got != want {
			t.Errorf("shown is %q, want %q", got, want)
		}
		longest := 0
		for text := range hidden {
			longest = max(longest, len(text))
		}
		for n := range chunks { // less than the longest text is kept back
			all := strings.Join(chunks[:n+1], "")
			least := replaced(hidden, all[:max(0, len(all)-max(0, longest-1))])
			if got := strings.Join(shown[:n+1], ""); len(all) > 2*longest && longest > 0 && got == "" && least != "" {
				t.Errorf("after %q nothing is shown", all)
			}
		}
	})
}

// replaced replaces the longest of the texts at each place.
func replaced(hidden map[string]string, text string) string {
	var pairs []string
	for _, one := range slices.SortedFunc(maps.Keys(hidden), func(a, b string) int { return cmp.Compare(len(b), len(a)) }) {
		pairs = append(pairs, one, hidden[one])
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func TestNoMoreIsKeptBackThanMayBeHidden(t *testing.T) {
	t.Parallel()
	hidden := map[string]string{"secret": "[secret A]", "secretive": "[secret B]"}
	chunks := []string{"no se", "cre", "t", "i", "x ", "secret", "ive", "secr", "secrets sec"}
	want := []string{"no ", "", "", "", "[secret A]ix ", "", "[secret B]", "", "secr[secret A]s ", "sec"}
	if got := programs.Hide(hidden, chunks); !slices.Equal(got, want) {
		t.Errorf("shown is %q, want %q", got, want)
	}
}

func TestSecretsAreHiddenInTheLogAlone(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	program := script(`printf 'to'; sleep 0.05; printf 'ken\n'; sleep 0.05; printf 'a token and a to'; echo token >&2`)
	program.Hidden = map[string]string{"token": "[secret TOKEN]"}
	got := w.run(program)
	if got.Output != "token\na token and a to" {
		t.Errorf("the output is %q", got.Output)
	}
	log := w.log() // the line of the standard error may come at any place
	if strings.Contains(log, "token") || strings.Count(log, "[secret TOKEN]") != 3 || !strings.HasSuffix(log, "to") {
		t.Errorf("the log is %q", log)
	}
}
