//go:build soak

package wiring_test

import (
	"bufio"
	"bytes"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/event"
	"holdco/domain/webhook"
)

var (
	soakLasts = flag.Duration("soak", 10*time.Minute, "how long the load of a soak lasts on each store")
	soakSeed  = flag.Uint64("seed", 0, "what clients choose and when servers are killed follows from it (0: another one each time)")
)

// How much is done in a soak. Two cores are not full of it: whoever measures looks at bench.
const (
	soakSlowness = time.Second     // each client of the storm waits for up to twice that before a request
	soakKills    = 8 * time.Second // from one disturbance to the next; these and those below are averages
	soakTools    = 3               // agents that work through tools
	soakReaders  = 6               // readers of streams, who come and go
	soakLeads    = 2000            // that are imported again and again, so many of them at once:
	soakBatch    = 150
	soakImports  = 8 * time.Second
	soakExports  = 4 * time.Second
	soakBackups  = 40 * time.Second
	soakDoctors  = 50 * time.Second
	soakPrunes   = 70 * time.Second
	soakSamples  = 2 * time.Second
)

// For minutes everything is done at once, on servers that are killed, stopped and lose their store. Then all that was acknowledged is
// there, and nothing has grown that has a bound.
//
// Nobody is killed in the second part, which is for that comparison: a process that begins anew says nothing about what grows, and on
// SQLite there is no other server beside it.
func TestSoak(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		newSoak(t, 1, nil, dataDir+t.TempDir()).runs(t)
	})
	t.Run("postgres", func(t *testing.T) {
		cluster := postgrestest.NewCluster(t, "autovacuum=on")
		newSoak(t, 2, cluster, dataDir+t.TempDir(), databaseURL+cluster.Database(t)).runs(t)
	})
}

// soakCalm is the share of the time in which nobody is killed.
const soakCalm = 0.6

// soak is a storm that lasts, and what comes on top of it.
type soak struct {
	*workStorm

	cluster  *postgrestest.Cluster // nil: on SQLite
	settings []string
	dir      string         // of backups and logs
	began    time.Time      // of the load
	steady   time.Time      // when the last disturbance is over
	ends     map[string]int // of servers, and of the store
	done     map[string]int // how often something was done, under mutex
	backups  []string       // that were made, under mutex too
	leads    soakedLeads
	calm     soakGrowth
	receiver *soakReceiver
	follows  []*follower
	mark     int64 // the number of the newest entry before the load
}

func newSoak(t *testing.T, servers int, cluster *postgrestest.Cluster, environ ...string) *soak {
	t.Helper()
	s := &soak{
		workStorm: emptyStorm(t, servers, environ...), cluster: cluster, dir: t.TempDir(), ends: map[string]int{}, done: map[string]int{},
	}
	if s.seed = *soakSeed; s.seed == 0 {
		s.seed = rand.Uint64()
	}
	fmt.Printf("\n%s: %s with the seed %d\n", t.Name(), *soakLasts, s.seed)
	s.settings = []string{allowPrivate, "HOLDCO_BACKUP_DIR=" + filepath.Join(s.dir, "scheduled"), "HOLDCO_BACKUP_EVERY=10m"}
	must(t, os.Mkdir(filepath.Join(s.dir, "scheduled"), 0o700))
	s.slowness, s.isStoreLost = soakSlowness, cluster != nil
	s.launch = func(n int, environ ...string) *process { return s.launches(t, n, environ...) }
	s.answered = s.calm.answered
	return s
}

// launches starts a server that writes its log to the end of a file.
func (s *soak) launches(t *testing.T, n int, environ ...string) *process {
	t.Helper()
	log, err := os.OpenFile(s.logOf(n), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	must(t, err)
	defer log.Close()
	p := &process{}
	p.start(t, log, slices.Concat(environ, s.settings, []string{"HOLDCO_LOG_LEVEL=info"})...)
	return p
}

func (s *soak) logOf(n int) string { return filepath.Join(s.dir, fmt.Sprintf("server-%d.log", n+1)) }

// runs lets all clients work, disturbs the servers in the first part, looks what grows in the second, and compares what the clients
// were told with what there is.
func (s *soak) runs(t *testing.T) {
	t.Helper()
	s.open(t)
	s.prepare(t)
	s.began = time.Now()
	s.until = s.began.Add(*soakLasts)
	s.steady = s.until.Add(-time.Duration(float64(*soakLasts) * soakCalm))
	var clients sync.WaitGroup
	s.begin(t, &clients)
	s.beginMore(&clients)
	s.disturb(t)
	s.say("from now on nobody is killed")
	clients.Go(func() { s.calm.sample(s) })
	clients.Wait()

	s.say("the clients have ended")
	s.settle(t)
	s.receiver.calms()
	s.checkDeliveries(t)
	s.checkFollowers(t)
	s.checkLeads(t)
	s.say("all has come to rest")
	s.rest(t)
	s.checkCommands(t)
	s.checkLogs()
	s.calm.compare(s)
	s.check(t)
	s.report(t)
}

// say tells a person who waits how far it is.
func (s *soak) say(what string) {
	s.mutex.Lock()
	faults := len(s.faults)
	s.mutex.Unlock()
	fmt.Printf("%8s  %s; requests so far: %d, faults: %d\n", time.Since(s.began).Round(time.Second), what, s.requests.Load(), faults)
}

func (s *soak) tally(what string, n int) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.done[what] += n
}

// isShaken reports whether a command or a request may fail because its server, or its store, is just taken away.
func (s *soak) isShaken() bool { return s.wasShaken(time.Now()) }

// wasShaken is isShaken at an instant. For a moment servers may still find connections that the store has lost.
func (s *soak) wasShaken(at time.Time) bool { return at.Before(s.steady.Add(5 * time.Second)) }

// disturb kills and stops servers, and on Postgres the store, one after the other.
func (s *soak) disturb(t *testing.T) {
	t.Helper()
	random := rand.New(rand.NewPCG(s.seed, 1))
	every := min(soakKills, *soakLasts/20) // a short soak has kills too
	for said := time.Now(); ; {
		if time.Since(said) > time.Minute {
			said = time.Now()
			s.say(fmt.Sprintf("disturbed %v", s.ends))
		}
		time.Sleep(min(max(0, time.Until(s.steady)), every/2+time.Duration(random.Int64N(int64(every)))))
		if !time.Now().Before(s.steady) {
			return
		}
		n, chance, away := random.IntN(len(s.servers)), random.IntN(100), time.Duration(random.Int64N(int64(2*time.Second)))
		switch {
		case s.cluster != nil && chance < 15:
			s.ends["PostgreSQL stopped (fast)"]++
			s.cluster.Stop(t)
			time.Sleep(away)
			s.cluster.Start(t)
		case s.cluster != nil && chance < 30:
			s.ends["PostgreSQL stopped (immediate)"]++
			s.cluster.Kill(t)
			time.Sleep(away)
			s.cluster.Start(t)
		case chance < 65:
			s.ends["SIGKILL"]++
			s.servers[n].Load().kill()
			time.Sleep(away)
			s.start(t, n)
		default:
			s.ends["SIGTERM"]++
			s.terminate(n)
			time.Sleep(away)
			s.start(t, n)
		}
	}
}

// terminate ends a server in an orderly way.
func (s *soak) terminate(n int) {
	const patience = time.Minute
	p := s.servers[n].Load()
	if err := p.Process.Signal(syscall.SIGTERM); err != nil {
		s.fault("a server has ended by itself: %v", err)
	}
	stuck := time.AfterFunc(patience, func() { _ = p.Process.Kill() })
	defer stuck.Stop()
	if err := p.Wait(); err != nil {
		s.fault("a server that was told to stop ended with: %v", err)
	}
}

// often does something again and again, at random instants.
func (s *soak) often(clients *sync.WaitGroup, n int, every time.Duration, do func(c *stormCaller)) {
	clients.Go(func() {
		c := s.newCaller(n)
		first := min(every, *soakLasts/4) // a short soak does everything once
		for s.pause(time.Duration(c.Int64N(int64(first)))); !s.isOver(); s.pause(every/2 + time.Duration(c.Int64N(int64(every)))) {
			do(c)
		}
	})
}

// prepare makes what is there before the load: leads to be exported, a partner, a webhook, and readers who miss nothing.
func (s *soak) prepare(t *testing.T) {
	t.Helper()
	c := s.newCaller(4000)
	s.prepareLeads(t, c)
	s.receiver = newSoakReceiver(t, s.workStorm)
	r := c.ask("subscribe", http.MethodPost, "/v1/webhooks", fmt.Sprintf(`{"url":%q,"events":["%s"]}`, s.receiver.URL,
		strings.Join(webhook.Names(soakEvents), `","`)), c.unique())
	s.receiver.secret = into[apiWebhook](s.workStorm, r).Secret
	for _, office := range s.offices[:2] {
		f := &follower{office: office}
		s.follows = append(s.follows, f)
		await(t, "the beginning of a stream", func() bool {
			return f.read(t.Context(), c, time.Second) == nil && f.place != ""
		})
	}
	s.mark = scalar[int64](t, beside(s.environ), "SELECT max(seq) FROM activity")
	if len(s.faults) > 0 {
		t.Fatal(s.faults)
	}
}

// soakEvents are what the webhook wants.
var soakEvents = []webhook.Pattern{"company.*", "issue.*", "approval.*", "agent.*", "goal.*", "project.*"}

// checkDeliveries: each event that the webhook wants has arrived.
func (s *soak) checkDeliveries(t *testing.T) {
	t.Helper()
	wanted := map[string]string{}
	s.rows(t, fmt.Sprintf("SELECT id, type FROM activity WHERE seq > %d", s.mark), func(rows *sql.Rows) error {
		var id, what string
		err := rows.Scan(&id, &what)
		isWanted := func(p webhook.Pattern) bool { return p.Matches(event.Type(what)) }
		if webhook.IsSent(event.Type(what)) && slices.ContainsFunc(soakEvents, isWanted) {
			wanted[id] = what
		}
		return err
	})
	missing := func() (missing []string) {
		had := s.receiver.arrived()
		for id, what := range wanted {
			if had[id] == 0 {
				missing = append(missing, what+" "+id)
			}
		}
		return missing
	}
	const patience = 5 * time.Minute
	for began := time.Now(); len(missing()) > 0 && time.Since(began) < patience; {
		time.Sleep(500 * time.Millisecond)
	}
	if lost := missing(); len(lost) > 0 {
		s.fault("%d of %d events did not arrive: %v", len(lost), len(wanted), lost[:min(len(lost), 10)])
	}
	s.tally("events that webhooks were to get", len(wanted))
	s.tally("events that arrived again", s.receiver.again())
}

func (s *soak) rows(t *testing.T, statement string, scan func(rows *sql.Rows) error) {
	t.Helper()
	database := beside(s.environ)
	db, err := sql.Open(database.name, database.address)
	must(t, err)
	defer db.Close()
	query(t, db, statement, scan)
}

// checkCommands: the checks of the operator find nothing, the chains verify, and the last backups can be restored.
func (s *soak) checkCommands(t *testing.T) {
	t.Helper()
	report, err := s.doctor("--full", "--timeout", "1h")
	if err != nil {
		s.fault("holdco doctor --full: %v", err)
	}
	for _, one := range report {
		s.done["doctor --full: "+one.Severity]++
		if one.Severity == "error" || one.Severity == "skipped" {
			s.fault("holdco doctor --full: %s", one)
		}
		if one.Severity == "warning" { // --strict would fail
			s.done[fmt.Sprintf("doctor --strict: %s", one)]++
		}
	}
	chains := []string{"instance"}
	for _, office := range s.living() {
		chains = append(chains, office.ID)
	}
	for _, chain := range chains {
		if out, err := s.command("audit", "verify", chain); err != nil {
			s.fault("the chain of %s: %v %s", chain, err, out)
		}
	}
	scheduled, err := filepath.Glob(filepath.Join(s.dir, "scheduled", "*.tar.zst"))
	must(t, err)
	if len(scheduled) == 0 || len(s.backups) == 0 {
		s.fault("there are %d scheduled backups and %d others", len(scheduled), len(s.backups))
	}
	for _, file := range slices.Concat(scheduled, s.backups) {
		if out, err := s.command("restore", "--check", file); err != nil {
			s.fault("the backup %s: %v %s", file, err, out)
		}
		s.done["backups that were restored to try them"]++
	}
}

// soakCheck is one line of the doctor.
type soakCheck struct {
	Name, Severity, Message string
	Examples                []map[string]string
}

func (c soakCheck) String() string {
	return fmt.Sprintf("%s: %s: %s %v", c.Name, c.Severity, c.Message, c.Examples)
}

// doctor runs the checks of the operator. That something is wrong is in what it returns.
func (s *soak) doctor(args ...string) ([]soakCheck, error) {
	out, err := s.command(append([]string{"doctor", "--json"}, args...)...)
	var report struct{ Checks []soakCheck }
	if json.Unmarshal([]byte(out), &report) != nil || len(report.Checks) == 0 {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return report.Checks, nil
}

// command runs a command of an operator beside the servers, and returns what it wrote to standard output. The error has the rest.
func (s *soak) command(args ...string) (string, error) {
	command := exec.Command("holdco", args...)
	command.Env = slices.Concat(os.Environ(), s.environ, s.settings)
	var problems bytes.Buffer
	command.Stderr = &problems
	out, err := command.Output()
	if err != nil {
		err = fmt.Errorf("holdco %s: %w: %s", strings.Join(args, " "), err, problems.String())
	}
	return string(out), err
}

// storeIsBusy is told when the disk, or others on the machine, keep the writer of SQLite for 5 seconds. What waits is tried again.
const storeIsBusy = "The store is busy"

// checkLogs: the logs tell of no fault of the servers but the loss of their store, or a slow machine, and hold no secret.
func (s *soak) checkLogs() {
	for n := range s.servers {
		file, err := os.Open(s.logOf(n))
		if err != nil {
			s.fault("%v", err)
			continue
		}
		const longest = 1 << 20
		lines := bufio.NewScanner(file)
		for lines.Buffer(nil, longest); lines.Scan(); {
			var line struct {
				Time              time.Time
				Level, Msg, Error string
			}
			if json.Unmarshal(lines.Bytes(), &line) != nil || secret.Match(lines.Bytes()) {
				s.fault("a server logs: %s", lines.Text())
			}
			if line.Level != "INFO" {
				s.done[fmt.Sprintf("log: %s %s", line.Level, line.Msg)]++
			}
			isBusy := strings.Contains(line.Error, storeIsBusy)
			if isBusy {
				s.done["log: "+storeIsBusy]++
			}
			if line.Level == "ERROR" && !isBusy && (s.cluster == nil || !s.wasShaken(line.Time)) {
				s.fault("server %d logs: %s", n+1, lines.Text())
			}
		}
		if err := lines.Err(); err != nil {
			s.fault("%v", err)
		}
		_ = file.Close()
	}
}

// report prints what was done, and what was found.
func (s *soak) report(t *testing.T) {
	t.Helper()
	fmt.Printf("\n%s: %s, %s of it without kills; seed %d\n", t.Name(), *soakLasts, s.until.Sub(s.steady).Round(time.Second), s.seed)
	s.done["requests"] = int(s.requests.Load())
	s.done["companies"] = len(s.offices)
	s.done["leases"], s.done["charges"] = len(s.grants), len(s.charges)
	for _, some := range []map[string]int{s.ends, s.done} {
		for _, what := range slices.Sorted(maps.Keys(some)) {
			fmt.Printf("  %-60s %8d\n", what, some[what])
		}
	}
	s.calm.print()
	if len(s.faults) == 0 {
		fmt.Printf("\nAll is well.\n")
		return
	}
	fmt.Printf("\n%d FAULTS; the first: %s\n", len(s.faults), s.faults[0])
	s.keep(t)
}

// keep leaves the logs and a backup of the store, to look for the cause of a fault, outside of what is removed after the test.
func (s *soak) keep(t *testing.T) {
	t.Helper()
	kept, err := os.MkdirTemp(filepath.Dir(os.TempDir()), "holdco-soak-")
	must(t, err)
	fmt.Printf("The logs and a backup of the store are in %s.\n", kept)
	for n := range s.servers {
		log, err := os.ReadFile(s.logOf(n))
		must(t, err)
		must(t, os.WriteFile(filepath.Join(kept, filepath.Base(s.logOf(n))), log, 0o600))
	}
	if _, err := s.command("backup", filepath.Join(kept, "store.tar.zst")); err != nil {
		fmt.Printf("But there is no backup: %v\n", err)
	}
}
