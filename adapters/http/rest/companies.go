package rest

import (
	"fmt"
	"slices"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/team"
	"holdco/ports/inbound"
)

// companies answers the operations on companies.
type companies struct{ port inbound.Companies }

// ListCompanies answers GET /v1/companies.
func (h companies) ListCompanies(c *gin.Context, params ListCompaniesParams) {
	list := inbound.CompanyList{Slug: params.Slug}
	switch {
	case params.Status != nil:
		list.Status = company.Status(*params.Status)
	case params.Slug == nil:
		list.Status = company.Active
	}
	query := fmt.Sprintf("companies status=%s", list.Status)
	if list.Slug != nil {
		query += " slug=" + *list.Slug
	}
	var err error
	if list.After, list.Size, err = pageAfter(query, params.Cursor, params.Limit); err != nil {
		httpkit.Fail(c, err)
		return
	}
	found, err := h.port.List(c.Request.Context(), httpkit.CallerOf(c), list)
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, listAnswer(query, list.Size, found, companyView))
}

// CreateCompany answers POST /v1/companies.
func (h companies) CreateCompany(c *gin.Context, _ CreateCompanyParams) {
	founding, err := h.port.Create(c.Request.Context(), httpkit.CallerOf(c), draftOf(c), httpkit.Once(c, foundingAnswer))
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, foundingAnswer(founding))
}

// GetCompany answers GET /v1/companies/{id}.
func (h companies) GetCompany(c *gin.Context, which CompanyID, params GetCompanyParams) {
	ctx, caller := c.Request.Context(), httpkit.CallerOf(c)
	companyID, _ := id.Parse[id.Company](which)
	if params.Include == nil {
		found, err := h.port.Get(ctx, caller, companyID)
		h.answer(c, found, err)
		return
	}

	var found company.Company
	var teams []team.Team
	var err error
	if slices.Contains(*params.Include, GetCompanyParamsIncludeTeams) {
		found, teams, err = h.port.GetWithTeams(ctx, caller, companyID)
	} else {
		found, err = h.port.Get(ctx, caller, companyID)
	}
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, httpkit.Answer{Data: embed(companyView(found), *params.Include, teams)})
}

// UpdateCompany answers PATCH /v1/companies/{id}.
func (h companies) UpdateCompany(c *gin.Context, which CompanyID, _ UpdateCompanyParams) {
	companyID, _ := id.Parse[id.Company](which)
	next, err := h.port.Update(c.Request.Context(), httpkit.CallerOf(c), companyID, patchOf(c), httpkit.MatchOf(c))
	h.answer(c, next, err)
}

// ArchiveCompany answers POST /v1/companies/{id}/archive.
func (h companies) ArchiveCompany(c *gin.Context, which CompanyID, _ ArchiveCompanyParams) {
	companyID, _ := id.Parse[id.Company](which)
	once := httpkit.Once(c, companyAnswer)
	next, err := h.port.Archive(c.Request.Context(), httpkit.CallerOf(c), companyID, httpkit.MatchOf(c), once)
	h.answer(c, next, err)
}

// RestoreCompany answers POST /v1/companies/{id}/restore.
func (h companies) RestoreCompany(c *gin.Context, which CompanyID, _ RestoreCompanyParams) {
	companyID, _ := id.Parse[id.Company](which)
	once := httpkit.Once(c, companyAnswer)
	next, err := h.port.Restore(c.Request.Context(), httpkit.CallerOf(c), companyID, httpkit.MatchOf(c), once)
	h.answer(c, next, err)
}

// DeleteCompany answers DELETE /v1/companies/{id}.
func (h companies) DeleteCompany(c *gin.Context, which CompanyID, _ DeleteCompanyParams) {
	companyID, _ := id.Parse[id.Company](which)
	deletion, err := h.port.Delete(c.Request.Context(), httpkit.CallerOf(c), companyID, httpkit.MatchOf(c))
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	answer := companyAnswer(deletion.Company)
	if !deletion.Gone {
		answer.Status = httpkit.Accepted
	}
	httpkit.Write(c, answer)
}

// answer shows one company, or why not.
func (h companies) answer(c *gin.Context, shown company.Company, err error) {
	if err != nil {
		httpkit.Fail(c, err)
		return
	}
	httpkit.Write(c, companyAnswer(shown))
}

func draftOf(c *gin.Context) company.Draft {
	sent, problems := httpkit.Decode[CompanyDraft](httpkit.BodyOf(c))
	draft := company.Draft{
		Slug:     sent.Slug,
		Name:     sent.Name,
		Settings: settings(sent.Description, sent.DefaultAdapter, sent.FiscalPeriod, sent.Budget),
		Problems: problems,
	}
	if sent.StartingTeams != nil {
		draft.StartingTeams = each(*sent.StartingTeams, func(t TeamDraft) team.Draft {
			return team.Draft{Name: t.Name, Headcount: t.Headcount}
		})
	}
	return draft
}

func patchOf(c *gin.Context) company.Patch {
	sent, problems := httpkit.Decode[CompanyPatch](httpkit.BodyOf(c))
	return company.Patch{
		Name:     sent.Name,
		Settings: settings(sent.Description, sent.DefaultAdapter, sent.FiscalPeriod, sent.Budget),
		Problems: problems,
	}
}

// settings are the fields that a draft and a patch have in common.
func settings(description, defaultAdapter, fiscalPeriod *string, sent *BudgetChange) company.Settings {
	return company.Settings{
		Description:    description,
		DefaultAdapter: defaultAdapter,
		FiscalPeriod:   fiscalPeriod,
		Budget:         budgetChange(sent),
	}
}

func budgetChange(sent *BudgetChange) *budget.Change {
	if sent == nil {
		return nil
	}
	return &budget.Change{USD: sent.Usd, Period: sent.Period, ReservePercent: sent.ReservePercent}
}

func companyAnswer(c company.Company) httpkit.Answer {
	return httpkit.Answer{Data: companyView(c), ETag: httpkit.VersionTag(c.Version)}
}

// foundingAnswer shows a new company. What embeds other resources has no version of its own, hence no ETag.
func foundingAnswer(founding company.Founding) httpkit.Answer {
	answer := companyAnswer(founding.Company)
	answer.Status, answer.Location = httpkit.Created, "/v1/companies/"+string(founding.Company.ID)
	if founding.Teams != nil {
		view := companyView(founding.Company)
		teams, slots := each(founding.Teams, teamView), each(founding.Slots, slotView)
		view.Teams, view.AgentSlots = &teams, &slots
		answer.Data, answer.ETag = view, ""
	}
	return answer
}

func companyView(c company.Company) Company {
	return Company{
		ID:             string(c.ID),
		Slug:           c.Slug,
		Name:           c.Name,
		Description:    c.Description,
		DefaultAdapter: c.DefaultAdapter,
		FiscalPeriod:   string(c.FiscalPeriod),
		Budget: Budget{
			Usd:            c.Budget.USD,
			Period:         string(c.Budget.Period),
			ReservePercent: c.Budget.ReservePercent,
		},
		TeamCount:       c.TeamCount,
		AgentCount:      c.AgentCount,
		Status:          string(c.Status),
		CreatedAt:       instant.Format(c.CreatedAt),
		UpdatedAt:       instant.Format(c.UpdatedAt),
		ArchivedAt:      instant.Optional(c.ArchivedAt),
		RestorableUntil: instant.Optional(c.RestorableUntil),
	}
}

// embed adds what was asked for. There are no agents, workflows or further budgets yet.
func embed(view Company, include []GetCompanyParamsInclude, teams []team.Team) Company {
	for _, name := range include {
		none := []map[string]any{}
		switch name {
		case GetCompanyParamsIncludeTeams:
			shown := each(teams, teamView)
			view.Teams = &shown
		case GetCompanyParamsIncludeAgents:
			view.Agents = &none
		case GetCompanyParamsIncludeWorkflows:
			view.Workflows = &none
		case GetCompanyParamsIncludeBudgets:
			view.Budgets = &none
		}
	}
	return view
}

func teamView(t team.Team) Team {
	return Team{
		ID:         string(t.ID),
		CompanyID:  string(t.Company),
		Name:       t.Name,
		Slug:       t.Slug,
		Headcount:  t.Headcount,
		AgentCount: t.AgentCount,
		CreatedAt:  instant.Format(t.CreatedAt),
		UpdatedAt:  instant.Format(t.UpdatedAt),
	}
}

func slotView(s team.Slot) AgentSlot {
	view := AgentSlot{ID: string(s.ID), CompanyID: string(s.Company), TeamID: string(s.Team), Status: string(s.Status())}
	if s.Agent != "" {
		agent := string(s.Agent)
		view.AgentID = &agent
	}
	return view
}
