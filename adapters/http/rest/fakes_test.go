package rest_test

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/precondition"
	"holdco/domain/ratelimit"
	"holdco/domain/team"
	"holdco/ports/inbound"
)

// world is an API over fakes that keep everything in memory and leave the rules to the domain.
type world struct {
	*resttest.Client
	url       string
	companies *fakeCompanies
	tokens    *fakeTokens
	webhooks  *fakeWebhooks
	partners  *fakePartners
	limiter   *fakeLimiter
	ready     error
}

// newWorld starts an API. Its client has the token "admin".
func newWorld(t testing.TB) *world {
	t.Helper()
	shared := &ledger{receipts: map[idempotency.Key]idempotency.Receipt{}}
	w := &world{
		companies: &fakeCompanies{ledger: shared},
		tokens:    &fakeTokens{ledger: shared},
		webhooks:  &fakeWebhooks{ledger: shared},
		partners:  &fakePartners{ledger: shared},
		limiter:   &fakeLimiter{},
	}
	handler, err := rest.New(rest.Options{
		Companies: w.companies,
		Tokens:    w.tokens,
		Webhooks:  w.webhooks,
		Partners:  w.partners,
		Auth:      callers{},
		Limits:    httpkit.Limits{Limiter: w.limiter, ByClass: ratelimit.Limits{Read: 600, Write: 120, Costly: 10}},
		Ready:     func(context.Context) error { return w.ready },
		Clock:     shared,
		IDs:       shared,
		Log:       slog.New(slog.DiscardHandler),
		Pages: map[string]http.Handler{"/docs": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, "The reference.")
		})},
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	w.url = server.URL
	w.Client = resttest.New(t, server.URL, "admin")
	return w
}

// callers authenticates by name.
type callers struct{}

func (callers) Authenticate(_ context.Context, value string) (access.Caller, error) {
	scopes := map[string]access.Scopes{
		"admin":   {{Permission: access.Admin}},
		"reader":  {{Permission: access.Read}},
		"writer":  {{Permission: access.Write}},
		"limited": {{Permission: access.Write, Company: companyID(1)}},
	}[value]
	if scopes == nil {
		return access.Caller{}, fault.New(fault.Unauthorized, "The token is missing, mistyped, unknown, expired or revoked.")
	}
	return access.Caller{Token: tokenID(len(value)), Name: value, Scopes: scopes, CreatedAt: start}, nil
}

var start = time.Date(2026, 4, 11, 10, 42, 17, 0, time.UTC)

func companyID(n int) id.Company { return id.New[id.Company](uuid(n)) }
func tokenID(n int) id.Token     { return id.New[id.Token](uuid(n)) }

func uuid(n int) [16]byte {
	return [16]byte(binary.BigEndian.AppendUint64([]byte{1, 0x9d, 7, 0, 0, 0, 0x70, 0}, uint64(n)))
}

// fakeLimiter admits everything unless it is full.
type fakeLimiter struct{ full bool }

func (l *fakeLimiter) Take(_ context.Context, _ ratelimit.Key, limit ratelimit.Limit) ratelimit.Verdict {
	if l.full {
		return ratelimit.Verdict{Limit: limit, Reset: 42 * time.Second}
	}
	return ratelimit.Verdict{Limit: limit, Admitted: true, Remaining: int64(limit) - 1, Reset: time.Minute}
}

// ledger is a clock that stands still, a source of ids that counts, and the receipts.
type ledger struct {
	mutex    sync.Mutex
	count    int
	receipts map[idempotency.Key]idempotency.Receipt
}

func (l *ledger) Now() time.Time { return start }

func (l *ledger) UUIDv7() [16]byte {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.count++
	return uuid(0x1000 + l.count)
}

// once does what store.UpdateOnce does.
func once[T any](l *ledger, request idempotency.Request, write func() (T, error)) (T, error) {
	var none T
	if kept, found := l.receipts[request.Key]; found && request.Key.Value != "" {
		return none, kept.Replay(request)
	}
	result, err := write()
	if err != nil {
		return none, err
	}
	var shown any = result // what is answered again leaves secrets out
	switch issued := shown.(type) {
	case inbound.IssuedPartner:
		shown = issued.Partner
	case inbound.IssuedToken:
		shown = issued.Token
	case inbound.IssuedWebhook:
		shown = issued.Endpoint
	}
	answer, err := request.Answer(shown)
	if err != nil {
		return none, err
	}
	l.receipts[request.Key] = idempotency.Receipt{Key: request.Key, Fingerprint: request.Fingerprint, Answer: answer}
	return result, nil
}

type fakeCompanies struct {
	*ledger
	all     []company.Company // newest first
	teams   []team.Team
	err     error // fails every call
	ongoing bool  // deletions go on
	sawList inbound.CompanyList
}

var adapters = []string{"process", "http"}

func (f *fakeCompanies) find(which id.Company) (*company.Company, error) {
	if f.err != nil {
		return nil, f.err
	}
	for i := range f.all {
		if f.all[i].ID == which {
			return &f.all[i], nil
		}
	}
	return nil, access.NoCompany()
}

func (f *fakeCompanies) List(_ context.Context, _ access.Caller, list inbound.CompanyList) (page.Page[company.Company], error) {
	f.sawList = list
	var rows []company.Company
	for _, c := range f.all {
		matches := c.Status == list.Status && (list.Slug == nil || c.Slug == *list.Slug)
		if matches && (list.After.IsStart() || string(c.ID) < list.After.ID) {
			rows = append(rows, c)
		}
	}
	return page.Of(rows, list.Size, func(c company.Company) page.Position { return page.Position{ID: string(c.ID)} }), f.err
}

func (f *fakeCompanies) Get(_ context.Context, _ access.Caller, which id.Company) (company.Company, error) {
	found, err := f.find(which)
	if err != nil {
		return company.Company{}, err
	}
	return *found, nil
}

func (f *fakeCompanies) GetWithTeams(ctx context.Context, caller access.Caller, which id.Company) (company.Company, []team.Team, error) {
	found, err := f.Get(ctx, caller, which)
	return found, f.teams, err
}

func (f *fakeCompanies) Create(_ context.Context, _ access.Caller, draft company.Draft, request idempotency.Request) (company.Founding, error) {
	return once(f.ledger, request, func() (company.Founding, error) {
		founding, _, err := company.New(companyID(len(f.all)+1), draft, adapters, f.ledger, start)
		if err != nil {
			return founding, err
		}
		for _, c := range f.all {
			if c.Slug == founding.Company.Slug {
				return company.Founding{}, fault.New(fault.SlugInUse, "The slug %q is taken by another company.", c.Slug).
					With("slug", c.Slug).With("companyId", string(c.ID))
			}
		}
		f.all = append([]company.Company{founding.Company}, f.all...)
		f.teams = founding.Teams
		return founding, nil
	})
}

func (f *fakeCompanies) Update(_ context.Context, _ access.Caller, which id.Company, patch company.Patch, match precondition.Match) (company.Company, error) {
	return f.move(which, match, func(c company.Company) (company.Company, error) {
		next, _, err := c.Apply(patch, adapters, start.Add(time.Minute))
		return next, err
	})
}

func (f *fakeCompanies) Archive(
	_ context.Context, _ access.Caller, which id.Company, match precondition.Match, request idempotency.Request,
) (company.Company, error) {
	return once(f.ledger, request, func() (company.Company, error) {
		return f.move(which, match, func(c company.Company) (company.Company, error) {
			next, _, err := c.Archive(start, 720*time.Hour)
			return next, err
		})
	})
}

func (f *fakeCompanies) Restore(
	_ context.Context, _ access.Caller, which id.Company, match precondition.Match, request idempotency.Request,
) (company.Company, error) {
	return once(f.ledger, request, func() (company.Company, error) {
		return f.move(which, match, func(c company.Company) (company.Company, error) {
			next, _, err := c.Restore(start)
			return next, err
		})
	})
}

func (f *fakeCompanies) Delete(_ context.Context, caller access.Caller, which id.Company, match precondition.Match) (inbound.CompanyDeletion, error) {
	last, err := f.move(which, match, func(c company.Company) (company.Company, error) { return c.Delete(caller.Actor, start) })
	return inbound.CompanyDeletion{Company: last, Gone: !f.ongoing}, err
}

func (f *fakeCompanies) move(
	which id.Company, match precondition.Match, ask func(company.Company) (company.Company, error),
) (company.Company, error) {
	current, err := f.find(which)
	if err != nil {
		return company.Company{}, err
	}
	if err := match.Check(current.Version); err != nil {
		return company.Company{}, err
	}
	next, err := ask(*current)
	if err == nil {
		*current = next
	}
	return next, err
}

type fakeTokens struct {
	*ledger
	all      []access.Token // newest first
	sawGrace time.Duration
}

func (f *fakeTokens) List(_ context.Context, _ access.Caller, after page.Position, size int) (page.Page[access.Token], error) {
	var rows []access.Token
	for _, token := range f.all {
		if after.IsStart() || string(token.ID) < after.ID {
			rows = append(rows, token)
		}
	}
	return page.Of(rows, size, func(token access.Token) page.Position { return page.Position{ID: string(token.ID)} }), nil
}

func (f *fakeTokens) Get(_ context.Context, _ access.Caller, which id.Token) (access.Token, error) {
	for _, token := range f.all {
		if token.ID == which {
			return token, nil
		}
	}
	return access.Token{}, fault.New(fault.NotFound, "There is no such token.")
}

func (f *fakeTokens) Create(_ context.Context, _ access.Caller, draft access.TokenDraft, request idempotency.Request) (inbound.IssuedToken, error) {
	return once(f.ledger, request, func() (inbound.IssuedToken, error) {
		value := access.NewValue([32]byte{31: byte(len(f.all) + 1)})
		resolve := func(name string) (id.Company, bool, error) { return companyID(1), name == "acme", nil }
		token, _, err := access.NewToken(tokenID(len(f.all)+1), draft, value, resolve, start)
		if err == nil {
			f.all = append([]access.Token{token}, f.all...)
		}
		return inbound.IssuedToken{Token: token, Value: value}, err
	})
}

func (f *fakeTokens) Rotate(
	ctx context.Context, caller access.Caller, which id.Token, grace time.Duration, request idempotency.Request,
) (inbound.IssuedToken, error) {
	f.sawGrace = grace
	return once(f.ledger, request, func() (inbound.IssuedToken, error) {
		value := access.NewValue([32]byte{31: 99})
		token, err := f.change(ctx, caller, which, func(token access.Token) (access.Token, error) {
			next, _, err := token.Rotate(value, grace, start)
			return next, err
		})
		return inbound.IssuedToken{Token: token, Value: value}, err
	})
}

func (f *fakeTokens) Revoke(ctx context.Context, caller access.Caller, which id.Token) (access.Token, error) {
	return f.change(ctx, caller, which, func(token access.Token) (access.Token, error) {
		next, _ := token.Revoke(start)
		return next, nil
	})
}

func (f *fakeTokens) change(
	ctx context.Context, caller access.Caller, which id.Token, ask func(access.Token) (access.Token, error),
) (access.Token, error) {
	token, err := f.Get(ctx, caller, which)
	if err != nil {
		return access.Token{}, err
	}
	next, err := ask(token)
	if err != nil {
		return access.Token{}, err
	}
	for i := range f.all {
		if f.all[i].ID == which {
			f.all[i] = next
		}
	}
	return next, nil
}
