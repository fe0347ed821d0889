package cache_test

import (
	"context"
	"errors"
	"testing"

	"holdco/app/cache"
	"holdco/domain/price"
)

// source is a price table that counts how often it is read.
type source struct {
	table          price.Table
	err            error
	gets, looks    int
	whileItIsGoing func()
}

func (s *source) Get(context.Context) (price.Table, error) {
	s.gets++
	table := s.table
	if do := s.whileItIsGoing; do != nil {
		s.whileItIsGoing = nil
		do()
	}
	return table, s.err
}

func (s *source) Revision(context.Context) (int64, error) {
	s.looks++
	return s.table.Revision, s.err
}

func TestPricesAreReadOnceAndThenFollowed(t *testing.T) {
	t.Parallel()
	var prices cache.Prices
	from := &source{table: price.Initial(), err: errors.New("gone")}
	is := func(revision int64, gets, looks int) {
		t.Helper()
		current, err := prices.Current(t.Context(), from)
		if err != nil || current.Revision() != revision || from.gets != gets || from.looks != looks {
			t.Errorf("%v, %v, %d reads, %d looks", current, err, from.gets, from.looks)
		}
	}
	if _, err := prices.Current(t.Context(), from); err == nil {
		t.Error("no error")
	}
	if err := prices.Follow(t.Context(), from); err == nil {
		t.Error("no error")
	}
	from.err = nil
	is(1, 3, 0)
	from.table.Revision = 2
	is(1, 3, 0)
	if err := prices.Follow(t.Context(), from); err != nil {
		t.Error(err)
	}
	is(2, 4, 1)
	if err := prices.Follow(t.Context(), from); err != nil {
		t.Error(err)
	}
	is(2, 4, 2)
	from.err = errors.New("gone")
	if err := prices.Follow(t.Context(), from); err == nil {
		t.Error("no error")
	}
	is(2, 4, 3)
}

// A read that began before another one ended does not bring old prices back.
func TestPricesDoNotGoBack(t *testing.T) {
	t.Parallel()
	var prices cache.Prices
	from := &source{table: price.Initial()}
	from.whileItIsGoing = func() {
		from.table.Revision = 2
		if err := prices.Follow(t.Context(), from); err != nil {
			t.Error(err)
		}
	}
	if current, err := prices.Current(t.Context(), from); err != nil || current.Revision() != 2 {
		t.Errorf("%v, %v", current, err)
	}
}
