package lead

import (
	"net/netip"
	"net/url"
	"regexp"
	"strings"

	"golang.org/x/net/idna"

	"holdco/domain/text"
)

// bareEmail returns an address without what is written around it: the scheme of a link, what that adds to the address, and the dot
// that ends a domain; with letters of one width, and without characters that show nothing. It need not be an address then, nor UTF-8, and
// it can be longer, and have characters that the link had as escapes.
func bareEmail(sent string) string {
	const scheme = "mailto:"
	bare := strings.TrimSpace(text.Compatible(sent))
	if len(bare) > len(scheme) && strings.EqualFold(bare[:len(scheme)], scheme) {
		bare, _, _ = strings.Cut(bare[len(scheme):], "?")
		if plain, err := url.PathUnescape(bare); err == nil {
			bare = strings.TrimSpace(text.Compatible(plain))
		}
	}
	return strings.TrimSuffix(bare, ".")
}

// isEmail reports whether a text can be an address: something, which is quoted if it has characters that separate addresses, at a host.
func isEmail(bare string) bool {
	at := strings.LastIndexByte(bare, '@')
	if at <= 0 || strings.HasSuffix(bare, ".") {
		return false
	}
	local := bare[:at]
	isQuoted := len(local) > 2 && local[0] == '"' && local[len(local)-1] == '"'
	if !isQuoted && strings.ContainsAny(local, `@<>()[],;:\"`) {
		return false
	}
	_, ok := emailHost(bare[at+1:])
	return ok
}

// emailHost returns the domain of an address in lower case and in ASCII, without the dot at its end, and whether it can be one: the name
// of a host, in which mail allows an underscore, or the number of one in brackets.
func emailHost(domain string) (string, bool) {
	host := strings.TrimSuffix(strings.ToLower(domain), ".")
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		number, isTagged := strings.CutPrefix(host[1:len(host)-1], "ipv6:")
		address, err := netip.ParseAddr(number)
		return host, err == nil && address.Zone() == "" && (address.Is6() || !isTagged)
	}
	if isHost(strings.ReplaceAll(host, "_", "0")) && !strings.Contains(host, "xn--") {
		return host, true
	}
	ascii, err := idna.Lookup.ToASCII(host)
	if ascii = strings.TrimSuffix(ascii, "."); err != nil || !isHost(ascii) {
		return host, false
	}
	return ascii, true
}

// emailKey returns what is equal for addresses that reach the same person, however they are spelled.
func emailKey(address string) string {
	bare := bareEmail(address)
	at := strings.LastIndexByte(bare, '@')
	if at < 0 {
		return text.Letters(bare)
	}
	host, _ := emailHost(bare[at+1:])
	local := text.Letters(bare[:at])
	if quoted := strings.Trim(local, `"`); len(quoted) == len(local)-2 {
		local = escaped.ReplaceAllString(quoted, "$1")
	}
	return local + "@" + host
}

// escaped is a character of a quoted text that stands for itself (RFC 5322, section 3.2.4).
var escaped = regexp.MustCompile(`\\(.)`)
