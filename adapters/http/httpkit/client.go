package httpkit

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks of the proxies that are believed when they say whom they pass on.
type Proxies []netip.Prefix

// clientOf returns the address of the client: the peer's, or, when that is a proxy of ours, the one that it reports in
// X-Forwarded-For. Each proxy adds its own peer on the right, so the list is read from there, and what is left of the
// first stranger is anybody's claim.
func (p Proxies) clientOf(r *http.Request) netip.Addr {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr) // always one, on a TCP listener
	client := plain(peer.Addr())
	if !p.include(client) {
		return client
	}
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, hop := range slices.Backward(hops) {
		address, ok := parseHop(strings.TrimSpace(hop))
		if !ok {
			break
		}
		if client = address; !p.include(client) {
			break
		}
	}
	return client
}

// Encrypted reports whether a request came encrypted: over TLS, or as a proxy of ours says that it got it.
func (p Proxies) Encrypted(r *http.Request) bool {
	peer, _ := netip.ParseAddrPort(r.RemoteAddr)
	return r.TLS != nil || p.include(plain(peer.Addr())) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (p Proxies) include(address netip.Addr) bool {
	return slices.ContainsFunc(p, func(network netip.Prefix) bool { return network.Contains(address) })
}

// parseHop reads an address; some proxies add the port.
func parseHop(text string) (netip.Addr, bool) {
	if address, err := netip.ParseAddr(text); err == nil {
		return plain(address), true
	}
	withPort, err := netip.ParseAddrPort(text)
	return plain(withPort.Addr()), err == nil
}

// plain gives each address one spelling.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

// siteOf names the clients that are counted as one: an IPv6 client has a whole /64 of addresses to choose from.
func siteOf(client netip.Addr) string {
	if client.Is6() {
		network, _ := client.Prefix(64) // fails for no IPv6 address
		return network.String()
	}
	return client.String()
}
