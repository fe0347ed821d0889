//go:build bench

package wiring_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	bitmaps "github.com/RoaringBitmap/roaring/v2"

	"holdco/adapters/leads/leadjson"
	"holdco/adapters/store/postgres/postgrestest"
	"holdco/domain/access"
	"holdco/domain/lead"
	"holdco/ports/store"
	"holdco/wiring"
)

// sampled is how many leads are exported.
const sampled = 1_000_000

// leadsPage is the size of all pages.
const leadsPage = 100

// What exports of a million leads cost: pages over a bare program that finds them in the same kind of bitmap and reads the
// same rows through a prepared statement, with one look-up of the key and nothing else; pages over plain SQL; streams; and
// how the leads come in.
func TestBenchLeads(t *testing.T) {
	bin, err := filepath.Abs("../bin") // make bench has built it
	must(t, err)
	t.Setenv("PATH", bin)
	files := t.TempDir()
	command(t, nil, "leads", "generate", "--count", strconv.Itoa(sampled), "--seed", "1", "--out", files)
	t.Run("sqlite", func(t *testing.T) {
		bare := filepath.Join(t.TempDir(), "bare.db")
		benchLeads(t, files, exported{
			environ: []string{dataDir + t.TempDir()}, driver: "sqlite",
			bare: "file:" + bare + "?_pragma=journal_mode(wal)&_pragma=busy_timeout(5000)",
		})
	})
	t.Run("postgres", func(t *testing.T) {
		url := postgrestest.URL(t)
		benchLeads(t, files, exported{environ: []string{dataDir + t.TempDir(), databaseURL + url}, driver: "pgx",
			bare: postgrestest.URL(t)})
	})
}

// exported is a store whose leads are exported, and an empty one of the same kind for the bare program.
type exported struct {
	environ      []string
	driver, bare string
}

func benchLeads(t *testing.T, files string, on exported) {
	t.Helper()
	kind := strings.TrimPrefix(t.Name(), "TestBenchLeads/")
	command(t, on.environ, "migrate", "up")
	command(t, on.environ, "taxonomy", "import", filepath.Join(files, "taxonomy.json"))
	command(t, on.environ, "campaigns", "import", filepath.Join(files, "campaigns.ndjson"))
	began := time.Now()
	command(t, on.environ, "leads", "import", filepath.Join(files, "leads.ndjson"))
	fmt.Printf("\n%s: %d leads imported, %.0f a second\n", kind, sampled, sampled/time.Since(began).Seconds())
	var key struct{ Key string }
	must(t, json.Unmarshal(command(t, on.environ, "partner", "create", "--name", "Bench", "--origin", "https://bench.example",
		"--json"), &key))

	t.Run("pages", func(t *testing.T) { benchPages(t, kind, on, key.Key) })
	benchStream(t, kind, on, key.Key)
}

func benchPages(t *testing.T, kind string, on exported, key string) {
	t.Helper()
	server := assemble(t, append(on.environ, "HOLDCO_RATE_PARTNER=off")...)
	began := time.Now()
	for more := true; more; {
		var err error
		more, err = server.Index.Follow(t.Context())
		must(t, err)
	}
	status := server.Index.Status()
	fmt.Printf("%s: index of %d leads after %s, %d MiB\n", kind, status.Leads, time.Since(began).Round(10*time.Millisecond),
		status.Bytes>>20)
	listening := httptest.NewServer(server.Export)
	t.Cleanup(listening.Close)

	bare := newBareExport(t, on, server, key)
	ours, theirs := &subject{url: listening.URL, bearer: key}, &subject{url: bare.url, bearer: key}
	fmt.Printf("%-10s %-44s %-6s %10s %10s %7s\n", "store", "leads", "page", "holdco/s", "bare/s", "ratio")
	common := bare.common()
	for _, filter := range []string{
		"", "industry_id=" + common, "has_website=true&enrichment_level=deep",
		"industry_id=" + common + "&has_website=true&min_google_rating=3.5",
		"industry_id=" + common + "&has_website=true&min_google_rating=4&enrichment_level=standard&since=2000-01-01",
	} {
		last := (bare.total(filter) + leadsPage - 1) / leadsPage
		for _, page := range []int64{1, last} {
			path := fmt.Sprintf("/api/external/leads?per_page=%d&page=%d&%s", leadsPage, page, filter)
			path = strings.TrimSuffix(path, "&")
			same(t, ours, theirs, path)
			request := func(*subject, int64) (string, string, string) { return http.MethodGet, path, "" }
			var figures [3][turns]float64
			for i := range turns {
				figures[0][i], figures[1][i] = ours.rate(t, request), theirs.rate(t, request)
				figures[2][i] = figures[0][i] / figures[1][i]
			}
			for i := range figures {
				slices.Sort(figures[i][:])
			}
			name := "all"
			if filter != "" {
				name = strings.NewReplacer("industry_id="+common, "industry", "_google", "", "_level", "", "&", " ").Replace(filter)
			}
			fmt.Printf("%-10s %-44s %-6d %10.0f %10.0f %7.2f\n", kind, name, page, figures[0][turns/2], figures[1][turns/2],
				figures[2][turns/2])
		}
	}
	bare.benchSQL(t, kind, ours, common)
}

// benchSQL sets one deep page against COUNT and OFFSET with the index that suits these the most.
func (b *bareExport) benchSQL(t *testing.T, kind string, ours *subject, common string) {
	t.Helper()
	const number, size, rounds = 5000, 25, 5
	filter := "industry_id=" + common + "&has_website=true&min_google_rating=1"
	if total := b.total(filter); total < number*size {
		t.Fatalf("%d leads are not enough for the page", total)
	}
	_, err := b.db.Exec(`CREATE INDEX three_filters ON bare_leads (industry_id, has_website, updated_at, id, rating)`)
	must(t, err)
	b.tidyUp(t)
	const matching = ` FROM bare_leads WHERE industry_id = $1 AND has_website = $2 AND rating >= $3`
	count, rows := b.spell(`SELECT count(*)`+matching), b.spell(`SELECT document`+matching+` ORDER BY updated_at, id LIMIT $4 OFFSET $5`)
	var took []time.Duration
	for range rounds {
		began := time.Now()
		var total int64
		must(t, b.db.QueryRow(count, common, 1, 100).Scan(&total))
		found, err := b.db.Query(rows, common, 1, 100, size, (number-1)*size)
		must(t, err)
		_, err = encode(nil, found)
		must(t, err)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	path := fmt.Sprintf("/api/external/leads?per_page=%d&page=%d&%s", size, number, filter)
	median := ours.median(t, 301, func(*subject, int64) (string, string, string) { return http.MethodGet, path, "" })
	fmt.Printf("%s: page %d of three filters: plain SQL %s, holdco %s: %.0f times\n", kind, number,
		took[rounds/2].Round(10*time.Microsecond), median.Round(time.Microsecond), float64(took[rounds/2])/float64(median))
}

// benchStream streams all leads from a process of its own, and changes one.
func benchStream(t *testing.T, kind string, on exported, key string) {
	t.Helper()
	p := startProcess(t, on.environ...)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		page, err := http.Get(p.url + "/metrics")
		must(t, err)
		text, err := io.ReadAll(page.Body)
		must(t, errors.Join(err, page.Body.Close()))
		if bytes.Contains(text, []byte("\nholdco_lead_index_ready 1\n")) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the index is not ready")
		}
	}
	before := resident(t, p)
	request, err := http.NewRequest(http.MethodGet, p.exportURL+"/api/external/leads", nil)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Accept", "application/x-ndjson")
	began := time.Now()
	answer, err := (&http.Transport{DisableCompression: true}).RoundTrip(request)
	must(t, err)
	lines, most := 0, before
	reader := bufio.NewReaderSize(answer.Body, 1<<20)
	for {
		_, err := reader.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			break
		}
		must(t, err)
		if lines++; lines%100_000 == 0 {
			most = max(most, resident(t, p))
		}
	}
	must(t, answer.Body.Close())
	if lines != sampled {
		t.Fatalf("the stream had %d lines", lines)
	}
	fmt.Printf("%s: stream of %d leads, %.0f a second; resident %d MiB before, %d MiB at most\n",
		kind, lines, float64(lines)/time.Since(began).Seconds(), before>>20, most>>20)

	file := filepath.Join(t.TempDir(), "one.ndjson")
	must(t, os.WriteFile(file, []byte(`{"name":"Late","website":"late.example"}`+"\n"), 0o600))
	since := time.Now().UTC().Format(time.RFC3339)
	command(t, on.environ, "leads", "import", file)
	imported := time.Now()
	c, err := dial(p.exportURL)
	must(t, err)
	defer c.conn.Close()
	c.bearer = key
	for {
		must(t, c.exchange(http.MethodGet, "/api/external/leads?since="+url.QueryEscape(since), ""))
		if bytes.Contains(c.answer.Bytes(), []byte(`"name":"Late"`)) {
			break
		}
		if time.Since(imported) > time.Minute {
			t.Fatal("the change does not show")
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("%s: what another process imported showed after %s\n", kind, time.Since(imported).Round(time.Millisecond))
}

// command runs holdco, and returns what it printed.
func command(t *testing.T, environ []string, args ...string) []byte {
	t.Helper()
	run := exec.Command("holdco", args...)
	run.Env = append(os.Environ(), environ...)
	var problems bytes.Buffer
	run.Stderr = &problems
	printed, err := run.Output()
	if err != nil {
		t.Fatalf("holdco %s: %v\n%s", strings.Join(args, " "), err, problems.String())
	}
	return printed
}

// same checks that both programs show the same page.
func same(t *testing.T, ours, theirs *subject, path string) {
	t.Helper()
	var pages [2]struct {
		Data       []struct{ ID string }
		Pagination struct{ Total, Page int64 }
	}
	for i, s := range []*subject{ours, theirs} {
		c, err := dial(s.url)
		must(t, err)
		c.bearer = s.bearer
		must(t, errors.Join(c.exchange(http.MethodGet, path, ""), json.Unmarshal(c.answer.Bytes(), &pages[i]), c.conn.Close()))
	}
	if fmt.Sprint(pages[0]) != fmt.Sprint(pages[1]) || len(pages[0].Data) == 0 {
		t.Fatalf("%s: %v and %v", path, pages[0], pages[1])
	}
}

// bareExport is the least that can answer with pages of leads.
type bareExport struct {
	url, driver   string
	db            *sql.DB
	partner, rows *sql.Stmt

	keys    []int64 // by position
	bitmaps map[string]*bitmaps.Bitmap
	ratings [lead.MostRating + 1]*bitmaps.Bitmap
}

func newBareExport(t *testing.T, on exported, from *wiring.Server, key string) *bareExport {
	t.Helper()
	db, err := sql.Open(on.driver, on.bare)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	b := &bareExport{driver: on.driver, db: db, bitmaps: map[string]*bitmaps.Bitmap{}}
	_, err = db.Exec(`CREATE TABLE bare_partners (hash TEXT PRIMARY KEY, origins TEXT)`)
	must(t, err)
	_, err = db.Exec(b.spell(`INSERT INTO bare_partners VALUES ($1, $2)`), access.Value(key).Hash(), "https://bench.example")
	must(t, err)
	_, err = db.Exec(`CREATE TABLE bare_leads (key BIGINT, updated_at BIGINT, id TEXT, industry_id TEXT, has_website BIGINT, rating BIGINT,
		document TEXT, PRIMARY KEY (key))`)
	must(t, err)
	b.fill(t, from.Store)
	b.tidyUp(t)

	b.partner = b.prepare(t, `SELECT hash, origins FROM bare_partners WHERE hash = $1`)
	in := "= ANY($1)"
	if on.driver == "sqlite" {
		in = "IN (?1" + strings.Repeat(", ?", leadsPage-1) + ")"
	}
	b.rows = b.prepare(t, `SELECT document FROM bare_leads WHERE key `+in+` ORDER BY updated_at, id`)
	server := httptest.NewServer(http.HandlerFunc(b.serve))
	t.Cleanup(server.Close)
	b.url = server.URL
	return b
}

func (b *bareExport) prepare(t *testing.T, query string) *sql.Stmt {
	t.Helper()
	statement, err := b.db.Prepare(b.spell(query))
	must(t, err)
	return statement
}

// spell names arguments as the store does.
func (b *bareExport) spell(query string) string {
	if b.driver == "sqlite" {
		return strings.ReplaceAll(query, "$", "?")
	}
	return query
}

func (b *bareExport) tidyUp(t *testing.T) {
	t.Helper()
	what := "ANALYZE"
	if b.driver == "pgx" {
		what = "VACUUM ANALYZE"
	}
	_, err := b.db.Exec(what)
	must(t, err)
}

// fill copies all leads.
func (b *bareExport) fill(t *testing.T, from store.Store) {
	t.Helper()
	taxonomy, err := from.Taxonomy().Get(t.Context())
	must(t, err)
	names, err := taxonomy.Names()
	must(t, err)
	for i := range b.ratings {
		b.ratings[i] = bitmaps.New()
	}
	var marks []store.LeadMark
	last, err := from.Leads().Last(t.Context())
	must(t, err)
	const size = 10_000
	for after, more := (lead.Place{}), true; more; {
		some, err := from.Leads().Marks(t.Context(), after, last, size)
		must(t, err)
		if more = len(some) == size; more {
			after = some[size-1].Place
		}
		marks = append(marks, some...)
	}
	const row = 7 // arguments
	for some := range slices.Chunk(marks, store.MostKeyed) {
		keys, order := make([]int64, len(some)), make(map[int64]int, len(some))
		for i, mark := range some {
			keys[i], order[mark.Key] = mark.Key, i
			b.mark(mark)
		}
		found, err := from.Leads().Keyed(t.Context(), keys)
		must(t, err)
		args := make([]any, len(some)*row)
		for _, one := range found {
			mark := some[order[one.Key]]
			website := 0
			if mark.HasWebsite {
				website = 1
			}
			copy(args[order[one.Key]*row:], []any{
				mark.Key, mark.Place.UpdatedAt.UnixMilli(), string(mark.Place.ID), string(mark.Industry), website, int(mark.Rating),
				string(leadjson.Append(nil, one.Exported, names)),
			})
		}
		var values strings.Builder
		for i := range some {
			fmt.Fprintf(&values, ", ($%d, $%d, $%d, $%d, $%d, $%d, $%d)", i*row+1, i*row+2, i*row+3, i*row+4, i*row+5, i*row+6, i*row+7)
		}
		_, err = b.db.Exec(b.spell("INSERT INTO bare_leads VALUES "+strings.TrimPrefix(values.String(), ", ")), args...)
		must(t, err)
	}
	for _, bitmap := range b.bitmaps {
		bitmap.RunOptimize()
	}
	for i := len(b.ratings) - 2; i >= 0; i-- {
		b.ratings[i].Or(b.ratings[i+1])
	}
}

// mark gives a lead the next position.
func (b *bareExport) mark(mark store.LeadMark) {
	position := uint32(len(b.keys))
	b.keys = append(b.keys, mark.Key)
	for _, value := range []string{
		"industry_id=" + string(mark.Industry), "vertical_id=" + string(mark.Vertical),
		"has_website=" + strconv.FormatBool(mark.HasWebsite), "enrichment_level=" + string(mark.Enrichment),
	} {
		if b.bitmaps[value] == nil {
			b.bitmaps[value] = bitmaps.New()
		}
		b.bitmaps[value].Add(position)
	}
	if mark.Rating != lead.Unrated {
		b.ratings[mark.Rating].Add(position)
	}
}

// matching finds the positions that a filter wants; nil: all.
func (b *bareExport) matching(query url.Values) *bitmaps.Bitmap {
	var wanted []*bitmaps.Bitmap
	for name, values := range query {
		switch name {
		case "page", "per_page", "since": // since as it is used here wants all
		case "min_google_rating":
			rating, _ := strconv.ParseFloat(values[0], 64)
			wanted = append(wanted, b.ratings[int(rating*100)])
		default:
			wanted = append(wanted, b.bitmaps[name+"="+values[0]])
		}
	}
	switch len(wanted) {
	case 0:
		return nil
	case 1:
		return wanted[0]
	}
	return bitmaps.FastAnd(wanted...)
}

func (b *bareExport) total(filter string) int64 {
	query, _ := url.ParseQuery(filter)
	if found := b.matching(query); found != nil {
		return int64(found.GetCardinality())
	}
	return int64(len(b.keys))
}

// common is the industry that most leads have.
func (b *bareExport) common() (industry string) {
	most := uint64(0)
	for value, bitmap := range b.bitmaps {
		if name, found := strings.CutPrefix(value, "industry_id="); found && name != "" && bitmap.GetCardinality() > most {
			industry, most = name, bitmap.GetCardinality()
		}
	}
	return industry
}

func (b *bareExport) serve(w http.ResponseWriter, r *http.Request) {
	body, err := b.page(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func (b *bareExport) page(r *http.Request) ([]byte, error) {
	sum := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
	var partner, origins string
	if err := b.partner.QueryRowContext(r.Context(), hex.EncodeToString(sum[:])).Scan(&partner, &origins); err != nil {
		return nil, err
	}
	query := r.URL.Query()
	number, err := strconv.ParseInt(query.Get("page"), 10, 64)
	if err != nil {
		return nil, err
	}
	found, skip := b.matching(query), uint32(number-1)*leadsPage
	keys := make([]int64, 0, leadsPage)
	total := uint64(len(b.keys))
	if found == nil {
		keys = append(keys, b.keys[skip:min(int(skip)+leadsPage, len(b.keys))]...)
	} else {
		total = found.GetCardinality()
		first, err := found.Select(skip)
		if err != nil {
			return nil, err
		}
		positions := found.Iterator()
		positions.AdvanceIfNeeded(first)
		for len(keys) < leadsPage && positions.HasNext() {
			keys = append(keys, b.keys[positions.Next()])
		}
	}
	rows, err := b.read(r.Context(), keys)
	if err != nil {
		return nil, err
	}
	body, err := encode([]byte(`{"data":[`), rows)
	return fmt.Appendf(body, `],"pagination":{"page":%d,"per_page":%d,"total":%d,"total_pages":%d,"next_cursor":null}}`,
		number, leadsPage, total, (total+leadsPage-1)/leadsPage), err
}

func (b *bareExport) read(ctx context.Context, keys []int64) (*sql.Rows, error) {
	if b.driver != "sqlite" {
		return b.rows.QueryContext(ctx, keys)
	}
	args := make([]any, leadsPage)
	for i := range args {
		args[i] = int64(-1)
		if i < len(keys) {
			args[i] = keys[i]
		}
	}
	return b.rows.QueryContext(ctx, args...)
}

// encode appends leads as the export shows them.
func encode(to []byte, rows *sql.Rows) ([]byte, error) {
	for first := true; rows.Next(); first = false {
		var document sql.RawBytes
		if err := rows.Scan(&document); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		if !first {
			to = append(to, ',')
		}
		to = append(to, document...)
	}
	return to, errors.Join(rows.Err(), rows.Close())
}
