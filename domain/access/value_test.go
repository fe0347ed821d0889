package access_test

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"holdco/domain/access"
)

const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

var form = regexp.MustCompile(`^hco_[0-9A-Za-z]{49}$`)

func TestValuesHaveTheirForm(t *testing.T) {
	t.Parallel()
	bits := rapid.SliceOfN(rapid.Byte(), 32, 32)
	rapid.Check(t, func(t *rapid.T) {
		random := [32]byte(bits.Draw(t, "random"))
		value := access.NewAPIToken(random)
		if !form.MatchString(string(value)) {
			t.Fatalf("%s", value)
		}
		if again, ok := access.ParseAPIToken(string(value)); again != value || !ok {
			t.Fatalf("%s is refused", value)
		}
		random[31]++
		if access.NewAPIToken(random) == value {
			t.Fatalf("other bits give %s too", value)
		}
	})
}

func TestTheSmallestAndTheGreatestValueHaveTheSameLength(t *testing.T) {
	t.Parallel()
	smallest := access.NewAPIToken([32]byte{})
	greatest := access.NewAPIToken([32]byte([]byte(strings.Repeat("\xff", 32))))
	if !strings.HasPrefix(string(smallest), "hco_"+strings.Repeat("0", 43)) || !form.MatchString(string(greatest)) {
		t.Errorf("%s, %s", smallest, greatest)
	}
}

func TestEveryMistypedCharacterIsNoticed(t *testing.T) {
	t.Parallel()
	value := string(access.NewAPIToken(sha256.Sum256([]byte("any"))))
	for i := range value {
		for _, typed := range base62 + "_-+/= é\x00" {
			if mistyped := value[:i] + string(typed) + value[i+1:]; mistyped != value {
				refuseValue(t, mistyped)
			}
		}
		if i > 0 && value[i] != value[i-1] {
			refuseValue(t, value[:i-1]+value[i:i+1]+value[i-1:i]+value[i+1:])
		}
		refuseValue(t, value[:i]+value[i+1:])
		refuseValue(t, value[:i]+"0"+value[i:])
	}
}

func TestWhatIsNoValueIsRefused(t *testing.T) {
	t.Parallel()
	value := string(access.NewAPIToken([32]byte{1}))
	for _, text := range []string{
		"", "hco_", value[4:], "hcp_" + value[4:], "HCO_" + value[4:], strings.ToLower(value), strings.ToUpper(value),
		" " + value, value + " ", value + "\n", value + value, strings.Repeat("0", 53), strings.Repeat("a", 1<<20),
	} {
		refuseValue(t, text)
	}
}

func TestAValueIsKeptAsItsHashAndShownAsItsHint(t *testing.T) {
	t.Parallel()
	value := access.NewAPIToken([32]byte{1})
	sum := sha256.Sum256([]byte(value))
	if got := value.Hash(); got != hex.EncodeToString(sum[:]) {
		t.Errorf("hash %s", got)
	}
	if got := value.Hint(); got != "hco_..."+string(value[49:]) {
		t.Errorf("hint %s", got)
	}
}

func TestATokenIsNoPartnerKeyNorTheOtherWayRound(t *testing.T) {
	t.Parallel()
	token, key := access.NewAPIToken([32]byte{1}), access.NewPartnerKey([32]byte{1})
	if again, ok := access.ParsePartnerKey(string(key)); again != key || !ok || !strings.HasPrefix(key.Hint(), "hcp_...") {
		t.Errorf("%s with the hint %s is refused", key, key.Hint())
	}
	for _, text := range []string{
		string(token), "hcp_" + string(token[4:]), "hca_" + string(key[4:]), string(key[:52]) + "!", "", "hcp_",
	} {
		if value, ok := access.ParsePartnerKey(text); ok || value != "" {
			t.Errorf("%s is taken for a partner's key", text)
		}
	}
	refuseValue(t, string(key))
	refuseValue(t, "hco_"+string(key[4:]))
}

func TestATestKeyIsAPartnersKeyThatShowsWhatItIs(t *testing.T) {
	t.Parallel()
	key, usual := access.NewTestKey([32]byte{1}), access.NewPartnerKey([32]byte{1})
	if again, ok := access.ParsePartnerKey(string(key)); again != key || !ok || !strings.HasPrefix(string(key), "hcp_test_") ||
		key.Hint() != "hcp_test_..."+string(key[len(key)-4:]) {
		t.Errorf("%s with the hint %s is refused", key, key.Hint())
	}
	for _, text := range []string{
		"hcp_" + string(key[9:]), "hcp_test_" + string(usual[4:]), "hcp_test_", string(key[:len(key)-1]), string(key) + "0",
	} {
		if _, ok := access.ParsePartnerKey(text); ok {
			t.Errorf("%s is taken for a partner's key", text)
		}
	}
	refuseValue(t, string(key))
}

func TestATokenOfAnAgentIsOfAKindOfItsOwn(t *testing.T) {
	t.Parallel()
	agent := access.NewAgentToken([32]byte{1})
	if again, ok := access.ParseAgentToken(string(agent)); again != agent || !ok {
		t.Errorf("%s is refused", agent)
	}
	for _, text := range []string{
		string(access.NewAPIToken([32]byte{1})), string(access.NewPartnerKey([32]byte{1})), "hco_" + string(agent[4:]),
		string(agent[:52]) + "!", "hca_", "",
	} {
		if value, ok := access.ParseAgentToken(text); ok || value != "" {
			t.Errorf("%s is taken for the token of an agent", text)
		}
	}
	refuseValue(t, string(agent))
	if _, ok := access.ParsePartnerKey(string(agent)); ok {
		t.Error("the token of an agent is taken for a partner's key")
	}
}

func TestATokenOfARunIsOfAKindOfItsOwn(t *testing.T) {
	t.Parallel()
	run := access.NewRunToken([32]byte{1})
	if again, ok := access.ParseRunToken(string(run)); again != run || !ok || !strings.HasPrefix(string(run), "hcr_") {
		t.Errorf("%s is refused", run)
	}
	if _, ok := access.ParseAgentToken(string(run)); ok {
		t.Error("the token of a run is taken for that of an agent")
	}
	if _, ok := access.ParseRunToken(string(access.NewAgentToken([32]byte{1}))); ok {
		t.Error("the token of an agent is taken for that of a run")
	}
}

func FuzzParseValue(f *testing.F) {
	f.Add(string(access.NewAPIToken([32]byte{})))
	f.Add("hco_")
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := access.ParseAPIToken(text)
		if !ok && value != "" || ok && (string(value) != text || !form.MatchString(text)) {
			t.Fatalf("%q is read as %q, %v", text, value, ok)
		}
	})
}

func refuseValue(t *testing.T, text string) {
	t.Helper()
	if value, ok := access.ParseAPIToken(text); ok || value != "" {
		t.Errorf("%.80q is taken for a token's value", text)
	}
}
