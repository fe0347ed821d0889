package wiring_test

import "testing"

func TestAWaitingClaimEndsWithItsToken(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		waiting := all[0].waiting(t)
		s.Post(all[0].path()+"/rotate-token", "").Is(t, 200, "")
		filed := s.file(t, acme, "")
		(<-waiting).Is(t, 401, "unauthorized")
		s.shows(t, filed, "queued, 1, nobody")
	})
}

func TestAWaitingClaimWakesWhenWorkResumes(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		ada := all[0]
		s.Post(ada.path()+"/pause", "").Is(t, 200, "")
		s.file(t, acme, "")
		waiting := ada.waiting(t)
		s.Post(ada.path()+"/resume", "").Is(t, 200, "")
		(<-waiting).Is(t, 200, "")

		s.Patch(acme.path(), `{"workPaused":true}`).Is(t, 200, "")
		s.file(t, acme, "")
		waiting = ada.waiting(t)
		s.Patch(acme.path(), `{"workPaused":false}`).Is(t, 200, "")
		(<-waiting).Is(t, 200, "")
	})
}

func TestAWaitingClaimEndsWithItsCompany(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, _, all := s.workers(t, 1)
		waiting := all[0].waiting(t)
		s.Delete(acme.path())
		(<-waiting).Is(t, 401, "unauthorized")
	})
}
