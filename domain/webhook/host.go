package webhook

import (
	"net/netip"
	"strings"
	"unicode"

	"golang.org/x/net/idna"
)

// checkHost returns what is wrong with the host of a URL, or "". Names must be resolvable: labels of 1 to 63 letters,
// digits, inner hyphens and underscores, 253 characters in all, with or without a trailing dot. International names are
// converted as by net/http.
func checkHost(host string) string {
	if _, err := netip.ParseAddr(host); err == nil {
		return ""
	}
	if strings.ContainsFunc(host, ignoredInHost) {
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
	if strings.Trim(name, "0123456789.") == "" {
		return "must name a host, or an address in full, such as 192.0.2.1 or [2001:db8::1]"
	}
	return ""
}

// ignoredInHost reports whether the conversion to ASCII would drop a character, so that the URL would call another host
// than it shows. The two joiners are meaningful in some scripts, and the conversion checks their context.
func ignoredInHost(r rune) bool {
	const nonJoiner, joiner = '\u200c', '\u200d'
	return r != nonJoiner && r != joiner &&
		unicode.In(r, unicode.Cf, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// asciiHost converts a host as package net/http does.
func asciiHost(host string) (string, error) {
	if strings.IndexFunc(host, func(r rune) bool { return r > unicode.MaxASCII }) < 0 {
		return host, nil
	}
	return idna.Lookup.ToASCII(host)
}

func isLabel(label string) bool {
	const allowed, longest = "abcdefghijklmnopqrstuvwxyz0123456789-_", 63
	return label != "" && len(label) <= longest && strings.Trim(strings.ToLower(label), allowed) == "" &&
		label[0] != '-' && label[len(label)-1] != '-'
}
