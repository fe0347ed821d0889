package gateway

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

func (h leases) file(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[AgentIssueDraft](r)
	call := inbound.LeaseCall{Token: sent.FencingToken, Once: httpkit.Once(r, fileAnswer), Problems: problems}
	if sent.LeaseID == nil {
		call.Problems.Add(fault.Fieldf("leaseId", fault.Required, "leaseId is required"))
	} else {
		call.Lease, _ = id.Parse[id.Lease](*sent.LeaseID) // what is no id is no lease
	}
	draft := issue.Draft{Title: sent.Title, Agent: sent.AssignedAgentID, Team: sent.AssignedTeamID, Settings: issue.Settings{
		Description: sent.Description, Priority: sent.Priority, Parent: sent.ParentID, BlockedBy: sent.BlockedBy, Labels: sent.Labels,
	}}
	if sent.ProjectID != nil {
		draft.Project = &sent.ProjectID
	}
	if sent.GoalID != nil {
		draft.Goal = &sent.GoalID
	}
	if sent.Budget != nil {
		draft.PerTask = sent.Budget.PerTaskUsd
	}
	made, err := h.port.File(r.Context(), r.Agent(), call, draft)
	return fileAnswer(made), err
}

func fileAnswer(made issue.Issue) httpkit.Answer {
	return httpkit.Answer{Data: made.Fields()}.At(Root + "/v1/issues/" + string(made.ID))
}

func (h leases) issue(r httpkit.Request) (httpkit.Answer, error) {
	which, err := h.issueOf(r)
	if err != nil {
		return httpkit.Answer{}, err
	}
	found, err := h.port.Issue(r.Context(), r.Agent(), which)
	return httpkit.Answer{Data: found.Fields()}, err
}

func (h leases) comments(r httpkit.Request) (httpkit.Answer, error) {
	on, err := h.issueOf(r)
	if err != nil {
		return httpkit.Answer{}, err
	}
	return httpkit.List(r, "comments on="+string(on), func(after page.Position, size int) (page.Page[issue.Comment], error) {
		return h.port.Comments(r.Context(), r.Agent(), on, after, size)
	})
}

func (h leases) colleagues(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Colleagues(r.Context(), r.Agent())
	shown := make([]event.Fields, len(found))
	for n, one := range found {
		shown[n] = event.Fields{
			event.F("id", string(one.ID)),
			event.F("name", one.Name),
			event.F("role", one.Role),
			event.F("teamId", string(one.Team)),
			event.F("status", string(one.Status)),
		}
	}
	return httpkit.Answer{Data: shown}, err
}

// issueOf is the issue in the path, which is there by its id or its number.
func (h leases) issueOf(r httpkit.Request) (id.Issue, error) {
	return h.port.FindIssue(r.Context(), r.Agent(), r.Path("issue"))
}
