package sqlstore_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"holdco/adapters/store/sqlstore"
)

func TestWhatRunsAreChargedToIsTakenFromTheirRule(t *testing.T) {
	t.Parallel()
	for _, column := range []string{"company_id", "team_id", "agent_id", "goal_id", "project_id", "workflow_id"} {
		if !slices.Contains(sqlstore.ChargedTo, column) {
			t.Errorf("%v lacks %s", sqlstore.ChargedTo, column)
		}
	}
}

func TestCyclesAreFound(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		edges map[int64][]int64
		want  []int64
	}{
		{nil, nil},
		{map[int64][]int64{1: {2, 3}, 2: {3}, 3: {4}}, nil},
		{map[int64][]int64{1: {1}}, []int64{1}},
		{map[int64][]int64{1: {2}, 2: {3, 7}, 3: {4}, 4: {2}, 5: {1}, 7: {8}}, []int64{2, 3, 4}},
		{map[int64][]int64{1: {2}, 2: {1}, 8: {9}, 9: {8, 1}}, []int64{1, 2, 8, 9}},
	} {
		if got, err := sqlstore.InCycles(t.Context(), c.edges); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, %v, want %v", c.edges, got, err, c.want)
		}
	}
}

// Each of a company's issues can wait for the one before it.
func TestCyclesAreFoundInLongChains(t *testing.T) {
	t.Parallel()
	const length = 200_000
	edges := map[int64][]int64{length: {length + 1}, length + 1: {length}}
	for n := range int64(length) {
		edges[n] = append(edges[n], n+1)
	}
	if got, err := sqlstore.InCycles(t.Context(), edges); err != nil || !slices.Equal(got, []int64{length, length + 1}) {
		t.Errorf("%d nodes, %v", len(got), err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := sqlstore.InCycles(ended, edges); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
