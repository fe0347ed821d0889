package access

import (
	"crypto/sha256"
	"encoding/hex"
	"hash/crc32"
	"math/big"
	"strings"
)

// A token's value is a prefix, 43 base62 digits of 256 random bits, and 6 base62 digits of the CRC-32 (IEEE) of all
// before them. The checksum tells a mistyped token without asking the store.
const (
	ValuePrefix    = "hco_"
	secretLength   = 43
	checksumLength = 6
	base62         = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
)

// Value is the secret that a client shows as its token. It is never stored; its Hash is.
type Value string

// NewValue spells 256 random bits as a token's value.
func NewValue(random [32]byte) Value {
	body := ValuePrefix + digits(new(big.Int).SetBytes(random[:]), secretLength)
	return Value(body + checksum(body))
}

// ParseValue reads what a client showed, and reports whether its form and checksum are right.
func ParseValue(text string) (Value, bool) {
	if len(text) != len(ValuePrefix)+secretLength+checksumLength || !strings.HasPrefix(text, ValuePrefix) {
		return "", false
	}
	body := text[:len(text)-checksumLength]
	if strings.Trim(body[len(ValuePrefix):], base62) != "" || text[len(body):] != checksum(body) {
		return "", false
	}
	return Value(text), true
}

// Hash is the SHA-256 of the value in hexadecimal. The value has 256 random bits, so a plain hash cannot be reversed.
func (v Value) Hash() string {
	sum := sha256.Sum256([]byte(v))
	return hex.EncodeToString(sum[:])
}

// Hint is what lists show of the value: its prefix and its last four characters.
func (v Value) Hint() string { return ValuePrefix + "..." + string(v[len(v)-4:]) }

func checksum(body string) string {
	return digits(big.NewInt(int64(crc32.ChecksumIEEE([]byte(body)))), checksumLength)
}

// digits spells n in base 62 with leading zeros.
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
