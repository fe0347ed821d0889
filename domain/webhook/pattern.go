package webhook

import (
	"slices"
	"strings"

	"holdco/domain/event"
	"holdco/domain/id"
)

// Pattern selects events: one by its name, all below a name by "company.*", or all by "*".
type Pattern string

// Everything matches every event that is sent, except those of onRequest.
const Everything Pattern = "*"

// sent are the events that webhooks send: all but webhook.test, which is sent only to the endpoint that it tests, and
// run.checkpointed, of which a run has many.
var sent = slices.DeleteFunc(event.Types(), func(t event.Type) bool {
	return t == event.WebhookTest || t == event.RunCheckpointed
})

// onRequest is the prefix of events that only patterns with the same prefix match, because an import causes many of
// them.
const onRequest = "lead."

// IsSent reports whether webhooks send events of this type.
func IsSent(t event.Type) bool { return slices.Contains(sent, t) }

// ParsePattern parses a pattern, and reports whether it matches any event that is sent.
func ParsePattern(text string) (Pattern, bool) {
	pattern := Pattern(text)
	return pattern, slices.ContainsFunc(sent, pattern.Matches)
}

// Matches reports whether the pattern selects events of this type.
func (p Pattern) Matches(t event.Type) bool {
	if strings.HasPrefix(string(t), onRequest) && !strings.HasPrefix(string(p), onRequest) {
		return false
	}
	above, isPrefix := strings.CutSuffix(string(p), "*")
	if !isPrefix {
		return string(p) == string(t)
	}
	return (above == "" || strings.HasSuffix(above, ".")) && strings.HasPrefix(string(t), above)
}

// Names returns patterns as strings.
func Names(patterns []Pattern) []string {
	names := make([]string, len(patterns))
	for i, pattern := range patterns {
		names[i] = string(pattern)
	}
	return names
}

func matchAny(patterns []Pattern, t event.Type) bool {
	return slices.ContainsFunc(patterns, func(p Pattern) bool { return p.Matches(t) })
}

// companyOf returns the company that an event is about. The last event of a company belongs to the instance, because
// nothing of the company remains, but it is about the company.
func companyOf(happened event.Event) id.Company {
	if happened.Company == "" && happened.Subject.Type == "company" {
		return id.Company(happened.Subject.ID)
	}
	return happened.Company
}
