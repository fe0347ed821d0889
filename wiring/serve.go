package wiring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"time"

	"holdco/adapters/cli"
	"holdco/adapters/http/httpkit"
	"holdco/app/activity"
	"holdco/app/jobs"
	"holdco/app/keys"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// drain is how long a stopping server waits for the requests in flight, and streamDrain for streams: clients can resume these
// where they broke off.
const (
	drain       = 30 * time.Second
	streamDrain = 25 * time.Second
)

// longestStop is how long programs may take to end, which leaves time of the drain to release their leases.
const longestStop = 20 * time.Second

// Clocks are what a server takes the time from.
type Clocks struct {
	Process outbound.Clock
	Store   outbound.Clock // takes the place of the store's own, so that tests can move it; nil: nothing does
}

// Server is one running instance: its listeners and its jobs, on one store.
type Server struct {
	services
	background

	Config   Config
	Log      *slog.Logger
	Clock    outbound.Clock
	Migrator outbound.Migrator
	Store    store.Store
	API      http.Handler
	Pages    dashboardPages
	Export   exportAPI
	Gateway  gatewayAPI
	Vault    outbound.Vault
	Stopping *httpkit.Stopping
	Restored restored

	metricsPages metricsPages
	telemetry    telemetry

	gatewayURL string `wire:"-"` // how agents reach the gateway, while that listens
	pagesURL   string `wire:"-"` // how browsers on this machine reach the dashboard, while that listens
}

// Run serves until ctx ends, then stops in order: no new connections, the requests in flight, the jobs, what is still
// to be written down. What a person should see once goes to out: the first admin token, and a line for each listener
// when it accepts connections.
func (s *Server) Run(ctx context.Context, out io.Writer, migrate bool) error {
	if err := s.prepareStore(ctx, migrate); err != nil {
		return err
	}
	fronts := s.fronts()
	defer func() { // those that do not serve, because the start fails
		for _, f := range fronts {
			f.close()
		}
	}()
	for _, f := range fronts {
		if err := f.listen(ctx, s.Log); err != nil {
			return err
		}
	}
	// The token is shown once, so it is made when nothing after it can fail before it is printed.
	if err := s.showFirstToken(ctx, out); err != nil {
		return err
	}
	failed := make(chan error, len(fronts))
	for _, f := range fronts {
		go func() { failed <- f.server.Serve(f.listener) }()
		fmt.Fprintln(out, f.announcement())
	}
	stopJobs := s.startJobs(ctx)

	var err error
	select {
	case <-ctx.Done():
		s.Log.InfoContext(ctx, "stopping")
	case err = <-failed:
	case <-s.Restored:
		err = errors.New("the store was restored; start again") // what is in memory is of the former one
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), drain)
	defer cancel()
	err = errors.Join(err, s.drain(last, fronts))
	stopJobs()
	s.flush(last)
	if err == nil {
		s.Log.InfoContext(ctx, "stopped")
	}
	return err
}

// startJobs runs the jobs in the background. The returned function ends them and waits for those that run.
func (s *Server) startJobs(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	idle := make(chan struct{})
	go func() {
		jobs.Run(ctx, operatorLog{s.Log}, s.telemetry.jobs(s.jobs())...)
		close(idle)
	}()
	return func() {
		cancel()
		<-idle
	}
}

// drain accepts no more connections and waits for the requests in flight until ctx ends.
func (s *Server) drain(ctx context.Context, fronts []*front) (err error) {
	s.Activity.Close()
	s.Leases.Close()
	s.Issues.Close()
	s.Export.endWaits()
	s.Runner.Close() // programs end while requests do, each within its own time
	streams := time.AfterFunc(streamDrain, s.Stopping.Begin)
	defer streams.Stop()
	for _, f := range slices.Backward(fronts) {
		if shutdown := f.server.Shutdown(ctx); shutdown != nil {
			err = errors.Join(err, fmt.Errorf("requests were still running after %s: %w", drain, shutdown))
		}
	}
	return err
}

// flush writes down and sends what is still in memory.
func (s *Server) flush(ctx context.Context) {
	for _, r := range resources {
		var err error
		if r.flush != nil {
			_, err = r.flush(s).Run(ctx)
		}
		if r.stop != nil {
			err = errors.Join(err, r.stop(ctx, s))
		}
		if err != nil {
			s.Log.WarnContext(ctx, "what was still in memory could not be written down", "error", err.Error())
		}
	}
	if err := s.telemetry.flush(ctx); err != nil {
		s.Log.WarnContext(ctx, "the last spans could not be sent", "error", err.Error())
	}
}

// prepareStore brings the schema to what this program needs, or refuses one that is not, and opens the vault.
func (s *Server) prepareStore(ctx context.Context, migrate bool) error {
	if migrate {
		applied, err := s.Migrator.Up(ctx)
		if err != nil {
			return err
		}
		for _, migration := range applied {
			s.Log.InfoContext(ctx, "migrated", "migration", migration.Name)
		}
	}
	if err := s.Store.Ready(ctx); err != nil {
		return err
	}
	moved, err := activity.Reorder(ctx, s.Store)
	if err != nil {
		return err
	}
	if moved {
		s.Log.InfoContext(ctx, "the store was moved here; its activity comes before all that happens now")
	}
	return unlock(ctx, s.Store, s.Vault)
}

// unlock opens the vault with the key that the store is bound to.
func unlock(ctx context.Context, s store.Store, vault outbound.Vault) error {
	if err := keys.Unlock(ctx, s, vault); err != nil {
		return fmt.Errorf("HOLDCO_KEY_FILE: %w", err)
	}
	return nil
}

// showFirstToken makes an admin token when there is none, and shows it.
func (s *Server) showFirstToken(ctx context.Context, out io.Writer) error {
	first, err := s.Tokens.EnsureAdmin(ctx, s.Config.AdminToken)
	switch {
	case err != nil:
		return err
	case first == nil:
	case first.Value == s.Config.AdminToken:
		fmt.Fprintln(out, "The first admin token has the value of HOLDCO_ADMIN_TOKEN.")
	default:
		fmt.Fprintf(out, "The first admin token, shown only this once:\n\n  %s\n\n", first.Value)
		return s.showLink(ctx, out, first.Token.ID)
	}
	return nil
}

// showLink shows a link that signs in at the dashboard, if that listens.
func (s *Server) showLink(ctx context.Context, out io.Writer, as id.Token) error {
	if s.pagesURL == "" {
		return nil
	}
	code, err := s.Sessions.Link(ctx, access.System("start"), as)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Open the dashboard with this link, once, within 15 minutes (\"holdco login\" prints another):\n\n  %s\n\n",
		cli.LoginLink(s.pagesURL, string(code)))
	return nil
}

// jobs are what this instance does in the background.
func (s *Server) jobs() []jobs.Job {
	all := paceCollector()
	for _, r := range resources {
		if r.jobs != nil {
			all = append(all, r.jobs(s)...)
		}
		if r.flush != nil {
			all = append(all, r.flush(s))
		}
	}
	return all
}

// front is one address that the server listens on.
type front struct {
	variable, addr string
	line           string // what is printed when it accepts connections
	handler        http.Handler
	url            *string // how clients reach it; empty: by its address, until it listens; nil: nobody asks

	listener net.Listener
	server   *http.Server
}

// fronts are all that are not turned off. The API is the last to accept connections and the first to stop: when its line is
// printed, everything else is up.
func (s *Server) fronts() []*front {
	s.gatewayURL = s.Config.GatewayURL
	s.pagesURL = ""
	all := []*front{
		{
			variable: "HOLDCO_METRICS_ADDR", addr: s.Config.MetricsAddr, handler: s.metricsPages,
			line: "Metrics are at http://%s/metrics",
		},
		{
			variable: "HOLDCO_PARTNER_ADDR", addr: s.Config.PartnerAddr, handler: s.Export,
			line: "The export API for partners listens on http://%s (reference: http://%[1]s/api/external/docs)",
		},
		{
			variable: "HOLDCO_GATEWAY_ADDR", addr: s.Config.GatewayAddr, handler: s.Gateway, url: &s.gatewayURL,
			line: "The gateway for agents listens on http://%s (reference: http://%[1]s/gateway/docs)",
		},
		{
			variable: "HOLDCO_DASHBOARD_ADDR", addr: s.Config.DashboardAddr, handler: s.Pages, url: &s.pagesURL,
			line: "The dashboard is at http://%s",
		},
		{
			variable: "HOLDCO_API_ADDR", addr: s.Config.APIAddr, handler: s.API,
			line: "The API listens on http://%s (reference: http://%[1]s/docs)",
		},
	}
	return slices.DeleteFunc(all, func(f *front) bool { return f.addr == "" })
}

func (f *front) listen(ctx context.Context, log *slog.Logger) (err error) {
	f.server = httpkit.NewServer(f.handler, log)
	f.listener, err = (&net.ListenConfig{}).Listen(ctx, "tcp", f.addr)
	if err != nil {
		return fmt.Errorf("cannot listen on %s %s: %w", f.variable, f.addr, err)
	}
	if f.url != nil && *f.url == "" {
		*f.url = reaching(f.listener.Addr())
	}
	return nil
}

// reachingAddr is reaching for an address that a server may listen on; empty: none does.
func reachingAddr(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	if ip, err := netip.ParseAddr(host); host == "" || err == nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port)
}

// reaching is the URL by which programs on this machine reach a listener.
func reaching(listening net.Addr) string {
	at, err := netip.ParseAddrPort(listening.String())
	if err == nil && at.Addr().IsUnspecified() {
		return fmt.Sprintf("http://localhost:%d", at.Port())
	}
	return "http://" + listening.String()
}

func (f *front) announcement() string {
	text := fmt.Sprintf(f.line, f.listener.Addr())
	if f.url != nil && *f.url != "http://"+f.listener.Addr().String() {
		text += "; it is reached at " + *f.url
	}
	return text
}

// close closes the listener, if it is open.
func (f *front) close() {
	if f.listener != nil {
		_ = f.listener.Close()
	}
}
