package lead

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/text"
)

// Bounds of the intelligence about a vertical.
const (
	SummaryLength = 10_000
	MostSignals   = 100
	SignalLength  = 500
)

// TaxonomyDraft is what was sent to add to the taxonomy or to change it. Problems are errors of its form.
type TaxonomyDraft struct {
	Industries   []IndustryDraft
	Verticals    []VerticalDraft
	Geographies  []GeographyDraft
	Intelligence []IntelligenceDraft
	Problems     fault.Problems
}

// IndustryDraft is an industry in a TaxonomyDraft.
type IndustryDraft struct {
	ID     string
	Name   string
	Slug   string // blank: made from the name
	Active *bool  // nil: true
}

// VerticalDraft is a vertical in a TaxonomyDraft.
type VerticalDraft struct {
	ID       string
	Industry string
	Name     string
	Slug     string // blank: made from the name
	Active   *bool  // nil: true
}

// GeographyDraft is a geography in a TaxonomyDraft.
type GeographyDraft struct {
	ID          string
	Name        string
	Slug        string // blank: made from the name
	CountryCode string // blank: none
}

// IntelligenceDraft is the intelligence about a vertical, in a TaxonomyDraft.
type IntelligenceDraft struct {
	ID            string
	Vertical      string
	Summary       string
	PainPoints    []string
	BuyingSignals []string
}

// Over merges the draft into a taxonomy: items with a stored id replace the stored ones, others are added, nothing is
// removed. It returns the next taxonomy, and counts the items that are new, changed and unchanged. It fails with
// fault.ValidationFailed, which lists every invalid field.
func (d TaxonomyDraft) Over(t Taxonomy, at time.Time) (next Taxonomy, change Change, err error) {
	c := checks{problems: slices.Clone(d.Problems)}
	before := t.Catalog(nil)
	next.Industries = over(&c, "industries", t.Industries, d.Industries, c.industry, &change)
	industries := next.Catalog(nil).Industries
	next.Verticals = over(&c, "verticals", t.Verticals, d.Verticals, func(path string, sent VerticalDraft) Vertical {
		return c.vertical(path, sent, industries, before.Verticals)
	}, &change)
	verticals := next.Catalog(nil).Verticals
	next.Geographies = over(&c, "geographies", t.Geographies, d.Geographies, c.geography, &change)
	next.Intelligence = over(&c, "vertical_intelligence", t.Intelligence, d.Intelligence,
		func(path string, sent IntelligenceDraft) Intelligence {
			return c.intelligence(path, sent, verticals, at)
		}, &change)
	if len(c.problems) > 0 {
		return t, Change{}, fault.Validation(c.problems)
	}
	return next, change, nil
}

// part is an item of a list in a taxonomy.
type part[K id.ID, P any] interface {
	key() K
	same(other P) bool
}

func (i Industry) key() id.Industry         { return i.ID }
func (v Vertical) key() id.Vertical         { return v.ID }
func (g Geography) key() id.Geography       { return g.ID }
func (i Intelligence) key() id.Intelligence { return i.ID }

func (i Industry) same(other Industry) bool   { return i == other }
func (v Vertical) same(other Vertical) bool   { return v == other }
func (g Geography) same(other Geography) bool { return g == other }

// same ignores UpdatedAt, which is derived.
func (i Intelligence) same(other Intelligence) bool {
	return i.ID == other.ID && i.Vertical == other.Vertical && i.Summary == other.Summary &&
		slices.Equal(i.PainPoints, other.PainPoints) && slices.Equal(i.BuyingSignals, other.BuyingSignals)
}

// over merges a list of a draft into the stored one, sorted by id.
func over[K id.ID, P part[K, P], D any](
	c *checks, list string, there []P, sent []D, read func(path string, sent D) P, change *Change,
) []P {
	next := slices.Clone(there)
	at := make(map[K]int, len(there))
	for i, one := range there {
		at[one.key()] = i
	}
	seen := make(map[K]bool, len(sent))
	for i, draft := range sent {
		path := fmt.Sprintf("%s.%d", list, i)
		one := read(path, draft)
		if one.key() == "" {
			continue // its errors are among the problems
		}
		if seen[one.key()] {
			c.problems.Add(fault.Fieldf(path+".id", fault.Duplicate, "%s.id is in the list twice", path))
		}
		seen[one.key()] = true
		i, exists := at[one.key()]
		switch {
		case !exists:
			next = append(next, one)
			change.Inserted++
		case there[i].same(one):
			change.Unchanged++
		default:
			next[i] = one
			change.Updated++
		}
	}
	slices.SortFunc(next, func(a, b P) int { return cmp.Compare(a.key(), b.key()) })
	return next
}

func (c *checks) industry(path string, sent IndustryDraft) Industry {
	name := c.name(path+".name", sent.Name)
	return Industry{
		ID:     required[id.Industry](c, path+".id", sent.ID),
		Name:   name,
		Slug:   c.slug(path+".slug", sent.Slug, name),
		Active: sent.Active == nil || *sent.Active,
	}
}

// vertical parses a vertical, given the industries that there will be, and the stored verticals.
func (c *checks) vertical(path string, sent VerticalDraft, industries map[id.Industry]bool, there map[id.Vertical]id.Industry) Vertical {
	name := c.name(path+".name", sent.Name)
	v := Vertical{
		ID:       required[id.Vertical](c, path+".id", sent.ID),
		Industry: required[id.Industry](c, path+".industry_id", sent.Industry),
		Name:     name,
		Slug:     c.slug(path+".slug", sent.Slug, name),
		Active:   sent.Active == nil || *sent.Active,
	}
	if v.Industry != "" && !industries[v.Industry] {
		c.problems.Add(unknown(path+".industry_id", "industry", v.Industry))
	}
	if before, exists := there[v.ID]; exists && v.Industry != before {
		c.problems.Add(fault.Fieldf(path+".industry_id", fault.Immutable,
			"%s.industry_id cannot change: leads and campaigns refer to %s", path, before))
	}
	return v
}

func (c *checks) geography(path string, sent GeographyDraft) Geography {
	name := c.name(path+".name", sent.Name)
	g := Geography{
		ID:          required[id.Geography](c, path+".id", sent.ID),
		Name:        name,
		Slug:        c.slug(path+".slug", sent.Slug, name),
		CountryCode: strings.TrimSpace(sent.CountryCode),
	}
	if g.CountryCode != "" && (len(g.CountryCode) != 2 || strings.Trim(g.CountryCode, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "") {
		c.problems.Add(fault.Fieldf(path+".country_code", fault.InvalidFormat,
			"%s.country_code must be two capital letters, as in ISO 3166", path))
	}
	return g
}

// intelligence parses intelligence, given the verticals that there will be.
func (c *checks) intelligence(path string, sent IntelligenceDraft, verticals map[id.Vertical]id.Industry, at time.Time) Intelligence {
	i := Intelligence{
		ID:            required[id.Intelligence](c, path+".id", sent.ID),
		Vertical:      required[id.Vertical](c, path+".vertical_id", sent.Vertical),
		PainPoints:    c.signals(path+".pain_points", sent.PainPoints),
		BuyingSignals: c.signals(path+".buying_signals", sent.BuyingSignals),
		UpdatedAt:     at,
	}
	summary, wrong := text.Prose(path+".summary", sent.Summary, SummaryLength)
	c.problems.Add(wrong...)
	i.Summary = summary
	if _, found := verticals[i.Vertical]; i.Vertical != "" && !found {
		c.problems.Add(unknown(path+".vertical_id", "vertical", i.Vertical))
	}
	return i
}

func (c *checks) signals(path string, sent []string) []string {
	if len(sent) > MostSignals {
		c.problems.Add(fault.Fieldf(path, fault.TooMany, "%s has %d items; at most %d are allowed", path, len(sent), MostSignals))
		return nil
	}
	signals := make([]string, len(sent))
	for i, one := range sent {
		signal, wrong := text.Name(fmt.Sprintf("%s.%d", path, i), one, SignalLength)
		c.problems.Add(wrong...)
		signals[i] = signal
	}
	return signals
}

// slug validates a slug, or derives one from the name.
func (c *checks) slug(path, sent, name string) string {
	if isBlank(sent) {
		return text.Slug(name, "unnamed")
	}
	if !text.IsSlug(sent) {
		c.problems.Add(fault.Fieldf(path, fault.InvalidFormat, "%s must be lower-case letters and digits, joined by single hyphens", path))
	}
	return sent
}

// required parses an id that must not be blank.
func required[I id.ID](c *checks, path, sent string) I {
	if isBlank(sent) {
		c.problems.Add(fault.Fieldf(path, fault.Required, "%s is required", path))
	}
	return foreign[I](c, path, sent)
}
