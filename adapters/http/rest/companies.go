package rest

import (
	"maps"

	"slices"
	"strings"

	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/ports/inbound"
)

type companies struct{ port inbound.Companies }

// Companies handles the operations on companies.
func Companies(port inbound.Companies) httpkit.Handlers {
	h := companies{port}
	return httpkit.Handlers{
		"listCompanies":  h.list,
		"createCompany":  h.create,
		"getCompany":     h.get,
		"updateCompany":  h.update,
		"archiveCompany": h.archive,
		"restoreCompany": h.restore,
		"deleteCompany":  h.delete,
	}
}

func (h companies) list(r httpkit.Request) (httpkit.Answer, error) {
	words, err := wordsIn(r.Query())
	if err != nil {
		return httpkit.Answer{}, err
	}
	status, hasStatus := r.Query()["status"]
	slug, hasSlug := r.Query()["slug"]
	list := inbound.CompanyList{Status: company.Status(status), Words: words}
	if !hasStatus && !hasSlug {
		list.Status = company.Active
	}
	if hasSlug {
		list.Slug = &slug
	}
	bound := maps.Clone(r.Query())
	bound["status"] = string(list.Status) // one list, whether it is asked for by name or not
	return httpkit.List(r, "companies "+bound.Filters(), func(after page.Position, size int) (page.Page[company.Company], error) {
		list.After, list.Size = after, size
		return h.port.List(r.Context(), r.Caller(), list)
	})
}

func (h companies) create(r httpkit.Request) (httpkit.Answer, error) {
	founding, err := h.port.Create(r.Context(), r.Caller(), companyDraft(r), httpkit.Once(r, foundingAnswer))
	return foundingAnswer(founding), err
}

func (h companies) get(r httpkit.Request) (httpkit.Answer, error) {
	which := httpkit.PathID[id.Company](r, "id")
	include, sent := r.Query()["include"]
	if !sent {
		found, err := h.port.Get(r.Context(), r.Caller(), which)
		return companyAnswer(found), err
	}

	wanted := strings.Split(include, ",")
	parts := inbound.CompanyParts{
		Teams: slices.Contains(wanted, "teams"), Agents: slices.Contains(wanted, "agents"),
		Workflows: slices.Contains(wanted, "workflows"), Budgets: slices.Contains(wanted, "budgets"),
	}
	found, err := h.port.GetWith(r.Context(), r.Caller(), which, parts)
	return httpkit.Answer{Data: including(found, wanted)}, err
}

func (h companies) update(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Update(r.Context(), r.Caller(), httpkit.PathID[id.Company](r, "id"), companyPatch(r), r.Match())
	return companyAnswer(next), err
}

func (h companies) archive(r httpkit.Request) (httpkit.Answer, error) {
	which, once := httpkit.PathID[id.Company](r, "id"), httpkit.Once(r, companyAnswer)
	next, err := h.port.Archive(r.Context(), r.Caller(), which, r.Match(), once)
	return companyAnswer(next), err
}

func (h companies) restore(r httpkit.Request) (httpkit.Answer, error) {
	which, once := httpkit.PathID[id.Company](r, "id"), httpkit.Once(r, companyAnswer)
	next, err := h.port.Restore(r.Context(), r.Caller(), which, r.Match(), once)
	return companyAnswer(next), err
}

func (h companies) delete(r httpkit.Request) (httpkit.Answer, error) {
	deletion, err := h.port.Delete(r.Context(), r.Caller(), httpkit.PathID[id.Company](r, "id"), r.Match())
	answer := companyAnswer(deletion.Company)
	if !deletion.Gone {
		answer.Status = httpkit.Accepted
	}
	return answer, err
}

func companyDraft(r httpkit.Request) company.Draft {
	sent, problems := httpkit.Body[CompanyDraft](r)
	draft := company.Draft{
		Slug:     sent.Slug,
		Name:     sent.Name,
		Settings: companySettings(sent.Description, sent.DefaultAdapter, sent.FiscalPeriod, sent.Budget),
		Problems: problems,
	}
	if sent.StartingTeams != nil {
		draft.StartingTeams = []team.Draft{}
		for _, t := range *sent.StartingTeams {
			draft.StartingTeams = append(draft.StartingTeams, team.Draft{Name: t.Name, Headcount: t.Headcount})
		}
	}
	return draft
}

func companyPatch(r httpkit.Request) company.Patch {
	sent, problems := httpkit.Body[CompanyPatch](r)
	return company.Patch{
		Name:       sent.Name,
		WorkPaused: sent.WorkPaused,
		Settings:   companySettings(sent.Description, sent.DefaultAdapter, sent.FiscalPeriod, sent.Budget),
		Problems:   problems,
	}
}

// companySettings are the fields that a draft and a patch have in common.
func companySettings(description, defaultAdapter, fiscalPeriod *string, sent *BudgetChange) company.Settings {
	settings := company.Settings{Description: description, DefaultAdapter: defaultAdapter, FiscalPeriod: fiscalPeriod}
	if sent != nil {
		settings.Budget = &budget.Change{USD: sent.Usd, Period: sent.Period, ReservePercent: sent.ReservePercent}
	}
	return settings
}

func companyAnswer(c company.Company) httpkit.Answer {
	return httpkit.Answer{Data: c.Fields(), ETag: httpkit.VersionTag(c.Version)}
}

// foundingAnswer shows a new company. What embeds other resources has no version of its own, hence no ETag.
func foundingAnswer(founding company.Founding) httpkit.Answer {
	answer := companyAnswer(founding.Company).At("/v1/companies/" + string(founding.Company.ID))
	if founding.Teams != nil {
		answer.ETag = ""
		answer.Data = append(founding.Company.Fields(),
			event.F("teams", httpkit.Show(founding.Teams)), event.F("agentSlots", httpkit.Show(founding.Slots)))
	}
	return answer
}

// including shows a company with what was asked for.
func including(found inbound.CompanyWithParts, wanted []string) event.Fields {
	shown := found.Company.Fields()
	for _, part := range []struct {
		name  string
		items []event.Fields
	}{
		{"teams", httpkit.Show(found.Teams)},
		{"agents", httpkit.Show(listedAgents(found.Agents))},
		{"workflows", httpkit.Show(found.Workflows)},
		{"budgets", httpkit.Show(found.Budgets)},
	} {
		if slices.Contains(wanted, part.name) {
			shown = append(shown, event.F(part.name, part.items))
		}
	}
	return shown
}
