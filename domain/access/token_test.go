package access_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
)

const tokenID = id.Token("tok_01h455vb4pex5vsknk084sn02q")

var (
	noon   = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)
	first  = access.NewValue([32]byte{1})
	second = access.NewValue([32]byte{2})
	third  = access.NewValue([32]byte{3})
)

func TestANewToken(t *testing.T) {
	t.Parallel()
	expires := noon.Add(time.Hour + 1500*time.Microsecond).In(time.FixedZone("", 7200))
	token, created, err := access.NewToken(tokenID, access.TokenDraft{
		Name:      new("  CI pipeline "),
		Scopes:    []string{"read", "company:acme:write", "read", "company:" + acme + ":write"},
		ExpiresAt: &expires,
		Problems:  fault.Problems{},
	}, first, resolve, noon)
	if err != nil {
		t.Fatal(err)
	}
	want := access.Token{
		ID:        tokenID,
		Name:      "CI pipeline",
		Scopes:    access.Scopes{{Permission: access.Read}, {Permission: access.Write, Company: acme}},
		Hint:      first.Hint(),
		Hash:      first.Hash(),
		CreatedAt: noon,
		ExpiresAt: noon.Add(time.Hour + time.Millisecond),
	}
	if diff := cmp.Diff(want, token); diff != "" {
		t.Error(diff)
	}
	if created.Type != event.TokenCreated || created.Company != "" || created.Subject != (event.Subject{Type: "token", ID: string(tokenID)}) {
		t.Errorf("event: %+v", created)
	}
	data, err := json.Marshal(created.Data)
	if want := `{"id":"` + string(tokenID) + `","name":"CI pipeline","scopes":["read","company:` + acme + `:write"],` +
		`"hint":"` + first.Hint() + `","createdAt":"2026-04-11T12:00:00.000Z","expiresAt":"2026-04-11T13:00:00.001Z",` +
		`"lastUsedAt":null,"revokedAt":null}`; err != nil || string(data) != want {
		t.Errorf("the event shows %s, %v", data, err)
	}
}

func TestANewTokenIsRefusedForAllOfItsFaultsAtOnce(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		draft access.TokenDraft
		want  []string // field: code
	}{
		"nothing was sent": {
			want: []string{"name: required", "scopes: required"},
		},
		"all is wrong": {
			draft: access.TokenDraft{
				Name:      new(strings.Repeat("x", access.TokenNameLength+1)),
				Scopes:    []string{"read", "delete", "company:nobody:read", "company:acme:admin"},
				ExpiresAt: &noon,
				Problems:  fault.Problems{fault.Fieldf("colour", fault.UnknownField, "there is no field colour")},
			},
			want: []string{
				"colour: unknown_field", "name: too_long", "scopes.1: unknown_value", "scopes.2: unknown_value", "scopes.3: unknown_value",
				"expiresAt: out_of_range",
			},
		},
		"a field of a wrong type is not also missing": {
			draft: access.TokenDraft{
				Problems: fault.Problems{
					fault.Fieldf("name", fault.WrongType, "name must be a string"),
					fault.Fieldf("scopes", fault.WrongType, "scopes must be an array"),
				},
			},
			want: []string{"name: wrong_type", "scopes: wrong_type"},
		},
		"too many scopes": {
			draft: access.TokenDraft{Name: new("CI"), Scopes: slices.Repeat([]string{"read"}, access.MostScopes+1)},
			want:  []string{"scopes: too_many"},
		},
	} {
		token, _, err := access.NewToken(tokenID, c.draft, first, resolve, noon)
		var got []string
		if refusal := fault.Of(err); refusal != nil && refusal.Code == fault.ValidationFailed {
			for _, field := range refusal.Fields {
				got = append(got, field.Path+": "+field.Code)
			}
		}
		if !slices.Equal(got, c.want) || token.ID != "" {
			t.Errorf("%s: %v; want %v", name, got, c.want)
		}
	}
}

func TestANewTokenExpiresInTheFuture(t *testing.T) {
	t.Parallel()
	for after, ok := range map[time.Duration]bool{
		-time.Hour:             false,
		0:                      false,
		999 * time.Microsecond: false, // cut to whole milliseconds, that is now
		time.Millisecond:       true,
	} {
		_, _, err := access.NewToken(tokenID, access.TokenDraft{
			Name: new("CI"), Scopes: []string{"read"}, ExpiresAt: new(noon.Add(after)),
		}, first, resolve, noon)
		if (err == nil) != ok {
			t.Errorf("expires %v from now: %v", after, err)
		}
	}
}

func TestAFailedLookUpOfACompanyIsNoFaultOfTheClient(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, _, err := access.NewToken(tokenID, access.TokenDraft{Name: new("CI"), Scopes: []string{"company:acme:read"}}, first,
		func(string) (id.Company, bool, error) { return "", false, broken }, noon)
	if !errors.Is(err, broken) || fault.CodeOf(err) != fault.Internal {
		t.Errorf("%v", err)
	}
}

func TestATokenLetsItsBearerInUntilItEnds(t *testing.T) {
	t.Parallel()
	live := access.Token{Hash: first.Hash()}
	expiring := access.Token{Hash: first.Hash(), ExpiresAt: noon}
	revoked := access.Token{Hash: first.Hash(), RevokedAt: noon.Add(-time.Hour)}
	rotated := access.Token{Hash: second.Hash(), OldHash: first.Hash(), OldUntil: noon}
	for _, c := range []struct {
		name  string
		token access.Token
		hash  string
		at    time.Time
		want  bool
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
		if got := c.token.Accepts(c.hash, c.at); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestRotationGivesANewValueAndKeepsTheOldOneForGrace(t *testing.T) {
	t.Parallel()
	token := access.Token{ID: tokenID, Name: "CI", Hash: first.Hash(), Hint: first.Hint(), CreatedAt: noon.Add(-time.Hour)}

	graceful, rotated, err := token.Rotate(second, time.Minute, noon)
	if err != nil || graceful.ID != tokenID || graceful.Hint != second.Hint() || rotated.Type != event.TokenRotated {
		t.Fatalf("%+v, %+v, %v", graceful, rotated, err)
	}
	accepts(t, graceful, noon.Add(time.Minute-time.Millisecond), first, second)
	accepts(t, graceful, noon.Add(time.Minute), second)

	again, _, err := graceful.Rotate(third, time.Minute, noon.Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	accepts(t, again, noon.Add(time.Second), second, third)

	abrupt, _, err := graceful.Rotate(third, 0, noon.Add(time.Second))
	if err != nil || abrupt.OldHash != "" || !abrupt.OldUntil.IsZero() {
		t.Fatalf("%+v, %v", abrupt, err)
	}
	accepts(t, abrupt, noon.Add(time.Second), third)
}

func TestRotationIsRefused(t *testing.T) {
	t.Parallel()
	live := access.Token{Hash: first.Hash()}
	expired := access.Token{Hash: first.Hash(), ExpiresAt: noon}
	revoked := access.Token{Hash: first.Hash(), ExpiresAt: noon, RevokedAt: noon}
	for _, c := range []struct {
		token access.Token
		grace time.Duration
		code  fault.Code
		from  any
	}{
		{live, 0, "", nil},
		{live, access.MostGrace, "", nil},
		{live, access.MostGrace + 1, fault.ValidationFailed, nil},
		{live, -1, fault.ValidationFailed, nil},
		{expired, 0, fault.InvalidTransition, "expired"},
		{revoked, 0, fault.InvalidTransition, "revoked"},
		{revoked, -1, fault.ValidationFailed, nil}, // what was sent is checked before what is stored
	} {
		next, _, err := c.token.Rotate(second, c.grace, noon)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%+v, grace %v: %v", c.token, c.grace, err)
			continue
		}
		if err != nil && !cmp.Equal(next, c.token) {
			t.Errorf("%+v, grace %v: refused, yet changed to %+v", c.token, c.grace, next)
		}
		if c.from != nil && (fault.Of(err).Details["from"] != c.from || fault.Of(err).Details["action"] != "rotate") {
			t.Errorf("%+v: details %v", c.token, fault.Of(err).Details)
		}
	}
}

func TestRevocationIsForGood(t *testing.T) {
	t.Parallel()
	token := access.Token{ID: tokenID, Hash: second.Hash(), OldHash: first.Hash(), OldUntil: noon.Add(time.Hour)}
	revoked, happened := token.Revoke(noon)
	if happened == nil || happened.Type != event.TokenRevoked || !revoked.RevokedAt.Equal(noon) {
		t.Fatalf("%+v, %+v", revoked, happened)
	}
	accepts(t, revoked, noon)
	again, happened := revoked.Revoke(noon.Add(time.Hour))
	if happened != nil || !cmp.Equal(again, revoked) {
		t.Errorf("%+v, %+v", again, happened)
	}
}

func TestTheBearerIsKnownByTheToken(t *testing.T) {
	t.Parallel()
	token := access.Token{
		ID: tokenID, Name: "CI", Scopes: access.Scopes{{Permission: access.Read}}, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour),
	}
	want := access.Caller{
		Token: tokenID, Name: "CI", Scopes: token.Scopes, Actor: "token:" + event.Actor(tokenID), CreatedAt: noon, ExpiresAt: token.ExpiresAt,
	}
	if diff := cmp.Diff(want, token.Caller()); diff != "" {
		t.Error(diff)
	}
}

// accepts checks that of all values just these let the bearer in.
func accepts(t *testing.T, token access.Token, at time.Time, values ...access.Value) {
	t.Helper()
	for _, value := range []access.Value{first, second, third} {
		if got := token.Accepts(value.Hash(), at); got != slices.Contains(values, value) {
			t.Errorf("at %v, %s: %v", at, value.Hint(), got)
		}
	}
}

// resolve knows one company.
func resolve(company string) (id.Company, bool, error) {
	if company == "acme" || company == acme {
		return acme, true, nil
	}
	return "", false, nil
}
