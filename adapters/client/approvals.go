package client

import (
	"encoding/json"
	"net/http"
)

// Approval is what is read of an approval.
type Approval struct {
	ID         string `json:"id"`
	IssueID    string `json:"issueId"`
	AgentID    string `json:"agentId"`
	Status     string `json:"status"`
	ActionName string `json:"actionName"`
	Action     string `json:"action"`
	Reasoning  string `json:"reasoning"`
	Cost       struct {
		USD json.Number `json:"usd"` // empty: not known
	} `json:"cost"`
	SideEffects []string  `json:"sideEffects"`
	IfDenied    string    `json:"ifDenied"`
	Edits       any       `json:"edits"` // JSON; nil: none
	Note        string    `json:"note"`
	DecidedBy   string    `json:"decidedBy"` // empty: nobody
	RequestedAt string    `json:"requestedAt"`
	ExpiresAt   string    `json:"expiresAt"`
	Comments    []Comment `json:"comments"`
}

const approvals, oneApproval = "/v1/companies/{id}/approvals", "/v1/companies/{id}/approvals/{approval}"

// The operations on approvals.
var (
	ListApprovals = declare(Operation{
		ID: "listApprovals", Method: http.MethodGet, Path: approvals, Shows: Approval{},
		Query: []string{"status", "agent", "team", "issue", "since", "until", "limit", "cursor"},
	})
	GetApproval = declare(Operation{ID: "getApproval", Method: http.MethodGet, Path: oneApproval, Shows: Approval{}})
	Approve     = declare(Operation{
		ID: "approve", Method: http.MethodPost, Path: oneApproval + "/approve", Fields: []string{"note"}, Shows: Approval{},
	})
	ApproveWithEdits = declare(Operation{
		ID: "approveWithEdits", Method: http.MethodPost, Path: oneApproval + "/approve-with-edits", Fields: []string{"edits", "note"},
		Shows: Approval{},
	})
	Deny = declare(Operation{
		ID: "deny", Method: http.MethodPost, Path: oneApproval + "/deny", Fields: []string{"note"}, Shows: Approval{},
	})
	CommentOnApproval = declare(Operation{
		ID: "commentOnApproval", Method: http.MethodPost, Path: oneApproval + "/comment", Fields: []string{"body"}, Shows: Approval{},
	})
)
