package partner

import (
	"context"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// campaigns answers the operation on campaigns.
type campaigns struct{ lists }

// list answers GET /api/external/campaigns.
func (h campaigns) list(c *gin.Context) {
	p := &parameters{Query: httpkit.QueryOf(c)}
	filter := lead.CampaignFilter{
		Status:    lead.Status(p.Query["status"]),
		Industry:  foreign[id.Industry](p, "industry_id"),
		Vertical:  foreign[id.Vertical](p, "vertical_id"),
		Geography: foreign[id.Geography](p, "geography_id"),
		HasLeads:  p.flag("has_leads"),
		MinLeads:  p.number("min_leads", 0),
		Since:     p.instant("since"),
		View:      viewOf(c),
	}
	asked := pagingOf(p, "campaigns"+filter.Text())
	if p.err != nil {
		httpkit.Fail(c, p.err)
		return
	}
	h.answer(c, asked, func(ctx context.Context, rows []byte) (found, []byte, error) {
		page, err := h.portOf(c).Campaigns(ctx, lead.CampaignQuery{
			Filter: filter, After: lead.CampaignPlace{UpdatedAt: asked.at, ID: id.Campaign(asked.after.ID)},
			Skip: asked.skip(), Size: int(asked.size),
		})
		if err != nil {
			return found{}, nil, err
		}
		result := found{state: page.State, total: page.Total, more: page.More}
		rows = appendList(rows, page.Campaigns, func(rows []byte, one lead.Campaign) []byte {
			result.lastAt, result.lastID = one.UpdatedAt, string(one.ID)
			return one.Fields(page.Names).Append(rows)
		})
		return result, rows, nil
	})
}
