package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type budgets struct{ port inbound.Budgets }

// Budgets handles the operations on budgets.
func Budgets(port inbound.Budgets) httpkit.Handlers {
	h := budgets{port}
	return httpkit.Handlers{
		"listBudgets": h.list,
		"topUpTeam":   h.topup,
	}
}

func (h budgets) list(r httpkit.Request) (httpkit.Answer, error) {
	of, scope := companyOf(r), r.Query()["scope"]
	bound := "budgets of=" + string(of) + " scope=" + scope
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[budget.Envelope], error) {
		return h.port.List(r.Context(), r.Caller(), of, budget.Scope(scope), after, size)
	})
}

func (h budgets) topup(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[TopupDraft](r)
	given, err := h.port.Topup(r.Context(), r.Caller(), companyOf(r),
		inbound.TopupDraft{Team: sent.TeamID, USD: sent.Usd, Problems: problems}, httpkit.Once(r, topupAnswer))
	return topupAnswer(given), err
}

func topupAnswer(given inbound.Topup) httpkit.Answer { return httpkit.Answer{Data: given.Fields()} }
