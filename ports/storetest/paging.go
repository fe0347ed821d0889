package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/store"
)

var pagingRules = []rule{
	{"events are neither skipped nor repeated while others come and go", pagingActivity},
	{"deliveries are neither skipped nor repeated while others come and go", pagingDeliveries},
	{"a position outlives its row", positionOutlivesRow},
}

// pages reads one page of a list.
type pages[T any] func(after page.Position) (page.Page[T], error)

func (f *fixture) companyPages(size int) pages[company.Company] {
	return func(after page.Position) (page.Page[company.Company], error) {
		return f.store.Companies().List(f.ctx, store.CompanyFilter{}, after, size)
	}
}

func (f *fixture) tokenPages(size int) pages[access.Token] {
	return func(after page.Position) (page.Page[access.Token], error) {
		return f.store.Tokens().List(f.ctx, after, size)
	}
}

func (f *fixture) activityPages(size int) pages[event.Event] {
	return func(after page.Position) (page.Page[event.Event], error) {
		return f.store.Activity().List(f.ctx, store.ActivityFilter{}, after, size)
	}
}

func (f *fixture) endpointPages(size int) pages[webhook.Endpoint] {
	return func(after page.Position) (page.Page[webhook.Endpoint], error) {
		return f.store.Webhooks().List(f.ctx, after, size)
	}
}

func (f *fixture) deliveryPages(endpoint id.Webhook, size int) pages[webhook.Delivery] {
	return func(after page.Position) (page.Page[webhook.Delivery], error) {
		return f.store.Deliveries().List(f.ctx, store.DeliveryFilter{Endpoint: endpoint}, after, size)
	}
}

// walk reads a whole list page by page, and checks the form of each page.
func walk[T any](f *fixture, size int, list pages[T]) []T {
	f.Helper()
	var all []T
	var after page.Position
	for {
		got, err := list(after)
		f.ok(err)
		isLast := got.Next.IsStart()
		if len(got.Items) > size || !isLast && len(got.Items) < size || !isLast && got.Next.ID == after.ID {
			f.Fatalf("after %+v came a page of %d items, size %d, with next %+v", after, len(got.Items), size, got.Next)
		}
		all = append(all, got.Items...)
		if isLast {
			return all
		}
		after = got.Next
	}
}

// steady walks a list and lets others change it before every page but the first. What was there all the time must be
// seen once and in order, what came later must not be seen.
func steady[T any](f *fixture, size int, list pages[T], key func(T) string, change func()) {
	f.Helper()
	keys := func(items []T) []string {
		keys := make([]string, len(items))
		for i, item := range items {
			keys[i] = key(item)
		}
		return keys
	}
	before := keys(walk(f, size, list))
	seen := keys(walk(f, size, func(after page.Position) (page.Page[T], error) {
		if !after.IsStart() {
			change()
		}
		return list(after)
	}))
	left := keys(walk(f, size, list))
	f.same(both(seen, left), both(before, left))
	f.same(both(seen, before), seen)
}

// both returns those of a that are also in b.
func both(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(text string) bool { return !slices.Contains(b, text) })
}

// severally calls add twelve times, three times each in one instant.
func (f *fixture) severally(add func(i int)) {
	for i := range 12 {
		if i%3 == 0 {
			f.clock.Advance(time.Millisecond)
		}
		add(i)
	}
}

func pagingActivity(f *fixture) {
	companies := []id.Company{"cmp_stays", "cmp_leaves"}
	happens := func(i int) {
		happened := founded(f.newCompany("acme"))
		happened.Company = companies[i%len(companies)]
		f.update(recording(happened))
	}
	for _, size := range []int{1, 2, 5} {
		f.severally(happens)
		steady(f, size, f.activityPages(size), func(happened event.Event) string { return string(happened.ID) }, func() {
			f.clock.Advance(time.Millisecond)
			happens(0)
			f.empty(companies[1], 1)
		})
	}
}

func pagingDeliveries(f *fixture) {
	endpoint := f.endpoint().ID
	companies := []id.Company{"cmp_stays", "cmp_leaves"}
	happens := func(i int) {
		f.send(endpoint, func(d *webhook.Delivery) { d.Company = companies[i%len(companies)] })
	}
	for _, size := range []int{1, 2, 5} {
		f.severally(happens)
		steady(f, size, f.deliveryPages(endpoint, size), func(d webhook.Delivery) string { return string(d.ID) }, func() {
			f.clock.Advance(time.Millisecond)
			happens(0)
			f.empty(companies[1], 1)
		})
	}
}

func positionOutlivesRow(f *fixture) {
	oldest, middle, newest := f.found("oldest"), f.found("middle"), f.found("newest")
	first, err := f.companyPages(2)(page.Position{})
	f.ok(err)
	f.same(first.Items, []company.Company{newest, middle})
	f.remove(middle.ID)
	second, err := f.companyPages(2)(first.Next)
	f.ok(err)
	f.same(second, page.Page[company.Company]{Items: []company.Company{oldest}})
}

// empty removes some of what belongs to a company, and reports whether nothing is left.
func (f *fixture) empty(which id.Company, most int) (done bool) {
	f.Helper()
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		var err error
		_, done, err = tx.Companies().Empty(ctx, which, store.Emptying{Most: most})
		return err
	})
	return done
}

// remove removes a company with all that belongs to it.
func (f *fixture) remove(which id.Company) {
	f.Helper()
	f.update(removing(which))
}

func removing(which id.Company) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for {
			_, done, err := tx.Companies().Empty(ctx, which, store.Emptying{Most: 100})
			if err != nil {
				return err
			}
			if done {
				return tx.Companies().Remove(ctx, which)
			}
		}
	}
}
