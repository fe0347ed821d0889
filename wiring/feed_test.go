package wiring_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/system/processtest"
)

// The client that the guide for partners shows keeps copies, one with a filter, while leads are imported and removed, industries are
// renamed, and the server is killed. In the end the copies are exactly what the export has.
func TestThePythonClientOfTheGuideKeepsExactCopies(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	must(t, err)
	eachEnviron(t, func(t *testing.T, dir string, environ []string) {
		f := &guideFiles{t: t, dir: dir, environ: environ}
		f.run("migrate", "up")
		f.taxonomy("Food", "Tools")
		f.leads(400)
		key := f.newKey()
		server := startProcess(t, environ...)
		through := newRelay(t, server.exportURL)
		client := filepath.Join(dir, "sync.py")
		must(t, os.WriteFile(client, []byte(guideClient(t)), 0o600))
		filters := map[string][]string{
			"all.db": nil, "deep.db": {"industry_id=ind_food", "enrichment_level=deep"}, "spring.db": {"campaign_id=cam_spring"},
		}
		for name, filter := range filters {
			run := exec.Command(python, append([]string{client, filepath.Join(dir, name)}, filter...)...)
			run.Env = append(os.Environ(), "URL=http://"+through.address+"/api/external", "KEY="+key)
			run.Stdout, run.Stderr = t.Output(), t.Output()
			release, err := processtest.Guard(run, syscall.SIGKILL)
			must(t, err)
			must(t, run.Start())
			t.Cleanup(func() {
				_, _ = run.Process.Kill(), run.Wait()
				release()
			})
		}
		exact := func() {
			t.Helper()
			for name, filter := range filters {
				reader := partnertest.New(t, server.exportURL, key)
				var diff string
				await(t, "a copy that is exact", func() bool {
					want := map[string]any{}
					for _, line := range reader.Stream("leads?" + strings.Join(filter, "&")) {
						var one map[string]any
						must(t, json.Unmarshal([]byte(line), &one))
						want[one["id"].(string)] = one
					}
					diff = cmp.Diff(want, copyIn(t, python, filepath.Join(dir, name)))
					return diff == "" && len(want) > 10
				})
			}
		}
		exact()
		for round := range 4 {
			f.leads(40 + rand.IntN(80))
			f.remove(3 + round)
			f.taxonomy(fmt.Sprint("Food ", round), "Tools")
			if round%2 == 1 {
				server.kill()
				f.leads(30)
				server = startProcess(t, environ...)
				through.to(server.exportURL)
			}
			f.leads(25)
			f.taxonomy(fmt.Sprint("Food ", round), fmt.Sprint("Tools ", round))
		}
		exact()
	})
}

// guideClient is the client as it stands in PARTNERS.md.
func guideClient(t *testing.T) string {
	t.Helper()
	guide, err := os.ReadFile("../PARTNERS.md")
	must(t, err)
	_, after, found := strings.Cut(string(guide), "```python\n")
	client, _, ended := strings.Cut(after, "```\n")
	if !found || !ended {
		t.Fatal("the guide has no client")
	}
	return client
}

// copyIn reads the copy of a client, with the names that it was told of. It is nil before the client has one.
func copyIn(t *testing.T, python, file string) map[string]any {
	t.Helper()
	const script = `import json, sqlite3, sys
db = sqlite3.connect("file:" + sys.argv[1] + "?mode=ro", uri=True, timeout=60)
names = {id: json.loads(name) for id, name in db.execute("SELECT id, name FROM names")}
leads = {id: json.loads(lead) for id, lead in db.execute("SELECT id, lead FROM leads")}
for lead in leads.values():
    if lead["industry"]:
        lead["industry"] = names[lead["industry"]["id"]]
print(json.dumps(leads))`
	run := exec.CommandContext(t.Context(), python, "-c", script, file)
	printed, err := run.Output()
	var leads map[string]any
	if err == nil {
		must(t, json.Unmarshal(printed, &leads))
	}
	return leads
}

// guideFiles imports files that it makes up, beside the server.
type guideFiles struct {
	t       *testing.T
	dir     string
	environ []string
}

func (f *guideFiles) run(args ...string) string {
	f.t.Helper()
	return mustRun(f.t, f.environ, args...)
}

func (f *guideFiles) write(name, content string) string {
	f.t.Helper()
	file := filepath.Join(f.dir, name)
	must(f.t, os.WriteFile(file, []byte(content), 0o600))
	return file
}

func (f *guideFiles) newKey() string {
	f.t.Helper()
	var made struct{ Key string }
	must(f.t, json.Unmarshal([]byte(f.run("partner", "create", "--name", "Acme", "--origin", acmeOrigin, "--json")), &made))
	return made.Key
}

// taxonomy renames the two industries; the second is not in use.
func (f *guideFiles) taxonomy(food, tools string) {
	f.t.Helper()
	f.run("taxonomy", "import", f.write("taxonomy.json", fmt.Sprintf(
		`{"industries":[{"id":"ind_food","name":%q},{"id":"ind_tools","name":%q,"active":false}]}`, food, tools)))
	f.run("campaigns", "import", f.write("campaigns.ndjson",
		`{"id":"cam_spring","name":"Spring"}`+"\n"+`{"id":"cam_autumn","name":"Autumn"}`))
}

// leads imports so many leads, of 500 that there can be.
func (f *guideFiles) leads(count int) {
	f.t.Helper()
	var lines strings.Builder
	for _, n := range rand.Perm(500)[:count] {
		industry := []string{`"ind_food"`, `"ind_tools"`, "null"}[rand.IntN(3)]
		campaigns := []string{"[]", `["cam_spring"]`, `["cam_autumn","cam_spring"]`, `["cam_autumn"]`}[rand.IntN(4)]
		fmt.Fprintf(&lines, `{"id":%q,"name":"Lead %d","enrichment_level":%q,"industry_id":%s,"campaign_ids":%s}`+"\n",
			leadID(n), rand.IntN(1000), []string{"deep", "none"}[rand.IntN(2)], industry, campaigns)
	}
	f.run("leads", "import", f.write("leads.ndjson", lines.String()))
}

func (f *guideFiles) remove(count int) {
	f.t.Helper()
	var ids []string
	for _, n := range rand.Perm(500)[:count] {
		ids = append(ids, leadID(n))
	}
	f.run("leads", "rm", f.write("ids.txt", strings.Join(ids, "\n")+"\n"))
}

// relay passes connections on to a server that can be exchanged.
type relay struct {
	address string
	target  atomic.Value
}

func newRelay(t *testing.T, url string) *relay {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	r := &relay{address: listener.Addr().String()}
	r.to(url)
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go r.pass(from)
		}
	}()
	return r
}

func (r *relay) to(url string) { r.target.Store(strings.TrimPrefix(url, "http://")) }

func (r *relay) pass(from net.Conn) {
	defer from.Close()
	to, err := net.Dial("tcp", r.target.Load().(string)) //nolint:noctx // it ends with the connection
	if err != nil {
		return
	}
	defer to.Close()
	go func() { _, _ = io.Copy(to, from) }()
	_, _ = io.Copy(from, to)
}
