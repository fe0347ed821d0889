package client

import (
	"encoding/json"
	"net/http"
)

// Agent is what is read of an agent.
type Agent struct {
	ID      string `json:"id"`
	TeamID  string `json:"teamId"`
	Name    string `json:"name"`
	Role    string `json:"role"`
	Adapter string `json:"adapter"`
	Config  any    `json:"adapterConfig"` // a JSON object
	Model   string `json:"model"`         // empty: that of the adapter
	Status  string `json:"status"`
	Budget  struct {
		PerTaskUSD json.Number `json:"perTaskUsd"` // empty: no limit
		DailyUSD   json.Number `json:"dailyUsd"`   // empty: no limit
	} `json:"budget"`
	Hold      *Hold  `json:"hold"` // nil: it is not held
	CreatedAt string `json:"createdAt"`
	UpdatedAt string `json:"updatedAt"`

	Instructions string `json:"instructions"` // Markdown; empty in lists too
	Token        string `json:"token"`        // empty but in the first answers to HireAgent and RotateAgentToken
}

// Hold is what is read of why an agent gets no work for a while.
type Hold struct {
	Reason string `json:"reason"`
	Error  struct {
		Message string `json:"message"`
	} `json:"error"`
	Until string `json:"until"`
	Trial bool   `json:"trial"` // after it there is one run at a time, on trial
}

// AgentCheck is what a check of an agent found.
type AgentCheck struct {
	AgentID  string         `json:"agentId"`
	OK       bool           `json:"ok"`
	Findings []AgentFinding `json:"findings"`
}

// AgentFinding is one of them.
type AgentFinding struct {
	Check   string `json:"check"`
	OK      bool   `json:"ok"`
	Message string `json:"message"`
	Fix     string `json:"fix"` // empty if it is well
}

const agents, oneAgent = "/v1/companies/{id}/agents", "/v1/companies/{id}/agents/{agent}"

// The operations on agents.
var (
	ListAgents = declare(Operation{
		ID: "listAgents", Method: http.MethodGet, Path: agents, Query: []string{"team", "status", "adapter", "limit", "cursor"},
		Shows: Agent{},
	})
	HireAgent = declare(Operation{
		ID: "hireAgent", Method: http.MethodPost, Path: agents, Shows: Agent{},
		Fields: []string{"teamId", "name", "role", "adapter", "adapterConfig", "model", "memoryScopes", "budget.perTaskUsd",
			"budget.dailyUsd", "approvalPolicy.requires", "instructions"},
	})
	UpdateAgent = declare(Operation{
		ID: "updateAgent", Method: http.MethodPatch, Path: oneAgent, Shows: Agent{},
		Fields: []string{"name", "role", "adapter", "adapterConfig", "model", "memoryScopes", "budget.perTaskUsd", "budget.dailyUsd",
			"approvalPolicy.requires", "instructions"},
	})
	GetAgent    = declare(Operation{ID: "getAgent", Method: http.MethodGet, Path: oneAgent, Shows: Agent{}})
	PauseAgent  = declare(Operation{ID: "pauseAgent", Method: http.MethodPost, Path: oneAgent + "/pause", Shows: Agent{}})
	ResumeAgent = declare(Operation{ID: "resumeAgent", Method: http.MethodPost, Path: oneAgent + "/resume", Shows: Agent{}})

	ReleaseAgentHold = declare(Operation{
		ID: "releaseAgentHold", Method: http.MethodPost, Path: oneAgent + "/release-hold", Shows: Agent{},
	})
	RetireAgent = declare(Operation{ID: "retireAgent", Method: http.MethodPost, Path: oneAgent + "/retire", Shows: Agent{}})

	CheckAgent = declare(Operation{ID: "checkAgent", Method: http.MethodGet, Path: oneAgent + "/check", Shows: AgentCheck{}})

	RotateAgentToken = declare(Operation{
		ID: "rotateAgentToken", Method: http.MethodPost, Path: oneAgent + "/rotate-token", Shows: Agent{},
	})
)
