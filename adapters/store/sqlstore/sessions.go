package sqlstore

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
)

// sessions implements store.Sessions: those of people, not those of a database.
type sessions struct {
	stored[id.Session, access.Session]
}

func sessionsOf(s session) sessions {
	return sessions{stored[id.Session, access.Session]{s, sessionTable}}
}

const lastSeenAt = "last_seen_at"

var sessionTable = tableOf("sessions", fault.New(fault.NotFound, "There is no such session."),
	asText("id", func(s *access.Session) *id.Session { return &s.ID }),
	asText("hash", func(s *access.Session) *string { return &s.Hash }).fixed(),
	asText("token_id", func(s *access.Session) *id.Token { return &s.Token }).fixed(),
	asText("token_hash", func(s *access.Session) *string { return &s.TokenHash }).fixed(),
	asText("browser", func(s *access.Session) *string { return &s.Browser }).fixed(),
	asMillis(createdAt, func(s *access.Session) *time.Time { return &s.CreatedAt }).fixed(),
	asMillis(lastSeenAt, func(s *access.Session) *time.Time { return &s.LastSeenAt }).fixed(),
	asMillis("expires_at", func(s *access.Session) *time.Time { return &s.ExpiresAt }).fixed(),
)

var codeTable = tableOf("login_codes", fault.New(fault.NotFound, "There is no such code."),
	asText("id", func(c *access.LoginCode) *id.LoginCode { return &c.ID }),
	asText("token_id", func(c *access.LoginCode) *id.Token { return &c.Token }).fixed(),
	asText("token_hash", func(c *access.LoginCode) *string { return &c.TokenHash }).fixed(),
	asMillis(createdAt, func(c *access.LoginCode) *time.Time { return &c.CreatedAt }).fixed(),
	asMillis("expires_at", func(c *access.LoginCode) *time.Time { return &c.ExpiresAt }).fixed(),
)

var sessionByHash = prepare(func(b builder) fmt.Stringer {
	return sessionTable.selects(b.db()).Where("hash = ?", b.arg(1))
})

func (s sessions) ByHash(ctx context.Context, hash string) (access.Session, error) {
	return readOne(ctx, s.session, s.table, sessionByHash, hash)
}

// List leaves out those whose token has ended or was rotated.
func (s sessions) List(ctx context.Context, at time.Time, after page.Position, size int) (page.Page[access.Session], error) {
	query := selectRows(s.session, s.table).
		Where("expires_at > ?", millis(at)).
		Where("last_seen_at > ?", millis(at.Add(-access.SessionIdle))).
		Where("EXISTS (SELECT 1 FROM tokens AS t WHERE t.id = token_id AND t.hash = token_hash AND t.revoked_at IS NULL)")
	return queryPage(ctx, s.session, s.table, query, after, size)
}

func (s sessions) Touch(ctx context.Context, seen map[id.Session]time.Time) error {
	return touch(ctx, s.session, s.table.name, lastSeenAt, seen)
}

func (s sessions) AddCode(ctx context.Context, added access.LoginCode) error {
	return s.codes().Add(ctx, added)
}

func (s sessions) TakeCode(ctx context.Context, which id.LoginCode) (access.LoginCode, error) {
	code, err := s.codes().Lock(ctx, which)
	if err != nil {
		return code, err
	}
	return code, s.codes().Remove(ctx, which)
}

func (s sessions) codes() stored[id.LoginCode, access.LoginCode] {
	return stored[id.LoginCode, access.LoginCode]{s.session, codeTable}
}

func (s sessions) Purge(ctx context.Context, at time.Time, most int) (int, error) {
	total := 0
	for _, over := range []struct {
		table, column string
		until         time.Time
	}{
		{sessionTable.name, "expires_at", at},
		{sessionTable.name, lastSeenAt, at.Add(-access.SessionIdle)},
		{codeTable.name, "expires_at", at},
	} {
		some := s.selectFrom(over.table).Column("id").Where("? <= ?", bun.Ident(over.column), millis(over.until)).Limit(int64(most))
		removed, err := s.exec(ctx, s.engine.DB().NewDelete().Conn(s.conn).Table(over.table).Where("id IN (?)", some))
		if err != nil {
			return total, err
		}
		total += removed
	}
	return total, nil
}
