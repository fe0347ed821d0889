package sqlstore

import (
	"context"
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"slices"

	"github.com/uptrace/bun"

	"holdco/domain/lead"
	"holdco/ports/store"
)

// hashes are those of the domain and of the e-mail address of a lead. A row has them in one text, before the digest of the lead
// that they were made of: a program that does not know them yet replaces the lead and the digest alone, and the hashes are then
// made of the document whenever they are needed, until the lead changes. That takes longer, and finds the same.
type hashes struct{ domain, email lead.Hash }

const (
	hashLength   = 11 // bytes in base64
	hashesLength = 2 * hashLength
)

// presentHashes are the hashes of a row, or empty when they are not of the lead as it is.
const presentHashes = "CASE WHEN substr(hashes, 23) = digest THEN substr(hashes, 1, 22) ELSE '' END"

// withoutHashes holds for the leads whose row has no hashes of them. leads_without_hashes finds them.
const withoutHashes = "removed_at IS NULL AND substr(hashes, 23) <> digest"

// hashesText returns what the row of a lead has of it.
func hashesText(kept lead.Stored) string { return hashesOf(kept.Lead).text() + string(kept.Digest) }

func hashesOf(l lead.Lead) hashes {
	return hashes{lead.HashOf(lead.DomainOf(l.Website)), lead.HashOf(lead.EmailOf(l.Email))}
}

// hashesIn makes the hashes of a lead from its document.
func hashesIn(found store.KeyedLead) (hashes, error) {
	read, err := currentForm.decode(found.Exported.Document)
	return hashesOf(read), err
}

func (h hashes) text() string { return hashText(h.domain) + hashText(h.email) }

func hashText(hash lead.Hash) string {
	return base64.RawURLEncoding.EncodeToString(binary.BigEndian.AppendUint64(nil, uint64(hash)))
}

// parseHashes reads what text returned; it returns none for an empty text.
func parseHashes(text string) hashes {
	if len(text) < hashesLength {
		return hashes{}
	}
	return hashes{parseHash(text[:hashLength]), parseHash(text[hashLength:hashesLength])}
}

func parseHash(text string) lead.Hash {
	var room [8]byte
	if _, err := base64.RawURLEncoding.Decode(room[:], []byte(text)); err != nil {
		return 0
	}
	return lead.Hash(binary.BigEndian.Uint64(room[:]))
}

// complete makes the hashes of marks whose rows have none, from the documents. The document of one that is removed by now is gone:
// that is a change which follows.
func (l leads) complete(ctx context.Context, bare []int, mark func(i int) *store.LeadMark) error {
	for some := range slices.Chunk(bare, store.MostKeyed) {
		byKey, keys := map[int64]*store.LeadMark{}, make([]int64, 0, len(some))
		for _, i := range some {
			keys, byKey[mark(i).Key] = append(keys, mark(i).Key), mark(i)
		}
		found, err := l.Keyed(ctx, keys)
		if err != nil {
			return err
		}
		for _, one := range found {
			made, err := hashesIn(one)
			if err != nil {
				return err
			}
			byKey[one.Key].Domain, byKey[one.Key].Email = made.domain, made.email
		}
	}
	return nil
}

// lookingUp finds the leads with the domain and the address that a filter asks for, and others by their keys.
func lookingUp(query *bun.SelectQuery, filter lead.Filter, others []int64) *bun.SelectQuery {
	if filter.Domain == "" && filter.Email == "" {
		return query
	}
	return query.WhereGroup(" AND ", func(query *bun.SelectQuery) *bun.SelectQuery {
		query = query.WhereGroup("", func(query *bun.SelectQuery) *bun.SelectQuery {
			query = query.Where("substr(hashes, 23) = digest")
			if filter.Domain != "" {
				query = query.Where("substr(hashes, 1, 11) = ?", hashText(lead.HashOf(filter.Domain)))
			}
			if filter.Email != "" {
				var texts []string
				for _, hash := range lead.EmailHashes(filter.Email) {
					texts = append(texts, hashText(hash))
				}
				query = query.Where("substr(hashes, 12, 11) IN (?)", bun.List(texts))
			}
			return query
		})
		if len(others) > 0 {
			query = query.WhereOr("key IN (?)", bun.List(others))
		}
		return query
	})
}

// lookedUp returns the keys of the leads with the domain and the address that a filter asks for whose rows have no hashes.
func (s session) lookedUp(ctx context.Context, filter lead.Filter) (keys []int64, err error) {
	if filter.Domain == "" && filter.Email == "" {
		return nil, nil
	}
	asked := hashes{lead.HashOf(filter.Domain), lead.HashOf(filter.Email)}
	query := s.selects((*leadDocumentRow)(nil)).Column("entry").
		Where("key IN (?)", s.selects((*leadRow)(nil)).Column("key").Where(withoutHashes))
	err = s.each(ctx, query, func(rows *sql.Rows) error {
		var text string
		if err := rows.Scan(&text); err != nil {
			return err
		}
		found, err := currentForm.parse(text, nil)
		if err != nil {
			return err
		}
		made, err := hashesIn(found)
		if err == nil && (filter.Domain == "" || made.domain == asked.domain) && (filter.Email == "" || made.email == asked.email) {
			keys = append(keys, found.Key)
		}
		return err
	})
	return keys, err
}
