package client

import (
	"encoding/json"
	"net/http"
)

// InboxItem is what is read of something that waits for a person.
type InboxItem struct {
	Kind    string `json:"kind"`
	Company struct {
		Slug string `json:"slug"`
	} `json:"company"`
	Subject struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"subject"`
	Issue struct {
		Number int64  `json:"number"`
		Title  string `json:"title"`
	} `json:"issue"`
	Agent *struct {
		Name string `json:"name"`
	} `json:"agent"`
	Action   string `json:"action"` // empty: it is about the issue
	Since    string `json:"since"`
	Deadline string `json:"deadline"` // empty: none
}

// Overview is what is read of a company at a glance.
type Overview struct {
	Company struct {
		Slug       string `json:"slug"`
		Status     string `json:"status"`
		WorkPaused bool   `json:"workPaused"`
	} `json:"company"`
	Inbox struct {
		Total int64 `json:"total"`
	} `json:"inbox"`
	Tasks struct {
		Queued   int64 `json:"queued"`
		Assigned int64 `json:"assigned"`
		Running  int64 `json:"running"`
		Review   int64 `json:"review"`
		Handoff  int64 `json:"handoff"`
	} `json:"tasks"`
	Cost struct {
		Today      json.Number `json:"today"`
		ThisPeriod json.Number `json:"thisPeriod"`
		Budget     json.Number `json:"budget"`
	} `json:"cost"`
	Health struct {
		ActiveAgents  int64 `json:"activeAgents"`
		RunningLeases int64 `json:"runningLeases"`
		FailingAgents int64 `json:"failingAgents"`
		SilentAgents  int64 `json:"silentAgents"`
		AbsentAgents  int64 `json:"absentAgents"`
		HeldAgents    int64 `json:"heldAgents"`
	} `json:"health"`
}

// Instance is what is read of a server.
type Instance struct {
	Version string `json:"version"`
	Time    string `json:"time"`
	Store   struct {
		Kind   string `json:"kind"`
		Schema int64  `json:"schema"`
	} `json:"store"`
}

// The operations that show many things at once.
var (
	ListInbox = declare(Operation{
		ID: "listInbox", Method: http.MethodGet, Path: "/v1/inbox", Query: []string{"company", "limit", "cursor"}, Shows: InboxItem{},
	})
	GetOverview = declare(Operation{
		ID: "getDashboardOverview", Method: http.MethodGet, Path: oneCompany + "/dashboard/overview", Shows: Overview{},
	})
	GetInstance = declare(Operation{ID: "getInstance", Method: http.MethodGet, Path: "/v1/instance", Shows: Instance{}})
)
