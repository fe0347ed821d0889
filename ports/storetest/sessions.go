package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/store"
)

var sessionRules = []rule{
	{"a session reads back, by its id and by its hash", sessionReadsBack},
	{"no two sessions have the same hash", sessionHashUnique},
	{"the list has the live sessions, newest first", liveSessions},
	{"touch moves the last request forward, never back", sessionTouched},
	{"a session that is removed is gone, and no other", sessionRemoved},
	{"a code is taken once", codeTakenOnce},
	{"purge removes sessions and codes whose time is over, so many at most", sessionsPurged},
}

// newSession makes a session that is in no store yet, of a new token that is.
func (f *fixture) newSession() access.Session { return f.newSessionOf(f.issue("admin")) }

func (f *fixture) newSessionOf(of access.Token) access.Session {
	made, _ := access.NewSession(id.New[id.Session](f.ids.UUIDv7()), f.newValue(), of, "Browser/1.0", f.clock.Now())
	return made
}

func (f *fixture) newCode() access.LoginCode {
	code, _, err := access.NewCode(f.newValue(), f.issue("admin"), f.clock.Now())
	f.ok(err)
	return code
}

func signing(s access.Session) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Sessions().Add(ctx, s)
	}
}

func linking(c access.LoginCode) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Sessions().AddCode(ctx, c)
	}
}

func someSession(f *fixture) unit {
	session, code := f.newSession(), f.newCode()
	return func(ctx context.Context, tx store.Tx) error {
		if err := signing(session)(ctx, tx); err != nil {
			return err
		}
		return linking(code)(ctx, tx)
	}
}

func (f *fixture) signedIn(alter ...func(*access.Session)) access.Session {
	f.Helper()
	made := f.newSession()
	for _, change := range alter {
		change(&made)
	}
	f.update(signing(made))
	return made
}

func sessionReadsBack(f *fixture) {
	want := f.signedIn(func(s *access.Session) {
		s.Browser = `Ärger \ "'? $1 {} 🦆`
		s.LastSeenAt, s.ExpiresAt = s.CreatedAt.Add(time.Minute), s.CreatedAt.Add(time.Hour)
	})
	f.signedIn()
	got, err := f.store.Sessions().Get(f.ctx, want.ID)
	f.ok(err)
	f.same(got, want)
	got, err = f.store.Sessions().ByHash(f.ctx, want.Hash)
	f.ok(err)
	f.same(got, want)
	for _, hash := range []string{"", "%", want.Hash[1:], string(want.ID)} {
		_, err := f.store.Sessions().ByHash(f.ctx, hash)
		f.code(err, fault.NotFound)
	}
}

func sessionHashUnique(f *fixture) {
	kept, twin := f.signedIn(), f.newSession()
	twin.Hash = kept.Hash
	f.refused(fault.Internal, signing(twin))
}

func liveSessions(f *fixture) {
	at := f.clock.Now()
	expect := func(at time.Time, want ...access.Session) {
		f.Helper()
		for _, size := range []int{1, 2, 100} {
			var all []access.Session
			for after := (page.Position{}); ; {
				found, err := f.store.Sessions().List(f.ctx, at, after, size)
				f.ok(err)
				all = append(all, found.Items...)
				if after = found.Next; after.IsStart() {
					break
				}
			}
			f.same(all, want)
		}
	}
	expect(at)
	idle := f.signedIn()
	short := f.signedIn(func(s *access.Session) { s.ExpiresAt = at.Add(time.Hour) })
	used := f.signedIn(func(s *access.Session) { s.LastSeenAt = at.Add(time.Hour) })
	expect(at, used, short, idle)
	expect(at.Add(time.Hour-time.Millisecond), used, short, idle)
	expect(at.Add(time.Hour), used, idle)
	expect(at.Add(access.SessionIdle), used)
	expect(at.Add(access.SessionIdle + time.Hour))

	token, err := f.store.Tokens().Get(f.ctx, used.Token)
	f.ok(err)
	rotated, _, err := token.Rotate(f.newValue(), access.Rotation{Grace: new(time.Hour)}, at)
	f.ok(err)
	f.update(anyToken.saving(rotated))
	token, err = f.store.Tokens().Get(f.ctx, short.Token)
	f.ok(err)
	revoked, _ := token.Revoke(at)
	f.update(anyToken.saving(revoked))
	expect(at, idle)
}

func sessionTouched(f *fixture) {
	one, other := f.signedIn(), f.signedIn()
	at := one.LastSeenAt
	touch := func(to time.Time) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			return tx.Sessions().Touch(ctx, map[id.Session]time.Time{one.ID: to, "ses_none": to})
		})
	}
	seen := func(want time.Time) {
		f.Helper()
		got, err := f.store.Sessions().Get(f.ctx, one.ID)
		f.ok(err)
		one.LastSeenAt = want
		f.same(got, one)
	}
	touch(at.Add(time.Minute))
	seen(at.Add(time.Minute))
	touch(at.Add(time.Second))
	seen(at.Add(time.Minute))
	got, err := f.store.Sessions().Get(f.ctx, other.ID)
	f.ok(err)
	f.same(got, other)
}

func sessionRemoved(f *fixture) {
	leaving, kept := f.signedIn(), f.signedIn()
	f.update(removingSession(leaving.ID))
	_, err := f.store.Sessions().Get(f.ctx, leaving.ID)
	f.code(err, fault.NotFound)
	got, err := f.store.Sessions().Get(f.ctx, kept.ID)
	f.ok(err)
	f.same(got, kept)
	f.refused(fault.Internal, removingSession(leaving.ID))
}

func removingSession(which id.Session) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Sessions().Remove(ctx, which)
	}
}

func taking(which id.LoginCode, into *access.LoginCode) unit {
	return func(ctx context.Context, tx store.Tx) (err error) {
		tx.Unrecorded()
		*into, err = tx.Sessions().TakeCode(ctx, which)
		return err
	}
}

func codeTakenOnce(f *fixture) {
	first, second := f.newCode(), f.newCode()
	f.update(linking(first))
	f.update(linking(second))
	var errs []error
	done := make(chan error)
	for range 4 {
		go func() {
			var got access.LoginCode
			done <- f.store.Update(f.ctx, taking(first.ID, &got))
		}()
	}
	for range 4 {
		errs = append(errs, <-done)
	}
	f.exactly(errs, map[fault.Code]int{"": 1, fault.NotFound: 3})
	var got access.LoginCode
	f.update(taking(second.ID, &got))
	f.same(got, second)
	f.refused(fault.NotFound, taking("", &got))
}

func sessionsPurged(f *fixture) {
	at := f.clock.Now()
	var live []id.Session
	for n := range 3 {
		f.signedIn(func(s *access.Session) {
			s.LastSeenAt = at.Add(-access.SessionIdle - time.Duration(n)*time.Millisecond)
		})
		f.signedIn(func(s *access.Session) { s.ExpiresAt = at.Add(-time.Duration(n) * time.Millisecond) })
		live = append(live, f.signedIn(func(s *access.Session) { s.ExpiresAt = at.Add(time.Millisecond) }).ID)
		late := f.newCode()
		late.ExpiresAt = at
		f.update(linking(late))
	}
	kept := f.newCode()
	f.update(linking(kept))
	purge := func(most, want int) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			removed, err := tx.Sessions().Purge(ctx, at, most)
			f.same(removed, want)
			return err
		})
	}
	purge(1, 3)
	purge(100, 6)
	purge(100, 0)
	for _, which := range slices.Sorted(slices.Values(live)) {
		_, err := f.store.Sessions().Get(f.ctx, which)
		f.ok(err)
	}
	var got access.LoginCode
	f.update(taking(kept.ID, &got))
}

func (f *fixture) sessionWrites() map[string]writeCase {
	locked, leaving, newcomer := f.signedIn(), f.signedIn(), f.newSession()
	taken, code := f.newCode(), f.newCode()
	f.update(linking(taken))
	f.signedIn(func(s *access.Session) { s.ExpiresAt = s.CreatedAt })
	return map[string]writeCase{
		"Sessions.Lock": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Sessions().Lock(ctx, locked.ID)
			return err
		}},
		"Sessions.Add":    {changes, func(ctx context.Context, tx store.Tx) error { return tx.Sessions().Add(ctx, newcomer) }},
		"Sessions.Remove": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Sessions().Remove(ctx, leaving.ID) }},
		"Sessions.Touch": {notes, func(ctx context.Context, tx store.Tx) error {
			return tx.Sessions().Touch(ctx, map[id.Session]time.Time{locked.ID: f.clock.Now().Add(time.Second)})
		}},
		"Sessions.AddCode": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Sessions().AddCode(ctx, code) }},
		"Sessions.TakeCode": {changes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Sessions().TakeCode(ctx, taken.ID)
			return err
		}},
		"Sessions.Purge": {notes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Sessions().Purge(ctx, f.clock.Now(), 1)
			return err
		}},
	}
}
