package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"holdco/adapters/http/httpkit"
	agents "holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/instant"
)

// whyNothing is what a model reads when a claim got nothing: which lease it has, and what keeps its agent from more work, as far as it
// may know.
func (s mcpServer) whyNothing(ctx context.Context) string { return s.leaseHeld(ctx) + s.obstacle(ctx) }

// leaseHeld names the newest lease of the agent, to one that has forgotten it perhaps; empty: it has none.
func (s mcpServer) leaseHeld(ctx context.Context) string {
	answer, err := s.request(ctx, http.MethodGet, Root+"/v1/leases", http.Header{}, nil)
	if err != nil {
		return ""
	}
	var held struct {
		Data []struct {
			LeaseID      string
			FencingToken int64
			Issue        struct {
				Number int64
				Title  string
			}
		}
	}
	if err := json.Unmarshal(answer.body.Bytes(), &held); err != nil || len(held.Data) == 0 {
		return ""
	}
	last := held.Data[len(held.Data)-1]
	others := ""
	if more := len(held.Data) - 1; more > 0 {
		others = fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("You hold the lease %s#%d on issue %d %q%s: continue there, or end it; list_leases shows what you hold. ",
		last.LeaseID, last.FencingToken, last.Issue.Number, last.Issue.Title, others)
}

// obstacle is what keeps an agent from work.
func (s mcpServer) obstacle(ctx context.Context) string {
	const unknown = "Nothing to do: there is no issue that you can take now. Try again later, or stop."
	caller, _ := httpkit.AgentIn(ctx)
	me, err := s.self.Me(ctx, caller)
	if err != nil { // the claim has got nothing, whatever became of the agent since
		return unknown
	}
	if text, found := restHints[me.Agent.Obstacle(me.Company)]; found {
		return text
	}
	if me.Agent.Guard.IsHeld() {
		return "You get no new work before " + instant.Format(me.Agent.Guard.Until) +
			", because your runs failed (" + me.Agent.Guard.Reason +
			"). Stop, or ask again then."
	}
	if scope, lack := me.Budgets.Lack(); lack != budget.NoLack {
		return lackers[scope] + lackHints[lack]
	}
	return unknown
}

var (
	restHints = map[agents.Obstacle]string{
		agents.CompanyRests: "The company has paused all work. Stop, or try again later.",
		agents.AgentRests:   "You are paused, and get no new work. Stop, or try again later.",
	}
	lackers = map[budget.Scope]string{
		budget.OfCompany: "The company has ", budget.OfTeam: "Your team has ", budget.OfAgent: "You have ",
	}
	lackHints = map[budget.Lack]string{
		budget.NoBudget: "no budget: it is 0, and there is no work before a person raises it. Stop, and say so.",
		budget.AllHeld:  "no budget left beside what is spent and what other leases hold. Try again later, or stop.",
		budget.AllSpent: "spent the budget of this period: there is no work before a person raises it or the next period begins. " +
			"Stop, and say so.",
	}
)
