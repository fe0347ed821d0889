package webhook

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"holdco/domain/fault"
	"holdco/domain/text"
)

// CheckURL validates the form of a URL that was sent at a path. Whether its address may be called is checked at each attempt,
// because names move from one address to another.
func CheckURL(path, sent string) []fault.Field {
	if _, wrong := text.Name(path, sent, URLLength); wrong != nil { // it is displayed, as names are
		return wrong
	}
	characters := []fault.Field{fault.Fieldf(path, fault.InvalidCharacters,
		"%s must not hold spaces, control characters or invisible characters, unless percent-encoded", path)}
	if strings.ContainsFunc(sent, forbiddenInURL) {
		return characters
	}
	invalid := func(why string) []fault.Field {
		return []fault.Field{fault.Fieldf(path, fault.InvalidFormat, "%s %s", path, why)}
	}
	target, err := url.Parse(sent)
	if err != nil {
		return invalid("must be an absolute URL such as https://example.com/hooks")
	}
	port, portErr := strconv.Atoi(target.Port())
	switch {
	case target.Scheme != "http" && target.Scheme != "https":
		return invalid("must start with https:// or http://")
	case target.Hostname() == "":
		return invalid("must name a host")
	case strings.HasSuffix(target.Host, ":"), target.Port() != "" && (portErr != nil || port < 1 || port > 65535):
		return invalid("must name a port from 1 to 65535 after the colon, or none")
	case target.User != nil:
		return invalid("must not carry a user name or password; requests are signed instead")
	case target.Fragment != "" || slices.Contains([]byte(sent), '#'):
		return invalid("must not have a fragment")
	}
	if strings.ContainsAny(strings.Replace(sent, target.Host, "", 1), joiners) {
		return characters
	}
	if why := checkHost(target.Hostname()); why != "" {
		return invalid(why)
	}
	return nil
}

// joiners are invisible, but meaningful in some scripts. A host may contain them where the conversion to ASCII, which
// checks their context, accepts them.
const joiners = "\u200c\u200d"

func forbiddenInURL(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || isInvisible(r) }

// isInvisible reports whether a character other than the joiners shows nothing. The conversion of a host to ASCII drops
// such characters, so that the URL would call another host than it shows.
func isInvisible(r rune) bool {
	return !strings.ContainsRune(joiners, r) &&
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// checkHost returns what is wrong with the host of a URL, or "". Names must be resolvable: labels of 1 to 63 letters,
// digits, inner hyphens and underscores, 253 characters in all, with or without a trailing dot. International names are
// converted as by net/http.
func checkHost(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	if strings.ContainsFunc(host, isInvisible) { // it was percent-encoded
		return "must name a host without invisible characters"
	}
	name, err := asciiHost(host)
	if err != nil {
		return "must name a host that can exist; this is no international domain name"
	}
	const longest = 253
	name = strings.TrimSuffix(name, ".")
	if len(name) > longest {
		return "must name a host of at most 253 characters, international names in their form as xn--..."
	}
	for label := range strings.SplitSeq(name, ".") {
		if !isLabel(label) {
			return "must name a host that can exist: parts of 1 to 63 letters, digits, hyphens and underscores, joined by dots"
		}
	}
	if endsInNumber(name) {
		return "must name a host whose last part is no number, or an address in full, such as 192.0.2.1 or [2001:db8::1]"
	}
	return ""
}

// asciiHost converts a host as package net/http does.
func asciiHost(host string) (string, error) {
	if strings.IndexFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return host, nil
	}
	return idna.Lookup.ToASCII(host)
}

// endsInNumber reports whether the last label of a name is a decimal or hexadecimal number. No public name ends so, and
// browsers and some resolvers read such a name as an IPv4 address: see https://url.spec.whatwg.org/#ends-in-a-number-checker.
func endsInNumber(name string) bool {
	const digits = "0123456789"
	last := strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
	hex, isHex := strings.CutPrefix(last, "0x")
	return strings.Trim(last, digits) == "" || isHex && strings.Trim(hex, digits+"abcdef") == ""
}

func isLabel(label string) bool {
	const allowed, longest = "abcdefghijklmnopqrstuvwxyz0123456789-_", 63
	return label != "" && len(label) <= longest && strings.Trim(strings.ToLower(label), allowed) == "" &&
		label[0] != '-' && label[len(label)-1] != '-'
}
