package webhook

import (
	"slices"
	"strings"

	"holdco/domain/event"
	"holdco/domain/id"
)

// Pattern names events: one by its name, all below a name by "company.*", or all by "*".
type Pattern string

// Everything matches every event that is sent, without those of onRequest.
const Everything Pattern = "*"

// sent are the events that webhooks send: all but a test, which goes to the endpoint that it tests.
var sent = slices.DeleteFunc(event.Types(), func(t event.Type) bool { return t == event.WebhookTest })

// onRequest begins the names of events that are sent only where a name or a pattern begins with it: an import has many.
const onRequest = "lead."

// IsSent reports whether webhooks send events of this type.
func IsSent(t event.Type) bool { return slices.Contains(sent, t) }

// ParsePattern reads what a client sent, and reports whether it matches any event that is sent.
func ParsePattern(text string) (Pattern, bool) {
	pattern := Pattern(text)
	return pattern, slices.ContainsFunc(sent, pattern.Matches)
}

// Matches reports whether an event of this type is meant.
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

// Names are patterns as texts.
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

// companyOf is the company that an event concerns. The last event of a company belongs to the instance, for nothing of
// the company is left then; it concerns the company all the same.
func companyOf(happened event.Event) id.Company {
	if happened.Company == "" && happened.Subject.Type == "company" {
		return id.Company(happened.Subject.ID)
	}
	return happened.Company
}
