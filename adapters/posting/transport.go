package posting

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"code.dny.dev/ssrf"
)

// Bounds of what receivers may cost.
const (
	mostHeader      = 64 << 10 // bytes of an answer's headers, with those of the interim answers before it
	mostIdle        = 1024     // connections that are kept for the next message
	mostIdlePerHost = 64       // or as many as several endpoints on one host need
	idleFor         = 30 * time.Second
)

// newTransport speaks HTTP/1.1 alone: over HTTP/2 endpoints on one host would share a connection, and its faults.
func newTransport(options Options) *http.Transport {
	// The end of a request is not the end of the connection that is made for it: that has bounds of its own.
	d := dialer{
		Dialer:  net.Dialer{Timeout: connecting(options.Timeout), Resolver: options.Resolver},
		tls:     &tls.Config{RootCAs: options.Roots, MinVersion: tls.VersionTLS12},
		timeout: options.Timeout,
	}
	if !options.AllowPrivate {
		d.Control = guard(options.Exempt)
	}
	return &http.Transport{
		Proxy:                  nil, // it would resolve names itself and bypass the guard
		DialContext:            d.DialContext,
		DialTLSContext:         d.dialTLS,
		DisableCompression:     true, // of a compressed answer the first bytes say nothing
		MaxResponseHeaderBytes: mostHeader,
		MaxIdleConns:           mostIdle,
		MaxIdleConnsPerHost:    max(mostIdlePerHost, 4*options.Parallel),
		IdleConnTimeout:        idleFor,
	}
}

// connecting is the part of the timeout in which there must be a connection: not all, so that an owner learns what took
// so long.
func connecting(timeout time.Duration) time.Duration { return timeout * 2 / 3 }

type dialer struct {
	net.Dialer
	tls     *tls.Config
	timeout time.Duration
}

func (d *dialer) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, d.timeout)
	defer cancel()
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	plain, err := d.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	config := d.tls.Clone()
	config.ServerName = host
	secure := tls.Client(plain, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		_ = plain.Close()
		return nil, handshakeError{err}
	}
	return secure, nil
}

// handshakeError is why there is no TLS with a host that was reached.
type handshakeError struct{ error }

func (h handshakeError) Unwrap() error { return h.error }

// private is the address that the guard refused.
type private string

func (p private) Error() string {
	return "the address " + string(p) + " is private or reserved; this server sends to public addresses only"
}

// guard refuses every address that is not public. It sees the very address that is about to be called, after the name
// was resolved, so it holds for all spellings and all names, and for names whose address changes with every look-up.
func guard(exempt []netip.Prefix) func(network, address string, conn syscall.RawConn) error {
	wireServer := netip.MustParsePrefix("168.63.129.16/32") // the metadata of Azure; in no registry of special addresses
	guardian := ssrf.New(ssrf.WithAnyPort(), ssrf.WithDeniedV4Prefixes(wireServer), ssrf.WithAllowedV4Prefixes(exempt...))
	return func(network, address string, conn syscall.RawConn) error {
		if guardian.Safe(network, address, conn) == nil {
			return nil
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			return err
		}
		return private(host)
	}
}
