package partner_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/partner"
	"holdco/adapters/http/partner/partnertest"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	domain "holdco/domain/partner"
	"holdco/domain/ratelimit"
	"holdco/ports/inbound"
)

// world is an API over a fake that keeps everything in memory and leaves the rules to the domain.
type world struct {
	*partnertest.Client
	url      string
	export   *fakeExport
	sample   *fakeExport // of test keys
	keys     *keys
	limiter  *fakeLimiter
	clock    *clock
	api      http.Handler
	stopping *httpkit.Stopping
	log      *record
}

// newWorld starts an API. Its client has the key of the partner with the origin home.
func newWorld(t testing.TB, settings ...func(*http.Server)) *world {
	t.Helper()
	w := &world{
		export: newExport(t), sample: newExport(t),
		keys: &keys{}, limiter: &fakeLimiter{}, clock: &clock{now: start.Add(time.Hour)}, log: &record{},
		stopping: httpkit.NewStopping(),
	}
	log := slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	var err error
	w.api, err = partner.New(partner.Options{
		Exports: exports{w.export, w.sample},
		Auth:    w.keys,
		Service: httpkit.Service{
			Options: httpkit.Options{Clock: w.clock, IDs: w.clock, Log: log, Stopping: w.stopping},
			Limits:  httpkit.Limits{Limiter: w.limiter, ByClass: ratelimit.Limits{Partner: 600}},
			Ready:   func(context.Context) error { return w.export.err },
			Pages: map[string]http.Handler{"/api/external/docs": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				_, _ = io.WriteString(w, "The reference.")
			})},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpkit.NewServer(w.api, log)
	for _, set := range settings {
		set(server.Config)
	}
	server.Start()
	t.Cleanup(server.Close)
	w.url = server.URL
	w.Client = partnertest.New(t, server.URL, key)
	return w
}

const (
	key      = "hcp_key"
	otherKey = "hcp_other"
	testKey  = "hcp_test_key"

	home, elsewhere = "https://app.acme.example", "https://evil.example"
	otherHome       = "https://other.example"
)

var start = time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC)

// keys are two partners, each with an origin.
type keys struct {
	err   error
	mutex sync.Mutex
	ended bool                    // the first has no key any more
	view  lead.View               // of the first
	used  map[id.Partner][2]int64 // requests and leads
}

// change changes what keys are.
func (k *keys) change(to func()) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	to()
}

func (k *keys) Used(which id.Partner, requests, leadsRead int64) {
	k.change(func() {
		if k.used == nil {
			k.used = map[id.Partner][2]int64{}
		}
		k.used[which] = [2]int64{k.used[which][0] + requests, k.used[which][1] + leadsRead}
	})
}

func (k *keys) Authenticate(_ context.Context, value string) (domain.Partner, error) {
	k.mutex.Lock()
	defer k.mutex.Unlock()
	switch {
	case value == key && !k.ended:
		return domain.Partner{ID: id.New[id.Partner](uuid(1)), Name: "Acme Data", Origins: []string{home}, View: k.view}, k.err
	case value == testKey:
		return domain.Partner{ID: id.New[id.Partner](uuid(3)), Name: "Acme Data", Origins: []string{home}, Test: true}, k.err
	case value == otherKey:
		return domain.Partner{ID: "prt_2", Origins: []string{otherHome}}, k.err
	}
	return domain.Partner{}, fault.New(fault.Unauthorized, "The key is missing, mistyped, unknown, expired or revoked.")
}

func (k *keys) HasOrigin(_ context.Context, origin string) (bool, error) {
	return origin == home || origin == otherHome, k.err
}

// fakeLimiter admits everything unless it is full.
type fakeLimiter struct{ full bool }

func (l *fakeLimiter) Take(_ context.Context, _ ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	if l.full {
		return ratelimit.Verdict{Limit: limit, Reset: 42 * time.Second}
	}
	return ratelimit.Verdict{Limit: limit, Admitted: true, Remaining: int64(limit) - 1, Reset: time.Minute}
}

// clock stands still. It is a source of one id too.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) UUIDv7() [16]byte { return uuid(1) }

func uuid(n int) [16]byte {
	return [16]byte(binary.BigEndian.AppendUint64([]byte{1, 0x9d, 7, 0, 0, 0, 0x70, 0}, uint64(n)))
}

func leadID(n int) id.Lead { return id.New[id.Lead](uuid(n)) }

// record keeps what is written to it.
type record struct {
	mutex sync.Mutex
	text  []byte
}

func (r *record) Write(text []byte) (int, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.text = append(r.text, text...)
	return len(text), nil
}

func (r *record) String() string {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return string(r.text)
}

// exports are what keys read, and what test keys do.
type exports struct{ usual, sample *fakeExport }

func (e exports) Of(p domain.Partner) inbound.Export {
	if p.Test {
		return e.sample
	}
	return e.usual
}

// fakeExport is an inbound.Export over slices.
type fakeExport struct {
	state     lead.State
	leads     []lead.Stored // in their order
	removedAt map[id.Lead]time.Time
	campaigns []lead.Campaign
	taxonomy  lead.Taxonomy

	err      error                           // fails every call
	breaksAt int                             // a stream fails after so many leads; 0: never
	pace     func(ctx context.Context) error // is called before each portion of a stream
	searches atomic.Int64                    // for pages
	saw      lead.Query

	feed   []lead.FeedChange
	asked  lead.FeedQuery // of the feed
	waited time.Duration
}

const (
	health, arts   = id.Industry("ind_health"), id.Industry("ind_arts")
	dentists, vets = id.Vertical("vrt_dentists"), id.Vertical("vrt_vets")
	berlin         = id.Geography("geo_berlin")
	spring         = id.Campaign("cam_spring")
)

// newExport holds a small taxonomy, two campaigns and two leads: one about which all is known, and one of which only the
// name is.
func newExport(t testing.TB) *fakeExport {
	t.Helper()
	f := &fakeExport{state: lead.State{Revision: 7, Taxonomy: 2, ChangedAt: start}, removedAt: map[id.Lead]time.Time{}}
	var err error
	f.taxonomy, _, err = lead.TaxonomyDraft{
		Industries: []lead.IndustryDraft{{ID: string(health), Name: "Health & care"}, {ID: string(arts), Name: "Arts", Active: new(false)}},
		Verticals: []lead.VerticalDraft{
			{ID: string(dentists), Industry: string(health), Name: "Dentists"}, {ID: string(vets), Industry: string(health),
				Name: "Vets", Active: new(false)},
		},
		Geographies: []lead.GeographyDraft{{ID: string(berlin), Name: "Berlin", CountryCode: "DE"}},
		Intelligence: []lead.IntelligenceDraft{{
			ID: "vin_dentists", Vertical: string(dentists), Summary: "They grow by <word of mouth>.", PainPoints: []string{"Empty slots"},
		}},
	}.Over(lead.Taxonomy{}, start)
	if err != nil {
		t.Fatal(err)
	}
	f.campaigns = []lead.Campaign{
		{ID: spring, Name: "Spring", Status: lead.StatusActive, Industry: health, Vertical: dentists, Geography: berlin,
			LeadCount: 1250, CreatedAt: start, UpdatedAt: start},
		{ID: "cam_bare", Name: "Bare", Status: lead.StatusDraft, CreatedAt: start, UpdatedAt: start.Add(time.Second)},
	}
	f.add(t, lead.Draft{
		ID: string(leadID(1)), Name: `Blue "Door" <Dental>`, Phone: "+49 30 901820",
		Email: "hello@bluedoor.example", Website: "bluedoor.example",
		Rating: "4.7", Enrichment: "deep", Social: lead.Social{LinkedIn: "https://www.linkedin.com/company/bluedoor"},
		Industry: string(health), Vertical: string(dentists), Campaigns: []string{string(spring)},
		Contacts: []lead.ContactDraft{{ID: "cnt_ada", Name: "Ada Berg", Title: "Practice manager", Email: "ada@bluedoor.example",
			Primary: true}},
	}, lead.Draft{ID: string(leadID(2)), Name: "Nobody knows"})
	return f
}

// add adds leads, each a second later than the one before.
func (f *fakeExport) add(t testing.TB, drafts ...lead.Draft) {
	t.Helper()
	catalog := f.taxonomy.Catalog([]id.Campaign{spring})
	for _, draft := range drafts {
		made, err := draft.Lead(catalog)
		if err != nil {
			t.Fatal(err)
		}
		incoming := made.Incoming()
		at := start.Add(time.Duration(len(f.leads)) * time.Second)
		f.leads = append(f.leads, lead.Merge([]lead.Incoming{incoming}, nil, at).Changed...)
	}
}

// fill adds leads with the numbers from 3 on, until there are so many.
func (f *fakeExport) fill(t testing.TB, count int) {
	t.Helper()
	for n := len(f.leads) + 1; n <= count; n++ {
		f.add(t, lead.Draft{ID: string(leadID(n)), Name: fmt.Sprintf("Lead %d", n)})
	}
}

func (f *fakeExport) State(context.Context) (lead.State, error) { return f.state, f.err }

func (f *fakeExport) names() lead.Names {
	names, err := f.taxonomy.Names()
	if err != nil {
		panic(err)
	}
	industries := map[id.Campaign]id.Industry{}
	for _, one := range f.campaigns {
		industries[one.ID] = one.Industry
	}
	return names.WithCampaigns(industries)
}

// filtered returns the leads that a filter matches, after a place.
func (f *fakeExport) filtered(filter lead.Filter, after lead.Place) (leads []lead.Exported, total int64) {
	filter = filter.Seen(f.names())
	for _, kept := range f.leads {
		if !filter.Match(kept.Lead) {
			continue
		}
		total++
		if kept.Place().Compare(after) > 0 {
			leads = append(leads, lead.Exported{Place: kept.Place(), Industry: kept.Industry, Vertical: kept.Vertical,
				Document: leadjson.Encode(kept.Lead)})
		}
	}
	return leads, total
}

func (f *fakeExport) Leads(_ context.Context, query lead.Query) (inbound.LeadsPage, error) {
	f.searches.Add(1)
	f.saw = query
	leads, total := f.filtered(query.Filter, query.After)
	rows, more := cut(leads, query.Skip, query.Size)
	return inbound.LeadsPage{Page: lead.Page{State: f.state, Leads: rows, Total: total, More: more}, Names: f.names()}, f.err
}

func (f *fakeExport) Lead(_ context.Context, view lead.View, which id.Lead) (inbound.LeadShown, error) {
	for _, exported := range first(f.filtered(lead.Filter{View: view}, lead.Place{})) {
		if exported.Place.ID == which {
			return inbound.LeadShown{Exported: exported, Names: f.names()}, f.err
		}
	}
	return inbound.LeadShown{}, cmpErr(f.err, lead.ErrMissing)
}

func (f *fakeExport) Stream(
	ctx context.Context, filter lead.Filter, after lead.Place, take func(leads []lead.Exported, names lead.Names) error,
) error {
	const portion = 100
	leads, _ := f.filtered(filter, after)
	for sent := 0; len(leads) > 0; sent += portion {
		if f.breaksAt > 0 && sent >= f.breaksAt {
			return fault.New(fault.Unavailable, "The store cannot be reached; try again.")
		}
		if f.pace != nil {
			if err := f.pace(ctx); err != nil {
				return err
			}
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		rows, _ := cut(leads, 0, portion)
		if err := take(rows, f.names()); err != nil {
			return err
		}
		leads = leads[len(rows):]
	}
	return f.err
}

func (f *fakeExport) ResumeFrom(ctx context.Context, view lead.View, which id.Lead) (lead.Place, error) {
	shown, err := f.Lead(ctx, view, which)
	return shown.Place, err
}

func (f *fakeExport) Removed(_ context.Context, query lead.RemovedQuery) (lead.RemovedPage, error) {
	f.searches.Add(1)
	var rows []lead.RemovedLead
	for which, at := range f.removedAt {
		if !at.Before(query.Since) {
			rows = append(rows, lead.RemovedLead{ID: which, RemovedAt: at})
		}
	}
	place := func(row lead.RemovedLead) lead.Place { return lead.Place{UpdatedAt: row.RemovedAt, ID: row.ID} }
	slices.SortFunc(rows, func(a, b lead.RemovedLead) int { return place(a).Compare(place(b)) })
	total := int64(len(rows))
	rows = slices.DeleteFunc(rows, func(row lead.RemovedLead) bool { return place(row).Compare(query.After) <= 0 })
	rows, more := cut(rows, query.Skip, query.Size)
	return lead.RemovedPage{State: f.state, Leads: rows, Total: total, More: more}, f.err
}

// change adds a change of the feed, in a revision of its own.
func (f *fakeExport) change(happened lead.FeedChange) {
	happened.Place = lead.FeedPlace{Revision: lead.Revision(len(f.feed) + 1), Key: 1}
	f.feed = append(f.feed, happened)
}

func (f *fakeExport) Changes(ctx context.Context, query lead.FeedQuery, wait time.Duration) (inbound.ChangesPage, error) {
	f.asked, f.waited = query, wait
	if wait > 0 && f.pace != nil {
		if err := f.pace(ctx); err != nil {
			return inbound.ChangesPage{}, err
		}
	}
	found := inbound.ChangesPage{FeedPage: lead.FeedPage{State: f.state, Next: query.After}, Names: f.names()}
	for _, one := range f.feed {
		if one.Place.Compare(query.After.Place) > 0 {
			found.Changes = append(found.Changes, one)
		}
	}
	if found.Changes, found.More = cut(found.Changes, 0, query.Size); len(found.Changes) > 0 {
		found.Next = lead.FeedPosition{Place: found.Changes[len(found.Changes)-1].Place, Fresh: 3}.At(f.state)
	}
	return found, f.err
}

func (f *fakeExport) CanFollow(_ context.Context, from lead.FeedPosition) error {
	if !f.state.CanFollow(from, time.Time{}) {
		return fault.New(fault.InvalidCursor, "It is lost.")
	}
	return f.err
}

func (f *fakeExport) StreamChanges(
	ctx context.Context, query lead.FeedQuery, wait time.Duration, take func(inbound.ChangesPage) error,
) error {
	query.Size = 2
	for {
		found, err := f.Changes(ctx, query, wait)
		if err == nil {
			err = take(found)
		}
		if err != nil || !found.More {
			return err
		}
		query.After = found.Next
	}
}

func (f *fakeExport) ChangesSince(_ context.Context, since time.Time) (lead.FeedPosition, error) {
	if since.Before(start.AddDate(-1, 0, 0)) {
		return lead.FeedPosition{}, fault.New(fault.InvalidParameter, "since is so long ago.").With("parameter", "since")
	}
	return lead.FeedPosition{Place: lead.FeedPlace{Revision: 2, Key: math.MaxInt64}, SeenAt: f.state.ChangedAt}, f.err
}

func (f *fakeExport) Campaigns(_ context.Context, query lead.CampaignQuery) (inbound.CampaignsPage, error) {
	f.searches.Add(1)
	var rows []lead.Campaign
	var total int64
	for _, one := range f.campaigns {
		if query.Filter.Match(one) {
			total++
			if one.Place().Compare(query.After) > 0 {
				rows = append(rows, one)
			}
		}
	}
	rows, more := cut(rows, query.Skip, query.Size)
	return inbound.CampaignsPage{
		CampaignPage: lead.CampaignPage{State: f.state, Campaigns: rows, Total: total, More: more}, Names: f.names(),
	}, f.err
}

func (f *fakeExport) Taxonomy(_ context.Context, view lead.View) (lead.Taxonomy, error) {
	return view.Of(f.taxonomy.Active()), f.err
}

// cut takes a page out of rows.
func cut[T any](rows []T, skip int64, size int) (page []T, more bool) {
	rows = rows[min(skip, int64(len(rows))):]
	return rows[:min(size, len(rows))], len(rows) > size
}

func first[T any](leads []T, _ int64) []T { return leads }

func cmpErr(err, otherwise error) error {
	if err != nil {
		return err
	}
	return otherwise
}
