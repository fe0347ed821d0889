package rest

import (
	"strings"

	"holdco/adapters/http/httpkit"
	"holdco/domain/agent"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type agents struct{ port inbound.Agents }

// Agents handles the operations on agents.
func Agents(port inbound.Agents) httpkit.Handlers {
	h := agents{port}
	return httpkit.Handlers{
		"listAgents":       h.list,
		"hireAgent":        h.hire,
		"getAgent":         h.get,
		"updateAgent":      h.update,
		"pauseAgent":       h.pause,
		"resumeAgent":      h.resume,
		"releaseAgentHold": h.releaseHold,
		"retireAgent":      h.retire,
		"rotateAgentToken": h.rotateToken,
	}
}

func (h agents) list(r httpkit.Request) (httpkit.Answer, error) {
	query := r.Query()
	words, err := wordsIn(query)
	if err != nil {
		return httpkit.Answer{}, err
	}
	list := inbound.AgentList{
		Company: companyOf(r), Team: query["team"], Adapter: query["adapter"], Status: statesOf[agent.Status](r), Words: words,
	}
	bound := "agents of=" + string(list.Company) + " " + query.Filters()
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[listedAgent], error) {
		list.After, list.Size = after, size
		found, err := h.port.List(r.Context(), r.Caller(), list)
		return page.Page[listedAgent]{Items: listedAgents(found.Items), Next: found.Next}, err
	})
}

// listedAgent is an agent as lists show it.
type listedAgent struct{ agent.Agent }

// Fields returns what lists show of the agent.
func (a listedAgent) Fields() event.Fields { return a.ListedFields() }

func listedAgents(found []agent.Agent) []listedAgent {
	listed := make([]listedAgent, len(found))
	for n, one := range found {
		listed[n] = listedAgent{one}
	}
	return listed
}

// statesOf are the states that a list is to have; nil: any.
func statesOf[S ~string](r httpkit.Request) (states []S) {
	if sent, isSent := r.Query()["status"]; isSent {
		for one := range strings.SplitSeq(sent, ",") {
			states = append(states, S(one))
		}
	}
	return states
}

func (h agents) hire(r httpkit.Request) (httpkit.Answer, error) {
	once := httpkit.Once(r, func(shown agent.Agent) httpkit.Answer { return newAgentAnswer(shown) })
	hired, err := h.port.Hire(r.Context(), r.Caller(), companyOf(r), agentDraft(r), once)
	return newAgentAnswer(hired.Agent, event.F("token", string(hired.Token))), err
}

func (h agents) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), agentOf(r))
	return agentAnswer(found), err
}

func (h agents) update(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Update(r.Context(), r.Caller(), companyOf(r), agentOf(r), agentPatch(r), r.Match())
	return agentAnswer(next), err
}

func (h agents) pause(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Pause(r.Context(), r.Caller(), companyOf(r), agentOf(r), r.Match(), onceAgent(r))
	return agentAnswer(next), err
}

func (h agents) resume(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Resume(r.Context(), r.Caller(), companyOf(r), agentOf(r), r.Match(), onceAgent(r))
	return agentAnswer(next), err
}

func (h agents) releaseHold(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.ReleaseHold(r.Context(), r.Caller(), companyOf(r), agentOf(r), r.Match(), onceAgent(r))
	return agentAnswer(next), err
}

func (h agents) retire(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Retire(r.Context(), r.Caller(), companyOf(r), agentOf(r), r.Match(), onceAgent(r))
	return agentAnswer(next), err
}

func (h agents) rotateToken(r httpkit.Request) (httpkit.Answer, error) {
	rotated, err := h.port.RotateToken(r.Context(), r.Caller(), companyOf(r), agentOf(r), r.Match(), onceAgent(r))
	return agentAnswer(rotated.Agent, event.F("token", string(rotated.Token))), err
}

func agentOf(r httpkit.Request) id.Agent { return httpkit.PathID[id.Agent](r, "agent") }

func onceAgent(r httpkit.Request) idempotency.Request {
	return httpkit.Once(r, func(shown agent.Agent) httpkit.Answer { return agentAnswer(shown) })
}

func agentDraft(r httpkit.Request) agent.Draft {
	sent, problems := httpkit.Body[AgentDraft](r)
	return agent.Draft{
		Team: sent.TeamID,
		Settings: agentSettings(sent.Name, sent.Role, sent.Adapter, sent.Model, sent.AdapterConfig, sent.MemoryScopes, sent.Budget,
			sent.ApprovalPolicy, sent.Instructions),
		Problems: problems,
	}
}

func agentPatch(r httpkit.Request) agent.Patch {
	sent, problems := httpkit.Body[AgentPatch](r)
	return agent.Patch{
		Settings: agentSettings(sent.Name, sent.Role, sent.Adapter, sent.Model, sent.AdapterConfig, sent.MemoryScopes, sent.Budget,
			sent.ApprovalPolicy, sent.Instructions),
		Problems: problems,
	}
}

// agentSettings are the fields that a draft and a patch have in common.
func agentSettings(
	name, role, adapter, model *string, config *httpkit.Object, scopes *[]string, limits *AgentBudgetChange, policy *ApprovalPolicyChange,
	instructions **string,
) agent.Settings {
	settings := agent.Settings{
		Name: name, Role: role, Adapter: adapter, Model: model, AdapterConfig: (*[]byte)(config), MemoryScopes: scopes,
		Instructions: instructions,
	}
	if limits != nil {
		settings.Budget = &agent.BudgetChange{PerTask: limits.PerTaskUsd, Daily: limits.DailyUsd}
	}
	if policy != nil {
		settings.Requires = policy.Requires
	}
	return settings
}

func agentAnswer(a agent.Agent, secret ...event.Field) httpkit.Answer {
	return httpkit.Answer{Data: append(a.Fields(), secret...), ETag: httpkit.CountedTag(a.Version, int64(a.Stats.Spent))}
}

func newAgentAnswer(a agent.Agent, secret ...event.Field) httpkit.Answer {
	return agentAnswer(a, secret...).At("/v1/companies/" + string(a.Company) + "/agents/" + string(a.ID))
}
