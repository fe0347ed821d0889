package access

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
)

// A value is a prefix for its kind, 43 base62 digits of 256 random bits, and 6 base62 digits of the CRC-32 (IEEE) of
// everything before them. The prefix and the checksum reject mistyped values, and those of another kind, without a read
// of the store.
const (
	tokenPrefix    = "hco_"
	partnerPrefix  = "hcp_"
	testPrefix     = "hcp_test_"
	agentPrefix    = "hca_"
	runPrefix      = "hcr_"
	sessionPrefix  = "hcs_"
	codePrefix     = "hcl_"
	secretLength   = 43
	checksumLength = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Value is the secret that a client sends as its token, or a partner as its key. Only its Hash is stored.
type Value string

// NewAPIToken encodes 256 random bits as the value of a token.
func NewAPIToken(random [32]byte) Value { return encode(tokenPrefix, random) }

// NewPartnerKey encodes 256 random bits as the value of a partner's key.
func NewPartnerKey(random [32]byte) Value { return encode(partnerPrefix, random) }

// NewTestKey encodes 256 random bits as the value of a partner's test key. Programs that know no test keys refuse it, so they do not show
// its bearer what is not for it.
func NewTestKey(random [32]byte) Value { return encode(testPrefix, random) }

// NewAgentToken encodes 256 random bits as the token of an agent.
func NewAgentToken(random [32]byte) Value { return encode(agentPrefix, random) }

// NewRunToken encodes 256 random bits as the token of a run.
func NewRunToken(random [32]byte) Value { return encode(runPrefix, random) }

// NewSessionValue encodes 256 random bits as what the cookie of a session holds.
func NewSessionValue(random [32]byte) Value { return encode(sessionPrefix, random) }

// NewLoginCode encodes 256 random bits as the code of a link that signs in.
func NewLoginCode(random [32]byte) Value { return encode(codePrefix, random) }

// ParseAPIToken parses the value of a token, and reports whether its form and checksum are right.
func ParseAPIToken(text string) (Value, bool) { return parse(tokenPrefix, text) }

// ParsePartnerKey parses the value of a partner's key, be it a test key or not, and reports whether its form and checksum are right.
func ParsePartnerKey(text string) (Value, bool) {
	if strings.HasPrefix(text, testPrefix) {
		return parse(testPrefix, text)
	}
	return parse(partnerPrefix, text)
}

// ParseAgentToken parses the token of an agent, and reports whether its form and checksum are right.
func ParseAgentToken(text string) (Value, bool) { return parse(agentPrefix, text) }

// ParseRunToken parses the token of a run, and reports whether its form and checksum are right.
func ParseRunToken(text string) (Value, bool) { return parse(runPrefix, text) }

// ParseSessionValue parses what the cookie of a session holds, and reports whether its form and checksum are right.
func ParseSessionValue(text string) (Value, bool) { return parse(sessionPrefix, text) }

// ParseLoginCode parses the code of a link that signs in, and reports whether its form and checksum are right.
func ParseLoginCode(text string) (Value, bool) { return parse(codePrefix, text) }

// Hash returns the SHA-256 of the value in hexadecimal. The value has 256 random bits, so a plain hash cannot be
// reversed.
func (v Value) Hash() string {
	sum := sha256.Sum256([]byte(v))
	return hex.EncodeToString(sum[:])
}

// Hint returns what lists show of the value: its prefix and its last four characters.
func (v Value) Hint() string {
	return string(v[:len(v)-secretLength-checksumLength]) + "..." + string(v[len(v)-4:])
}

func encode(prefix string, random [32]byte) Value {
	body := prefix + digits(new(big.Int).SetBytes(random[:]), secretLength)
	return Value(body + checksum(body))
}

func parse(prefix, text string) (Value, bool) {
	if len(text) != len(prefix)+secretLength+checksumLength || !strings.HasPrefix(text, prefix) {
		return "", false
	}
	body := text[:len(text)-checksumLength]
	if strings.Trim(body[len(prefix):], base62) != "" || text[len(body):] != checksum(body) {
		return "", false
	}
	return Value(text), true
}

func checksum(body string) string {
	return digits(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLength)
}

// digits formats n in base 62 with leading zeros.
func digits(n *big.Int, length int) string {
	out := make([]byte, length)
	base, digit := big.NewInt(int64(len(base62))), new(big.Int)
	rest := new(big.Int).Set(n)
	for i := length - 1; i >= 0; i-- {
		rest.DivMod(rest, base, digit)
		out[i] = base62[digit.Int64()]
	}
	return string(out)
}
