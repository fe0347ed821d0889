package lead

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"holdco/domain/instant"
)

// Text spells the conditions of the filter that are sent, so all but None and the view: empty, if there are none. Two filters have one
// text if they ask for the same, however that was spelled.
func (f Filter) Text() string {
	return conditions(
		"ids", listText(f.IDs),
		"domain", f.Domain,
		"email", f.Email,
		"campaign_id", listText(f.Campaigns),
		"industry_id", listText(f.Industries),
		"vertical_id", listText(f.Verticals),
		"enrichment_level", listText(f.Enrichments),
		"has_website", optionalText(f.HasWebsite, strconv.FormatBool),
		"min_google_rating", optionalText(f.MinRating, ratingText),
		"max_google_rating", optionalText(f.MaxRating, ratingText),
		"since", instantText(f.Since),
		"updated_before", instantText(f.UpdatedBefore),
		"created_before", instantText(f.CreatedBefore),
	)
}

// Text is as Filter.Text, for campaigns.
func (f CampaignFilter) Text() string {
	return conditions(
		"status", string(f.Status),
		"industry_id", string(f.Industry),
		"vertical_id", string(f.Vertical),
		"geography_id", string(f.Geography),
		"has_leads", optionalText(f.HasLeads, strconv.FormatBool),
		"min_leads", strings.TrimPrefix(strconv.FormatInt(f.MinLeads, 10), "0"), // the least asks for nothing
		"since", instantText(f.Since),
	)
}

// Text is as Filter.Text, for removed leads.
func (q RemovedQuery) Text() string { return conditions("since", instantText(q.Since)) }

// conditions spells pairs of names and values. An empty value is no condition.
func conditions(pairs ...string) string {
	var all strings.Builder
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] != "" {
			all.WriteString("\n" + pair[0] + "=" + pair[1])
		}
	}
	return all.String()
}

func optionalText[T any](value *T, spell func(T) string) string {
	if value == nil {
		return ""
	}
	return spell(*value)
}

func listText[T ~string](all []T) string {
	return joined(slices.Compact(slices.Sorted(slices.Values(all))), ",")
}

// joined joins texts of any type.
func joined[T ~string](all []T, by string) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = string(one)
	}
	return strings.Join(texts, by)
}

func ratingText(rating Rating) string {
	return strconv.FormatFloat(float64(rating)/100, 'f', -1, 64)
}

func instantText(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return instant.Format(at)
}
