package sqlstore

import (
	"database/sql"
	"strings"

	"github.com/uptrace/bun"

	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/store"
)

// leadRow has the columns by which leads are found.
type leadRow struct {
	bun.BaseModel `bun:"table:leads"`

	Key       int64       `bun:"key,pk"`
	ID        id.Lead     `bun:"id"`
	Revision  int64       `bun:"revision"`
	UpdatedAt int64       `bun:"updated_at"`
	Labels    string      `bun:"labels"`
	Rating    int64       `bun:"rating"`
	Digest    lead.Digest `bun:"digest"`
	CreatedAt int64       `bun:"created_at"`
	MovedFrom *int64      `bun:"moved_from"`
	RemovedAt *int64      `bun:"removed_at"`
	Hashes    string      `bun:"hashes"`
}

func (r *leadRow) columns() []any {
	return []any{
		&r.Key, (*string)(&r.ID), &r.Revision, &r.UpdatedAt, &r.Labels, &r.Rating, (*string)(&r.Digest), &r.CreatedAt, &r.MovedFrom,
		&r.RemovedAt, &r.Hashes,
	}
}

func leadRowOf(kept lead.Stored, key, revision int64) leadRow {
	return leadRow{
		Key:       key,
		ID:        kept.ID,
		Revision:  revision,
		UpdatedAt: millis(kept.UpdatedAt),
		Labels:    labelsOf(kept.Lead),
		Rating:    int64(kept.Rating),
		Digest:    kept.Digest,
		CreatedAt: millis(kept.CreatedAt),
		MovedFrom: optionalMillis(kept.MovedFrom),
		Hashes:    hashesText(kept),
	}
}

// summaryColumns are the columns of a lead.Summary.
func summaryColumns() []string {
	return []string{"key", "id", "digest", "labels", "created_at", "updated_at", "moved_from", "removed_at"}
}

func (r *leadRow) summaryColumns() []any {
	return []any{&r.Key, (*string)(&r.ID), (*string)(&r.Digest), &r.Labels, &r.CreatedAt, &r.UpdatedAt, &r.MovedFrom, &r.RemovedAt}
}

// markColumns are the columns of a store.LeadMark.
func markColumns(query *bun.SelectQuery) *bun.SelectQuery {
	return query.Column("key", "id", "updated_at", "created_at", "labels", "rating").ColumnExpr(presentHashes)
}

func (r *leadRow) markColumns() []any {
	return []any{&r.Key, (*string)(&r.ID), &r.UpdatedAt, &r.CreatedAt, &r.Labels, &r.Rating, &r.Hashes}
}

func (r *leadRow) summary(of labels) lead.Summary {
	return lead.Summary{
		ID:        r.ID,
		Digest:    r.Digest,
		Campaigns: of.campaigns,
		CreatedAt: instant(r.CreatedAt),
		UpdatedAt: instant(r.UpdatedAt),
		MovedFrom: optionalInstant(r.MovedFrom),
	}
}

func (r *leadRow) mark(of labels) store.LeadMark {
	hashes := parseHashes(r.Hashes)
	return store.LeadMark{
		Key:        r.Key,
		Place:      lead.Place{UpdatedAt: instant(r.UpdatedAt), ID: r.ID},
		CreatedAt:  instant(r.CreatedAt),
		Campaigns:  of.campaigns,
		Industry:   of.industry,
		Vertical:   of.vertical,
		HasWebsite: of.hasWebsite,
		Rating:     lead.Rating(r.Rating),
		Enrichment: of.enrichment,
		Domain:     hashes.domain,
		Email:      hashes.email,
	}
}

// labels are the values of a lead that filters compare by equality.
type labels struct {
	industry   id.Industry
	vertical   id.Vertical
	enrichment lead.Enrichment
	hasWebsite bool
	campaigns  []id.Campaign
}

// websiteLabel is the label of leads that have a website. Labels of different kinds never collide: ids have prefixes.
const websiteLabel = "website"

func labelsOf(l lead.Lead) string {
	const usual = 128 // bytes
	var text strings.Builder
	text.Grow(usual)
	text.WriteByte(' ')
	add := func(label string) {
		if label != "" {
			text.WriteString(label)
			text.WriteByte(' ')
		}
	}
	add(string(l.Industry))
	add(string(l.Vertical))
	add(string(l.Enrichment))
	if l.Website != "" {
		add(websiteLabel)
	}
	for _, campaign := range l.Campaigns {
		add(string(campaign))
	}
	return text.String()
}

// labelReader decodes labels. It caches what it has decoded: there are few of each kind, and millions of leads.
type labelReader struct {
	sorts     map[string]labels // without campaigns
	campaigns map[string][]id.Campaign
}

func newLabelReader() *labelReader {
	return &labelReader{map[string]labels{}, map[string][]id.Campaign{}}
}

// maxCached bounds each cache.
const maxCached = 100_000

func (r *labelReader) read(text string) labels {
	first := strings.Index(text, " "+id.Prefix[id.Campaign]())
	if first < 0 {
		first = len(text)
	}
	sort, campaigns := text[:first], text[first:]
	found, cached := r.sorts[sort]
	if !cached {
		found = parseSort(sort)
		if len(r.sorts) < maxCached {
			r.sorts[sort] = found
		}
	}
	if found.campaigns, cached = r.campaigns[campaigns]; !cached {
		for campaign := range strings.FieldsSeq(campaigns) {
			found.campaigns = append(found.campaigns, id.Campaign(campaign))
		}
		if len(r.campaigns) < maxCached {
			r.campaigns[campaigns] = found.campaigns
		}
	}
	return found
}

// lead reads a row of an entry and of the labels of its lead.
func (r *labelReader) lead(row *sql.Rows) (store.KeyedLead, error) {
	var text, labels string
	if err := row.Scan(&text, &labels); err != nil {
		return store.KeyedLead{}, err
	}
	return currentForm.parse(text, r.read(labels).campaigns)
}

func parseSort(text string) (found labels) {
	for label := range strings.FieldsSeq(text) {
		switch {
		case label == websiteLabel:
			found.hasWebsite = true
		case strings.HasPrefix(label, id.Prefix[id.Industry]()):
			found.industry = id.Industry(label)
		case strings.HasPrefix(label, id.Prefix[id.Vertical]()):
			found.vertical = id.Vertical(label)
		default:
			found.enrichment = lead.Enrichment(label)
		}
	}
	return found
}
