package storetest

import (
	"context"

	"holdco/domain/fault"
	"holdco/ports/store"
)

var instanceKeyRules = []rule{
	{"a store has no key until it is bound to one, once", keyBinds},
	{"the key is rotated, and the former one known until it ends", keyRotates},
	{"a key that is held stays until the unit ends", keyIsHeld},
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

func keyRotates(f *fixture) {
	rotate := func(to string) unit {
		return func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.InstanceKey().Rotate(ctx, to)
		}
	}
	end := func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().EndFormer(ctx) }
	formerIs := func(want string) {
		f.Helper()
		got, err := f.store.InstanceKey().Former(f.ctx)
		f.ok(err)
		f.same(got, want)
	}
	formerIs("")
	f.refused(fault.Internal, rotate("first")) // it is not bound
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().Bind(ctx, "first") })
	f.refused(fault.Internal, end)
	f.update(rotate("second"))
	f.keyIs("second")
	formerIs("first")
	f.refused(fault.Internal, rotate("third"))
	f.keyIs("second")
	formerIs("first")
	f.update(end)
	f.keyIs("second")
	formerIs("")
	f.refused(fault.Internal, end)
}

func keyIsHeld(f *fixture) {
	f.update(func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().Bind(ctx, "0") })
	acme := f.found("acme").ID
	// What is sealed in a unit has the fingerprint that it was sealed with. No unit after a rotation may keep an older one.
	f.exactly(together(crowd, func(i int) error {
		return f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			if i%4 == 0 {
				if _, err := tx.InstanceKey().Hold(ctx); err != nil {
					return err
				}
				if former, err := tx.InstanceKey().Former(ctx); err != nil || former != "" {
					return err
				}
				return tx.InstanceKey().Rotate(ctx, "1")
			}
			if err := tx.Turn(ctx, acme); err != nil {
				return err
			}
			fingerprint, err := tx.InstanceKey().Hold(ctx)
			if err != nil {
				return err
			}
			former, err := tx.InstanceKey().Former(ctx)
			if err != nil {
				return err
			}
			return keepingSecret(f.newSecret(acme), fingerprint+" after "+former)(ctx, tx)
		})
	}), map[fault.Code]int{"": crowd})
	found, err := f.store.Seals().After(f.ctx, store.Seal{}, crowd)
	f.ok(err)
	for _, one := range found {
		if one.Text != "0 after " && one.Text != "1 after 0" {
			f.Errorf("sealed with the key %q", one.Text)
		}
	}
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
