package partner_test

import (
	"fmt"
	"strings"
	"testing"

	"holdco/domain/fault"
	"holdco/domain/partner"
)

func TestOriginsAreSpelledAsBrowsersSendThem(t *testing.T) {
	t.Parallel()
	for _, origin := range []string{
		"https://example.com", "http://example.com", "https://app.example.com:8443", "http://localhost:3000", "http://example.com:443",
		"https://example.com:80", "http://127.0.0.1:8080", "http://[::1]:3000", "https://[2001:db8::1]", "https://xn--bcher-kva.example",
		"https://my_app.example.com", "https://a-b.c--d.e1", "https://1password.com", "https://example.com:65535",
		"https://0xg.example.0xg",
		"https://" + strings.Repeat("a", partner.OriginLength-len("https://")),
	} {
		made, _, err := partner.New(partnerID, draft([]string{origin}), first, noon)
		if err != nil || !made.AllowsOrigin(origin) {
			t.Errorf("%s: %v", origin, err)
		}
	}
}

func TestWhatIsNoOriginIsRefused(t *testing.T) {
	t.Parallel()
	for origin, want := range map[string]string{
		"":                                 fault.Required,
		" ":                                fault.Required,
		"*":                                fault.InvalidFormat,
		"null":                             fault.InvalidFormat,
		"example.com":                      fault.InvalidFormat,
		"//example.com":                    fault.InvalidFormat,
		"ftp://example.com":                fault.InvalidFormat,
		"https:example.com":                fault.InvalidFormat,
		"https://":                         fault.InvalidFormat,
		"https:///":                        fault.InvalidFormat,
		"https://*":                        fault.InvalidFormat,
		"https://*.example.com":            fault.InvalidFormat,
		" https://example.com":             fault.InvalidFormat,
		"https://example.com ":             fault.InvalidFormat,
		"https://example.com, https://b.c": fault.InvalidFormat,
		"https://exa mple.com":             fault.InvalidFormat,
		"https://example..com":             fault.InvalidFormat,
		"https://example.com.":             fault.InvalidFormat,
		"https://bücher.example":           fault.InvalidFormat,
		"https://b%C3%BCcher.example":      fault.InvalidFormat,
		"https://1.2.3":                    fault.InvalidFormat,
		"https://1.2.3.04":                 fault.InvalidFormat,
		"https://1.2.3.0x4":                fault.InvalidFormat,
		"https://0x":                       fault.InvalidFormat,
		"https://2130706433":               fault.InvalidFormat,
		"http://::1":                       fault.InvalidFormat,
		"http://[fe80::1%25eth0]":          fault.InvalidFormat,
		"http://[::ffff:1.2.3.4]":          fault.InvalidFormat,
		"https://example.com:0":            fault.InvalidFormat,
		"https://example.com:65536":        fault.InvalidFormat,
		"https://example.com:https":        fault.InvalidFormat,
		"https://example.com\n":            fault.InvalidFormat,
		"https://exam\x00ple.com":          fault.InvalidCharacters,
		"https://exam\u202eple.com":        fault.InvalidCharacters,
		"https://" + strings.Repeat("a", partner.OriginLength-len("https://")+1): fault.TooLong,
	} {
		_, _, err := partner.New(partnerID, draft([]string{"https://example.com", origin}), first, noon)
		refusal := fault.Of(err)
		if refusal == nil || len(refusal.Fields) != 1 || refusal.Fields[0].Path != "origins.1" || refusal.Fields[0].Code != want {
			t.Errorf("%q: %+v, want %s", origin, refusal, want)
		}
	}
}

func TestWhoSpellsAnOriginInAnotherWayIsToldHow(t *testing.T) {
	t.Parallel()
	for sent, spelled := range map[string]string{
		"HTTPS://example.com":          "https://example.com",
		"https://Example.COM":          "https://example.com",
		"https://example.com/":         "https://example.com",
		"https://example.com/a?b=c#d":  "https://example.com",
		"https://example.com?":         "https://example.com",
		"https://example.com#":         "https://example.com",
		"https://example.com:":         "https://example.com",
		"https://example.com:443":      "https://example.com",
		"http://example.com:080":       "http://example.com",
		"http://example.com:08080/":    "http://example.com:8080",
		"https://me:word@example.com":  "https://example.com",
		"http://[0:0:0:0:0:0:0:1]:80/": "http://[::1]",
		"http://[2001:DB8::1]":         "http://[2001:db8::1]",
	} {
		_, _, err := partner.New(partnerID, draft([]string{sent}), first, noon)
		want := fmt.Sprintf("origins.0 must be spelled as browsers send it: %s", spelled)
		if refusal := fault.Of(err); refusal == nil || refusal.Fields[0].Message != want {
			t.Errorf("%s: %+v", sent, refusal)
		}
	}
}

func TestAnOriginIsAllowedToTheLetter(t *testing.T) {
	t.Parallel()
	p := partner.Partner{Origins: []string{"https://example.com", "http://localhost:3000"}}
	for origin, want := range map[string]bool{
		"https://example.com": true, "http://localhost:3000": true, "http://example.com": false, "https://example.com:443": false,
		"https://EXAMPLE.com": false, "https://example.com/": false, "https://a.example.com": false, "http://localhost": false,
		"https://example.com http://localhost:3000": false, "null": false, "*": false, "": false,
	} {
		if got := p.AllowsOrigin(origin); got != want {
			t.Errorf("%q: %v", origin, got)
		}
	}
}
