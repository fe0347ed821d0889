package cost

// UsageKind is how a program reports what it costs.
type UsageKind string

// The kinds.
const (
	NoUsage     UsageKind = "none"
	ClaudeUsage UsageKind = "claude-json"
	CodexUsage  UsageKind = "codex-json"
	HoldcoUsage UsageKind = "holdco-json"
)
