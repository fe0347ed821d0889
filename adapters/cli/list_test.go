package cli_test

import (
	"slices"
	"strconv"
	"testing"

	"holdco/adapters/cli"
	"holdco/domain/page"
)

func TestListsAreReadInPagesUpToTheLimit(t *testing.T) {
	t.Parallel()
	stored := slices.Repeat([]int{7}, 500)
	for _, c := range []struct {
		limit, want int
		sizes       []int // of the pages
	}{
		{1, 1, []int{1}},
		{50, 50, []int{50}},
		{200, 200, []int{200}},
		{450, 450, []int{200, 200, 50}},
		{1000, 500, []int{200, 200, 200}},
	} {
		var sizes []int
		got, err := cli.Gather(c.limit, func(after page.Position, size int) (page.Page[int], error) {
			sizes = append(sizes, size)
			read, _ := strconv.Atoi(after.ID)
			found := page.Page[int]{Items: stored[read:min(read+size, len(stored))]}
			if read += len(found.Items); read < len(stored) {
				found.Next = page.Position{ID: strconv.Itoa(read)}
			}
			return found, nil
		})
		if err != nil || len(got) != c.want || !slices.Equal(sizes, c.sizes) {
			t.Errorf("--limit %d: %d items in pages of %v, %v", c.limit, len(got), sizes, err)
		}
	}
}
