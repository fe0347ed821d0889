package sqlstore

import (
	"context"

	"github.com/uptrace/bun"

	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/ports/store"
)

// settlements implements store.Settlements.
type settlements struct {
	stored[id.Settlement, store.Settlement]
}

func settlementsOf(s session) settlements {
	return settlements{stored[id.Settlement, store.Settlement]{s, settlementTable}}
}

var settlementTable = tableOf("settlements", fault.New(fault.NotFound, "There is no such settlement."),
	asText("id", func(s *store.Settlement) *id.Settlement { return &s.ID }),
	asText("company_id", func(s *store.Settlement) *id.Company { return &s.Company }),
	asText("kind", func(s *store.Settlement) *store.SettlementKind { return &s.Kind }),
	asText("subject", func(s *store.Settlement) *string { return &s.Subject }),
	asText("other", func(s *store.Settlement) *string { return &s.Other }),
	asInteger("epoch", func(s *store.Settlement) *int64 { return &s.Epoch }),
	asText("after", func(s *store.Settlement) *string { return &s.After }),
	asText("actor", func(s *store.Settlement) *event.Actor { return &s.Actor }),
)

func (s settlements) Pending(ctx context.Context, most int) ([]store.Settlement, error) {
	return readAll(ctx, s.session, s.table, pendingSettlements(s.session).Limit(int64(most)))
}

// pendingSettlements steps from one company to the next along the index: one can have many settlements.
func pendingSettlements(s session) *bun.SelectQuery {
	return selectRows(s, settlementTable).Where("id IN (?)", s.engine.DB().NewRaw(`
		WITH RECURSIVE first (id) AS (
			SELECT (SELECT id FROM settlements WHERE company_id > '' ORDER BY company_id, id LIMIT 1)
			UNION ALL
			SELECT (SELECT later.id FROM settlements later
				WHERE later.company_id > (SELECT s.company_id FROM settlements s WHERE s.id = first.id)
				ORDER BY later.company_id, later.id LIMIT 1)
			FROM first WHERE id IS NOT NULL
		)
		SELECT id FROM first WHERE id IS NOT NULL`)).
		Where(companyStays("settlements")+")", company.Deleting).Order("id")
}

func (s settlements) Count(ctx context.Context) (count int, least id.Settlement, err error) {
	err = s.scan(ctx, s.selectFrom("settlements").ColumnExpr("count(*)").ColumnExpr("coalesce(min(id), '')"), &count, &least)
	return count, least, err
}
