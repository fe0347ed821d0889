package sqlstore

import (
	"context"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// taxonomy implements store.Taxonomy.
type taxonomy struct{ session }

func (t taxonomy) Get(ctx context.Context) (lead.Taxonomy, error) {
	var found lead.Taxonomy
	err := t.agreeing(ctx, func(ctx context.Context, s session) (err error) {
		if found.Industries, err = parts[lead.Industry, industryRow](ctx, s); err != nil {
			return err
		}
		if found.Verticals, err = parts[lead.Vertical, verticalRow](ctx, s); err != nil {
			return err
		}
		if found.Geographies, err = parts[lead.Geography, geographyRow](ctx, s); err != nil {
			return err
		}
		found.Intelligence, err = parts[lead.Intelligence, intelligenceRow](ctx, s)
		return err
	})
	return found, err
}

// parts reads one of the lists of the taxonomy, in the order of its ids.
func parts[T any, R interface{ value() T }](ctx context.Context, s session) ([]T, error) {
	var rows []R
	if err := s.all(ctx, s.selects(&rows).Order("id")); err != nil {
		return nil, err
	}
	found := make([]T, len(rows))
	for i, row := range rows {
		found[i] = row.value()
	}
	return found, nil
}

func (t taxonomy) Keep(ctx context.Context, kept lead.Taxonomy) error {
	revision, err := t.ledger.advanced()
	if err != nil {
		return err
	}
	_, err = t.change(ctx, t.updates((*leadStateRow)(nil)).Set("taxonomy = ?", revision).Where("single = 1"))
	if err != nil {
		return err
	}
	if err := keepParts(ctx, t.session, kept.Industries, industryRowOf); err != nil {
		return err
	}
	if err := keepParts(ctx, t.session, kept.Verticals, verticalRowOf); err != nil {
		return err
	}
	if err := keepParts(ctx, t.session, kept.Geographies, geographyRowOf); err != nil {
		return err
	}
	return keepParts(ctx, t.session, kept.Intelligence, intelligenceRowOf)
}

func keepParts[T, R any](ctx context.Context, s session, kept []T, rowOf func(T) R) error {
	if len(kept) == 0 {
		return nil
	}
	rows := make([]R, len(kept))
	for i, one := range kept {
		rows[i] = rowOf(one)
	}
	return s.replace(ctx, &rows)
}

type industryRow struct {
	bun.BaseModel `bun:"table:industries"`

	ID     id.Industry `bun:"id,pk"`
	Name   string      `bun:"name"`
	Slug   string      `bun:"slug"`
	Active int64       `bun:"active"`
}

func industryRowOf(i lead.Industry) industryRow {
	return industryRow{ID: i.ID, Name: i.Name, Slug: i.Slug, Active: flag(i.Active)}
}

func (r industryRow) value() lead.Industry {
	return lead.Industry{ID: r.ID, Name: r.Name, Slug: r.Slug, Active: r.Active == 1}
}

type verticalRow struct {
	bun.BaseModel `bun:"table:verticals"`

	ID       id.Vertical `bun:"id,pk"`
	Industry id.Industry `bun:"industry_id"`
	Name     string      `bun:"name"`
	Slug     string      `bun:"slug"`
	Active   int64       `bun:"active"`
}

func verticalRowOf(v lead.Vertical) verticalRow {
	return verticalRow{ID: v.ID, Industry: v.Industry, Name: v.Name, Slug: v.Slug, Active: flag(v.Active)}
}

func (r verticalRow) value() lead.Vertical {
	return lead.Vertical{ID: r.ID, Industry: r.Industry, Name: r.Name, Slug: r.Slug, Active: r.Active == 1}
}

type geographyRow struct {
	bun.BaseModel `bun:"table:geographies"`

	ID          id.Geography `bun:"id,pk"`
	Name        string       `bun:"name"`
	Slug        string       `bun:"slug"`
	CountryCode string       `bun:"country_code"`
}

func geographyRowOf(g lead.Geography) geographyRow {
	return geographyRow{ID: g.ID, Name: g.Name, Slug: g.Slug, CountryCode: g.CountryCode}
}

func (r geographyRow) value() lead.Geography {
	return lead.Geography{ID: r.ID, Name: r.Name, Slug: r.Slug, CountryCode: r.CountryCode}
}

type intelligenceRow struct {
	bun.BaseModel `bun:"table:vertical_intelligence"`

	ID            id.Intelligence `bun:"id,pk"`
	Vertical      id.Vertical     `bun:"vertical_id"`
	Summary       string          `bun:"summary"`
	PainPoints    []string        `bun:"pain_points"`
	BuyingSignals []string        `bun:"buying_signals"`
	UpdatedAt     int64           `bun:"updated_at"`
}

func intelligenceRowOf(i lead.Intelligence) intelligenceRow {
	return intelligenceRow{
		ID:            i.ID,
		Vertical:      i.Vertical,
		Summary:       i.Summary,
		PainPoints:    append([]string{}, i.PainPoints...), // a list in any case
		BuyingSignals: append([]string{}, i.BuyingSignals...),
		UpdatedAt:     millis(i.UpdatedAt),
	}
}

func (r intelligenceRow) value() lead.Intelligence {
	return lead.Intelligence{
		ID:            r.ID,
		Vertical:      r.Vertical,
		Summary:       r.Summary,
		PainPoints:    r.PainPoints,
		BuyingSignals: r.BuyingSignals,
		UpdatedAt:     instant(r.UpdatedAt),
	}
}
