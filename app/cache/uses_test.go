package cache_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/app/cache"
	"holdco/domain/id"
)

func TestUsesAreWrittenInPartsAndKeptUntilTheyAre(t *testing.T) {
	t.Parallel()
	var uses cache.LastUses[id.Token]
	want := map[id.Token]time.Time{}
	for i := range 450 {
		which := id.Token(fmt.Sprintf("tok_%03d", i))
		uses.Note(which, start)
		want[which] = start
	}
	errDown, got, parts := errors.New("down"), map[id.Token]time.Time{}, []int{}
	fails := 2 // the call that fails
	write := func(used map[id.Token]time.Time) error {
		if fails--; fails == 0 {
			uses.Note("tok_449", start.Add(time.Minute)) // meanwhile
			return errDown
		}
		maps.Copy(got, used)
		parts = append(parts, len(used))
		return nil
	}
	if err := uses.Flush(write); !errors.Is(err, errDown) {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if err := uses.Flush(write); err != nil {
			t.Error(err)
		}
	}
	want["tok_449"] = start.Add(time.Minute)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{100, 100, 100, 100, 50}, parts); diff != "" {
		t.Error(diff)
	}
}
