package client

import (
	"encoding/json"
	"net/http"
)

// Purpose is what is read of goals and projects alike.
type Purpose struct {
	ID          string `json:"id"`
	Title       string `json:"title"`
	Description string `json:"description"`
	Status      string `json:"status"`
	Budget      struct {
		USD      json.Number `json:"usd"` // empty: no limit
		SpentUSD json.Number `json:"spentUsd"`
	} `json:"budget"`
	Progress struct {
		Total    int `json:"tasksTotal"`
		Done     int `json:"tasksDone"`
		InFlight int `json:"tasksInFlight"`
		Queued   int `json:"tasksQueued"`
	} `json:"progress"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

// Goal is what is read of a goal.
type Goal struct {
	Purpose
	TargetDate string   `json:"targetDate"` // empty: none
	ProjectIDs []string `json:"projectIds"`
}

// Project is what is read of a project.
type Project struct {
	Purpose
	GoalID      string `json:"goalId"`      // empty: none
	OwnerTeamID string `json:"ownerTeamId"` // empty: none
}

const (
	goals, oneGoal       = "/v1/companies/{id}/goals", "/v1/companies/{id}/goals/{goal}"
	projects, oneProject = "/v1/companies/{id}/projects", "/v1/companies/{id}/projects/{project}"
)

var (
	goalFields    = []string{"title", "description", "targetDate", "budget.usd"}
	projectFields = []string{"title", "description", "goalId", "ownerTeamId", "budget.usd"}
)

// The operations on goals and projects.
var (
	ListGoals = declare(Operation{
		ID: "listGoals", Method: http.MethodGet, Path: goals, Query: []string{"status", "limit", "cursor"}, Shows: Goal{},
	})
	CreateGoal = declare(Operation{ID: "createGoal", Method: http.MethodPost, Path: goals, Fields: goalFields, Shows: Goal{}})
	GetGoal    = declare(Operation{ID: "getGoal", Method: http.MethodGet, Path: oneGoal, Shows: Goal{}})
	UpdateGoal = declare(Operation{ID: "updateGoal", Method: http.MethodPatch, Path: oneGoal, Fields: goalFields, Shows: Goal{}})
	CloseGoal  = declare(Operation{
		ID: "closeGoal", Method: http.MethodPost, Path: oneGoal + "/close", Fields: []string{"outcome"}, Shows: Goal{},
	})

	ListProjects = declare(Operation{
		ID: "listProjects", Method: http.MethodGet, Path: projects, Query: []string{"status", "goal", "limit", "cursor"}, Shows: Project{},
	})
	CreateProject = declare(Operation{
		ID: "createProject", Method: http.MethodPost, Path: projects, Fields: projectFields, Shows: Project{},
	})
	GetProject    = declare(Operation{ID: "getProject", Method: http.MethodGet, Path: oneProject, Shows: Project{}})
	UpdateProject = declare(Operation{
		ID: "updateProject", Method: http.MethodPatch, Path: oneProject, Fields: projectFields, Shows: Project{},
	})
	ArchiveProject = declare(Operation{
		ID: "archiveProject", Method: http.MethodPost, Path: oneProject + "/archive", Fields: []string{"cancelOpenIssues"},
		Shows: Project{},
	})
)
