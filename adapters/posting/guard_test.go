package posting_test

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"holdco/adapters/posting"
)

const (
	refusal = " is private or reserved; this server sends to public addresses only"
	ok      = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)

// public stands for a public address, which tests do not call.
var public = netip.MustParsePrefix("127.0.0.2/32")

func TestNoMessageGoesToAPrivateAddress(t *testing.T) {
	t.Parallel()
	poster := newPoster(t, posting.Options{Resolver: names{
		"private.test":  always("10.0.0.1"),
		"loopback.test": always("127.0.0.1"),
		"metadata.test": always("169.254.169.254"),
	}.resolver()})
	for _, host := range []string{
		"127.0.0.1", "127.255.255.254", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
		"169.254.169.254", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.0", "0.1.2.3",
		"224.0.0.1", "239.255.255.255", "255.255.255.255", "240.0.0.1", "198.18.0.1", "192.0.2.1",
		"[::1]", "[::]", "[fe80::1]", "[fc00::1]", "[fd00:ec2::254]", "[fec0::1]", "[ff02::1]",
		"[::ffff:127.0.0.1]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b:1::7f00:1]",
		"[2002:7f00:1::]", "[2001::1]", "[2001:db8::1]",
		"localhost", "LOCALHOST", "private.test", "loopback.test", "metadata.test",
	} {
		for _, url := range []string{"http://" + host + "/", "https://" + host + ":8443/"} {
			attempt := poster.Post(t.Context(), message(url))
			if !strings.HasPrefix(attempt.Error, "the address ") || !strings.HasSuffix(attempt.Error, refusal) || attempt.Status != 0 {
				t.Errorf("%s: %+v", url, attempt)
			}
		}
	}
	if attempt := poster.Post(t.Context(), message("http://10.0.0.1:8080/")); attempt.Error != "the address 10.0.0.1"+refusal {
		t.Errorf("the attempt is %+v", attempt)
	}
}

func TestOddSpellingsOfAddressesLeadNowhere(t *testing.T) {
	t.Parallel()
	var calls atomic.Int32
	_, port, err := net.SplitHostPort(receiveAt(t, "127.0.0.1:0", counts(&calls, answers(ok))))
	if err != nil {
		t.Fatal(err)
	}
	for _, resolver := range []*net.Resolver{nil, names{}.resolver()} {
		poster := newPoster(t, posting.Options{Resolver: resolver})
		for _, host := range []string{
			"2130706433", "127.1", "0177.0.0.1", "127.0.0.1.",
			"017700000001", "[::ffff:7f00:1]", "0x7f.1", "0x7f000001",
		} {
			if resolver == nil && strings.Contains(host, "x") {
				continue // a name, for which the name servers of this machine would be asked
			}
			attempt := poster.Post(t.Context(), message("http://"+host+":"+port+"/"))
			if attempt.Error == "" || attempt.Status != 0 {
				t.Errorf("%s: %+v", host, attempt)
			}
		}
	}
	if calls.Load() != 0 {
		t.Errorf("%d calls", calls.Load())
	}
}

func TestAllowPrivateLiftsTheGuard(t *testing.T) {
	t.Parallel()
	url := receive(t, answers(ok))
	for allowed, want := range map[bool]int{true: http.StatusOK, false: 0} {
		poster := newPoster(t, posting.Options{AllowPrivate: allowed})
		if attempt := poster.Post(t.Context(), message(url)); attempt.Status != want {
			t.Errorf("allowed %v: %+v", allowed, attempt)
		}
	}
}

func TestOfSeveralAddressesNoPrivateOneIsCalled(t *testing.T) {
	t.Parallel()
	var inside, outside atomic.Int32
	address := receiveAt(t, "127.0.0.1:0", counts(&inside, answers(ok)))
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	receiveAt(t, public.Addr().String()+":"+port, counts(&outside, answers(ok)))
	poster := newPoster(t, posting.Options{Exempt: []netip.Prefix{public}, Resolver: names{
		"both.test":    always("127.0.0.2", "127.0.0.1"),
		"swapped.test": always("127.0.0.1", "127.0.0.2"),
		"dead.test":    always("127.0.0.2", "10.0.0.1"),
	}.resolver()})
	for _, host := range []string{"both.test", "swapped.test"} {
		if attempt := poster.Post(t.Context(), message("http://"+host+":"+port+"/")); attempt.Status != http.StatusOK {
			t.Errorf("%s: %+v", host, attempt)
		}
	}
	if attempt := poster.Post(t.Context(), message("http://dead.test:1/")); attempt.Error == "" {
		t.Errorf("the attempt is %+v", attempt)
	}
	if inside.Load() != 0 || outside.Load() != 2 {
		t.Errorf("%d calls inside, %d outside", inside.Load(), outside.Load())
	}
}

func TestANameThatMovesInsideIsRefusedThen(t *testing.T) {
	t.Parallel()
	var inside, outside, lookups atomic.Int32
	_, port, err := net.SplitHostPort(receiveAt(t, "127.0.0.1:0", counts(&inside, answers(ok))))
	if err != nil {
		t.Fatal(err)
	}
	receiveAt(t, public.Addr().String()+":"+port, counts(&outside, answers(ok)))
	poster := newPoster(t, posting.Options{Exempt: []netip.Prefix{public}, Resolver: names{
		"moves.test": func() []string {
			if lookups.Add(1)%2 == 1 {
				return []string{public.Addr().String()}
			}
			return []string{"127.0.0.1"}
		},
	}.resolver()})
	for i := range int32(6) {
		attempt := poster.Post(t.Context(), message("http://moves.test:"+port+"/"))
		moved := i%2 == 1
		if moved && attempt.Error != "the address 127.0.0.1"+refusal || !moved && attempt.Status != http.StatusOK || lookups.Load() != i+1 {
			t.Errorf("%d: %+v after %d look-ups", i, attempt, lookups.Load())
		}
	}
	if inside.Load() != 0 || outside.Load() != 3 {
		t.Errorf("%d calls inside, %d outside", inside.Load(), outside.Load())
	}
}

// Not parallel: it sets variables of the environment.
func TestNoProxyIsUsed(t *testing.T) {
	var proxied atomic.Int32
	proxy := receive(t, counts(&proxied, answers(ok)))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, proxy)
	}
	poster := newPoster(t, posting.Options{Resolver: names{"inside.test": always("10.0.0.1")}.resolver()})
	for _, url := range []string{"http://inside.test/", "https://inside.test/"} {
		if attempt := poster.Post(t.Context(), message(url)); attempt.Error != "the address 10.0.0.1"+refusal || proxied.Load() != 0 {
			t.Errorf("%s: %+v", url, attempt)
		}
	}
}
