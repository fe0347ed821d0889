package webhook_test

import (
	"fmt"
	"strings"
	"testing"

	"holdco/domain/fault"
	"holdco/domain/webhook"
)

func TestAURLIsAbsoluteAndCarriesNothingPrivate(t *testing.T) {
	t.Parallel()
	for sent, code := range map[string]string{
		"https://example.com":                        "",
		"http://example.com:8080/a?b=c":              "",
		"https://[2001:db8::1]:443/":                 "",
		"https://münchen.example/":                   "",
		"HTTPS://EXAMPLE.COM/":                       "",
		"":                                           fault.Required,
		"https://example.com/\u202e":                 fault.InvalidCharacters,
		"https://exam\nple.com/":                     fault.InvalidCharacters,
		"example.com":                                fault.InvalidFormat,
		"//example.com/":                             fault.InvalidFormat,
		"/hooks":                                     fault.InvalidFormat,
		"https://":                                   fault.InvalidFormat,
		"https:///hooks":                             fault.InvalidFormat,
		"https://:443/":                              fault.InvalidFormat,
		"https://example.com:0/":                     fault.InvalidFormat,
		"https://example.com:65536/":                 fault.InvalidFormat,
		"https://user@example.com/":                  fault.InvalidFormat,
		"https://user:pass@example.com/":             fault.InvalidFormat,
		"https://example.com/#part":                  fault.InvalidFormat,
		"https://example.com/#":                      fault.InvalidFormat,
		"https://example.com:/":                      fault.InvalidFormat,
		"https://example.com:":                       fault.InvalidFormat,
		"https://[2001:db8::1]:/":                    fault.InvalidFormat,
		"javascript:alert(1)":                        fault.InvalidFormat,
		"file:///etc/passwd":                         fault.InvalidFormat,
		"https://e.com/" + strings.Repeat("a", 2034): "",
		"https://e.com/" + strings.Repeat("a", 2035): fault.TooLong,
	} {
		err := create(sent)
		switch {
		case code == "" && err != nil:
			t.Errorf("%q: %v", sent, err)
		case code != "" && (err == nil || fault.Of(err).Fields[0].Path != "url" || fault.Of(err).Fields[0].Code != code):
			t.Errorf("%q: %v", sent, err)
		}
	}
}

func TestAURLHasNoCharacterThatCannotBeSeen(t *testing.T) {
	t.Parallel()
	for _, character := range []string{
		" ", "\t", "\n", "\r", "\x00", "\x7f", "\u0085", "\u00a0", "\u2003", "\u2028", "\u3000",
		"\u00ad", "\u034f", "\u200b", "\u200e", "\u202e", "\u2060", "\u2066", "\u3164", "\ufe0f", "\ufeff",
		"\U000e0041", "\U000e0100",
	} {
		for _, form := range []string{
			"https://exa%smple.com/", "https://example.com%s/", "https://%sexample.com/", "https://example.com/a%sb",
			"https://example.com/%s", "https://example.com/?a=%sb", "%shttps://example.com/", "ht%stps://example.com/",
			"https://example.com:80%s/", "https://example.com%s",
		} {
			isForbidden(t, fmt.Sprintf(form, character))
		}
	}
	for _, joiner := range []string{"\u200c", "\u200d"} { // which some hosts need
		for _, form := range []string{"https://example.com/%s", "https://نامه\u200cای.example/%s", "https://example.com/?%s=b"} {
			isForbidden(t, fmt.Sprintf(form, joiner))
		}
	}
	for _, sent := range []string{"https://example.com/a%20b?c=%0A%E2%80%8B+d", "https://example.com/ü/例え?ß",
		"https://نامه\u200cای.example/a"} {
		if err := create(sent); err != nil {
			t.Errorf("%q: %v", sent, err)
		}
	}
}

// isForbidden fails the test unless a URL is refused for its characters.
func isForbidden(t *testing.T, sent string) {
	t.Helper()
	refused := fault.Of(create(sent))
	if refused == nil || len(refused.Fields) != 1 || refused.Fields[0].Path != "url" || refused.Fields[0].Code != fault.InvalidCharacters {
		t.Errorf("%q: %v", sent, refused)
	}
}

func TestAHostMustBeOneThatCanResolve(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, strings.Repeat("a", 61)}, ".") // 253 characters
	for _, host := range []string{
		"example.com", "EXAMPLE.com", "example.com.", "localhost", "my_host", "_dmarc.example.com", "a--b.example", "r3---sn.example",
		"1.example.com", "1a", "192.0.2.1", "[2001:db8::1]", "[::ffff:192.0.2.1]", label + ".com", long, long + ".",
		"bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "例え.テスト", "straße.example", "نامه\u200cای.example", "ex%C3%A4mple.com",
		"1e100", "1e100.example", "0x7f.example", "0xg", "x0", "127.0.0.1", "1.2.3.4.example", "123a",
	} {
		if err := create("https://" + host + "/hooks"); err != nil {
			t.Errorf("%q: %v", host, err)
		}
		if err := create("http://" + host + ":8080"); err != nil {
			t.Errorf("%q with a port: %v", host, err)
		}
	}
	for _, host := range []string{
		"*.example.com", "*", "...", ".", ".example.com", "example..com", "example.com..", "a" + label, "a" + label + ".com", "x" + long,
		"x" + long + ".",
		"-a.example", "a-.example", "a.-", "exa!mple.com", "a,b", "a'b", "(a)", "a~b", "a=b", "a&b", "$a", "1", "127.1", "1.2.3.4.5",
		"192.0.2.256", "192.0.2.1.", "192.0.2.01", "example.1", "example.1.", "example.007", "example.١", "a.１２", "１２７.0.0.1",
		"0x7f.1", "0x7f000001", "0X7F.0.0.0x1", "example.0x", "example.0xdeadBEEF", "example.0x1.", "2130706433",
		"exa%E2%80%8Bmple.com", "a\u200d.example", "a%E2%80%8D.example", "\u200c",
		"bü_cher.example", "ü*.example", "ü..example", "ü-.example", strings.Repeat("ü", 60) + ".example",
	} {
		err := create("https://" + host + "/hooks")
		if refused := fault.Of(err); refused == nil || refused.Code != fault.ValidationFailed || len(refused.Fields) != 1 ||
			refused.Fields[0].Path != "url" || refused.Fields[0].Code != fault.InvalidFormat {
			t.Errorf("%q: %v", host, err)
		}
	}
}

func create(url string) error {
	_, _, err := webhook.New(hookID, webhook.Draft{Settings: webhook.Settings{URL: &url}}, "sealed", exists, noon)
	return err
}
