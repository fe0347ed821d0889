package storetest

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"strings"

	"holdco/domain/fault"
	"holdco/ports/store"
)

var writeRules = []rule{
	{"every method that writes is among the rules below", everyWrite},
	{"a unit that fails after any write leaves nothing", anyWriteUndone},
	{"a change of business rows without an event does not commit", unrecordedChange},
	{"every write is kept, and only a change of business rows needs an event or a word that it needs none", anyWriteKept},
}

// writeCase is a unit that calls one method of a repository of store.Tx.
type writeCase struct {
	effect effect
	run    unit
}

// effect is what a method does to the rows of a store.
type effect int

const (
	locks   effect = iota // nothing
	claims                // nothing, or what only its own unit needs
	notes                 // needs no event
	changes               // a change of business rows, which needs an event
)

// writeMethods are the methods of the repositories of store.Tx that their readers have not.
func writeMethods() []string {
	var names []string
	tx, reader := reflect.TypeFor[store.Tx](), reflect.TypeFor[store.Reader]()
	for i := range tx.NumMethod() {
		repository := tx.Method(i)
		if repository.Type.NumIn() != 0 || repository.Type.NumOut() != 1 || repository.Type.Out(0).Kind() != reflect.Interface {
			continue // of the unit itself
		}
		of := repository.Type.Out(0)
		for j := range of.NumMethod() {
			method := of.Method(j).Name
			reads, found := reader.MethodByName(repository.Name)
			if found {
				_, found = reads.Type.Out(0).MethodByName(method)
			}
			if !found {
				names = append(names, repository.Name+"."+method)
			}
		}
	}
	return names
}

func everyWrite(f *fixture) {
	cases := slices.Sorted(maps.Keys(f.writeCases()))
	f.same(cases, slices.Sorted(slices.Values(append(writeMethods(), "Record"))))
}

func anyWriteUndone(f *fixture) {
	cases := f.writeCases()
	before := f.dump()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			if err := cases[name].run(ctx, tx); err != nil {
				return err
			}
			return fault.New(fault.InvalidTransition, "No such move.")
		})
		if fault.CodeOf(err) != fault.InvalidTransition {
			f.Errorf("%s: %v", name, err)
		}
		f.sameDump(name, f.dump(), before)
	}
}

func unrecordedChange(f *fixture) {
	cases := f.writeCases()
	before := f.dump()
	for name, one := range cases {
		if one.effect != changes {
			continue
		}
		if err := f.store.Update(f.ctx, one.run); fault.CodeOf(err) != fault.Internal {
			f.Errorf("%s without an event: %v", name, err)
		}
		f.sameDump(name, f.dump(), before)
	}
}

func anyWriteKept(f *fixture) {
	cases := f.writeCases()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		one, before := cases[name], f.dump()
		err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			if one.effect == changes {
				tx.Unrecorded()
			}
			return one.run(ctx, tx)
		})
		if err != nil {
			f.Errorf("%s: %v", name, err)
		}
		if wrote := !reflect.DeepEqual(f.dump(), before); one.effect != claims && wrote != (one.effect > claims) {
			f.Errorf("%s: whether it wrote anything: %t", name, wrote)
		}
	}
}

func (f *fixture) sameDump(after string, got, want map[string][]string) {
	f.Helper()
	for table := range want {
		if !slices.Equal(got[table], want[table]) {
			f.Errorf("after %s the table %s holds\n%s\ninstead of\n%s", after, table,
				strings.Join(got[table], "\n"), strings.Join(want[table], "\n"))
		}
	}
}
