package posting

import (
	"context"
	"net"
	"net/url"

	"holdco/ports/outbound"
)

var _ outbound.ReceiverFinder = (*Poster)(nil)

// Reach implements outbound.ReceiverFinder.
func (p *Poster) Reach(ctx context.Context, at string) error {
	parsed, err := url.Parse(at)
	if err != nil || parsed.Hostname() == "" {
		return sentence("the URL has no host")
	}
	connect, port := p.transport.DialContext, "80"
	if parsed.Scheme == "https" {
		connect, port = p.transport.DialTLSContext, "443"
	}
	if given := parsed.Port(); given != "" {
		port = given
	}
	within, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	connection, err := connect(within, "tcp", net.JoinHostPort(parsed.Hostname(), port))
	if err != nil {
		return sentence("%s", p.explain(ctx, err, false))
	}
	_ = connection.Close()
	return nil
}
