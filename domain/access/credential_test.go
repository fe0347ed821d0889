package access_test

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/access"
)

func TestACredentialExpiresInTheFuture(t *testing.T) {
	t.Parallel()
	for after, ok := range map[time.Duration]bool{
		-time.Hour:             false,
		0:                      false,
		999 * time.Microsecond: false, // cut to whole milliseconds, that is now
		time.Millisecond:       true,
	} {
		if _, wrong := access.Expiry(noon.Add(after), noon); (wrong == nil) != ok {
			t.Errorf("expires %v from now: %v", after, wrong)
		}
	}
}

func TestACredentialLetsItsBearerInUntilItEnds(t *testing.T) {
	t.Parallel()
	live := access.Credential{Hash: first.Hash()}
	expiring := access.Credential{Hash: first.Hash(), ExpiresAt: noon}
	revoked := access.Credential{Hash: first.Hash(), RevokedAt: noon.Add(-time.Hour)}
	rotated := access.Credential{Hash: second.Hash(), OldHash: first.Hash(), OldUntil: noon}
	for _, c := range []struct {
		name string
		of   access.Credential
		hash string
		at   time.Time
		want bool
	}{
		{"its value", live, first.Hash(), noon, true},
		{"another value", live, second.Hash(), noon, false},
		{"no value", live, "", noon, false},
		{"before it expires", expiring, first.Hash(), noon.Add(-time.Millisecond), true},
		{"when it expires", expiring, first.Hash(), noon, false},
		{"revoked", revoked, first.Hash(), noon, false},
		{"revoked, by an earlier clock", revoked, first.Hash(), noon.Add(-2 * time.Hour), false},
		{"rotated: the new value", rotated, second.Hash(), noon.Add(time.Hour), true},
		{"rotated: the old value within grace", rotated, first.Hash(), noon.Add(-time.Millisecond), true},
		{"rotated: the old value when grace ends", rotated, first.Hash(), noon, false},
	} {
		if got := c.of.Accepts(c.hash, c.at); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRotationGivesANewValueAndKeepsTheOldOneForGrace(t *testing.T) {
	t.Parallel()
	graceful := rotate(t, access.NewCredential(first), second, time.Minute, noon)
	if graceful.Hint != second.Hint() {
		t.Errorf("%+v", graceful)
	}
	accepts(t, graceful, noon.Add(time.Minute-time.Millisecond), first, second)
	accepts(t, graceful, noon.Add(time.Minute), second)

	again := rotate(t, graceful, third, time.Minute, noon.Add(time.Second))
	accepts(t, again, noon.Add(time.Second), second, third)

	abrupt := rotate(t, graceful, third, 0, noon.Add(time.Second))
	if abrupt.OldHash != "" || !abrupt.OldUntil.IsZero() {
		t.Errorf("%+v", abrupt)
	}
	accepts(t, abrupt, noon.Add(time.Second), third)
}

func rotate(t *testing.T, c access.Credential, value access.Value, grace time.Duration, at time.Time) access.Credential {
	t.Helper()
	next, err := c.Rotate(access.Kind{}, value, access.Rotation{Grace: &grace}, at)
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func TestRotationIsRefused(t *testing.T) {
	t.Parallel()
	live := access.NewCredential(first)
	expired, revoked := live, live
	expired.ExpiresAt, revoked.ExpiresAt, revoked.RevokedAt = noon, noon, noon
	const outOfRange = "validation_failed: The request has fields that are not valid."
	for _, c := range []struct {
		of    access.Credential
		grace time.Duration
		want  string // empty: it is not
	}{
		{live, 0, ""},
		{live, access.MostGrace, ""},
		{live, access.MostGrace + 1, outOfRange},
		{live, -1, outOfRange},
		{expired, 0, "invalid_transition: A token that is expired cannot be rotated."},
		{revoked, 0, "invalid_transition: A token that is revoked cannot be rotated."},
		{revoked, -1, outOfRange}, // what was sent is checked before what is stored
	} {
		next, err := c.of.Rotate(access.Kind{Noun: "token"}, second, access.Rotation{Grace: &c.grace}, noon)
		var got string
		if err != nil {
			got = err.Error()
		}
		if got != c.want || (next == c.of) != (err != nil) {
			t.Errorf("%+v, grace %v: %s, %+v", c.of, c.grace, got, next)
		}
	}
}

func TestRevocationIsForGood(t *testing.T) {
	t.Parallel()
	rotated := rotate(t, access.NewCredential(first), second, time.Hour, noon)
	revoked, changed := rotated.Revoke(noon)
	if !changed || !revoked.RevokedAt.Equal(noon) {
		t.Fatalf("%+v, %v", revoked, changed)
	}
	accepts(t, revoked, noon)
	again, changed := revoked.Revoke(noon.Add(time.Hour))
	if changed || !cmp.Equal(again, revoked) {
		t.Errorf("%+v, %v", again, changed)
	}
}

// accepts checks that of all values just these let the bearer in.
func accepts(t *testing.T, c access.Credential, at time.Time, values ...access.Value) {
	t.Helper()
	for _, value := range []access.Value{first, second, third} {
		if got := c.Accepts(value.Hash(), at); got != slices.Contains(values, value) {
			t.Errorf("at %v, %s: %v", at, value.Hint(), got)
		}
	}
}
