package idempotency_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"holdco/domain/fault"
	"holdco/domain/idempotency"
)

func TestKeysAreVisibleASCII(t *testing.T) {
	t.Parallel()
	for key, ok := range map[string]bool{
		"a":                        true,
		"!~":                       true,
		"6f1c1d6e-0000-4000-8000":  true,
		strings.Repeat("k", 255):   true,
		strings.Repeat("k", 256):   false,
		strings.Repeat("é", 128):   false,
		strings.Repeat("k", 1<<20): false,
		"":                         false,
		" ":                        false,
		"a b":                      false,
		"a\t":                      false,
		"a\x00":                    false,
		"a\x7f":                    false,
		"schlüssel":                false,
	} {
		want := ""
		if ok {
			want = key
		}
		if got, parsed := idempotency.ParseKey(key); got != want || parsed != ok {
			t.Errorf("%.80q: %q, %v", key, got, parsed)
		}
	}
}

func TestAReceiptLivesADay(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	receipt := idempotency.Receipt{CreatedAt: noon}
	for age, want := range map[time.Duration]bool{
		0: false, 24*time.Hour - time.Millisecond: false, 24 * time.Hour: true, 48 * time.Hour: true,
	} {
		if got := receipt.Expired(noon.Add(age)); got != want {
			t.Errorf("%v old: expired: %v", age, got)
		}
	}
}

func TestTheSameRequestGetsTheSameAnswer(t *testing.T) {
	t.Parallel()
	kept := idempotency.Receipt{Fingerprint: "one", Answer: []byte(`{"id":1}`)}
	blanked := idempotency.Receipt{Fingerprint: "one"}

	var replay *idempotency.Replay
	err := kept.Replay(idempotency.Request{Fingerprint: "one"})
	if !errors.As(err, &replay) || string(replay.Answer) != `{"id":1}` || fault.Of(err) != nil {
		t.Errorf("the same request: %v", err)
	}
	if err := kept.Replay(idempotency.Request{Fingerprint: "two"}); fault.CodeOf(err) != fault.IdempotencyConflict {
		t.Errorf("another request: %v", err)
	}
	for _, fingerprint := range []string{"one", "two"} {
		if err := blanked.Replay(idempotency.Request{Fingerprint: fingerprint}); fault.CodeOf(err) != fault.IdempotencyConflict {
			t.Errorf("the company was deleted: %v", err)
		}
	}
}
