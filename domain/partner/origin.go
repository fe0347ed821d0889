package partner

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"holdco/domain/fault"
	"holdco/domain/text"
)

// OriginLength bounds the length of an origin.
const OriginLength = 255

// IsOrigin reports whether a text is an origin as browsers send it.
func IsOrigin(sent string) bool { return checkOrigin("origin", sent) == nil }

// checkOrigin validates an origin. It must be exactly as browsers send it in the header Origin (RFC 6454, section 6.2),
// because requests are compared with it byte by byte: scheme, host in lower case, and the port unless it is the default
// of the scheme.
func checkOrigin(path, sent string) []fault.Field {
	if _, wrong := text.Name(path, sent, OriginLength); wrong != nil { // it is displayed, as names are
		return wrong
	}
	invalid := func(why string) []fault.Field {
		return []fault.Field{fault.Fieldf(path, fault.InvalidFormat, "%s %s", path, why)}
	}
	origin, err := url.Parse(sent)
	switch {
	case err != nil:
		return invalid("must be an origin such as https://example.com")
	case origin.Scheme != "http" && origin.Scheme != "https":
		return invalid("must start with https:// or http://; * and null are no origins")
	}
	host, isHost := formatHost(origin.Hostname())
	if !isHost {
		return invalid("must name a host as browsers do: in ASCII, international names as xn--..., addresses in full")
	}
	port, isPort := formatPort(origin.Scheme, origin.Port())
	if !isPort {
		return invalid("must name a port from 1 to 65535, or none")
	}
	if formatted := origin.Scheme + "://" + host + port; sent != formatted {
		return invalid("must be spelled as browsers send it: " + formatted)
	}
	return nil
}

// formatHost formats the host of an origin: a name, or an address, IPv6 in brackets.
func formatHost(host string) (formatted string, ok bool) {
	address, err := netip.ParseAddr(host)
	switch {
	case err == nil && address.Is4():
		return address.String(), true
	case err == nil:
		// IPv4-mapped IPv6 addresses are refused: browsers format them differently from netip.
		return "[" + address.String() + "]", address.Zone() == "" && !address.Is4In6()
	}
	host = strings.ToLower(host)
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || strings.Trim(label, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false
		}
	}
	return host, !isNumber(host[strings.LastIndexByte(host, '.')+1:])
}

// isNumber reports whether browsers parse a label as a part of an IPv4 address.
func isNumber(label string) bool {
	return strings.Trim(label, "0123456789") == "" || strings.HasPrefix(label, "0x") && strings.Trim(label[2:], "0123456789abcdef") == ""
}

// formatPort formats the port of an origin, with the colon before it. The default port of the scheme is left out.
func formatPort(scheme, port string) (formatted string, ok bool) {
	if port == "" {
		return "", true
	}
	number, err := strconv.Atoi(port)
	switch {
	case err != nil || number < 1 || number > 65535:
		return "", false
	case scheme == "http" && number == 80, scheme == "https" && number == 443:
		return "", true
	}
	return ":" + strconv.Itoa(number), true
}
