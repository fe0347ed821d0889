package keys

import (
	"context"
	"errors"
	"fmt"

	"holdco/domain/access"
	"holdco/domain/audit"
	"holdco/domain/event"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Keys.
type Service struct {
	store  store.Store
	vault  outbound.Vault
	signer outbound.Signer
	files  outbound.KeyFiles
}

var _ inbound.Keys = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, vault outbound.Vault, signer outbound.Signer, files outbound.KeyFiles) *Service {
	return &Service{store: s, vault: vault, signer: signer, files: files}
}

var errBusy = errors.New("another process is rotating the key")

// Rotate gives the store another key.
func (s *Service) Rotate(ctx context.Context, caller access.Caller) (inbound.KeyRotation, error) {
	if err := caller.NeedsEverywhere(access.Admin); err != nil {
		return inbound.KeyRotation{}, err
	}
	unlock, isFree, err := s.files.Lock()
	if err != nil {
		return inbound.KeyRotation{}, err
	}
	if !isFree {
		return inbound.KeyRotation{}, errBusy
	}
	defer func() { _ = unlock() }() // it ends with the process anyway
	isContinued, err := s.isRotating(ctx)
	if err != nil {
		return inbound.KeyRotation{}, err
	}
	if !isContinued {
		if err := s.files.Prepare(); err != nil {
			return inbound.KeyRotation{}, err
		}
	}
	done, err := s.finish(ctx, caller.Actor)
	done.IsContinued = isContinued
	return done, err
}

// Resume is a job: it goes on with a rotation that was interrupted, unless another process is at it.
func (s *Service) Resume(ctx context.Context) (more bool, err error) {
	isRotating, err := s.isRotating(ctx)
	if err != nil || !isRotating {
		return false, err
	}
	unlock, isFree, err := s.files.Lock()
	if err != nil || !isFree {
		return false, err
	}
	defer func() { _ = unlock() }()
	if isRotating, err = s.isRotating(ctx); err == nil && isRotating {
		_, err = s.finish(ctx, access.System("keys").Actor)
	}
	return false, err
}

func (s *Service) isRotating(ctx context.Context) (bool, error) {
	isRotating, err := s.files.IsRotating()
	if err != nil || isRotating {
		return isRotating, err
	}
	former, err := s.store.InstanceKey().Former(ctx)
	return former != "", err
}

// finish does what is left of a rotation, from whatever step on. While it is under way the store and the files say which keys there
// are, and each step is there to stay before the next begins:
//
//	the next key is made, the present one kept as the former, and replaced by the next   (files)
//	the store is bound to the new key: from here on everything is sealed with it         (store)
//	whatever is sealed with the former one is sealed anew                                (store)
//	the store forgets the former key, which is removed                                   (store, files)
func (s *Service) finish(ctx context.Context, actor event.Actor) (done inbound.KeyRotation, err error) {
	bound, err := s.store.InstanceKey().Fingerprint(ctx)
	if err != nil {
		return done, err
	}
	if done.Fingerprint, err = s.files.Promote(bound); err != nil {
		return done, err
	}
	if done.Fingerprint != bound {
		if err := s.bind(ctx, bound, done.Fingerprint, actor); err != nil {
			return done, err
		}
	}
	if done.Sealed, err = s.sealAll(ctx, done.Fingerprint); err != nil {
		return done, err
	}
	former, err := s.store.InstanceKey().Former(ctx)
	if err == nil && former != "" {
		err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error { return tx.InstanceKey().EndFormer(ctx) })
	}
	if err != nil {
		return done, err
	}
	return done, s.files.EndFormer()
}

// bind binds the store to the new key.
func (s *Service) bind(ctx context.Context, from, to string, actor event.Actor) error {
	signing, err := s.signer.SigningKey(to)
	if err != nil {
		return err
	}
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		bound, err := tx.InstanceKey().Hold(ctx)
		if err != nil {
			return err
		}
		if bound != from {
			return fmt.Errorf("the store was bound to another key meanwhile, with the fingerprint %s", bound)
		}
		if err := tx.InstanceKey().Rotate(ctx, to); err != nil {
			return err
		}
		if err := s.signAnew(ctx, tx, from, to); err != nil {
			return err
		}
		happened := event.Of(event.KeyRotated, "", to, event.Fields{
			event.F("fingerprint", to), event.F("formerFingerprint", from), event.F("publicKey", audit.SpellKey(signing)),
		})
		return tx.Record(ctx, happened.By(actor))
	})
}

// signAnew signs with the new key what stands for removed entries of the activity log. What the former has not signed stays as it is.
func (s *Service) signAnew(ctx context.Context, tx store.Tx, from, to string) error {
	former, err := s.signer.SigningKey(from)
	if err != nil {
		return err
	}
	stubs, err := tx.Retention().Stubs(ctx)
	if err != nil {
		return err
	}
	for _, one := range stubs {
		if one.Check(former) != nil {
			continue
		}
		if one.Signature, err = s.signer.Sign(to, one.Statement()); err != nil {
			return err
		}
		if err := tx.Retention().SaveStub(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// portion is how many secrets are sealed anew in one unit: each may have 64 KiB.
const portion = 20

// sealAll seals with a key whatever is sealed with another. Nothing is sealed with another meanwhile: see store.SealIn.
func (s *Service) sealAll(ctx context.Context, fingerprint string) (count int, err error) {
	var after store.Seal
	for {
		found, err := s.store.Seals().After(ctx, after, portion)
		if err != nil {
			return count, err
		}
		anew := map[store.Seal]string{}
		for _, one := range found {
			text, err := s.vault.Reseal(fingerprint, one.Owner, one.Text)
			if err != nil {
				return count, fmt.Errorf("%w; set it anew or remove it, and rotate the key again, which then goes on", err)
			}
			if text != one.Text {
				anew[one] = text
			}
		}
		if err := s.replace(ctx, anew); err != nil {
			return count, err
		}
		count += len(anew)
		if len(found) < portion {
			return count, nil
		}
		after = found[len(found)-1]
	}
}

func (s *Service) replace(ctx context.Context, anew map[store.Seal]string) error {
	if len(anew) == 0 {
		return nil
	}
	return s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		for one, text := range anew {
			if err := tx.Seals().Replace(ctx, one, text); err != nil {
				return err
			}
		}
		return nil
	})
}
