package sqlstore

import (
	"context"

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
	return readAll(ctx, s.session, s.table, selectRows(s.session, s.table).
		Where("NOT EXISTS (SELECT 1 FROM settlements s WHERE s.company_id = settlements.company_id AND s.id < settlements.id)").
		Where(companyStays("settlements")+")", company.Deleting).
		Order("id").Limit(int64(most)))
}

func (s settlements) Count(ctx context.Context) (count int, least id.Settlement, err error) {
	err = s.scan(ctx, s.selectFrom("settlements").ColumnExpr("count(*)").ColumnExpr("coalesce(min(id), '')"), &count, &least)
	return count, least, err
}
