package gateway

import (
	"context"
	"net/http"
)

// tool is an operation of this API as a tool of the Model Context Protocol.
type tool struct {
	name, description string
	method, path      string          // of the operation; {name} in the path stands for an argument
	arguments         map[string]any  // JSON schemas of the arguments, by their names
	required          []string        // of these
	body              func(args body) // turns the arguments into the body of the operation; nil: they are that
	list              string          // the name of the result when the operation answers with a list
	keyed             bool            // it takes a keyArgument

	hint func(s mcpServer, ctx context.Context) string // the lease is null when the operation answers without content: what to do then
}

// leaseArgument is one text, so that a model has one thing to carry: the id of the lease and its fencing token.
const leaseArgument = "lease"

// keyArgument is the Idempotency-Key of the operation.
const keyArgument = "idempotencyKey"

// tools are all that there are.
var tools = []tool{
	{
		name: "whoami", method: http.MethodGet, path: "/me",
		description: "Who you are: your agent, its team and its company.",
	},
	{
		name: "claim", method: http.MethodPost, path: "/leases",
		description: "Take the next issue to work on. Returns its lease, the issue, and the context to begin with.",
		arguments: map[string]any{
			"wait":         integer("How many seconds to wait for an issue if there is none.", 0, longestWait),
			"leaseSeconds": integer("How long the lease lasts without a call.", 30, 3600),
		},
		body: func(args body) {
			if _, sent := args["leaseSeconds"]; !sent {
				args["leaseSeconds"] = defaultLease
			}
		},
		hint: mcpServer.whyNothing,
	},
	{
		name: "list_leases", method: http.MethodGet, path: "/leases",
		description: "The leases that you have, with their issues: what to go on with if you lost your way, or the answer to a claim.",
		list:        "leases",
	},
	{
		name: "context", method: http.MethodGet, path: "/leases/{lease}/context",
		description: "What you need to know to work on the issue, read anew: " +
			"goal, project, parents, children, comments, checkpoints, the last error.",
		required: []string{leaseArgument},
	},
	{
		name: "renew", method: http.MethodPost, path: "/leases/{lease}/renew",
		description: "Keep the lease while you work without another call.",
		required:    []string{leaseArgument},
	},
	{
		name: "checkpoint", method: http.MethodPost, path: "/leases/{lease}/checkpoint",
		description: "Write down how far you are. Whoever takes the issue after you sees it.",
		arguments: map[string]any{
			"note": text("What was done, and what is next; at most 2,000 characters."),
			"data": map[string]any{"description": "Any JSON, at most 64 KiB."},
		},
		required: []string{leaseArgument, "note"},
		keyed:    true,
	},
	{
		name: "comment", method: http.MethodPost, path: "/leases/{lease}/comment",
		description: "Say something about the issue to the people of the company.",
		arguments:   map[string]any{"body": text("Markdown, at most 20,000 characters.")},
		required:    []string{leaseArgument, "body"},
		keyed:       true,
	},
	{
		name: "report_cost", method: http.MethodPost, path: "/leases/{lease}/costs",
		description: "Report what the work costs. A charge with a key that was reported before is not counted again.",
		arguments: map[string]any{"costs": map[string]any{
			"type": "array", "minItems": 1, "maxItems": 100,
			"items": object(map[string]any{
				"key":     text("Names the charge within the run."),
				"kind":    map[string]any{"type": "string", "enum": []string{"llm", "tools", "runtimeServices"}},
				"usd":     amount("US dollars; or model and tokens."),
				"model":   text("The model that was used."),
				"billing": text("Such as subscription."),
				"calls":   integer("How many calls of the model.", 1, 1_000_000_000),
				"tokens": object(map[string]any{
					"input":     integer("Without cached ones.", 0, 1_000_000_000),
					"output":    integer("Written.", 0, 1_000_000_000),
					"cacheRead": integer("Read from a cache.", 0, 1_000_000_000), "cacheWrite": integer("Written to it.", 0, 1_000_000_000),
				}),
			}, "key", "kind"),
		}},
		required: []string{leaseArgument, "costs"},
	},
	{
		name: "complete", method: http.MethodPost, path: "/leases/{lease}/complete",
		description: "End the lease: the issue is finished. People may review it.",
		arguments: map[string]any{
			"result":  map[string]any{"description": "What came of it: any JSON, at most 256 KiB."},
			"summary": text("What was done, for people; it becomes a comment."),
		},
		required: []string{leaseArgument},
	},
	{
		name: "fail", method: http.MethodPost, path: "/leases/{lease}/fail",
		description: "End the lease: the issue cannot be finished in this attempt.",
		arguments: map[string]any{
			"message": text("Why."),
			"code":    text("A word for programs, such as tests_failed."),
			"retry":   flag("false: another attempt is of no use."),
		},
		required: []string{leaseArgument, "message"},
		body: func(args body) {
			failure := body{"code": "failed"}
			for _, name := range []string{"code", "message"} {
				if value, sent := args[name]; sent {
					failure[name] = value
					delete(args, name)
				}
			}
			args["error"] = failure
		},
	},
	{
		name: "hand_off", method: http.MethodPost, path: "/leases/{lease}/handoff",
		description: "End the lease: a person has to go on.",
		arguments:   map[string]any{"note": text("What the person has to know or decide.")},
		required:    []string{leaseArgument, "note"},
	},
	{
		name: "release", method: http.MethodPost, path: "/leases/{lease}/release",
		description: "End the lease: you stop, and another agent may take the issue. The attempt does not count.",
		arguments:   map[string]any{"note": text("Why, for people.")},
		required:    []string{leaseArgument},
	},
	{
		name: "create_issue", method: http.MethodPost, path: "/issues",
		description: "File an issue, below the one that you work on unless you name another parent.",
		arguments: map[string]any{
			"title": text("At most 500 characters."), "description": text("Markdown, at most 100,000 characters."),
			"assignedTeamId": text("The team that is to do it."), "assignedAgentId": text("Or the agent."),
			"parentId":  text("The issue that it is a part of."),
			"projectId": text("Its project, if not that of your issue."), "goalId": text("Its goal, likewise."),
			"priority": map[string]any{"type": "string", "enum": []string{"low", "normal", "high", "urgent"}},
			"labels":   map[string]any{"type": "array", "items": map[string]any{"type": "string"}},
			"blockedBy": map[string]any{
				"type": "array", "items": map[string]any{"type": "string"}, "description": "Ids of issues that have to be done before.",
			},
		},
		required: []string{leaseArgument, "title"},
		keyed:    true,
	},
	{
		name: "get_issue", method: http.MethodGet, path: "/issues/{issueId}",
		description: "An issue of the company.",
		arguments:   map[string]any{"issueId": text("Its id.")},
		required:    []string{"issueId"},
	},
	{
		name: "request_approval", method: http.MethodPost, path: "/leases/{lease}/approval",
		description: "Ask people whether you may do something. It may be decided at once; otherwise check_approval, or end with park.",
		arguments: map[string]any{
			"actionName":  text("The name of the action, as in requires."),
			"action":      text("What you want to do."),
			"reasoning":   text("Why."),
			"cost":        object(map[string]any{"usd": amount("US dollars."), "tokens": integer("Tokens.", 0, 1_000_000_000_000)}),
			"sideEffects": map[string]any{"type": "array", "maxItems": 20, "items": text("What else happens.")},
			"ifDenied":    text("What you will do then."),
			"expiresIn":   integer("Seconds in which it has to be decided; four hours unless given.", 60, 604_800),
			"park":        flag("true ends the lease while the approval is pending: you get the issue again with the decision."),
		},
		required: []string{leaseArgument, "actionName", "action"},
		keyed:    true,
	},
	{
		name: "check_approval", method: http.MethodGet, path: "/approvals/{approvalId}",
		description: "What became of an approval. Keeps the lease. On asked_question, answer the last comment with answer_question.",
		arguments: map[string]any{
			"approvalId": text("The id that request_approval returned."),
			"wait":       integer("How many seconds to wait for a decision.", 0, longestWait),
		},
		required: []string{"approvalId"},
	},
	{
		name: "answer_question", method: http.MethodPost, path: "/approvals/{approvalId}/answer",
		description: "Answer what people asked about an approval.",
		arguments:   map[string]any{"approvalId": text("Its id."), "body": text("Markdown, at most 20,000 characters.")},
		required:    []string{"approvalId", "body"},
		keyed:       true,
	},
	{
		name: "list_colleagues", method: http.MethodGet, path: "/agents",
		description: "The agents of the company.",
		list:        "agents",
	},
}

const (
	longestWait  = 25   // seconds: clients end a call after a minute, some earlier
	defaultLease = 1800 // seconds: models think for long without a call
)

// instructions are what a model is told when it connects.
const instructions = `You work for a company through Holdco. The procedure:
1. claim an issue. If there is none, stop, or ask again later.
2. Read the context that comes with it: comments of people, checkpoints of earlier attempts, the last error.
3. Work. Carry the text "lease" from one call to the next.
4. checkpoint often: whoever takes over begins there. Every call keeps the lease alive; renew it if you think for long.
5. report_cost with a key of its own for each charge; a repeat under the same key is not counted again.
6. Before you do what the lease's "requires" names, request_approval, and check_approval until it is decided. Denied or expired: do not.
7. comment when people should know something; hand_off when one has to go on; create_issue for work that others should do.
8. End with exactly one of complete, fail, hand_off or release.
9. On stale_lease stop working on the issue: it is no longer yours. Never retry that call.
10. Then claim again. If you do not know what you hold, list_leases.`

func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

func integer(description string, least, most int) map[string]any {
	return map[string]any{"type": "integer", "minimum": least, "maximum": most, "description": description}
}

func amount(description string) map[string]any {
	return map[string]any{"type": "number", "minimum": 0, "description": description}
}

func flag(description string) map[string]any {
	return map[string]any{"type": "boolean", "description": description}
}

func object(properties map[string]any, required ...string) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	return schema
}
