package sqlstore

import (
	"context"
	"fmt"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/secret"
)

// secrets implements store.Secrets.
type secrets struct {
	stored[id.Secret, secret.Secret]
}

func secretsOf(s session) secrets {
	return secrets{stored[id.Secret, secret.Secret]{s, secretTable}}
}

var noSecret = fault.New(fault.NotFound, "There is no such secret.")

var secretTable = tableOf("secrets", noSecret,
	asText("id", func(s *secret.Secret) *id.Secret { return &s.ID }),
	asText("company_id", func(s *secret.Secret) *id.Company { return &s.Company }).fixed(),
	asText("name", func(s *secret.Secret) *string { return &s.Name }).fixed(),
	asText("category", func(s *secret.Secret) *secret.Category { return &s.Category }),
	asText("description", func(s *secret.Secret) *string { return &s.Description }),
	asMillis(createdAt, func(s *secret.Secret) *time.Time { return &s.CreatedAt }).fixed(),
	asMillis("updated_at", func(s *secret.Secret) *time.Time { return &s.UpdatedAt }),
	asMillis("rotated_at", func(s *secret.Secret) *time.Time { return &s.RotatedAt }),
	asOptionalMillis(lastUsedAt, func(s *secret.Secret) *time.Time { return &s.LastUsedAt }).fixed(),
	asInteger("version", func(s *secret.Secret) *int64 { return &s.Version }),
)

// sealedValue is the value of a secret. It has a table of its own, so that nothing reads it along with the rest.
type sealedValue struct {
	place   string // see secret.Place
	company id.Company
	sealed  string
}

var sealedTable = tableOf("secret_values", noSecret,
	asText("place", func(v *sealedValue) *string { return &v.place }),
	asText("company_id", func(v *sealedValue) *id.Company { return &v.company }).fixed(),
	asText("sealed", func(v *sealedValue) *string { return &v.sealed }),
)

var secretByName = prepare(func(b builder) fmt.Stringer {
	return secretTable.selects(b.db()).Where("company_id = ?", b.arg(1)).Where("name = ?", b.arg(2))
})

func (s secrets) ByName(ctx context.Context, of id.Company, name string) (secret.Secret, error) {
	if !secret.IsName(name) { // PostgreSQL refuses to look for some of them
		return secret.Secret{}, noSecret
	}
	return readOne(ctx, s.session, s.table, secretByName, string(of), name)
}

func (s secrets) List(ctx context.Context, of id.Company, after page.Position, size int) (page.Page[secret.Secret], error) {
	return listPage(ctx, s.session, s.table, []condition{{"company_id", string(of)}}, after, size)
}

func (s secrets) Sealed(ctx context.Context, of secret.Secret) (string, error) {
	found, err := readOne(ctx, s.session, sealedTable, sealedTable.get, of.Place())
	return found.sealed, err
}

func (s secrets) Keep(ctx context.Context, of secret.Secret, sealed string) error {
	return replaceMany(ctx, s.session, sealedTable, []sealedValue{{of.Place(), of.Company, sealed}})
}

func (s secrets) Touch(ctx context.Context, used map[id.Secret]time.Time) error {
	return touch(ctx, s.session, s.table.name, lastUsedAt, used)
}

func (s secrets) Remove(ctx context.Context, which secret.Secret) error {
	if err := s.changeOne(ctx, s.run(sealedTable.remove, which.Place())); err != nil {
		return err
	}
	return s.stored.Remove(ctx, which.ID)
}
