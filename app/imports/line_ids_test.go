package imports

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLinesAreSupersededByTheLastOfTheirID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e"})).Draw(t, "ids")
		var found lineIDs
		last := map[string]int{}
		for i, which := range ids {
			found.add(which)
			last[which] = i
		}
		var want []uint32
		for i, which := range ids {
			if which != "" && last[which] != i {
				want = append(want, uint32(i))
			}
		}
		if got := found.superseded(); !slices.Equal(got, want) {
			t.Fatalf("%v; want %v", got, want)
		}
	})
}
