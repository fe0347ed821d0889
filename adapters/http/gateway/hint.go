package gateway

import (
	"context"

	"holdco/adapters/http/httpkit"
	agents "holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/instant"
)

// whyNothing is what a model reads when a claim got nothing: what keeps its agent from work, as far as it may know.
func (s mcpServer) whyNothing(ctx context.Context) string {
	const unknown = "Nothing to do; ask again later or stop."
	caller, _ := httpkit.AgentIn(ctx)
	me, err := s.self.Me(ctx, caller)
	if err != nil { // the claim has got nothing, whatever became of the agent since
		return unknown
	}
	if text, found := restHints[me.Agent.Obstacle(me.Company)]; found {
		return text
	}
	if me.Agent.Guard.IsHeld() {
		return "You get no new work before " + instant.Format(me.Agent.Guard.Until) + ", because your runs failed (" + me.Agent.Guard.Reason +
			"). Stop, or ask again then."
	}
	if scope, lack := me.Budgets.Lack(); lack != budget.NoLack {
		return lackers[scope] + lackHints[lack]
	}
	return unknown
}

var (
	restHints = map[agents.Obstacle]string{
		agents.CompanyRests: "The company has paused all work. Stop, or ask again later.",
		agents.AgentRests:   "You are paused, and get no new work. Stop, or ask again later.",
	}
	lackers = map[budget.Scope]string{
		budget.OfCompany: "The company has ", budget.OfTeam: "Your team has ", budget.OfAgent: "You have ",
	}
	lackHints = map[budget.Lack]string{
		budget.NoBudget: "no budget: it is 0, and there is no work before a person raises it. Stop, and say so.",
		budget.AllHeld:  "no budget left beside what is spent and what other leases hold. Ask again later, or stop.",
		budget.AllSpent: "spent the budget of this period: there is no work before a person raises it or the next period begins. " +
			"Stop, and say so.",
	}
)
