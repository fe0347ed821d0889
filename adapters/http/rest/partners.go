package rest

import (
	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/partner"
	"holdco/ports/inbound"
)

// partners answers the operations on partners.
type partners struct{ port inbound.Partners }

// ListPartners answers GET /v1/partners.
func (h partners) ListPartners(c *gin.Context, params ListPartnersParams) {
	const query = "partners"
	after, size, err := pageAfter(query, params.Cursor, params.Limit)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	found, err := h.port.List(c.Request.Context(), httpkit.CallerOf(c), after, size)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, listAnswer(query, size, found, partnerView))
}

// CreatePartner answers POST /v1/partners.
func (h partners) CreatePartner(c *gin.Context, _ CreatePartnerParams) {
	once := httpkit.Once(c, func(shown partner.Partner) httpkit.Answer {
		return newPartnerAnswer(inbound.IssuedPartner{Partner: shown})
	})
	issued, err := h.port.Create(c.Request.Context(), httpkit.CallerOf(c), partnerDraftOf(c), once)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, newPartnerAnswer(issued))
}

// GetPartner answers GET /v1/partners/{id}.
func (h partners) GetPartner(c *gin.Context, which PartnerID, _ GetPartnerParams) {
	partnerID, _ := id.Parse[id.Partner](which)
	found, err := h.port.Get(c.Request.Context(), httpkit.CallerOf(c), partnerID)
	h.answer(c, found, err)
}

// UpdatePartner answers PATCH /v1/partners/{id}.
func (h partners) UpdatePartner(c *gin.Context, which PartnerID, _ UpdatePartnerParams) {
	partnerID, _ := id.Parse[id.Partner](which)
	next, err := h.port.Update(c.Request.Context(), httpkit.CallerOf(c), partnerID, partnerPatchOf(c), httpkit.MatchOf(c))
	h.answer(c, next, err)
}

// RotatePartner answers POST /v1/partners/{id}/rotate.
func (h partners) RotatePartner(c *gin.Context, which PartnerID, _ RotatePartnerParams) {
	partnerID, _ := id.Parse[id.Partner](which)
	sent, problems := httpkit.Decode[PartnerRotation](httpkit.BodyOf(c))
	if problems != nil {
		httpkit.Fail(c, h.invalid(c, partnerID, problems))
		return
	}
	once := httpkit.Once(c, func(shown partner.Partner) httpkit.Answer {
		return issuedPartnerAnswer(inbound.IssuedPartner{Partner: shown})
	})
	grace := graceOf(sent.GraceSeconds, partner.UsualGrace)
	issued, err := h.port.Rotate(c.Request.Context(), httpkit.CallerOf(c), partnerID, grace, once)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, issuedPartnerAnswer(issued))
}

// RevokePartner answers DELETE /v1/partners/{id}.
func (h partners) RevokePartner(c *gin.Context, which PartnerID, _ RevokePartnerParams) {
	partnerID, _ := id.Parse[id.Partner](which)
	revoked, err := h.port.Revoke(c.Request.Context(), httpkit.CallerOf(c), partnerID, httpkit.MatchOf(c))
	h.answer(c, revoked, err)
}

// invalid refuses a body, unless there is no such partner: that goes first.
func (h partners) invalid(c *gin.Context, which id.Partner, problems fault.Problems) error {
	if _, err := h.port.Get(c.Request.Context(), httpkit.CallerOf(c), which); err != nil {
		return err
	}
	return fault.Validation(problems)
}

// answer shows one partner, or why not.
func (h partners) answer(c *gin.Context, shown partner.Partner, err error) {
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, issuedPartnerAnswer(inbound.IssuedPartner{Partner: shown}))
}

func partnerDraftOf(c *gin.Context) partner.Draft {
	sent, problems := httpkit.Decode[PartnerDraft](httpkit.BodyOf(c))
	expiresAt := expiryOf(sent.ExpiresAt, &problems)
	return partner.Draft{
		Settings: partner.Settings{Name: sent.Name, Origins: sent.Origins, ExpiresAt: expiresAt},
		Problems: problems,
	}
}

func partnerPatchOf(c *gin.Context) partner.Patch {
	sent, problems := httpkit.Decode[PartnerPatch](httpkit.BodyOf(c))
	patch := partner.Patch{Settings: partner.Settings{Name: sent.Name, Origins: sent.Origins}}
	if sent.ExpiresAt != nil {
		patch.ExpiresAt, patch.NeverExpires = expiryOf(*sent.ExpiresAt, &problems), *sent.ExpiresAt == nil
	}
	patch.Problems = problems
	return patch
}

func newPartnerAnswer(issued inbound.IssuedPartner) httpkit.Answer {
	answer := issuedPartnerAnswer(issued)
	answer.Status, answer.Location = httpkit.Created, "/v1/partners/"+string(issued.Partner.ID)
	return answer
}

// issuedPartnerAnswer shows a partner with its key, unless that is left out.
func issuedPartnerAnswer(issued inbound.IssuedPartner) httpkit.Answer {
	view := partnerView(issued.Partner)
	if key := string(issued.Key); key != "" {
		view.Key = &key
	}
	return httpkit.Answer{Data: view, ETag: httpkit.VersionTag(issued.Partner.Version)}
}

func partnerView(p partner.Partner) Partner {
	return Partner{
		ID:         string(p.ID),
		Name:       p.Name,
		Origins:    p.Origins,
		Hint:       p.Hint,
		CreatedAt:  instant.Format(p.CreatedAt),
		ExpiresAt:  instant.Optional(p.ExpiresAt),
		LastUsedAt: instant.Optional(p.LastUsedAt),
		RevokedAt:  instant.Optional(p.RevokedAt),
	}
}
