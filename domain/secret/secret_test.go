package secret_test

import (
	"strings"
	"testing"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault/faulttest"
	"holdco/domain/secret"
)

var noon = time.Date(2026, 4, 11, 12, 0, 0, 0, time.UTC)

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"a": true, "Z": true, "a.B_c-9": true, strings.Repeat("a", 100): true,
		"": false, "9": false, "-a": false, ".a": false, "_a": false, "a b": false, "a/b": false, "ä": false, "aä": false, "a\n": false,
		strings.Repeat("a", 101): false,
	} {
		if got := secret.IsName(name); got != want {
			t.Errorf("%q: %t", name, got)
		}
	}
}

func TestASecretIsMadeAndChanged(t *testing.T) {
	t.Parallel()
	made, created, err := secret.New("sec_1", "cmp_1", "key", secret.Draft{}, []byte("\xff\n"), noon)
	want := secret.Secret{
		ID: "sec_1", Company: "cmp_1", Name: "key", Category: secret.Other, CreatedAt: noon, UpdatedAt: noon, RotatedAt: noon, Version: 1,
	}
	if made != want || err != nil || created.Type != event.SecretCreated || created.Subject.ID != "key" || made.Place() != "cmp_1/key" {
		t.Errorf("%+v, %+v, %v", made, created, err)
	}
	at := noon.Add(time.Hour)
	rotated, happened, err := made.Rotate(secret.Draft{Category: new("mtls_cert")}, []byte("x"), at)
	want.Category, want.UpdatedAt, want.RotatedAt, want.Version = secret.MTLSCert, at, at, 2
	if rotated != want || err != nil || happened.Type != event.SecretRotated {
		t.Errorf("%+v, %+v, %v", rotated, happened, err)
	}
	same, nothing, err := rotated.Apply(secret.Draft{Category: new("mtls_cert")}, at.Add(time.Hour))
	if same != rotated || nothing != nil || err != nil {
		t.Errorf("%+v, %+v, %v", same, nothing, err)
	}
	at = at.Add(time.Hour)
	next, updated, err := rotated.Apply(secret.Draft{Description: new("For all")}, at)
	want.Description, want.UpdatedAt, want.Version = "For all", at, 3
	if next != want || err != nil || updated.Type != event.SecretUpdated || len(updated.Previous) == 0 {
		t.Errorf("%+v, %+v, %v", next, updated, err)
	}
	if removed := next.Removed(); removed.Type != event.SecretRemoved || removed.Company != "cmp_1" {
		t.Errorf("%+v", removed)
	}
}

func TestAllThatIsWrongIsReportedAtOnce(t *testing.T) {
	t.Parallel()
	wrong := secret.Draft{Category: new("magic"), Description: new("a\x00")}
	_, _, err := secret.New("sec_1", "cmp_1", "1", wrong, nil, noon)
	faulttest.Check(t, "a new one", err,
		"validation_failed name:invalid_format value:required category:unknown_value description:invalid_characters")
	for value, want := range map[string]string{
		"": "validation_failed value:required", "a\x00": "validation_failed value:invalid_characters",
		strings.Repeat("x", secret.MostValue+1): "validation_failed value:too_long", strings.Repeat("x", secret.MostValue): "",
	} {
		_, _, err := secret.Secret{}.Rotate(secret.Draft{}, []byte(value), noon)
		faulttest.Check(t, "another value", err, want)
	}
	_, _, err = secret.Secret{}.Apply(wrong, noon)
	faulttest.Check(t, "a change", err, "validation_failed category:unknown_value description:invalid_characters")
}
