//go:build bench

package wiring_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/store/postgres/postgrestest"
	"holdco/adapters/store/sqlite"
	"holdco/adapters/system"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/wiring"
)

// What Holdco costs over a bare program: plain net/http and the same SQL through prepared statements, with one token
// look-up and nothing else. Both run in this process, on stores of the same kind, and take turns. The figures are
// medians: of the turns of each, and of the ratios of neighbouring turns. Only the ratios mean anything.
const (
	turns     = 9
	turn      = 500 * time.Millisecond
	clients   = 16
	companies = 1000
)

func TestBench(t *testing.T) {
	fmt.Printf("%-10s %-10s %10s %10s %7s\n", "store", "operation", "holdco/s", "bare/s", "ratio")
	// For minutes after many directories were removed ext4 makes new ones up to ten times as slowly: so none is removed
	// before the end, and of two runs in a row the second is not to be believed in what it says of creates.
	directories := t.TempDir()
	t.Run("sqlite", func(t *testing.T) {
		compare(t, newHoldco(t, dataDir+filepath.Join(directories, "sqlite")), newBareSQLite(t), func() {})
	})
	t.Run("postgres", func(t *testing.T) {
		ours, theirs := postgrestest.URL(t), postgrestest.URL(t)
		compare(t, newHoldco(t, dataDir+filepath.Join(directories, "postgres"), databaseURL+ours), newBare(t, "pgx", theirs), func() {
			vacuum(t, ours)
			vacuum(t, theirs)
		})
	})
}

// operations are what is measured, each on its own: -run TestBench/postgres/patch, say.
var operations = []struct {
	name    string
	request func(s *subject, n int64) (method, path, body string)
}{
	{"get", func(s *subject, n int64) (string, string, string) {
		return http.MethodGet, "/v1/companies/" + s.ids[n%int64(len(s.ids))], ""
	}},
	{"list-50", func(*subject, int64) (string, string, string) { return http.MethodGet, "/v1/companies", "" }},
	{"create", func(_ *subject, n int64) (string, string, string) {
		return http.MethodPost, "/v1/companies", fmt.Sprintf(`{"name":"Company","slug":"new-%d"}`, n)
	}},
	{"patch", func(s *subject, n int64) (string, string, string) {
		return http.MethodPatch, "/v1/companies/" + s.ids[n%int64(len(s.ids))], fmt.Sprintf(`{"description":"%d"}`, n)
	}},
}

// compare prints a line for each operation. Before each it lets the stores tidy up.
func compare(t *testing.T, holdcoURL, bareURL string, tidyUp func()) {
	t.Helper()
	holdco, bare := &subject{url: holdcoURL}, &subject{url: bareURL}
	holdco.fill(t)
	bare.fill(t)
	for _, operation := range operations {
		t.Run(operation.name, func(t *testing.T) {
			tidyUp()
			var ours, theirs, ratios [turns]float64
			for i := range turns {
				ours[i], theirs[i] = holdco.rate(t, operation.request), bare.rate(t, operation.request)
				ratios[i] = ours[i] / theirs[i]
			}
			for _, figures := range [][]float64{ours[:], theirs[:], ratios[:]} {
				slices.Sort(figures)
			}
			store := t.Name()[len("TestBench/") : len(t.Name())-len("/"+operation.name)]
			fmt.Printf("%-10s %-10s %10.0f %10.0f %7.2f\n", store, operation.name, ours[turns/2], theirs[turns/2], ratios[turns/2])
		})
	}
}

// newHoldco starts Holdco with all that it does for a request: authentication, limits, and its log.
func newHoldco(t *testing.T, environ ...string) string {
	t.Helper()
	return serveHoldco(t, assemble(t, environ...))
}

// busy lets the load make as many requests as it can: they are counted, but never too many.
var busy = []string{"HOLDCO_ADMIN_TOKEN=" + string(rootToken), "HOLDCO_RATE_READ=1000000000", "HOLDCO_RATE_WRITE=1000000000"}

func assemble(t *testing.T, environ ...string) *wiring.Server {
	t.Helper()
	config, _, err := load(t, nil, "", append(environ, busy...)...)
	must(t, err)
	nowhere, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	must(t, err)
	log := slog.New(slog.NewJSONHandler(nowhere, nil))
	server, done, err := wiring.NewServer(t.Context(), config, wiring.Clocks{Process: system.Clock{}}, log, version)
	must(t, err)
	t.Cleanup(done)
	_, err = server.Migrator.Up(t.Context())
	must(t, err)
	_, err = server.Tokens.EnsureAdmin(t.Context(), config.AdminToken)
	must(t, err)
	return server
}

func serveHoldco(t *testing.T, server *wiring.Server) string {
	t.Helper()
	listening := httptest.NewServer(server.API)
	t.Cleanup(listening.Close)
	return listening.URL
}

// subject is a server under load.
type subject struct {
	url    string
	bearer string // what opens it; empty: the root token
	ids    []string
	number atomic.Int64
}

// fill makes the companies that the load works on.
func (s *subject) fill(t *testing.T) {
	t.Helper()
	for n := range companies {
		body := fmt.Sprintf(`{"name":"Company","slug":"c-%d"}`, n)
		status, answer, err := exchange(http.MethodPost, s.url+"/v1/companies", body)
		if err != nil || status != http.StatusCreated {
			t.Fatalf("create: %d, %v", status, err)
		}
		s.ids = append(s.ids, answer.Data.ID)
	}
}

// rate keeps the server busy for one turn, and returns how many requests a second it answered.
func (s *subject) rate(t *testing.T, request func(s *subject, n int64) (method, path, body string)) float64 {
	t.Helper()
	return s.rateOf(t, clients, turn, request)
}

// rateOf is rate with a number of clients and a time.
func (s *subject) rateOf(
	t *testing.T, clients int, long time.Duration, request func(s *subject, n int64) (method, path, body string),
) float64 {
	t.Helper()
	var done atomic.Int64
	var busy sync.WaitGroup
	began := time.Now()
	for range clients {
		busy.Go(func() {
			if err := s.client(began.Add(long), &done, request); err != nil {
				t.Error(err)
			}
		})
	}
	busy.Wait()
	return float64(done.Load()) / time.Since(began).Seconds()
}

// median is how long one request takes when there is no other.
func (s *subject) median(t *testing.T, requests int, request func(s *subject, n int64) (method, path, body string)) time.Duration {
	t.Helper()
	return s.times(t, requests, request)[requests/2]
}

// times are how long requests took that one client made one after the other, the shortest first.
func (s *subject) times(t *testing.T, requests int, request func(s *subject, n int64) (method, path, body string)) []time.Duration {
	t.Helper()
	c, err := dial(s.url)
	must(t, err)
	c.bearer = s.bearer
	defer c.conn.Close()
	took := make([]time.Duration, requests)
	for i := range took {
		began := time.Now()
		must(t, c.exchange(request(s, s.number.Add(1))))
		took[i] = time.Since(began)
	}
	slices.Sort(took)
	return took
}

// client makes requests on one connection until the turn is over.
func (s *subject) client(until time.Time, done *atomic.Int64, request func(s *subject, n int64) (method, path, body string)) error {
	c, err := dial(s.url)
	if err != nil {
		return err
	}
	c.bearer = s.bearer
	defer c.conn.Close()
	for time.Now().Before(until) {
		if err := c.exchange(request(s, s.number.Add(1))); err != nil {
			return err
		}
		done.Add(1)
	}
	return nil
}

// connection spends as little as it can, because it shares the machine with the server.
type connection struct {
	conn   net.Conn
	reader *bufio.Reader
	out    bytes.Buffer
	answer bytes.Buffer // the body of the last one
	bearer string
}

func dial(url string) (*connection, error) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	return &connection{conn: conn, reader: bufio.NewReaderSize(conn, 64<<10)}, err
}

func (c *connection) exchange(method, path, body string) error {
	c.out.Reset()
	c.answer.Reset()
	fmt.Fprintf(&c.out, "%s %s HTTP/1.1\r\nHost: holdco\r\nAuthorization: Bearer %s\r\n", method, path, cmp.Or(c.bearer, string(rootToken)))
	if body != "" {
		fmt.Fprintf(&c.out, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	c.out.WriteString("\r\n" + body)
	if _, err := c.conn.Write(c.out.Bytes()); err != nil {
		return err
	}
	answer, err := http.ReadResponse(c.reader, nil)
	if err != nil {
		return err
	}
	_, err = c.answer.ReadFrom(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		return err
	}
	if answer.StatusCode >= 300 {
		return fmt.Errorf("%s %s: %s", method, path, answer.Status)
	}
	return nil
}

// bare is the least that can answer these requests, on a store with Holdco's schema.
type bare struct {
	db                                      *sql.DB
	writing                                 sync.Mutex // SQLite has one writer
	lock                                    bool
	token, get, list, insert, event, change *sql.Stmt
}

func newBareSQLite(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "bare.db")
	engine, err := sqlite.Open(t.Context(), sqlite.Options{Path: path})
	must(t, err)
	_, err = engine.Migrator().Up(t.Context())
	must(t, errors.Join(err, engine.Close()))
	return newBare(t, "sqlite", "file:"+path+"?_txlock=immediate"+
		"&_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=busy_timeout(5000)")
}

// vacuum does what the server would do by itself, were it not that of tests: without statistics its plans are guesses.
func vacuum(t *testing.T, url string) {
	t.Helper()
	db, err := sql.Open("pgx", url)
	must(t, err)
	_, err = db.Exec("VACUUM ANALYZE")
	must(t, errors.Join(err, db.Close()))
}

func newBare(t *testing.T, driver, url string) string {
	t.Helper()
	db, err := sql.Open(driver, url)
	must(t, err)
	t.Cleanup(func() { _ = db.Close() })
	db.SetMaxOpenConns(20)
	db.SetMaxIdleConns(20)
	b := &bare{db: db, lock: driver == "sqlite"}
	_, err = db.Exec(`INSERT INTO tokens (id, name, scopes, hint, hash, old_hash, created_at) VALUES ('tok_1', 'admin', 'admin', '', '` +
		rootToken.Hash() + `', '', 0)`)
	must(t, err)
	prepare := func(query string) *sql.Stmt {
		if driver == "sqlite" {
			query = strings.ReplaceAll(query, "$", "?") // ?1, ?2, ...
		}
		statement, err := db.Prepare(query)
		must(t, err)
		return statement
	}
	const columns = `id, slug, name, description, default_adapter, fiscal_period, budget_usd, budget_period, reserve_percent,
		team_count, agent_count, work_paused, status, created_at, updated_at, archived_at, restorable_until, version`
	b.token = prepare(`SELECT id, name, scopes FROM tokens WHERE hash = $1`)
	b.get = prepare(`SELECT ` + columns + ` FROM companies WHERE id = $1`)
	b.list = prepare(`SELECT ` + columns + ` FROM companies WHERE status = $1 ORDER BY created_at DESC, id DESC LIMIT 51`)
	b.insert = prepare(`INSERT INTO companies (` + columns + `, deleted_by)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, '')`)
	b.change = prepare(`UPDATE companies SET description = $1, updated_at = $2, version = version + 1 WHERE id = $3`)
	b.event = prepare(`INSERT INTO activity (id, company_id, category, type, actor, subject_type, subject_id, data, previous, at, unqueued)
		VALUES ($1, $2, 'company', $3, $4, 'company', $2, $5, $6, $7, 0)`)

	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/companies", b.serve(b.listCompanies))
	mux.HandleFunc("GET /v1/companies/{id}", b.serve(b.getCompany))
	mux.HandleFunc("POST /v1/companies", b.serve(b.createCompany))
	mux.HandleFunc("PATCH /v1/companies/{id}", b.serve(b.patchCompany))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

// bareCompany is a company as both programs show it.
type bareCompany struct {
	ID             string `json:"id"`
	Slug           string `json:"slug"`
	Name           string `json:"name"`
	Description    string `json:"description"`
	DefaultAdapter string `json:"defaultAdapter"`
	FiscalPeriod   string `json:"fiscalPeriod"`
	Budget         struct {
		USD            json.Number `json:"usd"`
		Period         string      `json:"period"`
		ReservePercent json.Number `json:"reservePercent"`
	} `json:"budget"`
	TeamCount       int     `json:"teamCount"`
	AgentCount      int     `json:"agentCount"`
	WorkPaused      bool    `json:"workPaused"`
	Status          string  `json:"status"`
	CreatedAt       string  `json:"createdAt"`
	UpdatedAt       string  `json:"updatedAt"`
	ArchivedAt      *string `json:"archivedAt"`
	RestorableUntil *string `json:"restorableUntil"`

	version int64
}

func scan(row interface{ Scan(into ...any) error }) (bareCompany, error) {
	var c bareCompany
	var usd, percent, paused, created, updated int64
	var archived, until *int64
	err := row.Scan(&c.ID, &c.Slug, &c.Name, &c.Description, &c.DefaultAdapter, &c.FiscalPeriod, &usd, &c.Budget.Period, &percent,
		&c.TeamCount, &c.AgentCount, &paused, &c.Status, &created, &updated, &archived, &until, &c.version)
	c.WorkPaused = paused == 1
	c.Budget.USD, c.Budget.ReservePercent = json.Number(fmt.Sprint(usd)), json.Number(fmt.Sprint(percent))
	c.CreatedAt, c.UpdatedAt = instant.Format(time.UnixMilli(created)), instant.Format(time.UnixMilli(updated))
	return c, err
}

func (b *bare) serve(answer func(ctx context.Context, r *http.Request) (int, any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")))
		var tokenID, name, scopes string
		err := b.token.QueryRowContext(r.Context(), hex.EncodeToString(sum[:])).Scan(&tokenID, &name, &scopes)
		var status int
		var data any
		if err == nil {
			status, data, err = answer(r.Context(), r)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		text, _ := json.Marshal(map[string]any{
			"data": data,
			"meta": map[string]string{"requestId": "req", "timestamp": instant.Format(time.Now())},
		})
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = w.Write(text)
	}
}

func (b *bare) getCompany(ctx context.Context, r *http.Request) (int, any, error) {
	c, err := scan(b.get.QueryRowContext(ctx, r.PathValue("id")))
	return http.StatusOK, c, err
}

func (b *bare) listCompanies(ctx context.Context, _ *http.Request) (int, any, error) {
	rows, err := b.list.QueryContext(ctx, "active")
	if err != nil {
		return 0, nil, err
	}
	defer rows.Close()
	found := []bareCompany{}
	for rows.Next() {
		c, err := scan(rows)
		if err != nil {
			return 0, nil, err
		}
		found = append(found, c)
	}
	return http.StatusOK, found[:min(50, len(found))], rows.Err()
}

func (b *bare) createCompany(ctx context.Context, r *http.Request) (int, any, error) {
	var c bareCompany
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		return 0, nil, err
	}
	now := time.Now().UnixMilli()
	c.ID = string(id.New[id.Company](system.IDs{}.UUIDv7()))
	c.CreatedAt, c.UpdatedAt = instant.Format(time.UnixMilli(now)), instant.Format(time.UnixMilli(now))
	c.DefaultAdapter, c.FiscalPeriod, c.Status = "process", "monthly", "active"
	c.Budget.USD, c.Budget.Period, c.Budget.ReservePercent = "0", "monthly", "0"
	return http.StatusCreated, c, b.write(ctx, "company.created", &c, func(tx *sql.Tx) (string, error) {
		_, err := tx.StmtContext(ctx, b.insert).ExecContext(ctx, c.ID, c.Slug, c.Name, c.Description, c.DefaultAdapter,
			c.FiscalPeriod, 0, c.Budget.Period, 0, 0, 0, 0, c.Status, now, now, nil, nil, 1)
		return "", err
	})
}

func (b *bare) patchCompany(ctx context.Context, r *http.Request) (int, any, error) {
	var sent, c bareCompany
	if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
		return 0, nil, err
	}
	err := b.write(ctx, "company.updated", &c, func(tx *sql.Tx) (previous string, err error) {
		if c, err = scan(tx.StmtContext(ctx, b.get).QueryRowContext(ctx, r.PathValue("id"))); err != nil {
			return "", err
		}
		now := time.Now()
		previous = fmt.Sprintf(`{"description":%q,"updatedAt":%q}`, c.Description, c.UpdatedAt)
		c.Description, c.UpdatedAt = sent.Description, instant.Format(now)
		_, err = tx.StmtContext(ctx, b.change).ExecContext(ctx, c.Description, now.UnixMilli(), c.ID)
		return previous, err
	})
	return http.StatusOK, c, err
}

// write commits one change with its event, alone. The change returns what the changed fields were before.
func (b *bare) write(ctx context.Context, what string, c *bareCompany, change func(tx *sql.Tx) (previous string, err error)) error {
	if b.lock {
		b.writing.Lock()
		defer b.writing.Unlock()
	}
	tx, err := b.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	previous, err := change(tx)
	if err != nil {
		return err
	}
	data, err := json.Marshal(c)
	if err != nil {
		return err
	}
	entry := id.New[id.Entry](system.IDs{}.UUIDv7())
	_, err = tx.StmtContext(ctx, b.event).ExecContext(ctx, string(entry), c.ID, what, "token:tok_1", string(data), previous,
		time.Now().UnixMilli())
	if err != nil {
		return err
	}
	return tx.Commit()
}
