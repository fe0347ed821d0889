package partner

import (
	"context"
	"strings"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/lead"
)

// leads answers the operations on leads.
type leads struct {
	lists
	stopping *httpkit.Stopping
}

// list answers GET /api/external/leads, with a page or with a stream.
func (h leads) list(c *gin.Context) {
	c.Writer.Header().Add("Vary", "Accept")
	p := &parameters{Query: httpkit.QueryOf(c)}
	filter := filterOf(p)
	shape := shapeOf(c, p)
	filter.View = shape.View
	if form := formOf(c, p); form != pageType {
		h.stream(c, p, filter, rowsOf(form, shape))
		return
	}
	p.without("is for streams alone", "after")
	asked := pagingOf(p, "leads"+filter.Text())
	if p.err != nil {
		httpkit.Fail(c, p.err)
		return
	}
	h.answer(c, asked, func(ctx context.Context, rows []byte) (found, []byte, error) {
		page, err := h.portOf(c).Leads(ctx, lead.Query{
			Filter: filter, After: placeOf(asked), Skip: asked.skip(), Size: int(asked.size),
		})
		if err != nil {
			return found{}, nil, err
		}
		result := found{state: page.State, total: page.Total, more: page.More, leads: len(page.Leads)}
		rows = appendList(rows, page.Leads, func(rows []byte, one lead.Exported) []byte {
			result.lastAt, result.lastID = one.Place.UpdatedAt, string(one.Place.ID)
			return shape.Append(rows, one, page.Names)
		})
		return result, rows, nil
	})
}

// get answers GET /api/external/leads/{id}.
func (h leads) get(c *gin.Context) {
	which, _ := id.ParseForeign[id.Lead](c.Param("id"))
	shape := shapeOf(c, &parameters{Query: httpkit.QueryOf(c)})
	shown, err := h.portOf(c).Lead(c.Request.Context(), shape.View, which)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	if writeData(c, shape.Append(nil, shown.Exported, shown.Names), "") {
		h.sent(c, 1)
	}
}

// removed answers GET /api/external/leads/removed.
func (h leads) removed(c *gin.Context) {
	p := &parameters{Query: httpkit.QueryOf(c)}
	query := lead.RemovedQuery{Since: p.instant("since"), View: viewOf(c)}
	asked := pagingOf(p, "removed"+query.Text())
	asked.pruned = true
	if p.err != nil {
		httpkit.Fail(c, p.err)
		return
	}
	h.answer(c, asked, func(ctx context.Context, rows []byte) (found, []byte, error) {
		query.After, query.Skip, query.Size = placeOf(asked), asked.skip(), int(asked.size)
		page, err := h.portOf(c).Removed(ctx, query)
		if err != nil {
			return found{}, nil, err
		}
		result := found{state: page.State, total: page.Total, more: page.More}
		rows = appendList(rows, page.Leads, func(rows []byte, one lead.RemovedLead) []byte {
			result.lastAt, result.lastID = one.RemovedAt, string(one.ID)
			return append(rows, `{"id":"`+string(one.ID)+`","removed_at":"`+instant.Format(one.RemovedAt)+`"}`...)
		})
		return result, rows, nil
	})
}

// filterOf reads the filters.
func filterOf(p *parameters) lead.Filter {
	return lead.Filter{
		IDs:           foreignList[id.Lead](p, "ids"),
		Domain:        p.domain("domain"),
		Email:         p.address("email"),
		Campaigns:     foreignList[id.Campaign](p, "campaign_id"),
		Industries:    foreignList[id.Industry](p, "industry_id"),
		Verticals:     foreignList[id.Vertical](p, "vertical_id"),
		Enrichments:   p.enrichments("enrichment_level"),
		HasWebsite:    p.flag("has_website"),
		MinRating:     p.rating("min_google_rating", lead.ParseMinRating),
		MaxRating:     p.rating("max_google_rating", lead.ParseMaxRating),
		Since:         p.instant("since"),
		UpdatedBefore: p.before("updated_before"),
		CreatedBefore: p.before("created_before"),
	}
}

// viewOf is what the partner may see.
func viewOf(c *gin.Context) lead.View { return httpkit.PartnerOf(c).View }

// shapeOf is what is shown of leads: the fields that are asked for, of what the partner may see.
func shapeOf(c *gin.Context, p *parameters) leadjson.Shape {
	shape := leadjson.Shape{View: viewOf(c)}
	if sent, found := p.Query["fields"]; found {
		shape.Only, _ = lead.Show(strings.Split(sent, ",")) // the document names all that there are
	}
	return shape
}

func placeOf(p paging) lead.Place { return lead.Place{UpdatedAt: p.at, ID: id.Lead(p.after.ID)} }
