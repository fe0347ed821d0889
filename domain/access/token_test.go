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
	first  = access.NewAPIToken([32]byte{1})
	second = access.NewAPIToken([32]byte{2})
	third  = access.NewAPIToken([32]byte{3})
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
		Credential: access.Credential{Hint: first.Hint(), Hash: first.Hash(), ExpiresAt: noon.Add(time.Hour + time.Millisecond)},
		ID:         tokenID,
		Name:       "CI pipeline",
		Scopes:     access.Scopes{{Permission: access.Read}, {Permission: access.Write, Company: acme}},
		CreatedAt:  noon,
		Version:    1,
	}
	if diff := cmp.Diff(want, token); diff != "" {
		t.Error(diff)
	}
	if created.Type != event.TokenCreated || created.Company != "" ||
		created.Subject != (event.Subject{Type: "token", ID: string(tokenID)}) {
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

func TestAFailedLookUpOfACompanyIsNoFaultOfTheClient(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	_, _, err := access.NewToken(tokenID, access.TokenDraft{Name: new("CI"), Scopes: []string{"company:acme:read"}}, first,
		func(string) (id.Company, bool, error) { return "", false, broken }, noon)
	if !errors.Is(err, broken) || fault.CodeOf(err) != fault.Internal {
		t.Errorf("%v", err)
	}
}

func TestARotatedTokenIsTheSameWithAnotherValue(t *testing.T) {
	t.Parallel()
	token := access.Token{Credential: access.NewCredential(first), ID: tokenID, Name: "CI", CreatedAt: noon.Add(-time.Hour)}
	next, rotated, err := token.Rotate(second, access.Rotation{Grace: new(time.Minute)}, noon)
	if err != nil || rotated.Type != event.TokenRotated || !cmp.Equal(rotated.Data, next.Fields()) {
		t.Fatalf("%+v, %v", rotated, err)
	}
	want := token
	want.Version++
	want.Hash, want.Hint, want.OldHash, want.OldUntil = second.Hash(), second.Hint(), first.Hash(), noon.Add(time.Minute)
	if diff := cmp.Diff(want, next); diff != "" {
		t.Error(diff)
	}
}

func TestATokenThatHasEndedIsNotRotated(t *testing.T) {
	t.Parallel()
	for from, ended := range map[string]access.Credential{
		"expired": {Hash: first.Hash(), ExpiresAt: noon},
		"revoked": {Hash: first.Hash(), RevokedAt: noon},
	} {
		token := access.Token{Credential: ended, ID: tokenID}
		next, _, err := token.Rotate(second, access.Rotation{}, noon)
		want := fault.New(fault.InvalidTransition, "A token that is %s cannot be rotated.", from)
		details := map[string]any{"from": from, "action": "rotate"}
		if err == nil || err.Error() != want.Error() || !cmp.Equal(fault.Of(err).Details, details) || !cmp.Equal(next, token) {
			t.Errorf("%v, %+v", err, next)
		}
	}
}

func TestATokenIsRevokedOnce(t *testing.T) {
	t.Parallel()
	token := access.Token{Credential: access.NewCredential(first), ID: tokenID}
	revoked, happened := token.Revoke(noon)
	if happened == nil || happened.Type != event.TokenRevoked || !revoked.RevokedAt.Equal(noon) {
		t.Fatalf("%+v, %+v", revoked, happened)
	}
	again, happened := revoked.Revoke(noon.Add(time.Hour))
	if happened != nil || !cmp.Equal(again, revoked) {
		t.Errorf("%+v, %+v", again, happened)
	}
}

func TestTheCallerHasTheScopesOfTheToken(t *testing.T) {
	t.Parallel()
	token := access.Token{
		Credential: access.Credential{ExpiresAt: noon.Add(time.Hour)},
		ID:         tokenID, Name: "CI", Scopes: access.Scopes{{Permission: access.Read}}, CreatedAt: noon,
	}
	want := access.Caller{
		Token: tokenID, Name: "CI", Scopes: token.Scopes, Actor: "token:" + event.Actor(tokenID), CreatedAt: noon,
		ExpiresAt: token.ExpiresAt,
	}
	if diff := cmp.Diff(want, token.Caller()); diff != "" {
		t.Error(diff)
	}
}

// resolve knows one company.
func resolve(company string) (id.Company, bool, error) {
	if company == "acme" || company == acme {
		return acme, true, nil
	}
	return "", false, nil
}
