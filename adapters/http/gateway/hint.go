package gateway

import (
	"context"
	"encoding/json"
	"net/http"

	agents "holdco/domain/agent"
)

// nothingToDo is what a model reads when there is nothing to claim, and no reason shows.
const nothingToDo = "Nothing to do; ask again later or stop."

// whyNothing says why a claim got nothing, as far as what the agent is shown of itself tells: somebody has paused work, or a budget allows
// none.
func (s mcpServer) whyNothing(ctx context.Context) string {
	answer, err := s.request(ctx, http.MethodGet, Root+"/v1/me", http.Header{}, nil)
	if err != nil {
		return nothingToDo
	}
	var me struct {
		Data struct {
			Agent   struct{ Status string }
			Company struct{ WorkPaused bool }
			Budgets []budgetShown
		}
	}
	if err := json.Unmarshal(answer.body.Bytes(), &me); err != nil {
		return nothingToDo
	}
	switch {
	case me.Data.Company.WorkPaused:
		return "The company has paused all work. Stop, or ask again later."
	case me.Data.Agent.Status == string(agents.Paused):
		return "You are paused, and get no new work. Stop, or ask again later."
	}
	for _, one := range me.Data.Budgets {
		if why := one.why(); why != "" {
			return why
		}
	}
	return nothingToDo
}

// budgetShown is a budget as the agent is shown it.
type budgetShown struct {
	Scope                                     string
	LimitUsd, SpentUsd, HeldUsd, RemainingUsd *json.Number
}

// why says why the budget allows no lease; empty: it does.
func (b budgetShown) why() string {
	const none = json.Number("0")
	whose := map[string]string{"company": "The company", "team": "Your team", "agent": "You"}[b.Scope]
	has := " has"
	if b.Scope == "agent" {
		has = " have"
	}
	switch {
	case b.RemainingUsd == nil || *b.RemainingUsd != none:
		return ""
	case b.LimitUsd != nil && *b.LimitUsd == none:
		return whose + has + " no budget: it is 0, and there is no work before a person raises it. Stop, and say so."
	case b.HeldUsd != nil && *b.HeldUsd != none:
		return whose + has + " no budget left beside what is spent and what other leases hold. Ask again later, or stop."
	}
	return whose + has + " spent the budget of this period: there is no work before a person raises it or the next period begins. " +
		"Stop, and say so."
}
