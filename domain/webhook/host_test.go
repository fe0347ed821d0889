package webhook_test

import (
	"strings"
	"testing"

	"holdco/domain/fault"
	"holdco/domain/webhook"
)

func TestAHostMustBeOneThatCanResolve(t *testing.T) {
	t.Parallel()
	label := strings.Repeat("a", 63)
	long := strings.Join([]string{label, label, label, strings.Repeat("a", 61)}, ".") // 253 characters
	for _, host := range []string{
		"example.com", "EXAMPLE.com", "example.com.", "localhost", "my_host", "_dmarc.example.com", "a--b.example", "r3---sn.example",
		"1.example.com", "1a", "192.0.2.1", "[2001:db8::1]", "[::ffff:192.0.2.1]", label + ".com", long, long + ".",
		"bücher.example", "BÜCHER.example", "xn--bcher-kva.example", "例え.テスト", "straße.example", "نامه\u200cای.example", "ex%C3%A4mple.com",
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
		"192.0.2.256",
		"exa\u200bmple.com", "exam\u00adple.com", "example\ufeff.com", "example.com\u2060", "a\u200d.example", "☃\ufe0f.example", "\u200c",
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
