package client

import (
	"bytes"
	"encoding/json"
	"net/http"
)

// Entry is what is read of an entry of the activity log.
type Entry struct {
	ID       string `json:"id"`
	Category string `json:"category"`
	Action   string `json:"action"`
	Actor    string `json:"actor"`
	Subject  struct {
		Type string `json:"type"`
		ID   string `json:"id"`
	} `json:"subject"`
	Related struct {
		IssueID string `json:"issueId"` // empty: none
		AgentID string `json:"agentId"` // empty: none
	} `json:"related"`
	Payload Payload `json:"payload"`
	At      string  `json:"at"`
}

// Payload is what an entry is about. Its numbers are of the type json.Number.
type Payload map[string]any

// UnmarshalJSON implements json.Unmarshaler.
func (p *Payload) UnmarshalJSON(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	return decoder.Decode((*map[string]any)(p))
}

const activity = "/v1/companies/{id}/activity"

// The operations on the activity log. Follow reads the stream, each of whose events has an Entry as its data.
var (
	ListActivity = declare(Operation{
		ID: "listActivity", Method: http.MethodGet, Path: activity, Shows: Entry{},
		Query: []string{"q", "category", "action", "actor", "related.issueId", "related.agentId", "since", "until", "limit", "cursor"},
	})
	StreamActivity = declare(Operation{ID: "streamActivity", Method: http.MethodGet, Path: activity + "/stream"})
)
