package export

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Source is where leads come from: a store, or a sample.
type Source interface {
	Reader

	// View runs read on one snapshot.
	View(ctx context.Context, read func(ctx context.Context, r Reader) error) error
}

// Reader is what of a store.Reader is exported.
type Reader interface {
	Leads() Leads
	Campaigns() Campaigns
	Taxonomy() store.TaxonomyReader
}

// Leads is what of a store.LeadReader is asked for.
type Leads interface {
	store.LeadSearch

	State(ctx context.Context) (lead.State, error)
	Get(ctx context.Context, which id.Lead) (lead.Exported, error)
	Feed(ctx context.Context, query lead.FeedQuery) (lead.FeedPage, error)
	FeedSince(ctx context.Context, since time.Time) (lead.FeedPosition, error)
	CanFollow(ctx context.Context, from lead.FeedPosition) error
	Removed(ctx context.Context, query lead.RemovedQuery) (lead.RemovedPage, error)
	RemovedPlace(ctx context.Context, view lead.View, which id.Lead) (lead.Place, error)
}

// Campaigns is what of a store.CampaignReader is asked for.
type Campaigns interface {
	Search(ctx context.Context, query lead.CampaignQuery) (lead.CampaignPage, error)
	Industries(ctx context.Context) (map[id.Campaign]id.Industry, error)
}

// stored is a store as a source.
type stored struct {
	storedReader
	store store.Store
}

func (s stored) View(ctx context.Context, read func(ctx context.Context, r Reader) error) error {
	return s.store.View(ctx, func(ctx context.Context, r store.Reader) error { return read(ctx, storedReader{r}) })
}

type storedReader struct{ reader store.Reader }

func (s storedReader) Leads() Leads                   { return s.reader.Leads() }
func (s storedReader) Campaigns() Campaigns           { return s.reader.Campaigns() }
func (s storedReader) Taxonomy() store.TaxonomyReader { return s.reader.Taxonomy() }

// NewSampled returns the use cases on a sample.
func NewSampled(s *lead.Sample, clock outbound.Clock) *Service {
	return &Service{from: sampled{s}, search: sampledLeads{s}, clock: clock}
}

// sampled is a sample as a source. It never changes, so each read of it is one of the same snapshot.
type sampled struct{ sample *lead.Sample }

func (s sampled) Leads() Leads                   { return sampledLeads(s) }
func (s sampled) Campaigns() Campaigns           { return sampledCampaigns(s) }
func (s sampled) Taxonomy() store.TaxonomyReader { return sampledTaxonomy(s) }

func (s sampled) View(ctx context.Context, read func(ctx context.Context, r Reader) error) error {
	return read(ctx, s)
}

type sampledLeads struct{ sample *lead.Sample }

func (s sampledLeads) State(context.Context) (lead.State, error) { return s.sample.State(), nil }

func (s sampledLeads) Search(_ context.Context, query lead.Query) (lead.Page, error) {
	return s.sample.Search(query), nil
}

func (s sampledLeads) Get(_ context.Context, which id.Lead) (lead.Exported, error) {
	return found(s.sample.Get(which))
}

// Feed fails for a position in the sample of another release.
func (s sampledLeads) Feed(ctx context.Context, query lead.FeedQuery) (lead.FeedPage, error) {
	if query.After != (lead.FeedPosition{}) {
		if err := s.CanFollow(ctx, query.After); err != nil {
			return lead.FeedPage{}, err
		}
	}
	return s.sample.Feed(query), nil
}

func (s sampledLeads) FeedSince(_ context.Context, since time.Time) (lead.FeedPosition, error) {
	return s.sample.FeedSince(since), nil
}

func (s sampledLeads) CanFollow(_ context.Context, from lead.FeedPosition) error {
	if !s.sample.State().CanFollow(from, time.Time{}) {
		return store.ErrFeedLost
	}
	return nil
}

func (s sampledLeads) Removed(_ context.Context, query lead.RemovedQuery) (lead.RemovedPage, error) {
	return s.sample.Removed(query), nil
}

func (s sampledLeads) RemovedPlace(_ context.Context, view lead.View, which id.Lead) (lead.Place, error) {
	return found(s.sample.RemovedPlace(view, which))
}

func found[T any](one T, ok bool) (T, error) {
	if !ok {
		return one, lead.ErrMissing
	}
	return one, nil
}

type sampledCampaigns struct{ sample *lead.Sample }

func (s sampledCampaigns) Search(_ context.Context, query lead.CampaignQuery) (lead.CampaignPage, error) {
	return s.sample.Campaigns(query), nil
}

func (s sampledCampaigns) Industries(context.Context) (map[id.Campaign]id.Industry, error) {
	return s.sample.Industries(), nil
}

type sampledTaxonomy struct{ sample *lead.Sample }

func (s sampledTaxonomy) Get(context.Context) (lead.Taxonomy, error) { return s.sample.Taxonomy, nil }
