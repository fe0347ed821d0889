package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

var suppressionTable = tableOf("lead_suppressions", errors.New("there is no such suppression"),
	asText("id", func(s *lead.Suppression) *id.Suppression { return &s.ID }),
	column[lead.Suppression]{
		name: "digests", kind: textKind, permanent: true,
		get: func(s *lead.Suppression) any { return digestsOf(*s) },
		set: func(s *lead.Suppression, c *cell) error {
			for word := range strings.FieldsSeq(c.text) {
				s.Digests = append(s.Digests, lead.SuppressionDigest(word))
			}
			return nil
		},
	},
	asMillis(createdAt, func(s *lead.Suppression) *time.Time { return &s.CreatedAt }).fixed(),
)

// digestsOf returns the digests of a suppression as they are kept.
func digestsOf(s lead.Suppression) string {
	words := make([]string, len(s.Digests))
	for i, digest := range s.Digests {
		words[i] = string(digest)
	}
	return strings.Join(words, " ")
}

// suppressionKey is the sealed key of suppressions.
type suppressionKey struct{ id, sealed string }

var suppressionKeyTable = tableOf("lead_suppression_keys", fault.New(fault.NotFound, "There is no key of suppressions."),
	asText("id", func(k *suppressionKey) *string { return &k.id }),
	asText("sealed", func(k *suppressionKey) *string { return &k.sealed }),
)

var (
	allSuppressions = prepare(func(b builder) fmt.Stringer {
		return suppressionTable.selects(b.db()).OrderExpr("?, id", bun.Ident(createdAt))
	})
	equalSuppressions = prepare(func(b builder) fmt.Stringer {
		return suppressionTable.selects(b.db()).Where("digests IN (SELECT listed.value FROM ?)", bun.Safe(b.engine.Listed(1)))
	})
)

func (l leads) Suppressions(ctx context.Context) ([]lead.Suppression, error) {
	return readEach(ctx, l.session, suppressionTable, allSuppressions)
}

func (l leads) SuppressionKey(ctx context.Context) (string, error) {
	found, err := readOne(ctx, l.session, suppressionKeyTable, suppressionKeyTable.get, store.SuppressionKeyOwner)
	if fault.CodeOf(err) == fault.NotFound {
		err = nil
	}
	return found.sealed, err
}

func (l leads) KeepSuppressionKey(ctx context.Context, sealed string) error {
	if _, err := l.unit.advanced(); err != nil {
		return err
	}
	kept := suppressionKey{store.SuppressionKeyOwner, sealed}
	return l.changeOne(ctx, l.run(suppressionKeyTable.insert, suppressionKeyTable.inserted(&kept)...))
}

func (l leads) Suppress(ctx context.Context, added []lead.Suppression) (int, error) {
	if _, err := l.unit.advanced(); err != nil || len(added) == 0 {
		return 0, err
	}
	digests := make([]string, len(added))
	for i, one := range added {
		digests[i] = digestsOf(one)
	}
	// No other unit adds any before this one ends.
	equal, err := readListed(ctx, l.session, suppressionTable, equalSuppressions, digests)
	if err != nil {
		return 0, err
	}
	known := make(map[string]bool, len(added))
	for _, one := range equal {
		known[digestsOf(one)] = true
	}
	var others []lead.Suppression
	for i, one := range added {
		if !known[digests[i]] {
			known[digests[i]] = true
			others = append(others, one)
		}
	}
	if len(others) == 0 {
		return 0, nil
	}
	if err := l.moveSuppressed(ctx); err != nil {
		return 0, err
	}
	return len(others), insertMany(ctx, l.session, suppressionTable, others)
}

func (l leads) Release(ctx context.Context, ids []id.Suppression) (int, error) {
	if len(ids) == 0 {
		return 0, nil
	}
	if err := l.moveSuppressed(ctx); err != nil {
		return 0, err
	}
	return l.change(ctx, l.engine.DB().NewDelete().Conn(l.conn).Table(suppressionTable.name).Where("id IN (?)", bun.List(ids)))
}

func (l leads) moveSuppressed(ctx context.Context) error {
	revision, err := l.unit.advanced()
	if err == nil {
		_, err = l.change(ctx, l.updates((*leadStateRow)(nil)).Set("suppressed = ?", revision).Where("single = 1"))
	}
	return err
}
