package imports

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestLinesAreSupersededByTheLastOfTheirID(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		type line struct {
			id      string
			content uint32
		}
		lines := rapid.SliceOf(rapid.Custom(func(t *rapid.T) line {
			return line{rapid.SampledFrom([]string{"", "a", "b", "c", "d", "e"}).Draw(t, "id"), rapid.Uint32Range(1, 2).Draw(t, "content")}
		})).Draw(t, "lines")
		var found lineIDs
		found.seed()
		last := map[string]int{}
		for i, one := range lines {
			found.add(one.id, int64(10*i), one.content)
			last[one.id] = i
		}
		var want []superseded
		wantDiffer := int64(0)
		for i, one := range lines {
			by := last[one.id]
			if one.id == "" || by == i {
				continue
			}
			differs := lines[by].content != one.content
			want = append(want, superseded{uint32(i), uint32(by), uint32(10 * by), differs})
			if differs {
				wantDiffer++
			}
		}
		if got, differ := found.superseded(); !slices.Equal(got, want) || differ != wantDiffer {
			t.Fatalf("%v, %d; want %v, %d", got, differ, want, wantDiffer)
		}
	})
}
