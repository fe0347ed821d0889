package sqlstore

import (
	"context"
	"maps"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/partner"
)

// partners implements store.Partners.
type partners struct {
	stored[id.Partner, partner.Partner]
}

func partnersOf(s session) partners {
	return partners{stored[id.Partner, partner.Partner]{s, partnerTable}}
}

var partnerTable = tableOf("partners", fault.New(fault.NotFound, "There is no such partner."),
	asText("id", func(p *partner.Partner) *id.Partner { return &p.ID }),
	asText("name", func(p *partner.Partner) *string { return &p.Name }),
	asWords("origins", func(p *partner.Partner) *[]string { return &p.Origins }),
	asMillis(createdAt, func(p *partner.Partner) *time.Time { return &p.CreatedAt }).fixed(),
	asOptionalMillis(lastUsedAt, func(p *partner.Partner) *time.Time { return &p.LastUsedAt }).fixed(),
	asInteger("requests", func(p *partner.Partner) *int64 { return &p.Requests }).fixed(),
	asInteger("leads_read", func(p *partner.Partner) *int64 { return &p.LeadsRead }).fixed(),
	asWords("campaigns", func(p *partner.Partner) *[]id.Campaign { return &p.View.Campaigns }),
	asWords("industries", func(p *partner.Partner) *[]id.Industry { return &p.View.Industries }),
	asBoolean("no_contacts", func(p *partner.Partner) *bool { return &p.View.NoContacts }),
	asBoolean("test", func(p *partner.Partner) *bool { return &p.Test }).fixed(),
	asInteger("version", func(p *partner.Partner) *int64 { return &p.Version }),
).with(credentialColumns(func(p *partner.Partner) *access.Credential { return &p.Credential })...)

var partnerByHash = byHash(partnerTable)

func (p partners) ByHash(ctx context.Context, hash string) (partner.Partner, error) {
	return readOne(ctx, p.session, p.table, partnerByHash, hash)
}

func (p partners) Origins(ctx context.Context, at time.Time) ([]string, error) {
	live, err := readAll(ctx, p.session, p.table, selectRows(p.session, p.table).
		Where("revoked_at IS NULL").
		Where("expires_at IS NULL OR expires_at > ?", millis(at)))
	var origins []string
	for _, one := range live {
		origins = append(origins, one.Origins...)
	}
	slices.Sort(origins)
	return slices.Compact(origins), err
}

func (p partners) Use(ctx context.Context, used map[id.Partner]partner.Usage) error {
	// Sorted, so that two units that write the same rows do not deadlock.
	for _, which := range slices.Sorted(maps.Keys(used)) {
		more := used[which]
		at := millis(more.LastUsedAt)
		_, err := p.exec(ctx, p.engine.DB().NewUpdate().Conn(p.conn).Table(p.table.name).
			Set("requests = requests + ?", more.Requests).Set("leads_read = leads_read + ?", more.LeadsRead).
			Set("last_used_at = CASE WHEN last_used_at >= ? THEN last_used_at ELSE ? END", at, at).
			Where("id = ?", which))
		if err != nil {
			return err
		}
	}
	return nil
}
