package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/ports/inbound"
)

type teams struct{ port inbound.Teams }

// Teams handles the operations on teams.
func Teams(port inbound.Teams) httpkit.Handlers {
	h := teams{port}
	return httpkit.Handlers{
		"listTeams":     h.list,
		"createTeam":    h.create,
		"getTeam":       h.get,
		"updateTeam":    h.update,
		"deleteTeam":    h.delete,
		"listTeamSlots": h.slots,
	}
}

func (h teams) list(r httpkit.Request) (httpkit.Answer, error) {
	of := companyOf(r)
	return httpkit.List(r, "teams of="+string(of), func(after page.Position, size int) (page.Page[team.Team], error) {
		return h.port.List(r.Context(), r.Caller(), of, after, size)
	})
}

func (h teams) create(r httpkit.Request) (httpkit.Answer, error) {
	made, err := h.port.Create(r.Context(), r.Caller(), companyOf(r), teamDraft(r), httpkit.Once(r, newTeamAnswer))
	return newTeamAnswer(made), err
}

func (h teams) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), r.Path("team"))
	return teamAnswer(found), err
}

func (h teams) update(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Update(r.Context(), r.Caller(), companyOf(r), r.Path("team"), teamPatch(r), r.Match())
	return teamAnswer(next), err
}

func (h teams) delete(r httpkit.Request) (httpkit.Answer, error) {
	last, err := h.port.Delete(r.Context(), r.Caller(), companyOf(r), r.Path("team"), r.Match())
	return teamAnswer(last), err
}

func (h teams) slots(r httpkit.Request) (httpkit.Answer, error) {
	of, which := companyOf(r), r.Path("team")
	return httpkit.List(r, "slots of="+string(of)+" team="+which, func(after page.Position, size int) (page.Page[team.Slot], error) {
		return h.port.Slots(r.Context(), r.Caller(), of, which, after, size)
	})
}

// companyOf is the company that the path of a request names.
func companyOf(r httpkit.Request) id.Company { return httpkit.PathID[id.Company](r, "id") }

func teamDraft(r httpkit.Request) team.Draft {
	sent, problems := httpkit.Body[TeamDraft](r)
	return team.Draft{
		Name: sent.Name, Headcount: sent.Headcount, Problems: problems,
		Settings: teamSettings(sent.Description, sent.ManagerAgentID, sent.Budget),
	}
}

func teamPatch(r httpkit.Request) team.Patch {
	sent, problems := httpkit.Body[TeamPatch](r)
	return team.Patch{
		Name: sent.Name, Headcount: sent.Headcount, Problems: problems,
		Settings: teamSettings(sent.Description, sent.ManagerAgentID, sent.Budget),
	}
}

// teamSettings are the fields that a draft and a patch have in common.
func teamSettings(description *string, manager **string, limit **TeamBudgetChange) team.Settings {
	settings := team.Settings{Description: description, Manager: manager}
	if limit != nil {
		settings.Budget = new(*budget.LimitDraft)
		if *limit != nil {
			*settings.Budget = &budget.LimitDraft{USD: (*limit).Usd}
		}
	}
	return settings
}

func teamAnswer(t team.Team) httpkit.Answer {
	return httpkit.Answer{Data: t.Fields(), ETag: httpkit.VersionTag(t.Version)}
}

func newTeamAnswer(t team.Team) httpkit.Answer {
	return teamAnswer(t).At("/v1/companies/" + string(t.Company) + "/teams/" + string(t.ID))
}
