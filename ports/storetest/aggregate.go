package storetest

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"slices"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

// aggregate is what the rules for all kinds of aggregates have to know of one kind.
type aggregate[I id.ID, T any] struct {
	of  func(store.Reader) store.Getter[I, T]
	in  func(store.Tx) store.Repository[I, T]
	new func(f *fixture) T // in no store yet, and with all that must differ from others

	// full sets every field but those of new, to values that are hard to keep.
	full func(f *fixture, to *T)

	// edit changes every field that Save saves.
	edit func(f *fixture, to *T)

	// permanent are the fields that Save leaves alone, summed those of them that Add leaves alone too: they are sums of other rows.
	permanent, summed []string

	// texts sets every field that can hold any text.
	texts func(to *T, text string)

	touch  func(used map[I]time.Time) unit     // nil: nothing counts as a use of it
	used   func(of *T) *time.Time              // what touch moves
	list   func(f *fixture, size int) pages[T] // nil: there is none, or with rules of its own
	listed func(one *T)                        // clears what lists leave out; nil: nothing
	remove func(f *fixture, which I)           // nil: nothing is removed
}

func (a aggregate[I, T]) rules(own []rule) []rule {
	rules := []rule{
		{"what was added reads back", a.readsBack},
		{"what is not there is not found", a.notFound},
		{"save replaces one and no other, but for what is permanent", a.save},
		{"save of what this unit has not locked is a defect", a.saveNeedsLock},
		{"texts are kept to the last byte", a.keepsTexts},
	}
	if a.list != nil {
		rules = append(rules,
			rule{"a list has every one, newest first", a.lists},
			rule{"pages neither skip nor repeat while others come and go", a.pages},
		)
	}
	if a.touch != nil {
		rules = append(rules, rule{"touch moves the last use forward, never back", a.touches})
	}
	return append(rules, own...)
}

// add adds a new one, altered by each of alter.
func (a aggregate[I, T]) add(f *fixture, alter ...func(*T)) T {
	f.Helper()
	made := a.new(f)
	for _, change := range alter {
		change(&made)
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return a.in(tx).Add(ctx, made)
	})
	return made
}

// edited saves the next version of one, and returns it.
func (a aggregate[I, T]) edited(f *fixture, one T, change func(*T)) T {
	f.Helper()
	next := a.next(one)
	change(&next)
	f.update(a.saving(next))
	return next
}

// saving is a unit that locks and saves.
func (a aggregate[I, T]) saving(next T) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		if _, err := a.in(tx).Lock(ctx, a.id(next)); err != nil {
			return err
		}
		return a.in(tx).Save(ctx, next)
	}
}

func (a aggregate[I, T]) id(of T) I { return reflect.ValueOf(of).FieldByName("ID").Interface().(I) }

func (a aggregate[I, T]) createdAt(of T) time.Time {
	return reflect.ValueOf(of).FieldByName("CreatedAt").Interface().(time.Time)
}

// next is the next version, if the kind has versions.
func (a aggregate[I, T]) next(of T) T {
	if version := reflect.ValueOf(&of).Elem().FieldByName("Version"); version.IsValid() {
		version.SetInt(version.Int() + 1)
	}
	return of
}

func (a aggregate[I, T]) hasVersions() bool {
	_, has := reflect.TypeFor[T]().FieldByName("Version")
	return has
}

// is compares what is kept with want.
func (a aggregate[I, T]) is(f *fixture, want T) {
	f.Helper()
	got, err := a.of(f.store).Get(f.ctx, a.id(want))
	f.ok(err)
	f.same(got, want)
	f.update(func(ctx context.Context, tx store.Tx) error {
		locked, err := a.in(tx).Lock(ctx, a.id(want))
		if err == nil {
			f.same(locked, want)
		}
		return err
	})
}

// leaves are the fields of a struct, with those of structs in it instead of these structs.
func leaves(of reflect.Type) []reflect.StructField {
	var found []reflect.StructField
	for i := range of.NumField() {
		field := of.Field(i)
		if field.Type.Kind() != reflect.Struct || field.Type == reflect.TypeFor[time.Time]() {
			found = append(found, field)
			continue
		}
		for _, inner := range leaves(field.Type) {
			inner.Index = append([]int{i}, inner.Index...)
			found = append(found, inner)
		}
	}
	return found
}

func (a aggregate[I, T]) readsBack(f *fixture) {
	bare, full := a.add(f), a.add(f, func(to *T) { a.full(f, to) })
	for _, field := range leaves(reflect.TypeFor[T]()) {
		if reflect.ValueOf(full).FieldByIndex(field.Index).IsZero() && !slices.Contains(a.summed, field.Name) {
			f.Errorf("full leaves %s as it is", field.Name)
		}
	}
	a.is(f, bare)
	a.is(f, full)
}

func (a aggregate[I, T]) notFound(f *fixture) {
	a.add(f)
	for _, which := range []I{"", "cmp_00000000000000000000000000", "' OR '1'='1", "%"} {
		_, err := a.of(f.store).Get(f.ctx, which)
		f.code(err, fault.NotFound)
		f.refused(fault.NotFound, func(ctx context.Context, tx store.Tx) error {
			_, err := a.in(tx).Lock(ctx, which)
			return err
		})
	}
}

func (a aggregate[I, T]) save(f *fixture) {
	untouched, changed := a.add(f), a.add(f, func(to *T) { a.full(f, to) })
	next := a.next(changed)
	a.edit(f, &next)
	want := next
	for _, field := range leaves(reflect.TypeFor[T]()) {
		before, after := reflect.ValueOf(changed).FieldByIndex(field.Index), reflect.ValueOf(&want).Elem().FieldByIndex(field.Index)
		switch isPermanent := slices.Contains(a.permanent, field.Name); {
		case field.Name == "ID":
		case isPermanent:
			after.Set(before)
		case reflect.DeepEqual(before.Interface(), after.Interface()):
			f.Errorf("edit leaves %s as it is", field.Name)
		}
	}
	f.update(a.saving(next))
	a.is(f, want)

	back := a.next(a.next(changed)) // to what it was
	f.update(a.saving(back))
	a.is(f, back)
	a.is(f, untouched)
}

func (a aggregate[I, T]) saveNeedsLock(f *fixture) {
	kept, missing := a.add(f), a.new(f)
	for _, wrong := range []T{a.next(kept), missing} {
		f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return a.in(tx).Save(ctx, wrong)
		})
	}
	if a.hasVersions() {
		for _, stale := range []T{kept, a.next(a.next(kept))} {
			f.refused(fault.Internal, a.saving(stale))
		}
	}
	a.is(f, kept)
}

func (a aggregate[I, T]) keepsTexts(f *fixture) {
	for _, text := range slices.Concat(texts, longTexts) {
		one := a.add(f, func(to *T) { a.texts(to, text) })
		a.is(f, one)
		next := a.next(one)
		a.texts(&next, "!"+text)
		f.update(a.saving(next))
		a.is(f, next)
	}
}

func (a aggregate[I, T]) lists(f *fixture) {
	none, err := a.list(f, page.MaxSize)(page.Position{})
	f.ok(err)
	f.same(none, page.Page[T]{})
	var want []T
	f.severally(func(i int) {
		want = append(want, a.add(f, func(to *T) {
			if i%2 == 0 {
				a.full(f, to)
			}
		}))
	})
	if a.listed != nil {
		for i := range want {
			a.listed(&want[i])
		}
	}
	a.sortNewestFirst(want)
	for _, size := range []int{1, 2, 3, len(want), page.MaxSize} {
		f.same(walk(f, size, a.list(f, size)), want)
	}
	for range page.DefaultSize {
		want = append([]T{a.add(f)}, want...)
	}
	a.sortNewestFirst(want)
	f.same(walk(f, page.DefaultSize, a.list(f, page.DefaultSize)), want) // of the size that is asked for most
}

// sortNewestFirst sorts as lists do.
func (a aggregate[I, T]) sortNewestFirst(list []T) {
	slices.SortFunc(list, func(x, y T) int {
		return cmp.Or(a.createdAt(y).Compare(a.createdAt(x)), cmp.Compare(a.id(y), a.id(x)))
	})
}

func (a aggregate[I, T]) pages(f *fixture) {
	for _, size := range []int{1, 2, 5} {
		var leaving []I
		f.severally(func(i int) {
			one := a.add(f)
			if i%4 == 1 {
				leaving = append(leaving, a.id(one))
			}
		})
		steady(f, size, a.list(f, size), func(one T) string { return fmt.Sprint(a.id(one)) }, func() {
			f.clock.Advance(time.Millisecond)
			a.add(f)
			if a.remove != nil && len(leaving) > 0 {
				a.remove(f, leaving[0])
				leaving = leaving[1:]
			}
		})
	}
}

func (a aggregate[I, T]) touches(f *fixture) {
	at := f.clock.Now()
	one, two, other := a.add(f), a.add(f), a.add(f)
	used := func(uses map[I]time.Time, want ...time.Time) {
		f.Helper()
		f.update(a.touch(uses))
		for i, touched := range []T{one, two, other} {
			if i < len(want) {
				*a.used(&touched) = want[i]
			}
			a.is(f, touched)
		}
	}
	never := time.Time{}
	used(nil)
	used(map[I]time.Time{a.id(one): at, "gone": at, "": at}, at)
	used(map[I]time.Time{a.id(one): at.Add(time.Minute), a.id(two): at.Add(time.Second)}, at.Add(time.Minute), at.Add(time.Second))
	used(map[I]time.Time{a.id(one): at, a.id(two): at.Add(time.Hour)}, at.Add(time.Minute), at.Add(time.Hour), never)
}
