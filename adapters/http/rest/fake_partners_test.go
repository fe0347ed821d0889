package rest_test

import (
	"context"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
)

func partnerID(n int) id.Partner { return id.New[id.Partner](uuid(n)) }

type fakePartners struct {
	*ledger
	all      []partner.Partner // newest first
	sawGrace time.Duration
}

func (f *fakePartners) List(_ context.Context, _ access.Caller, after page.Position, size int) (page.Page[partner.Partner], error) {
	var rows []partner.Partner
	for _, p := range f.all {
		if after.IsStart() || string(p.ID) < after.ID {
			rows = append(rows, p)
		}
	}
	return page.Of(rows, size, func(p partner.Partner) page.Position { return page.Position{ID: string(p.ID)} }), nil
}

func (f *fakePartners) Get(_ context.Context, _ access.Caller, which id.Partner) (partner.Partner, error) {
	found, err := f.find(which)
	if err != nil {
		return partner.Partner{}, err
	}
	return *found, nil
}

func (f *fakePartners) find(which id.Partner) (*partner.Partner, error) {
	for i := range f.all {
		if f.all[i].ID == which {
			return &f.all[i], nil
		}
	}
	return nil, fault.New(fault.NotFound, "There is no such partner.")
}

func (f *fakePartners) Create(
	_ context.Context, _ access.Caller, draft partner.Draft, request idempotency.Request,
) (inbound.IssuedPartner, error) {
	return once(f.ledger, request, func() (inbound.IssuedPartner, error) {
		key := access.NewPartnerKey([32]byte{31: byte(len(f.all) + 1)})
		made, _, err := partner.New(partnerID(len(f.all)+1), draft, key, start)
		if err == nil {
			f.all = append([]partner.Partner{made}, f.all...)
		}
		return inbound.IssuedPartner{Partner: made, Key: key}, err
	})
}

func (f *fakePartners) Update(
	_ context.Context, _ access.Caller, which id.Partner, patch partner.Patch, match precondition.Match,
) (partner.Partner, error) {
	return f.change(which, match, func(p partner.Partner) (partner.Partner, error) {
		next, _, err := p.Apply(patch, start)
		return next, err
	})
}

func (f *fakePartners) Rotate(
	_ context.Context, _ access.Caller, which id.Partner, grace time.Duration, request idempotency.Request,
) (inbound.IssuedPartner, error) {
	f.sawGrace = grace
	return once(f.ledger, request, func() (inbound.IssuedPartner, error) {
		key := access.NewPartnerKey([32]byte{31: 99})
		next, err := f.change(which, precondition.Any(), func(p partner.Partner) (partner.Partner, error) {
			next, _, err := p.Rotate(key, grace, start)
			return next, err
		})
		return inbound.IssuedPartner{Partner: next, Key: key}, err
	})
}

func (f *fakePartners) Revoke(_ context.Context, _ access.Caller, which id.Partner, match precondition.Match) (partner.Partner, error) {
	return f.change(which, match, func(p partner.Partner) (partner.Partner, error) {
		next, _ := p.Revoke(start)
		return next, nil
	})
}

func (f *fakePartners) change(
	which id.Partner, match precondition.Match, ask func(partner.Partner) (partner.Partner, error),
) (partner.Partner, error) {
	found, err := f.find(which)
	if err != nil {
		return partner.Partner{}, err
	}
	if err := match.Check(found.Version); err != nil {
		return partner.Partner{}, err
	}
	next, err := ask(*found)
	if err == nil {
		*found = next
	}
	return next, err
}
