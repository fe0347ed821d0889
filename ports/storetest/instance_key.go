package storetest

import (
	"context"

	"holdco/domain/fault"
	"holdco/ports/store"
)

var instanceKeyRules = []rule{
	{"a store has no key until it is bound to one, once", keyBinds},
	{"of sixteen who bind a store at once, one does", oneKey},
}

func keyBinds(f *fixture) {
	f.keyIs("")
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		if err := tx.InstanceKey().Bind(ctx, "given up"); err != nil {
			return err
		}
		return errGivenUp
	})
	f.keyIs("")
	bind := func(fingerprint string) unit {
		return func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().Bind(ctx, fingerprint) }
	}
	f.update(bind("first"))
	f.keyIs("first")
	f.refused(fault.Internal, bind("second"))
	f.refused(fault.Internal, bind("first"))
	f.keyIs("first")
}

func (f *fixture) keyIs(want string) {
	f.Helper()
	got, err := f.store.InstanceKey().Fingerprint(f.ctx)
	f.ok(err)
	f.same(got, want)
}

func oneKey(f *fixture) {
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			bound, err := tx.InstanceKey().Fingerprint(ctx)
			if err != nil {
				return err
			}
			if bound != "" {
				return fault.New(fault.InvalidTransition, "Another was quicker.")
			}
			return tx.InstanceKey().Bind(ctx, string(rune('a'+i)))
		})
	}), map[fault.Code]int{"": 1, fault.InvalidTransition: crowd - 1})
}
