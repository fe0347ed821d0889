package sqlstore

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// taxonomy implements store.Taxonomy.
type taxonomy struct{ session }

var industryTable = tableOf("industries", nil,
	asText("id", func(i *lead.Industry) *id.Industry { return &i.ID }),
	asText("name", func(i *lead.Industry) *string { return &i.Name }),
	asText("slug", func(i *lead.Industry) *string { return &i.Slug }),
	asBoolean("active", func(i *lead.Industry) *bool { return &i.Active }),
)

var verticalTable = tableOf("verticals", nil,
	asText("id", func(v *lead.Vertical) *id.Vertical { return &v.ID }),
	asText("industry_id", func(v *lead.Vertical) *id.Industry { return &v.Industry }),
	asText("name", func(v *lead.Vertical) *string { return &v.Name }),
	asText("slug", func(v *lead.Vertical) *string { return &v.Slug }),
	asBoolean("active", func(v *lead.Vertical) *bool { return &v.Active }),
)

var geographyTable = tableOf("geographies", nil,
	asText("id", func(g *lead.Geography) *id.Geography { return &g.ID }),
	asText("name", func(g *lead.Geography) *string { return &g.Name }),
	asText("slug", func(g *lead.Geography) *string { return &g.Slug }),
	asText("country_code", func(g *lead.Geography) *string { return &g.CountryCode }),
)

var intelligenceTable = tableOf("vertical_intelligence", nil,
	asText("id", func(i *lead.Intelligence) *id.Intelligence { return &i.ID }),
	asText("vertical_id", func(i *lead.Intelligence) *id.Vertical { return &i.Vertical }),
	asText("summary", func(i *lead.Intelligence) *string { return &i.Summary }),
	asJSONList("pain_points", func(i *lead.Intelligence) *[]string { return &i.PainPoints }),
	asJSONList("buying_signals", func(i *lead.Intelligence) *[]string { return &i.BuyingSignals }),
	asMillis("updated_at", func(i *lead.Intelligence) *time.Time { return &i.UpdatedAt }),
)

func (t taxonomy) Get(ctx context.Context) (lead.Taxonomy, error) {
	var found lead.Taxonomy
	err := t.snapshot(ctx, func(ctx context.Context, s session) (err error) {
		if found.Industries, err = part(ctx, s, industryTable); err != nil {
			return err
		}
		if found.Verticals, err = part(ctx, s, verticalTable); err != nil {
			return err
		}
		if found.Geographies, err = part(ctx, s, geographyTable); err != nil {
			return err
		}
		found.Intelligence, err = part(ctx, s, intelligenceTable)
		return err
	})
	return found, err
}

// part reads one of the lists of the taxonomy, in the order of its ids.
func part[T any](ctx context.Context, s session, of *table[T]) ([]T, error) {
	return readAll(ctx, s, of, selectRows(s, of).Order("id"))
}

func (t taxonomy) Keep(ctx context.Context, kept lead.Taxonomy) error {
	revision, err := t.unit.advanced()
	if err != nil {
		return err
	}
	_, err = t.change(ctx, t.updates((*leadStateRow)(nil)).Set("taxonomy = ?", revision).Where("single = 1"))
	if err != nil {
		return err
	}
	if err := replaceMany(ctx, t.session, industryTable, kept.Industries); err != nil {
		return err
	}
	if err := replaceMany(ctx, t.session, verticalTable, kept.Verticals); err != nil {
		return err
	}
	if err := replaceMany(ctx, t.session, geographyTable, kept.Geographies); err != nil {
		return err
	}
	if err := replaceMany(ctx, t.session, intelligenceTable, kept.Intelligence); err != nil {
		return err
	}
	return t.noteNames(ctx, revision)
}
