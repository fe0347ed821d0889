package httpkit_test

import (
	"net/http/httptest"
	"strings"
	"testing"

	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/money"
	"holdco/domain/page"
)

func TestOperationsAndHandlersMustBeTheSame(t *testing.T) {
	t.Parallel()
	table := tableOf(t, document)
	handle := func(httpkit.Request) (httpkit.Answer, error) { return httpkit.Answer{}, nil }
	all := httpkit.Handlers{"list": handle, "create": handle, "update": handle, "act": handle}
	public := httpkit.Writers{"public": httpkit.Health}
	for _, c := range []struct {
		name   string
		routes []httpkit.Routes
		want   string
	}{
		{"one operation has no handler", []httpkit.Routes{all}, `the operation "public" of GET /public has no handler`},
		{"one handler has no operation", []httpkit.Routes{all, public, httpkit.Handlers{"reda": handle}}, "no operation reda"},
		{"one operation has two handlers", []httpkit.Routes{all, public, httpkit.Handlers{"list": handle}}, "list has two handlers"},
	} {
		if err := table.Serve(httpkit.New(httpkit.Options{}), c.routes...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// row is what the lists of these tests hold.
type row string

func (r row) Fields() event.Fields {
	return event.Fields{event.F("id", string(r)), event.F("text", "<&>")}
}

func TestAListIsAnsweredWithItsPageAndCursor(t *testing.T) {
	t.Parallel()
	rows := []row{"c", "b", "a"}
	k := newKit(t, func(r httpkit.Request) (httpkit.Answer, error) {
		return httpkit.List(r, "rows", func(after page.Position, size int) (page.Page[row], error) {
			at := strings.Index("cba", after.ID) + len(after.ID)
			return page.Of(rows[at:], size, func(r row) page.Position { return page.Position{ID: string(r)} }), nil
		})
	})
	first := k.ask("GET", "/things?limit=2", "")
	if string(first.Data) != `[{"id":"c","text":"<&>"},{"id":"b","text":"<&>"}]` || first.Meta.Page.Size != 2 ||
		first.Meta.Page.Cursor == nil {
		t.Fatal(first.text)
	}
	last := k.ask("GET", "/things?limit=2&cursor="+*first.Meta.Page.Cursor, "")
	if string(last.Data) != `[{"id":"a","text":"<&>"}]` || last.Meta.Page.Cursor != nil {
		t.Error(last.text)
	}
	k.ask("GET", "/things?cursor=x", "").is(t, "another cursor", 400, "invalid_cursor")
	rows = nil
	if none := k.ask("GET", "/things", ""); string(none.Data) != "[]" || none.Meta.Page.Size != page.DefaultSize {
		t.Error(none.text)
	}
}

func BenchmarkAListOfFiftyCompanies(b *testing.B) {
	fifty := page.Page[company.Company]{Items: make([]company.Company, 50)}
	at := fixed{}.Now()
	for i := range fifty.Items {
		fifty.Items[i] = company.Company{
			ID: "cmp_01j5ze2c4nf8vtkkq4d9w6m7xr", Slug: "acme", Name: "Acme Corporation & Söhne",
			Description: "Sells everything to coyotes.\nIn any number of lines.", DefaultAdapter: "process", FiscalPeriod: "monthly",
			Budget:    budget.Budget{USD: 1500 * money.Dollar, Period: "monthly", ReservePercent: 1250},
			TeamCount: 3, AgentCount: 7, Status: company.Active, CreatedAt: at, UpdatedAt: at,
		}
	}
	k := newKit(b, func(r httpkit.Request) (httpkit.Answer, error) {
		return httpkit.List(r, "companies", func(page.Position, int) (page.Page[company.Company], error) { return fifty, nil })
	})
	request := httptest.NewRequestWithContext(b.Context(), "GET", "/things", nil)
	request.Header.Set("Authorization", "Bearer all")
	b.ReportAllocs()
	for b.Loop() {
		recorder := httptest.NewRecorder()
		k.router.ServeHTTP(recorder, request)
		if recorder.Code != httpkit.OK {
			b.Fatal(recorder.Body)
		}
	}
}
