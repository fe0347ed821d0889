package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"pgregory.net/rapid"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/ports/store"
)

var historyRules = []rule{
	{"random histories leave the same in a store as in a few maps", histories},
}

// histories draws units of a few steps each, some of which give up at their end, and compares what is left. All
// histories share one store: each looks at its own rows among those of the others.
func histories(f *fixture) {
	var number atomic.Int64
	rapid.Check(f.t, func(t *rapid.T) {
		own := *f
		own.reporter = t
		h := history{fixture: &own, draw: t, number: number.Add(1), kept: newModel(), leads: map[id.Lead]bool{}}
		for range rapid.IntRange(1, 12).Draw(t, "units") {
			h.runUnit()
		}
		h.compare()
	})
}

// history is one run of units. It knows the ids that it made, so that a step can pick one; not all of them are kept.
type history struct {
	*fixture
	draw      *rapid.T
	number    int64
	kept      model
	companies []id.Company
	tokens    []id.Token
	endpoints []id.Webhook
	partners  []id.Partner
	leads     map[id.Lead]bool
}

// step is one thing that a unit does, to the store and to the model. It fails where the domain or the model says so.
type step func(ctx context.Context, tx store.Tx, m *model) error

func (h *history) runUnit() {
	h.clock.Advance(time.Duration(h.upTo("pause", 2)) * time.Millisecond)
	steps := make([]step, 1+h.upTo("steps", 3))
	for i := range steps {
		steps[i] = h.drawStep()
	}
	givesUp := h.upTo("gives up", 4) == 4

	var next model
	var refusal error
	err := h.store.Update(h.ctx, func(ctx context.Context, tx store.Tx) error {
		next, refusal = h.kept.clone(), nil
		for _, step := range steps {
			if refusal = step(ctx, tx, &next); refusal != nil {
				return refusal
			}
		}
		if givesUp {
			refusal = errGivenUp
		}
		return refusal
	})
	if !errors.Is(err, refusal) {
		h.Fatalf("the unit ended with %v, not with %v", err, refusal)
	}
	if err == nil {
		h.kept = next
	}
}

// drawStep draws a step with all its figures, because a unit may run twice.
func (h *history) drawStep() step {
	kinds := []func() step{
		h.found, h.found, h.move, h.move, h.staff, h.remove, h.issue, h.rotate, h.touch, h.answer,
		h.connect, h.reconnect, h.disconnect, h.sendTo, h.admit, h.rekey, h.touchPartner, h.importLeads, h.removeLeads,
	}
	return kinds[h.upTo("step", len(kinds)-1)]()
}

// upTo draws a number from 0 to most.
func (h *history) upTo(label string, most int) int {
	return rapid.IntRange(0, most).Draw(h.draw, label)
}

// pick draws one of some ids, or the empty one when there are none.
func pick[I ~string](h *history, label string, ids []I) I {
	if len(ids) == 0 {
		return ""
	}
	return ids[h.upTo(label, len(ids)-1)]
}

var errDiffers = errors.New("the store and the model differ")

// expect passes on an error that has the code which the model expects.
func (h *history) expect(err error, want fault.Code) error {
	if got := fault.CodeOf(err); got != want {
		h.Errorf("code %q, the model expects %q: %v", got, want, err)
		return errDiffers
	}
	return err
}

func (h *history) record(ctx context.Context, tx store.Tx, m *model, happened event.Event) error {
	happened = happened.By(actor)
	err := tx.Record(ctx, happened)
	happened.At = tx.Now()
	m.events = append(m.events, happened)
	return err
}

func (h *history) found() step {
	c := h.newCompany(fmt.Sprintf("h%d-%d", h.number, h.upTo("slug", 4)))
	c.Description = rapid.SampledFrom(texts).Draw(h.draw, "description")
	h.companies = append(h.companies, c.ID)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		err := tx.Companies().Add(ctx, c)
		if len(m.listed(store.CompanyFilter{Slug: &c.Slug})) > 0 {
			return h.expect(err, fault.SlugInUse)
		}
		if err := h.expect(err, ""); err != nil {
			return err
		}
		m.companies[c.ID] = c
		return h.record(ctx, tx, m, founded(c))
	}
}

func (h *history) move() step {
	which := pick(h, "company", h.companies)
	moves := []move{
		rename(rapid.SampledFrom([]string{"A", "B", "Ärger"}).Draw(h.draw, "name")),
		archive,
		func(c company.Company, at time.Time) (company.Company, event.Event, error) { return c.Restore(at) },
	}
	move := moves[h.upTo("move", len(moves)-1)]
	return func(ctx context.Context, tx store.Tx, m *model) error {
		locked, err := tx.Companies().Lock(ctx, which)
		want, ok := m.companies[which]
		if !ok {
			return h.expect(err, fault.NotFound)
		}
		if err := h.expect(err, ""); err != nil {
			return err
		}
		h.same(locked, want)
		next, happened, err := move(locked, tx.Now())
		if err != nil || next == locked {
			return err
		}
		if err := tx.Companies().Save(ctx, next); err != nil {
			return err
		}
		m.companies[which] = next
		return h.record(ctx, tx, m, happened)
	}
}

func (h *history) staff() step {
	which := pick(h, "company", h.companies)
	teams, slots := h.newTeams(which, int64(h.upTo("headcount", 3)))
	return func(ctx context.Context, tx store.Tx, m *model) error {
		if _, ok := m.companies[which]; !ok {
			return nil
		}
		m.teams[which] = append(slices.Clip(m.teams[which]), teams...)
		m.slots[which] = append(slices.Clip(m.slots[which]), slots...)
		return staffing(teams, slots)(ctx, tx)
	}
}

func (h *history) remove() step {
	which, most := pick(h, "company", h.companies), 1+h.upTo("most", 4)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		c, ok := m.companies[which]
		if !ok {
			return nil
		}
		for left := m.rows(which); ; {
			_, done, err := tx.Companies().Empty(ctx, which, store.Emptying{Most: most})
			if err != nil {
				return err
			}
			if left = max(left-most, 0); left == 0 {
				h.same(done, true)
			}
			if done { // before all rows are gone when webhooks have some of them still to send
				break
			}
		}
		m.forget(which)
		delete(m.companies, which)
		if err := tx.Companies().Remove(ctx, which); err != nil {
			return err
		}
		return h.record(ctx, tx, m, c.Deleted())
	}
}

func (h *history) issue() step {
	token := h.newToken(rapid.SampledFrom([]string{"read", "admin", "company:cmp_00000000000000000000000001:write"}).Draw(h.draw, "scope"))
	h.tokens = append(h.tokens, token.ID)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		m.tokens[token.ID] = token
		return issuing(token)(ctx, tx)
	}
}

func (h *history) rotate() step {
	which, value, grace := pick(h, "token", h.tokens), h.newValue(), time.Duration(h.upTo("grace", 1))*time.Hour
	revokes := h.upTo("revokes", 3) == 0
	return func(ctx context.Context, tx store.Tx, m *model) error {
		locked, err := tx.Tokens().Lock(ctx, which)
		want, ok := m.tokens[which]
		if !ok {
			return h.expect(err, fault.NotFound)
		}
		if err := h.expect(err, ""); err != nil {
			return err
		}
		h.same(locked, want)
		next, happened, err := locked.Rotate(value, access.Rotation{Grace: &grace}, tx.Now())
		if err != nil {
			return err
		}
		if revokes {
			next.RevokedAt = tx.Now()
		}
		m.tokens[which] = next
		if err := tx.Tokens().Save(ctx, next); err != nil {
			return err
		}
		return h.record(ctx, tx, m, happened)
	}
}

func (h *history) touch() step {
	used := map[id.Token]time.Time{"tok_none": h.clock.Now()}
	for range h.upTo("tokens", 3) {
		used[pick(h, "token", h.tokens)] = h.clock.Now().Add(time.Duration(h.upTo("later", 5)) * time.Millisecond)
	}
	return func(ctx context.Context, tx store.Tx, m *model) error {
		for which, at := range used {
			if token, ok := m.tokens[which]; ok && at.After(token.LastUsedAt) {
				token.LastUsedAt = at
				m.tokens[which] = token
			}
		}
		return tx.Tokens().Touch(ctx, used)
	}
}

func (h *history) answer() step {
	key := idempotency.Key{Caller: "tok_some", Value: fmt.Sprintf("h%d-%d", h.number, h.upTo("key", 4))}
	which := pick(h, "company", h.companies)
	return func(ctx context.Context, tx store.Tx, m *model) error {
		company := m.companies[which].ID // empty when it is not there
		kept, err := tx.Receipts().Claim(ctx, key)
		if err != nil {
			return err
		}
		if want, ok := m.answers[key]; ok {
			h.same(kept, &want)
			return nil
		}
		h.same(kept, (*idempotency.Receipt)(nil))
		m.answers[key] = idempotency.Receipt{
			Key: key, Fingerprint: "f", Company: company, Answer: []byte(`{"text":"'?"}`), CreatedAt: tx.Now(),
		}
		return tx.Receipts().Keep(ctx, m.answers[key])
	}
}

// compare reads what the history left, in one view, in every way there is.
func (h *history) compare() {
	size := 1 + h.upTo("size", 4)
	h.ok(h.store.View(h.ctx, func(ctx context.Context, r store.Reader) error {
		h.compareCompanies(ctx, r, size)
		h.compareTokens(ctx, r)
		h.compareEndpoints(ctx, r, size)
		h.comparePartners(ctx, r)
		h.compareLeads(ctx, r)
		return nil
	}))
	for key, receipt := range h.kept.answers {
		h.receiptIs(key, &receipt)
	}
}

func (h *history) compareCompanies(ctx context.Context, r store.Reader, size int) {
	for _, status := range []company.Status{"", company.Active, company.Archived} {
		filter := store.CompanyFilter{Status: status, Within: append([]id.Company{}, h.companies...)}
		h.same(walk(h.fixture, size, func(after page.Position) (page.Page[company.Company], error) {
			return r.Companies().List(ctx, filter, after, size)
		}), h.kept.listed(filter))
	}
	for _, which := range h.companies {
		teams, err := r.Teams().OfCompany(ctx, which, 1000)
		h.ok(err)
		h.same(teams, h.kept.teams[which])
		slots, err := r.Teams().SlotsOfCompany(ctx, which)
		h.ok(err)
		h.same(slots, h.kept.slots[which])
		h.same(unstamped(walk(h.fixture, size, func(after page.Position) (page.Page[event.Event], error) {
			return r.Activity().List(ctx, store.ActivityFilter{Company: &which}, after, size)
		})), h.kept.eventsOf(which))
		if _, ok := h.kept.companies[which]; !ok {
			_, err := r.Companies().Get(ctx, which)
			h.code(err, fault.NotFound)
		}
	}
}

func (h *history) compareTokens(ctx context.Context, r store.Reader) {
	for _, which := range h.tokens {
		got, err := r.Tokens().Get(ctx, which)
		want, ok := h.kept.tokens[which]
		if !ok {
			h.code(err, fault.NotFound)
			continue
		}
		h.ok(err)
		h.same(got, want)
		byHash, err := r.Tokens().ByHash(ctx, want.Hash)
		h.ok(err)
		h.same(byHash, want)
	}
	own := map[string]bool{}
	for _, which := range h.tokens {
		own[string(which)] = true
	}
	instance := unstamped(walk(h.fixture, page.MaxSize, func(after page.Position) (page.Page[event.Event], error) {
		return r.Activity().List(ctx, store.ActivityFilter{Company: new(id.Company), Type: event.TokenRotated}, after, page.MaxSize)
	}))
	h.same(slices.DeleteFunc(instance, func(happened event.Event) bool { return !own[happened.Subject.ID] }),
		slices.DeleteFunc(h.kept.eventsOf(""), func(happened event.Event) bool { return happened.Type != event.TokenRotated }))
}
