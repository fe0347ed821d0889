package lead

import (
	"crypto/sha256"
	"encoding/binary"
	"strings"

	"golang.org/x/net/idna"
)

// DomainOf returns the domain of a website, which is a domain or a URL: in ASCII and lower case, without www. It is empty for
// what has none.
func DomainOf(website string) string {
	_, host, found := strings.Cut(website, "://")
	if !found {
		host = strings.TrimPrefix(website, "//")
	}
	if end := strings.IndexAny(host, `/\?#`); end >= 0 {
		host = host[:end]
	}
	host = host[strings.LastIndexByte(host, '@')+1:]
	if name, port, found := strings.Cut(host, ":"); found && strings.Trim(port, "0123456789") == "" {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.TrimSpace(host), "."))
	if ascii, err := idna.Lookup.ToASCII(host); err == nil {
		host = ascii
	}
	return strings.TrimPrefix(host, "www.")
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
