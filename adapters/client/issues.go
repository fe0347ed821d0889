package client

import (
	"encoding/json"
	"net/http"
)

// Issue is what is read of an issue.
type Issue struct {
	ID              string `json:"id"`
	Number          int    `json:"number"`
	Title           string `json:"title"`
	Description     string `json:"description"`
	Status          string `json:"status"`
	Priority        string `json:"priority"`
	ParentID        string `json:"parentId"`        // empty: none
	AssignedAgentID string `json:"assignedAgentId"` // empty: nobody
	AssignedTeamID  string `json:"assignedTeamId"`  // empty: none
	ProjectID       string `json:"projectId"`       // empty: none
	GoalID          string `json:"goalId"`          // empty: none
	WorkflowID      string `json:"workflowId"`      // empty: none
	Step            *struct {
		Key    string `json:"key"`
		Number int    `json:"number"`
		Gate   string `json:"gate"`
	} `json:"step"` // nil: it is none
	WaitingFor   string   `json:"waitingFor"` // the id of an approval; empty: none
	OpenBlockers int      `json:"openBlockers"`
	Labels       []string `json:"labels"`
	Budget       struct {
		PerTaskUSD json.Number `json:"perTaskUsd"` // empty: no limit
		SpentUSD   json.Number `json:"spentUsd"`
	} `json:"budget"`
	Attempt     int    `json:"attempt"`
	MaxAttempts int    `json:"maxAttempts"`
	DueAt       string `json:"dueAt"`  // empty: none
	Result      any    `json:"result"` // JSON; nil: none
	Error       any    `json:"error"`  // nil: none
	CreatedAt   string `json:"createdAt"`
	UpdatedAt   string `json:"updatedAt"`
}

// Comment is what is read of a comment.
type Comment struct {
	ID        string `json:"id"`
	Author    string `json:"author"`
	Body      string `json:"body"`
	CreatedAt string `json:"createdAt"`
}

// IssueCounts is what is read of the counts of issues.
type IssueCounts struct {
	ByStatus map[string]int `json:"byStatus"`
}

const issues, oneIssue = "/v1/companies/{id}/issues", "/v1/companies/{id}/issues/{issue}"

// The operations on issues.
var (
	ListIssues = declare(Operation{
		ID: "listIssues", Method: http.MethodGet, Path: issues, Shows: Issue{},
		Query: []string{
			"number", "status", "agent", "team", "workflow", "project", "goal", "parent", "label", "priority", "q", "since", "until",
			"sort", "limit", "cursor",
		},
	})
	CreateIssue = declare(Operation{
		ID: "createIssue", Method: http.MethodPost, Path: issues, Shows: Issue{},
		Fields: []string{"title", "description", "priority", "parentId", "assignedAgentId", "assignedTeamId", "workflowId", "projectId",
			"goalId", "blockedBy", "labels", "budget.perTaskUsd", "maxAttempts", "requiresReview", "dueAt", "notBefore"},
	})
	GetIssue    = declare(Operation{ID: "getIssue", Method: http.MethodGet, Path: oneIssue, Shows: Issue{}})
	AssignIssue = declare(Operation{
		ID: "assignIssue", Method: http.MethodPost, Path: oneIssue + "/assign", Fields: []string{"agentId", "teamId"}, Shows: Issue{},
	})
	CancelIssue = declare(Operation{
		ID: "cancelIssue", Method: http.MethodPost, Path: oneIssue + "/cancel", Fields: []string{"reason"}, Shows: Issue{},
	})
	AcceptIssue = declare(Operation{ID: "acceptIssue", Method: http.MethodPost, Path: oneIssue + "/accept", Shows: Issue{}})
	RejectIssue = declare(Operation{
		ID: "rejectIssue", Method: http.MethodPost, Path: oneIssue + "/reject", Fields: []string{"note"}, Shows: Issue{},
	})
	CountIssues    = declare(Operation{ID: "countIssues", Method: http.MethodGet, Path: issues + "/counts", Shows: IssueCounts{}})
	CommentOnIssue = declare(Operation{
		ID: "commentOnIssue", Method: http.MethodPost, Path: oneIssue + "/comments", Fields: []string{"body"}, Shows: Comment{},
	})
)
