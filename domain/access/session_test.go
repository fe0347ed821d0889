package access_test

import (
	"strings"
	"testing"
	"time"

	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/fault"
)

var (
	cookie = access.NewSessionValue([32]byte{7})
	live   = access.Token{Credential: access.NewCredential(first), ID: tokenID}
)

func TestASessionEndsWithoutUseAndInAll(t *testing.T) {
	t.Parallel()
	s, signedIn := access.NewSession("ses_1", cookie, live, "Chromium", noon)
	if signedIn.Type != event.TokenSignedIn || signedIn.Subject.ID != string(tokenID) || s.Hash != cookie.Hash() {
		t.Errorf("%+v, %+v", s, signedIn)
	}
	expect := func(at time.Duration, want bool) {
		t.Helper()
		if got := s.Accepts(live, noon.Add(at)); got != want {
			t.Errorf("after %s: %v", at, got)
		}
	}
	expect(0, true)
	expect(12*time.Hour-1, true)
	expect(12*time.Hour, false)
	s.LastSeenAt = noon.Add(7*24*time.Hour - time.Hour)
	expect(7*24*time.Hour-1, true)
	expect(7*24*time.Hour, false)
}

func TestASessionEndsWithItsToken(t *testing.T) {
	t.Parallel()
	s, _ := access.NewSession("ses_1", cookie, live, "", noon)
	revoked, _ := live.Revoke(noon)
	rotated, _, err := live.Rotate(second, access.Rotation{Grace: new(time.Hour)}, noon)
	if err != nil {
		t.Fatal(err)
	}
	expiring := live
	expiring.ExpiresAt = noon.Add(time.Minute)
	other := live
	other.ID = "tok_other"
	for how, token := range map[string]access.Token{"revoked": revoked, "rotated": rotated, "another": other} {
		if s.Accepts(token, noon) {
			t.Errorf("%s: accepted", how)
		}
	}
	if s, _ := access.NewSession("ses_1", cookie, expiring, "", noon); !s.Ends().Equal(expiring.ExpiresAt) {
		t.Errorf("ends %s", s.Ends())
	}
	if s.Accepts(expiring, expiring.ExpiresAt) || !s.Accepts(expiring, expiring.ExpiresAt.Add(-1)) {
		t.Error("the end of the token is not that of the session")
	}
}

func TestTheNameOfABrowserIsKeptToWhatCanBeShown(t *testing.T) {
	t.Parallel()
	s, _ := access.NewSession("ses_1", cookie, live, "A\x00\n\u202e"+strings.Repeat("x", 1000), noon)
	if want := "A" + strings.Repeat("x", access.BrowserLength-6); s.Browser != want {
		t.Errorf("%q", s.Browser)
	}
}

func TestACodeSignsInForAWhile(t *testing.T) {
	t.Parallel()
	value := access.NewLoginCode([32]byte{9})
	code, made, err := access.NewCode(value, live, noon)
	if err != nil || made.Type != event.TokenLoginLink || code.ID != access.CodeID(value) {
		t.Fatalf("%+v, %+v, %v", code, made, err)
	}
	if text := string(made.Data.Append(nil)); strings.Contains(text, string(value)) || strings.Contains(text, value.Hash()) {
		t.Errorf("the event holds the code: %s", text)
	}
	rotated, _, _ := live.Rotate(second, access.Rotation{}, noon)
	revoked, _ := live.Revoke(noon)
	if !code.Accepts(live, noon.Add(15*time.Minute-1)) || code.Accepts(live, noon.Add(15*time.Minute)) ||
		code.Accepts(rotated, noon) || code.Accepts(revoked, noon) {
		t.Error("it accepts the wrong ones")
	}
	if _, _, err := access.NewCode(value, revoked, noon); fault.CodeOf(err) != fault.InvalidTransition {
		t.Errorf("%v", err)
	}
}

func TestWhatSignsInIsOfKindsOfItsOwn(t *testing.T) {
	t.Parallel()
	code := access.NewLoginCode([32]byte{9})
	if _, ok := access.ParseSessionValue(string(cookie)); !ok {
		t.Error("the cookie is refused")
	}
	if _, ok := access.ParseLoginCode(string(code)); !ok {
		t.Error("the code is refused")
	}
	if _, ok := access.ParseSessionValue(string(code)); ok {
		t.Error("a code is taken for a cookie")
	}
	if _, ok := access.ParseLoginCode(string(cookie)); ok {
		t.Error("a cookie is taken for a code")
	}
}
