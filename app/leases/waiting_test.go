package leases_test

import (
	"context"
	"testing"
	"time"

	"holdco/domain/fault"
	"holdco/ports/inbound"
)

func TestSoManyClaimsWaitAndNoMore(t *testing.T) {
	t.Parallel()
	w, _ := working(t) // which has leased the only issue
	by := w.offices[0].caller(1)
	waiting := inbound.Claim{Wait: new(int64(inbound.MostWait))}
	begin := func(ctx context.Context) <-chan error {
		before, ended := w.leases.Waiting(), make(chan error, 1)
		go func() {
			held, err := w.leases.Claim(ctx, by, waiting)
			if held != nil {
				t.Errorf("there was nothing to claim: %+v", held)
			}
			ended <- err
		}()
		for deadline := time.Now().Add(time.Minute); w.leases.Waiting() == before; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the claim does not wait")
			}
		}
		return ended
	}
	ctx, leave := context.WithCancel(t.Context())
	first := begin(ctx)
	var others []<-chan error
	for range mostWaiting - 1 {
		others = append(others, begin(t.Context()))
	}
	refused := func(by int) {
		t.Helper()
		_, err := w.leases.Claim(t.Context(), w.offices[by].caller(1), waiting)
		if f := fault.Of(err); f == nil || f.Code != fault.Unavailable || f.RetryAfter != 5*time.Second ||
			w.leases.Waiting() != mostWaiting {
			t.Errorf("%v; %d claims wait", err, w.leases.Waiting())
		}
	}
	refused(0)
	refused(1) // the bound is one for all companies
	if held, err := w.leases.Claim(t.Context(), by, inbound.Claim{}); held != nil || err != nil {
		t.Errorf("a claim that does not wait gets %+v, %v", held, err)
	}
	w.files(t, 1)
	if held := must[*inbound.HeldLease](t)(w.leases.Claim(t.Context(), by, waiting)); held == nil {
		t.Error("what is there is not given to a claim that could not wait")
	}
	leave()
	if err := <-first; err == nil {
		t.Error("a claim was answered whose client had left")
	}
	others = append(others, begin(t.Context()))
	refused(0)
	w.leases.Close()
	for _, other := range others {
		if err := <-other; err != nil {
			t.Error(err)
		}
	}
	if left := w.leases.Waiting(); left != 0 {
		t.Errorf("%d claims wait", left)
	}
}
