package client

import (
	"encoding/json"
	"net/http"
)

// Team is what is read of a team.
type Team struct {
	ID             string `json:"id"`
	Name           string `json:"name"`
	Slug           string `json:"slug"`
	Description    string `json:"description"`
	Headcount      int    `json:"headcount"`
	AgentCount     int    `json:"agentCount"`
	ManagerAgentID string `json:"managerAgentId"` // empty: nobody
	Budget         struct {
		USD json.Number `json:"usd"` // empty: no limit
	} `json:"budget"`
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`
}

const teams, oneTeam = "/v1/companies/{id}/teams", "/v1/companies/{id}/teams/{team}"

var teamFields = []string{"name", "headcount", "description", "managerAgentId", "budget.usd"}

// The operations on teams.
var (
	ListTeams = declare(Operation{
		ID: "listTeams", Method: http.MethodGet, Path: teams, Query: []string{"limit", "cursor"}, Shows: Team{},
	})
	CreateTeam = declare(Operation{ID: "createTeam", Method: http.MethodPost, Path: teams, Fields: teamFields, Shows: Team{}})
	GetTeam    = declare(Operation{ID: "getTeam", Method: http.MethodGet, Path: oneTeam, Shows: Team{}})
	UpdateTeam = declare(Operation{ID: "updateTeam", Method: http.MethodPatch, Path: oneTeam, Fields: teamFields, Shows: Team{}})
	DeleteTeam = declare(Operation{ID: "deleteTeam", Method: http.MethodDelete, Path: oneTeam, Shows: Team{}})
)
