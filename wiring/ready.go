package wiring

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/spf13/pflag"

	"holdco/adapters/http/httpkit"
)

// readyLimit is longer than a probe takes that waits for the store in vain.
const readyLimit = 5 * time.Second

// askReady asks the server on this machine, which has the same configuration, whether it is ready.
func askReady(ctx context.Context, flags *pflag.FlagSet, stderr io.Writer) error {
	config, _, err := configure(flags, stderr)
	if err != nil {
		return err
	}
	addr := firstAddr(config)
	if addr == "" {
		return errors.New("the configuration has no listener to ask")
	}
	ctx, cancel := context.WithTimeout(ctx, readyLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+httpkit.ReadyPath, http.NoBody)
	if err != nil {
		return err
	}
	answer, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(request) // by no proxy
	if err != nil {
		return fmt.Errorf("no server answers at %s: %w", addr, err)
	}
	defer answer.Body.Close()
	if answer.StatusCode == httpkit.OK {
		return nil
	}
	var told struct {
		Status string
		Error  struct{ Message string }
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, 64<<10)).Decode(&told)
	reason := cmp.Or(told.Error.Message, told.Status)
	if err != nil || reason == "" {
		return fmt.Errorf("what answers at %s is no server of Holdco: %s", addr, answer.Status)
	}
	return fmt.Errorf("the server at %s is not ready: %s", addr, reason)
}

// firstAddr is where the first listener of a configuration is reached from this machine; empty: there is none. A container may
// know no names, not even localhost.
func firstAddr(config Config) string {
	for _, addr := range []string{config.APIAddr, config.DashboardAddr, config.GatewayAddr, config.PartnerAddr, config.MetricsAddr} {
		host, port, err := net.SplitHostPort(addr)
		if err != nil {
			continue
		}
		ip, err := netip.ParseAddr(host)
		switch {
		case host == "" || err == nil && ip.IsUnspecified() && ip.Is4():
			host = "127.0.0.1"
		case err == nil && ip.IsUnspecified():
			host = "::1"
		}
		return net.JoinHostPort(host, port)
	}
	return ""
}
