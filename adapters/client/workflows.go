package client

import (
	"encoding/json"
	"net/http"
)

// Workflow is what is read of a workflow.
type Workflow struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Slug        string `json:"slug"`
	Description string `json:"description"`
	Version     int    `json:"version"`
	Budget      struct {
		USD json.Number `json:"usd"` // empty: no limit
	} `json:"budget"`
	Steps []struct {
		Key   string `json:"key"`
		Title string `json:"title"`
		Team  string `json:"team"` // empty: none
		Gate  string `json:"gate"`
	} `json:"steps"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

const workflows, oneWorkflow = "/v1/companies/{id}/workflows", "/v1/companies/{id}/workflows/{workflow}"

var workflowFields = []string{"name", "slug", "description", "budget.usd", "steps"}

// The operations on workflows.
var (
	ListWorkflows = declare(Operation{
		ID: "listWorkflows", Method: http.MethodGet, Path: workflows, Query: []string{"limit", "cursor"}, Shows: Workflow{},
	})
	CreateWorkflow = declare(Operation{
		ID: "createWorkflow", Method: http.MethodPost, Path: workflows, Fields: workflowFields, Shows: Workflow{},
	})
	GetWorkflow    = declare(Operation{ID: "getWorkflow", Method: http.MethodGet, Path: oneWorkflow, Shows: Workflow{}})
	UpdateWorkflow = declare(Operation{
		ID: "updateWorkflow", Method: http.MethodPatch, Path: oneWorkflow, Fields: workflowFields, Shows: Workflow{},
	})
	DeleteWorkflow = declare(Operation{ID: "deleteWorkflow", Method: http.MethodDelete, Path: oneWorkflow, Shows: Workflow{}})
)
