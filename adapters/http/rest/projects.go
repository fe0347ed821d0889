package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type projects struct{ port inbound.Projects }

// Projects handles the operations on projects.
func Projects(port inbound.Projects) httpkit.Handlers {
	h := projects{port}
	return httpkit.Handlers{
		"listProjects":   h.list,
		"createProject":  h.create,
		"getProject":     h.get,
		"updateProject":  h.update,
		"archiveProject": h.archive,
	}
}

func (h projects) list(r httpkit.Request) (httpkit.Answer, error) {
	query := r.Query()
	words, err := wordsIn(query)
	if err != nil {
		return httpkit.Answer{}, err
	}
	list := inbound.ProjectList{Company: companyOf(r), Goal: query["goal"], Status: statesOf[goal.ProjectStatus](r), Words: words}
	bound := "projects of=" + string(list.Company) + " " + query.Filters()
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[goal.ShownProject], error) {
		list.After, list.Size = after, size
		return h.port.List(r.Context(), r.Caller(), list)
	})
}

func (h projects) create(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ProjectDraft](r)
	draft := goal.ProjectDraft{
		PurposeDraft: purposeOf(sent.Title, sent.Description, sent.Budget, problems), Goal: sent.GoalID, OwnerTeam: sent.OwnerTeamID,
	}
	made, err := h.port.Create(r.Context(), r.Caller(), companyOf(r), draft, httpkit.Once(r, newProjectAnswer))
	return newProjectAnswer(made), err
}

func (h projects) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), projectOf(r))
	return projectAnswer(found), err
}

func (h projects) update(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ProjectPatch](r)
	patch := goal.ProjectDraft{
		PurposeDraft: purposeOf(sent.Title, sent.Description, sent.Budget, problems), Goal: sent.GoalID, OwnerTeam: sent.OwnerTeamID,
	}
	next, err := h.port.Update(r.Context(), r.Caller(), companyOf(r), projectOf(r), patch, r.Match())
	return projectAnswer(next), err
}

func (h projects) archive(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ProjectArchiving](r)
	archiving := goal.Archiving{CancelOpenIssues: sent.CancelOpenIssues, Problems: problems}
	once := httpkit.Once(r, projectAnswer)
	next, err := h.port.Archive(r.Context(), r.Caller(), companyOf(r), projectOf(r), archiving, r.Match(), once)
	return projectAnswer(next), err
}

func projectOf(r httpkit.Request) id.Project { return httpkit.PathID[id.Project](r, "project") }

var projectAnswer = purposeAnswer[id.Project, goal.Project]

func newProjectAnswer(shown goal.ShownProject) httpkit.Answer {
	return projectAnswer(shown).At("/v1/companies/" + string(shown.Of.Company) + "/projects/" + string(shown.Of.ID))
}
