package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/budget"
	"holdco/domain/page"
	"holdco/domain/workflow"
	"holdco/ports/inbound"
)

type workflows struct{ port inbound.Workflows }

// Workflows handles the operations on workflows.
func Workflows(port inbound.Workflows) httpkit.Handlers {
	h := workflows{port}
	return httpkit.Handlers{
		"listWorkflows":  h.list,
		"createWorkflow": h.create,
		"getWorkflow":    h.get,
		"updateWorkflow": h.update,
		"deleteWorkflow": h.delete,
	}
}

func (h workflows) list(r httpkit.Request) (httpkit.Answer, error) {
	of := companyOf(r)
	return httpkit.List(r, "workflows of="+string(of), func(after page.Position, size int) (page.Page[workflow.Workflow], error) {
		return h.port.List(r.Context(), r.Caller(), of, after, size)
	})
}

func (h workflows) create(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[WorkflowDraft](r)
	draft := workflow.Draft{
		Name: sent.Name, Slug: sent.Slug, Description: sent.Description, Budget: budgetOf(sent.Budget), Steps: stepsOf(sent.Steps),
		Problems: problems,
	}
	made, err := h.port.Create(r.Context(), r.Caller(), companyOf(r), draft, httpkit.Once(r, newWorkflowAnswer))
	return newWorkflowAnswer(made), err
}

func (h workflows) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), r.Path("workflow"))
	return workflowAnswer(found), err
}

func (h workflows) update(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[WorkflowPatch](r)
	patch := workflow.Draft{
		Name: sent.Name, Slug: sent.Slug, Description: sent.Description, Budget: budgetOf(sent.Budget), Steps: stepsOf(sent.Steps),
		Problems: problems,
	}
	next, err := h.port.Update(r.Context(), r.Caller(), companyOf(r), r.Path("workflow"), patch, r.Match())
	return workflowAnswer(next), err
}

func (h workflows) delete(r httpkit.Request) (httpkit.Answer, error) {
	last, err := h.port.Delete(r.Context(), r.Caller(), companyOf(r), r.Path("workflow"), r.Match())
	return workflowAnswer(last), err
}

func stepsOf(sent *[]WorkflowStepDraft) *[]workflow.StepDraft {
	if sent == nil {
		return nil
	}
	steps := make([]workflow.StepDraft, len(*sent))
	for n, step := range *sent {
		steps[n] = workflow.StepDraft{
			Key: step.Key, Title: step.Title, Instructions: step.Instructions, Team: step.Team, Gate: step.Gate,
		}
	}
	return &steps
}

// budgetOf is a limit that was sent, null or not.
func budgetOf(sent **TeamBudgetChange) **budget.LimitDraft {
	if sent == nil {
		return nil
	}
	limit := new(*budget.LimitDraft)
	if *sent != nil {
		*limit = &budget.LimitDraft{USD: (*sent).Usd}
	}
	return limit
}

func workflowAnswer(w workflow.Workflow) httpkit.Answer {
	return httpkit.Answer{Data: w.Fields(), ETag: httpkit.VersionTag(w.Version)}
}

func newWorkflowAnswer(w workflow.Workflow) httpkit.Answer {
	return workflowAnswer(w).At("/v1/companies/" + string(w.Company) + "/workflows/" + string(w.ID))
}
