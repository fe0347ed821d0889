package lead

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
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

// EmailOf returns an e-mail address as addresses are compared: in lower case, with its domain in ASCII.
func EmailOf(address string) string {
	address = strings.ToLower(strings.TrimSpace(address))
	if strings.IndexFunc(address, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 { // as most are
		return address
	}
	return withDomain(address, idna.Lookup.ToASCII)
}

// withDomain returns an address with what spell makes of its domain. A domain that cannot be spelled so stays.
func withDomain(address string, spell func(domain string) (string, error)) string {
	at := strings.LastIndexByte(address, '@') + 1
	if domain, err := spell(address[at:]); at > 0 && err == nil {
		return address[:at] + domain
	}
	return address
}

// EmailHashes returns the hashes that stores keep of an address, which EmailOf returned: that of the address, and that of the address with
// its domain in Unicode, which former versions made. There is none of an empty text.
func EmailHashes(email string) []Hash {
	if email == "" {
		return nil
	}
	hashes := []Hash{HashOf(email)}
	if former := withDomain(email, idna.Lookup.ToUnicode); former != email {
		hashes = append(hashes, HashOf(former))
	}
	return hashes
}

// The words for what ParseDomain, ParseEmail and ParseEnrichment take, after the name of what was sent.
const (
	MustBeDomain      = "must be one domain, such as example.com"
	MustBeEmail       = "must be one e-mail address, such as info@example.com"
	MustBeEnrichments = "must hold none, basic, standard or deep, or some of these separated by commas"
)

// ParseDomain parses the domain that a filter asks for, as DomainOf returns it. What has none is refused: an empty domain would be no
// condition.
func ParseDomain(sent string) (string, bool) {
	domain := DomainOf(sent)
	return domain, domain != ""
}

// ParseEmail parses the address that a filter asks for, as EmailOf returns it.
func ParseEmail(sent string) (string, bool) {
	return EmailOf(sent), strings.Contains(sent, "@") && !strings.ContainsAny(sent, " ,")
}

// ParseEnrichment parses a level of enrichment.
func ParseEnrichment(sent string) (Enrichment, bool) {
	return Enrichment(sent), slices.Contains(Enrichments(), Enrichment(sent))
}

// WrongList returns what is wrong with how many values were sent as a list of a filter, after the name of the list; empty: nothing. A
// list without values is wrong, because it would be no condition.
func WrongList(sent []string) string {
	switch {
	case len(sent) == 0:
		return "has no value"
	case len(sent) > MostListed:
		return fmt.Sprintf("names %d values; at most %d are allowed", len(sent), MostListed)
	case slices.Contains(sent, ""):
		return "has an empty element"
	}
	return ""
}

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
