package lead

import (
	"net/netip"
	"net/url"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/idna"
	"golang.org/x/net/publicsuffix"
)

// website is an address as it was sent, taken apart.
type website struct {
	domain string // lower case, in ASCII, without www.
	rest   string // what follows the domain: a port that is not the usual one, a path without the slash at its end, a query
}

// page is the address below a domain that a website is; empty, if it is the whole domain.
func (w website) page() string {
	if w.rest == "" {
		return ""
	}
	return w.domain + w.rest
}

// parseWebsite reads a domain or an address of the web. It reports whether that has a domain under which somebody can have a
// website: not an IP address, and not a suffix such as com or co.uk.
func parseWebsite(text string) (website, bool) {
	if host := strings.ToLower(text); isHost(host) { // as most are
		domain, ok := webDomain(host)
		if !ok {
			return website{}, false
		}
		return website{domain: domain}, true
	}
	if !strings.Contains(text, "://") {
		text = "http://" + strings.TrimPrefix(text, "//")
	}
	address, err := url.Parse(text)
	if err != nil || address.Scheme != "http" && address.Scheme != "https" || address.User != nil {
		return website{}, false
	}
	domain, ok := webDomain(strings.ToLower(address.Hostname()))
	if !ok {
		return website{}, false
	}
	found := website{domain: domain, rest: strings.ToLower(strings.TrimRight(address.EscapedPath(), "/"))}
	if port := address.Port(); port != "" && port != "80" && port != "443" {
		found.rest = ":" + port + found.rest
	}
	if address.RawQuery != "" {
		found.rest += "?" + address.RawQuery
	}
	return found, true
}

// webDomain reads a host name in lower case.
func webDomain(host string) (string, bool) {
	host = strings.TrimSuffix(host, ".")
	if !isHost(host) || strings.Contains(host, "xn--") {
		var err error
		if host, err = idna.Lookup.ToASCII(host); err != nil || !isHost(host) {
			return "", false
		}
	}
	if rest, found := strings.CutPrefix(host, "www."); found && isDomain(rest) {
		host = rest
	}
	return host, isDomain(host)
}

// isDomain reports whether somebody can have this domain.
func isDomain(host string) bool {
	if !strings.Contains(host, ".") {
		return false
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	suffix, isOfRegistry := publicsuffix.PublicSuffix(host)
	return suffix != host || !isOfRegistry // github.io is the website of somebody too
}

// isHost reports whether a text is a host name in lower case and ASCII.
func isHost(text string) bool {
	const mostOfName, mostOfLabel = 253, 63
	begin := 0
	for i := 0; i <= len(text); i++ {
		if i < len(text) && text[i] != '.' {
			b := text[i]
			if b >= utf8.RuneSelf || (b < 'a' || b > 'z') && (b < '0' || b > '9') && b != '-' {
				return false
			}
			continue
		}
		if label := text[begin:i]; label == "" || len(label) > mostOfLabel || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		begin = i + 1
	}
	return len(text) <= mostOfName
}
