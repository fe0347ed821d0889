//go:build soak

package wiring_test

import (
	"bufio"
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// beginMore lets those work who are in a soak and not in a storm, until it is over.
func (s *soak) beginMore(clients *sync.WaitGroup) {
	for n := range soakTools {
		clients.Go(func() { s.useTools(n) })
	}
	for n, f := range s.follows {
		clients.Go(func() {
			for c := s.newCaller(4050 + n); !s.isOver(); {
				s.streamed(f.read(context.Background(), c, time.Duration(2+c.IntN(18))*time.Second))
			}
		})
	}
	for n := range soakReaders {
		clients.Go(func() {
			c := s.newCaller(4100 + n)
			for ; !s.isOver(); s.pause(time.Duration(c.IntN(3000)) * time.Millisecond) {
				living := s.living()
				one := &follower{office: living[c.IntN(len(living))]}
				s.streamed(one.read(context.Background(), c, time.Duration(1+c.IntN(9))*time.Second))
			}
		})
	}
	s.often(clients, 4200, soakImports, s.imports)
	s.often(clients, 4201, soakExports, s.exports)
	s.often(clients, 4202, soakBackups, s.backsUp)
	s.often(clients, 4203, soakDoctors, func(*stormCaller) {
		var report []soakCheck
		s.insists("doctor", func() (err error) { report, err = s.doctor(); return err })
		for _, one := range report {
			if one.Severity == "error" && (!s.isStoreLost || !s.isShaken()) {
				s.fault("holdco doctor beside the servers: %s", one)
			}
		}
	})
	s.often(clients, 4204, soakPrunes, func(*stormCaller) {
		s.insists("prune", func() error { _, err := s.command("prune"); return err })
	})
}

// insists does what has to succeed. It is tried again only where the store may just be away.
func (s *soak) insists(what string, do func() error) {
	const pause = time.Second
	for {
		err := do()
		if err == nil {
			s.tally(what, 1)
			return
		}
		if !s.isStoreLost || !s.isShaken() {
			s.fault("%s: %v", what, err)
			return
		}
		s.tally(what+" while the store was away", 1)
		time.Sleep(pause)
	}
}

// backsUp makes a backup by a command or by a request.
func (s *soak) backsUp(c *stormCaller) {
	if c.IntN(2) == 0 {
		file := filepath.Join(s.dir, "command.tar.zst")
		s.insists("backup by command", func() error { _, err := s.command("backup", "--force", file); return err })
		s.backedUp(file)
		return
	}
	file := filepath.Join(s.dir, "request.tar.zst")
	err := func() error {
		server := s.servers[c.IntN(len(s.servers))].Load()
		request, err := http.NewRequest(http.MethodGet, server.url+"/v1/backup", nil)
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer "+string(rootToken))
		answer, err := s.http.Do(request)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = errors.New(answer.Status)
		}
		if err != nil {
			return err
		}
		if err := os.WriteFile(file+".partial", text, 0o600); err != nil {
			return err
		}
		return os.Rename(file+".partial", file)
	}()
	switch {
	case err == nil:
		s.tally("backup by request", 1)
		s.backedUp(file)
	case s.isShaken():
		s.tally("backup by request that broke off", 1)
	default:
		s.fault("a backup by request: %v", err)
	}
}

// backedUp notes a file that has to be one of a store in the end.
func (s *soak) backedUp(file string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if !slices.Contains(s.backups, file) {
		s.backups = append(s.backups, file)
	}
}

// follower reads the stream of a company, and goes on where it was cut off.
type follower struct {
	office *stormOffice
	place  string
	ids    []string
}

// soakStreams is the client of streams: it has no limit but that of the request.
var soakStreams = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// read reads for a while. It returns an error when it was refused, or cut off.
func (f *follower) read(ctx context.Context, c *stormCaller, long time.Duration) error {
	ctx, cut := context.WithTimeout(ctx, long)
	defer cut()
	server := c.servers[c.IntN(len(c.servers))].Load()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.url+f.office.path()+"/activity/stream", nil)
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+string(rootToken))
	if f.place != "" {
		request.Header.Set("Last-Event-ID", f.place)
	}
	answer, err := soakStreams.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		if answer.StatusCode != http.StatusNotFound && answer.StatusCode != http.StatusServiceUnavailable {
			c.fault("a stream of %s after %q is answered %s", f.office.ID, f.place, answer.Status)
		}
		return errors.New(answer.Status)
	}
	reading(answer.Body, func(place, data string) bool {
		if f.place = place; data == "" {
			return true
		}
		var e apiEntry
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			c.fault("an entry of a stream: %v", err)
		}
		f.ids = append(f.ids, e.ID)
		return true
	})
	return nil
}

// streamed counts a stream. One that was refused is tried again after a while.
func (s *soak) streamed(err error) {
	if err == nil {
		s.tally("streams", 1)
		return
	}
	s.tally("streams that found no server, or whose company was gone", 1)
	s.pause(300 * time.Millisecond)
}

// checkFollowers: those who went on where they were cut off have seen every entry once, in the order in which they stand.
func (s *soak) checkFollowers(t *testing.T) {
	t.Helper()
	c := s.newCaller(4060)
	for _, f := range s.follows {
		var want []string
		s.rows(t, fmt.Sprintf("SELECT id FROM activity WHERE company_id = '%s' AND seq > %d ORDER BY txid, seq", f.office.ID, s.mark),
			func(rows *sql.Rows) error {
				var id string
				err := rows.Scan(&id)
				want = append(want, id)
				return err
			})
		const patience = time.Minute
		for began := time.Now(); len(f.ids) < len(want) && time.Since(began) < patience; {
			_ = f.read(t.Context(), c, 2*time.Second)
		}
		if !slices.Equal(f.ids, want) {
			at := 0
			for at < min(len(f.ids), len(want)) && f.ids[at] == want[at] {
				at++
			}
			s.fault("a reader of %s saw %d entries of %d, and from the one at %d on others", f.office.ID, len(f.ids), len(want), at)
		}
		s.tally("entries that a reader saw who was cut off again and again", len(f.ids))
	}
}

// soakReceiver takes what the webhook sends. It is slow, and fails at times, each event twice at most.
type soakReceiver struct {
	*httptest.Server

	secret string
	storm  *workStorm

	mutex    sync.Mutex
	random   *rand.Rand
	attempts map[string]int
	had      map[string]int
	isCalm   bool
}

func newSoakReceiver(t *testing.T, storm *workStorm) *soakReceiver {
	t.Helper()
	r := &soakReceiver{
		storm: storm, random: rand.New(rand.NewPCG(storm.seed, 3)), attempts: map[string]int{}, had: map[string]int{},
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.CloseClientConnections)
	t.Cleanup(r.Close)
	return r
}

func (r *soakReceiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return // it was cut off
	}
	got := receipt{header: request.Header, body: body, id: request.Header.Get("webhook-id")}
	r.mutex.Lock()
	r.attempts[got.id]++
	chance, slow := r.random.IntN(100), time.Duration(r.random.Int64N(int64(100*time.Millisecond)))
	if r.isCalm {
		chance, slow = 100, 0
	}
	fails := r.attempts[got.id] <= 2 && chance < 5
	r.mutex.Unlock()
	if chance == 5 {
		slow = 3 * time.Second
	}
	time.Sleep(slow)
	if fails {
		w.WriteHeader(http.StatusInternalServerError)
		return
	}
	if err := got.check(r.secret); err != nil {
		r.storm.fault("the signature of the event %s: %v", got.id, err)
	}
	r.mutex.Lock()
	r.had[got.id]++
	r.mutex.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// calms makes the receiver quick and faithful.
func (r *soakReceiver) calms() {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.isCalm = true
}

func (r *soakReceiver) arrived() map[string]int {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	had := make(map[string]int, len(r.had))
	for id, n := range r.had {
		had[id] = n
	}
	return had
}

func (r *soakReceiver) again() (again int) {
	for _, n := range r.arrived() {
		again += n - 1
	}
	return again
}

// soakedLeads are the leads that are imported and exported.
type soakedLeads struct {
	key    string // of the partner
	mutex  sync.Mutex
	drafts []map[string]any
	is     map[string]string          // names by ids, as they were acknowledged
	maybe  map[string]map[string]bool // names that may have been taken since
	next   int
}

// prepareLeads imports what leads are sorted by, and admits a partner.
func (s *soak) prepareLeads(t *testing.T, c *stormCaller) {
	t.Helper()
	taxonomy, campaigns, leads := sampleFiles(t, soakLeads)
	s.leads.is, s.leads.maybe = map[string]string{}, map[string]map[string]bool{}
	for line := range strings.Lines(leads) {
		var draft map[string]any
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		must(t, decoder.Decode(&draft))
		s.leads.drafts = append(s.leads.drafts, draft)
	}
	list := "[" + strings.ReplaceAll(strings.TrimSpace(campaigns), "\n", ",") + "]"
	for _, file := range []struct{ kind, text string }{{"taxonomy", taxonomy}, {"campaigns", list}} {
		if got := s.importsFile(c, file.kind, file.text); got.Status != "done" || got.Rejected > 0 {
			t.Fatalf("%+v %v", got, s.faults)
		}
	}
	r := c.ask("admit", http.MethodPost, "/v1/partners", `{"name":"Acme Data","origins":["`+acmeOrigin+`"]}`, c.unique())
	s.leads.key = into[apiPartner](s.workStorm, r).Key
}

// importsFile sends a file, and waits until it was imported, or its server is gone.
func (s *soak) importsFile(c *stormCaller, kind, text string) (now apiImport) {
	r := c.ask("import", http.MethodPost, "/v1/imports?kind="+kind, text, "", "409 import_running")
	if !r.ok() {
		return apiImport{Status: r.code}
	}
	now = into[apiImport](s.workStorm, r)
	const patience = 2 * time.Minute
	for began := time.Now(); now.Status == "running"; time.Sleep(200 * time.Millisecond) {
		if time.Since(began) > patience {
			s.fault("an import does not end: %+v", now)
			return now
		}
		now = into[apiImport](s.workStorm, c.ask("look at import", http.MethodGet, now.path(), "", ""))
	}
	return now
}

// imports imports the next leads under new names.
func (s *soak) imports(c *stormCaller) {
	var list []map[string]any
	names := map[string]string{}
	s.leads.mutex.Lock()
	for range soakBatch {
		draft := s.leads.drafts[s.leads.next%len(s.leads.drafts)]
		id := draft["id"].(string)
		names[id] = fmt.Sprintf("Round %d of %s", s.leads.next/len(s.leads.drafts), id)
		draft["name"] = names[id]
		list = append(list, draft)
		if s.leads.maybe[id] == nil {
			s.leads.maybe[id] = map[string]bool{}
		}
		s.leads.maybe[id][names[id]] = true
		s.leads.next++
	}
	s.leads.mutex.Unlock()
	text, err := json.Marshal(list)
	if err != nil {
		s.fault("%v", err)
		return
	}
	got := s.importsFile(c, "leads", string(text))
	s.tally("imports "+got.Status, 1)
	switch {
	case got.Status == "done":
		if got.Rejected > 0 || got.Read != soakBatch {
			s.fault("an import of %d leads: %+v", soakBatch, got)
		}
		s.leads.mutex.Lock()
		defer s.leads.mutex.Unlock()
		for id, name := range names {
			s.leads.is[id] = name
			delete(s.leads.maybe, id)
		}
	case !s.isShaken():
		s.fault("an import: %+v", got)
	}
}

// exported reads all leads as a partner does: names by ids.
func (s *soak) exported(c *stormCaller) (map[string]string, error) {
	server := s.servers[c.IntN(len(s.servers))].Load()
	request, err := http.NewRequest(http.MethodGet, server.exportURL+"/api/external/leads", nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.leads.key)
	request.Header.Set("Accept", ndjson)
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %s", answer.Status, text)
	}
	found := map[string]string{}
	const longest = 1 << 20
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Buffer(nil, longest); lines.Scan(); {
		var one struct{ ID, Name string }
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil {
			return nil, err
		}
		if before, again := found[one.ID]; again && before == one.Name { // what changes meanwhile comes again
			s.fault("an export has the lead %s twice, and nothing has changed it", one.ID)
		}
		found[one.ID] = one.Name
	}
	return found, lines.Err()
}

// exports reads all leads, and misses none that was imported when it began. A server learns of an import a moment later.
func (s *soak) exports(c *stormCaller) {
	const moment = 3 * time.Second
	s.leads.mutex.Lock()
	known := make([]string, 0, len(s.leads.is))
	for id := range s.leads.is {
		known = append(known, id)
	}
	s.leads.mutex.Unlock()
	s.pause(moment)
	found, err := s.exported(c)
	switch {
	case err == nil:
		s.tally("exports", 1)
	case s.isShaken():
		s.tally("exports that broke off", 1)
		return
	default:
		s.fault("an export: %v", err)
		return
	}
	for _, id := range known {
		if found[id] == "" {
			s.fault("an export of %d leads misses %s, which was imported before", len(found), id)
			return
		}
	}
}

// checkLeads: each lead has the name that was acknowledged last, or one that was sent since without an acknowledgement.
func (s *soak) checkLeads(t *testing.T) {
	t.Helper()
	s.leads.mutex.Lock()
	defer s.leads.mutex.Unlock()
	var wrong []string
	c := s.newCaller(4061)
	await(t, "the export of the last imports", func() bool {
		found, err := s.exported(c)
		if err != nil {
			return false
		}
		wrong = nil
		for id, name := range s.leads.is {
			if found[id] != name && !s.leads.maybe[id][found[id]] {
				wrong = append(wrong, fmt.Sprintf("%s is %q and not %q", id, found[id], name))
			}
		}
		return len(wrong) == 0 || len(s.faults) > 0
	})
	if len(wrong) > 0 {
		s.fault("%d leads are wrong: %s", len(wrong), wrong[0])
	}
	s.tally("leads that were acknowledged", len(s.leads.is))
}

// useTools works as a model does, through tools, in one session for each issue.
func (s *soak) useTools(n int) {
	a := s.newAgent(4300 + n)
	for ; !s.isOver(); s.pause(time.Duration(500+a.IntN(1000)) * time.Millisecond) {
		if a.agent.ID == "" && !a.beHired() {
			continue
		}
		switch err := s.session(a); {
		case err == nil:
		case errors.Is(err, errRefused):
			s.tally("calls of tools that were refused", 1)
		default:
			s.tally("sessions of tools that broke off", 1)
			if !s.isShaken() && !a.office.doomed() {
				a.mutex.Lock()
				leaves := a.leaving[a.agent.ID]
				a.mutex.Unlock()
				if !leaves {
					s.fault("a session of tools: %v", err)
				}
			}
		}
		a.giveBack(isGone, isArchived) // it may have been refused, or may have retired
	}
}

// errRefused is what a tool says instead of what was asked for.
var errRefused = errors.New("refused")

// session claims an issue, works on it, and ends it.
func (s *soak) session(a *stormAgent) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	server := s.servers[a.IntN(len(s.servers))].Load()
	client := mcp.NewClient(&mcp.Implementation{Name: "soak", Version: "1"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{
		Endpoint: server.gatewayURL + "/gateway/mcp", HTTPClient: &http.Client{Transport: bearer(a.token)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		return err
	}
	defer session.Close()
	s.tally("sessions of tools", 1)
	call := func(name string, arguments map[string]any) (got map[string]any, err error) {
		result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: arguments})
		if err != nil {
			return nil, err
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if result.IsError {
			return nil, fmt.Errorf("%w: %s", errRefused, text)
		}
		s.tally("calls of tools", 1)
		return got, json.Unmarshal([]byte(text), &got)
	}
	got, err := call("claim", map[string]any{"wait": 2})
	if err != nil || got["lease"] == nil {
		return err
	}
	lease := got["lease"].(string)
	issue := got["issue"].(map[string]any)["id"].(string)
	run := got["run"].(map[string]any)["id"].(string)
	for _, step := range []struct {
		tool string
		more map[string]any
	}{
		{"context", nil}, {"renew", nil}, {"checkpoint", map[string]any{"note": "Half"}}, {"comment", map[string]any{"body": a.unique()}},
	} {
		if a.IntN(2) == 0 {
			continue
		}
		more := map[string]any{"lease": lease}
		for name, value := range step.more {
			more[name] = value
		}
		if _, err := call(step.tool, more); err != nil {
			return err
		}
		s.pause(time.Duration(a.Int64N(int64(soakSlowness))))
	}
	charge := stormCharge{run, a.unique(), 1 + a.Int64N(9_999)}
	_, err = call("report_cost", map[string]any{"lease": lease, "costs": []map[string]any{
		{"key": charge.key, "kind": "llm", "usd": json.Number(fmt.Sprintf("0.%06d", charge.micros))},
	}})
	note(s.workStorm, s.charges, charge, err == nil, lost(err))
	if err != nil {
		return err
	}
	tool, more := "complete", map[string]any{"lease": lease, "result": map[string]any{"n": 1}}
	switch a.IntN(5) {
	case 0:
		tool, more = "hand_off", map[string]any{"lease": lease, "note": "Which one?"}
	case 1:
		tool, more = "fail", map[string]any{"lease": lease, "message": "No.", "retry": true}
	}
	got, err = call(tool, more)
	if tool == "complete" {
		status := ""
		if err == nil {
			status, _ = got["issue"].(map[string]any)["status"].(string)
		}
		for what, follows := range map[string]string{"issue.submitted": "review", "issue.completed": "done"} {
			note(s.workStorm, s.facts, stormFact{a.office.ID, issue, what, "agent:" + a.agent.ID}, status == follows, lost(err))
		}
	}
	return err
}

// lost is how often a call of a tool may have been taken that was not answered.
func lost(err error) int {
	if err == nil || errors.Is(err, errRefused) {
		return 0
	}
	return 1
}
