package lead

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"
)

// DomainOf returns the domain of a website, which is a domain or an address: in ASCII and lower case, without www. It is empty for
// what has none under which somebody can have a website, such as an IP address.
func DomainOf(website string) string {
	parsed, ok := parseWebsite(strings.TrimSpace(website))
	if !ok {
		return ""
	}
	return parsed.domain
}

// EmailOf returns an e-mail address as addresses are compared: in lower case.
func EmailOf(address string) string { return strings.ToLower(strings.TrimSpace(address)) }

// Hash stands for the domain or the address of a lead where these would take too much room. Two that differ have the same hash
// once in 2^63 cases, so what has the hash is taken for the one that was asked for. Stores keep it, so it must not change.
type Hash uint64

// HashOf returns the hash of what DomainOf or EmailOf returned; 0 of an empty text.
func HashOf(text string) Hash {
	if text == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(text))
	return Hash(binary.BigEndian.Uint64(sum[:]) | 1)
}
