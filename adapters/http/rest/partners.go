package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/ports/inbound"
)

type partners struct{ port inbound.Partners }

// Partners handles the operations on partners.
func Partners(port inbound.Partners) httpkit.Handlers {
	h := partners{port}
	return httpkit.Handlers{
		"listPartners":  h.list,
		"createPartner": h.create,
		"getPartner":    h.get,
		"updatePartner": h.update,
		"rotatePartner": h.rotate,
		"revokePartner": h.revoke,
	}
}

func (h partners) list(r httpkit.Request) (httpkit.Answer, error) {
	return httpkit.List(r, "partners", func(after page.Position, size int) (page.Page[partner.Partner], error) {
		return h.port.List(r.Context(), r.Caller(), after, size)
	})
}

func (h partners) create(r httpkit.Request) (httpkit.Answer, error) {
	once := httpkit.Once(r, func(shown partner.Partner) httpkit.Answer { return newPartnerAnswer(shown) })
	issued, err := h.port.Create(r.Context(), r.Caller(), partnerDraft(r), once)
	if err != nil {
		return httpkit.Answer{}, err
	}
	return newPartnerAnswer(issued.Partner, append(h.unknown(r, issued.Partner), event.F("key", string(issued.Key)))...), nil
}

// unknown is what the key of a partner is narrowed to and is not there; nothing if that cannot be read: the partner is made or changed all
// the same.
func (h partners) unknown(r httpkit.Request, of partner.Partner) []event.Field {
	ids, err := h.port.Unknown(r.Context(), r.Caller(), of)
	if err != nil || len(ids) == 0 {
		return nil
	}
	return []event.Field{event.F("unknown", ids)}
}

func (h partners) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), httpkit.PathID[id.Partner](r, "id"))
	return partnerAnswer(found), err
}

func (h partners) update(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Update(r.Context(), r.Caller(), httpkit.PathID[id.Partner](r, "id"), partnerPatch(r), r.Match())
	if err != nil {
		return httpkit.Answer{}, err
	}
	return partnerAnswer(next, h.unknown(r, next)...), nil
}

func (h partners) rotate(r httpkit.Request) (httpkit.Answer, error) {
	which := httpkit.PathID[id.Partner](r, "id")
	sent, problems := httpkit.Body[PartnerRotation](r)
	rotation := access.Rotation{Grace: seconds(sent.GraceSeconds), Problems: problems}
	once := httpkit.Once(r, func(shown partner.Partner) httpkit.Answer { return partnerAnswer(shown) })
	issued, err := h.port.Rotate(r.Context(), r.Caller(), which, rotation, r.Match(), once)
	return partnerAnswer(issued.Partner, event.F("key", string(issued.Key))), err
}

func (h partners) revoke(r httpkit.Request) (httpkit.Answer, error) {
	revoked, err := h.port.Revoke(r.Context(), r.Caller(), httpkit.PathID[id.Partner](r, "id"), r.Match())
	return partnerAnswer(revoked), err
}

func partnerDraft(r httpkit.Request) partner.Draft {
	sent, problems := httpkit.Body[PartnerDraft](r)
	expiresAt := instantOf("expiresAt", sent.ExpiresAt, &problems)
	return partner.Draft{
		Settings: partner.Settings{
			Name: sent.Name, Origins: sent.Origins, ExpiresAt: expiresAt,
			Campaigns: sent.CampaignIds, Industries: sent.IndustryIds, Contacts: sent.Contacts,
		},
		Test:     sent.Test != nil && *sent.Test,
		Problems: problems,
	}
}

func partnerPatch(r httpkit.Request) partner.Patch {
	sent, problems := httpkit.Body[PartnerPatch](r)
	patch := partner.Patch{Settings: partner.Settings{
		Name: sent.Name, Origins: sent.Origins, Campaigns: sent.CampaignIds, Industries: sent.IndustryIds, Contacts: sent.Contacts,
	}}
	if sent.ExpiresAt != nil {
		patch.ExpiresAt, patch.NeverExpires = instantOf("expiresAt", *sent.ExpiresAt, &problems), *sent.ExpiresAt == nil
	}
	patch.Problems = problems
	return patch
}

func partnerAnswer(p partner.Partner, secret ...event.Field) httpkit.Answer {
	return httpkit.Answer{Data: append(p.Fields(), secret...), ETag: httpkit.VersionTag(p.Version)}
}

func newPartnerAnswer(p partner.Partner, secret ...event.Field) httpkit.Answer {
	return partnerAnswer(p, secret...).At("/v1/partners/" + string(p.ID))
}
