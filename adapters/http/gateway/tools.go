package gateway

import (
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// tool is an operation of this API as a tool of the Model Context Protocol.
type tool struct {
	name, title, description string

	method, path string          // of the operation; {name} in the path stands for an argument
	arguments    map[string]any  // JSON schemas of the arguments, by their names
	required     []string        // of these
	body         func(args body) // turns the arguments into the body of the operation; nil: they are that
	list         string          // the name of the result when the operation answers with a list
	keyed        bool            // it takes a keyArgument
	idempotent   bool            // a repeat of the call has no second effect, without a keyArgument; reads need not say so
	loop         bool            // it is for the token of an agent alone: a run has its lease

	hint func(s mcpServer, ctx context.Context) string // the lease is null when the operation answers without content: what to do then
}

// leaseArgument is one text, so that a model has one thing to carry: the id of the lease and its fencing token.
const leaseArgument = "lease"

// keyArgument is the Idempotency-Key of the operation.
const keyArgument = "idempotencyKey"

// tools are all that there are.
var tools = slices.Concat(toolsOfLeases, toolsThatEnd, toolsOfCompany, toolsOfApprovals)

var toolsOfLeases = []tool{
	{
		name: "whoami", title: "Show who I am", method: http.MethodGet, path: "/me",
		description: "Show your agent, its team, its company, and what is left of their budgets.",
	},
	{
		name: "claim", title: "Claim an issue", method: http.MethodPost, path: "/leases", loop: true,
		description: "Take the next issue to work on. Returns a lease, the issue, and the context to start from. " +
			"If there is no issue, lease is null, and hint says why.",
		arguments: map[string]any{
			"wait":         integer("Seconds to wait for an issue if there is none; 0 unless given.", 0, longestWait),
			"leaseSeconds": integer("Seconds that the lease lasts without a call; 1800 unless given.", 30, 3600),
		},
		body: func(args body) {
			if _, sent := args["leaseSeconds"]; !sent {
				args["leaseSeconds"] = defaultLease
			}
		},
		hint: mcpServer.whyNothing,
	},
	{
		name: "list_leases", title: "List my leases", method: http.MethodGet, path: "/leases",
		description: "List the leases that you hold, with their issues. Use it when you no longer know your lease.",
		list:        "leases",
	},
	{
		name: "context", title: "Read the context", method: http.MethodGet, path: "/leases/{lease}/context",
		description: "Read what there is to know about the issue now: goal, project, parents, children, comments, checkpoints, " +
			"approvals, and the error of the previous attempt.",
		required: []string{leaseArgument},
	},
	{
		name: "renew", title: "Renew the lease", method: http.MethodPost, path: "/leases/{lease}/renew",
		description: "Keep the lease while you work for a long time without another call.",
		required:    []string{leaseArgument}, idempotent: true,
	},
	{
		name: "checkpoint", title: "Save a checkpoint", method: http.MethodPost, path: "/leases/{lease}/checkpoint",
		description: "Save your progress. People see it, and so does the next attempt at the issue.",
		arguments: map[string]any{
			"note": text("What is done and what comes next, at most 2,000 characters."),
			"data": anything("Any JSON of at most 64 KiB that the next attempt can use."),
		},
		required: []string{leaseArgument, "note"},
		keyed:    true,
	},
	{
		name: "comment", title: "Comment on the issue", method: http.MethodPost, path: "/leases/{lease}/comment",
		description: "Add a comment to the issue, for the people of the company.",
		arguments:   map[string]any{"body": text("Markdown, at most 20,000 characters.")},
		required:    []string{leaseArgument, "body"},
		keyed:       true,
	},
	{
		name: "report_cost", title: "Report costs", method: http.MethodPost, path: "/leases/{lease}/costs",
		description: "Report what the work cost. A charge whose key was already reported in this run is not counted again.",
		arguments: map[string]any{"costs": map[string]any{
			"type": "array", "minItems": 1, "maxItems": 100, "description": "The charges.",
			"items": object(map[string]any{
				"key": text("Identifies the charge within the run."),
				"kind": map[string]any{
					"type": "string", "enum": []string{"llm", "tools", "runtimeServices"}, "description": "What was paid for.",
				},
				"usd":     amount("US dollars. Give this, or model and tokens."),
				"model":   text("The name of the model."),
				"billing": text("How it is paid for, such as subscription."),
				"calls":   integer("Number of calls of the model; 1 unless given.", 1, 1_000_000_000),
				"tokens": object(map[string]any{
					"input":      integer("Input tokens, without cached ones.", 0, 1_000_000_000),
					"output":     integer("Output tokens.", 0, 1_000_000_000),
					"cacheRead":  integer("Input tokens read from a cache.", 0, 1_000_000_000),
					"cacheWrite": integer("Input tokens written to a cache.", 0, 1_000_000_000),
				}),
			}, "key", "kind"),
		}},
		required: []string{leaseArgument, "costs"}, idempotent: true,
		body: func(args body) { // a model guesses: what is read from the output of its program counts more
			charges, _ := args["costs"].([]any)
			for _, sent := range charges {
				if charge, isObject := sent.(map[string]any); isObject {
					charge["reported"] = true
				}
			}
		},
	},
}

var toolsThatEnd = []tool{
	{
		name: "complete", title: "Complete the issue", method: http.MethodPost, path: "/leases/{lease}/complete",
		description: "End the lease: the issue is done. A person may review it.",
		arguments: map[string]any{
			"result":  anything("The result of the work: any JSON of at most 256 KiB."),
			"summary": text("What was done, in Markdown, for people. It becomes a comment."),
		},
		required: []string{leaseArgument}, idempotent: true,
	},
	{
		name: "fail", title: "Fail this attempt", method: http.MethodPost, path: "/leases/{lease}/fail",
		description: "End the lease: this attempt failed. Another attempt may follow.",
		arguments: map[string]any{
			"message": text("Why it failed, for people."),
			"code":    text("A short code for programs, such as tests_failed."),
			"retry":   flag("Whether another attempt may follow; true unless given."),
		},
		required: []string{leaseArgument, "message"}, idempotent: true,
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
		name: "hand_off", title: "Hand off to a person", method: http.MethodPost, path: "/leases/{lease}/handoff",
		description: "End the lease: a person has to decide or continue.",
		arguments:   map[string]any{"note": text("What the person has to know or decide, in Markdown.")},
		required:    []string{leaseArgument, "note"}, idempotent: true,
	},
	{
		name: "release", title: "Release the issue", method: http.MethodPost, path: "/leases/{lease}/release",
		description: "End the lease: you stop, and another agent may take the issue. The attempt does not count.",
		arguments:   map[string]any{"note": text("Why you stop, in Markdown.")},
		required:    []string{leaseArgument}, idempotent: true,
	},
}

var toolsOfCompany = []tool{
	{
		name: "create_issue", title: "Create an issue", method: http.MethodPost, path: "/issues",
		description: "File an issue for you or others to work on. It is part of the issue that you work on unless you give another parent.",
		arguments: map[string]any{
			"title": text("One line, at most 500 characters."), "description": text("Markdown, at most 100,000 characters."),
			"assignedTeamId": text("Id of the team that works on it."), "assignedAgentId": text("Id of the agent that works on it."),
			"parentId":  text("Number or id of the issue that it is part of."),
			"projectId": text("Id of its project; that of your issue unless given."),
			"goalId":    text("Id of its goal; that of its project, or of your issue, unless given."),
			"priority": map[string]any{
				"type": "string", "enum": []string{"low", "normal", "high", "urgent"}, "description": "Normal unless given.",
			},
			"labels": texts("Labels.", text("A label.")),
			"blockedBy": texts("The issues that must be done before it starts.",
				text("Number or id of an issue.")),
		},
		required: []string{leaseArgument, "title"},
		keyed:    true,
	},
	{
		name: "get_issue", title: "Show an issue", method: http.MethodGet, path: "/issues/{issueId}",
		description: "Show an issue of the company, with its result.",
		arguments:   map[string]any{"issueId": text("Its number or id.")},
		required:    []string{"issueId"},
	},
	{
		name: "list_colleagues", title: "List colleagues", method: http.MethodGet, path: "/agents",
		description: "List the agents of the company, with their roles and teams.",
		list:        "agents",
	},
}

var toolsOfApprovals = []tool{
	{
		name: "request_approval", title: "Request an approval", method: http.MethodPost, path: "/leases/{lease}/approval",
		description: "Ask people whether you may do something. A rule may decide at once. " +
			"Otherwise wait with check_approval, or set park to end the lease until it is decided.",
		arguments: map[string]any{
			"actionName": text("The name of the action, as in requires of the lease."),
			"action":     text("What you want to do."),
			"reasoning":  text("Why you want to do it."),
			"cost": object(map[string]any{
				"usd": amount("US dollars."), "tokens": integer("Tokens.", 0, 1_000_000_000_000),
			}),
			"sideEffects": texts("What else changes, at most 20 items.", text("A side effect.")),
			"ifDenied":    text("What you will do if it is denied."),
			"expiresIn":   integer("Seconds until the request expires; 14400 unless given.", 60, 604_800),
			"park": flag("true ends the lease while the approval is pending. " +
				"You get the issue again with the decision."),
		},
		required: []string{leaseArgument, "actionName", "action"},
		keyed:    true,
	},
	{
		name: "check_approval", title: "Check an approval", method: http.MethodGet, path: "/approvals/{approvalId}",
		description: "Show the state of an approval, and renew the lease. " +
			"If the status is asked_question, answer the last comment with answer_question.",
		arguments: map[string]any{
			"approvalId": text("The id that request_approval returned."),
			"wait":       integer("Seconds to wait for a decision; 0 unless given.", 0, longestWait),
		},
		required: []string{"approvalId"},
	},
	{
		name: "answer_question", title: "Answer a question", method: http.MethodPost, path: "/approvals/{approvalId}/answer",
		description: "Answer what people asked about an approval.",
		arguments: map[string]any{
			"approvalId": text("The id of the approval."), "body": text("Markdown, at most 20,000 characters."),
		},
		required: []string{"approvalId", "body"},
		keyed:    true,
	},
}

// issueArguments name issues, by their ids or numbers.
var issueArguments = []string{"issueId", "parentId", "blockedBy"}

const (
	longestWait  = 25   // seconds: clients end a call after a minute, some earlier
	defaultLease = 1800 // seconds: models think for long without a call
)

// described is the tool as clients see it. The output schema is that of the operation's answer.
func (t tool) described(output map[string]any) *mcp.Tool {
	isRead := t.method == http.MethodGet
	return &mcp.Tool{
		Name: t.name, Title: t.title, Description: t.description, InputSchema: t.schema(), OutputSchema: output,
		Annotations: &mcp.ToolAnnotations{
			Title: t.title, ReadOnlyHint: isRead, IdempotentHint: isRead || t.idempotent,
			DestructiveHint: new(false), OpenWorldHint: new(false),
		},
	}
}

// schema is the JSON schema of the arguments.
func (t tool) schema() map[string]any { return object(t.known(), t.required...) }

// known are the schemas of the arguments by their names, the lease among them.
func (t tool) known() map[string]any {
	arguments := maps.Clone(t.arguments)
	if arguments == nil {
		arguments = map[string]any{}
	}
	if t.takesLease() {
		arguments[leaseArgument] = text("The lease, such as lse_...#7.")
	}
	if t.keyed {
		arguments[keyArgument] = text("Identifies this call. A repeat under the same key has no second effect.")
	}
	return arguments
}

func (t tool) takesLease() bool { return slices.Contains(t.required, leaseArgument) }

func text(description string) map[string]any {
	return map[string]any{"type": "string", "description": description}
}

func texts(description string, item map[string]any) map[string]any {
	return map[string]any{"type": "array", "items": item, "description": description}
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

// anything is the schema of any JSON. Some clients drop the description of what has no type, or send it as text; some models cannot have
// tools whose types include null.
func anything(description string) map[string]any {
	return map[string]any{
		"type": []string{"object", "array", "string", "number", "boolean"}, "items": map[string]any{}, "description": description,
	}
}

func object(properties map[string]any, required ...string) map[string]any {
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if required != nil {
		schema["required"] = required
	}
	return schema
}
