package rest

import (
	"slices"
	"strconv"

	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/inbound"
)

type issues struct{ port inbound.Issues }

// Issues handles the operations on issues.
func Issues(port inbound.Issues) httpkit.Handlers {
	h := issues{port}
	return httpkit.Handlers{
		"listIssues":        h.list,
		"createIssue":       h.create,
		"countIssues":       h.count,
		"moveIssues":        h.bulk,
		"getIssue":          h.get,
		"updateIssue":       h.update,
		"assignIssue":       h.assign,
		"unassignIssue":     h.moves(issue.Unassign),
		"cancelIssue":       h.cancel,
		"acceptIssue":       h.moves(issue.Accept),
		"rejectIssue":       h.movesWithNote(issue.Reject),
		"handOffIssue":      h.movesWithNote(issue.HandOff),
		"retryIssue":        h.moves(issue.Retry),
		"listIssueComments": h.comments,
		"commentOnIssue":    h.comment,
	}
}

func (h issues) list(r httpkit.Request) (httpkit.Answer, error) {
	list, err := issueList(r)
	if err != nil {
		return httpkit.Answer{}, err
	}
	bound := "issues of=" + string(list.Company) + " " + r.Query().Filters()
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[issue.Issue], error) {
		list.After, list.Size = after, size
		return h.port.List(r.Context(), r.Caller(), list)
	})
}

func (h issues) count(r httpkit.Request) (httpkit.Answer, error) {
	list, err := issueList(r)
	if err != nil {
		return httpkit.Answer{}, err
	}
	counts, err := h.port.Count(r.Context(), r.Caller(), list)
	return httpkit.Answer{Data: counts.Fields()}, err
}

func (h issues) create(r httpkit.Request) (httpkit.Answer, error) {
	made, err := h.port.Create(r.Context(), r.Caller(), companyOf(r), issueDraft(r), httpkit.Once(r, newIssueAnswer))
	return newIssueAnswer(made), err
}

func (h issues) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), issueOf(r))
	return issueAnswer(found), err
}

func (h issues) update(r httpkit.Request) (httpkit.Answer, error) {
	next, err := h.port.Update(r.Context(), r.Caller(), companyOf(r), issueOf(r), issuePatch(r), r.Match())
	return issueAnswer(next), err
}

func (h issues) assign(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[IssueAssignment](r)
	to := issue.AssignmentDraft{Agent: sent.AgentID, Team: sent.TeamID, Problems: problems}
	return h.move(r, inbound.IssueMove{Action: issue.Assign, To: to})
}

func (h issues) cancel(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[IssueCancellation](r)
	return h.move(r, inbound.IssueMove{Action: issue.Cancel, Note: issue.Note{Body: sent.Reason, Problems: problems}})
}

// moves handles an action that takes no body.
func (h issues) moves(action issue.Action) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) { return h.move(r, inbound.IssueMove{Action: action}) }
}

// movesWithNote handles an action that takes a note.
func (h issues) movesWithNote(action issue.Action) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) {
		sent, problems := httpkit.Body[IssueNote](r)
		return h.move(r, inbound.IssueMove{Action: action, Note: issue.Note{Body: sent.Note, Problems: problems}})
	}
}

func (h issues) move(r httpkit.Request, move inbound.IssueMove) (httpkit.Answer, error) {
	answer := issueAnswer
	if move.Action == issue.Retry {
		answer = newIssueAnswer
	}
	moved, err := h.port.Move(r.Context(), r.Caller(), companyOf(r), issueOf(r), move, r.Match(), httpkit.Once(r, answer))
	return answer(moved), err
}

func (h issues) bulk(r httpkit.Request) (httpkit.Answer, error) {
	answer := func(outcomes []inbound.IssueOutcome) httpkit.Answer {
		shown := make([]event.Fields, len(outcomes))
		for n, outcome := range outcomes {
			shown[n] = event.Fields{event.F("id", outcome.ID), event.F("ok", outcome.Err == nil), event.F("issue", outcome.Issue)}
			if outcome.Err != nil {
				shown[n][2] = event.F("error", r.Failure(outcome.Err))
			}
		}
		return httpkit.Answer{Data: shown}
	}
	outcomes, err := h.port.Bulk(r.Context(), r.Caller(), companyOf(r), issueBulk(r), httpkit.Once(r, answer))
	if err != nil {
		return httpkit.Answer{}, err
	}
	return answer(outcomes), nil
}

func (h issues) comments(r httpkit.Request) (httpkit.Answer, error) {
	of, on := companyOf(r), issueOf(r)
	bound := "comments of=" + string(of) + " issue=" + string(on)
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[issue.Comment], error) {
		return h.port.Comments(r.Context(), r.Caller(), of, on, after, size)
	})
}

func (h issues) comment(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[CommentDraft](r)
	note := issue.Note{Body: sent.Body, Problems: problems}
	made, err := h.port.Comment(r.Context(), r.Caller(), companyOf(r), issueOf(r), note, httpkit.Once(r, commentAnswer))
	return commentAnswer(made), err
}

func issueOf(r httpkit.Request) id.Issue { return httpkit.PathID[id.Issue](r, "issue") }

// issueList reads the filters of a list.
func issueList(r httpkit.Request) (list inbound.IssueList, err error) {
	query := r.Query()
	list = inbound.IssueList{
		Company: companyOf(r), Status: statesOf[issue.Status](r), Agent: query["agent"], Team: query["team"], Project: query["project"],
		Goal: query["goal"], Workflow: query["workflow"], Priority: issue.Priority(query["priority"]), Sort: query["sort"],
	}
	if number, sent := query["number"]; sent {
		list.Number, _ = strconv.ParseInt(number, 10, 64) // the gate has checked it
	}
	if parent, sent := query["parent"]; sent {
		if parent == "null" {
			parent = ""
		}
		list.Parent = &parent
	}
	if label, sent := query["label"]; sent {
		var wrong []fault.Field
		if list.Label, wrong = text.Name("label", label, issue.LabelLength); wrong != nil {
			return list, httpkit.InvalidParameter("label", "is no label: these have 1 to 50 characters")
		}
	}
	if list.Words, err = wordsIn(query); err != nil {
		return list, err
	}
	if list.Since, err = instantIn(query, "since"); err != nil {
		return list, err
	}
	list.Until, err = instantIn(query, "until")
	return list, err
}

func issueDraft(r httpkit.Request) issue.Draft {
	sent, problems := httpkit.Body[IssueDraft](r)
	draft := issue.Draft{Title: sent.Title, Agent: sent.AssignedAgentID, Team: sent.AssignedTeamID}
	draft.Settings = issueSettings(IssuePatch{
		Description: sent.Description, Priority: sent.Priority, ParentID: sent.ParentID, ProjectID: sent.ProjectID, GoalID: sent.GoalID,
		BlockedBy: sent.BlockedBy, Labels: sent.Labels, Budget: sent.Budget, MaxAttempts: sent.MaxAttempts,
		RequiresReview: sent.RequiresReview, DueAt: sent.DueAt, NotBefore: sent.NotBefore,
	}, &problems)
	if sent.WorkflowID != nil {
		draft.Workflow = *sent.WorkflowID
	}
	draft.Problems = problems
	return draft
}

func issuePatch(r httpkit.Request) issue.Patch {
	sent, problems := httpkit.Body[IssuePatch](r)
	patch := issue.Patch{Title: sent.Title, Settings: issueSettings(sent, &problems)}
	patch.Problems = problems
	return patch
}

// issueSettings are the fields that a draft and a patch have in common.
func issueSettings(sent IssuePatch, problems *fault.Problems) issue.Settings {
	settings := issue.Settings{
		Description: sent.Description, Priority: sent.Priority, Parent: sent.ParentID, Project: sent.ProjectID, Goal: sent.GoalID,
		BlockedBy: sent.BlockedBy, Labels: sent.Labels, MaxAttempts: sent.MaxAttempts, RequiresReview: sent.RequiresReview,
		DueAt: instantOrNull("dueAt", sent.DueAt, problems), NotBefore: instantOrNull("notBefore", sent.NotBefore, problems),
	}
	if sent.Budget != nil {
		settings.PerTask = sent.Budget.PerTaskUsd
	}
	return settings
}

// bulkFields are what a bulk of each action takes beside the action and the ids.
var bulkFields = map[issue.Action][]string{
	issue.Assign: {"agentId", "teamId"}, issue.Unassign: nil, issue.Cancel: {issue.Cancel.NoteField()}, issue.Accept: nil,
	issue.Reject: {issue.Reject.NoteField()}, issue.HandOff: {issue.HandOff.NoteField()}, issue.Retry: nil,
}

func issueBulk(r httpkit.Request) inbound.IssueBulk {
	sent, problems := httpkit.Body[IssueBulk](r)
	bulk := inbound.IssueBulk{Action: sent.Action, IDs: sent.Ids, Move: inbound.IssueMove{
		To: issue.AssignmentDraft{Agent: sent.AgentID, Team: sent.TeamID}, Note: issue.Note{Body: sent.Note},
	}}
	if sent.Reason != nil {
		bulk.Move.Note.Body = sent.Reason
	}
	var action issue.Action
	if sent.Action != nil {
		action = issue.Action(*sent.Action)
	}
	for _, field := range []struct {
		name  string
		value *string
	}{{"agentId", sent.AgentID}, {"teamId", sent.TeamID}, {"note", sent.Note}, {"reason", sent.Reason}} {
		if taken, known := bulkFields[action]; known && field.value != nil && !slices.Contains(taken, field.name) {
			problems.Add(fault.Fieldf(field.name, fault.UnknownField, "%s is not a field of this action", field.name))
		}
	}
	bulk.Problems = problems
	return bulk
}

func issueAnswer(i issue.Issue) httpkit.Answer {
	return httpkit.Answer{Data: i.Fields(), ETag: httpkit.CountedTag(i.Version, int64(i.Spent))}
}

func newIssueAnswer(i issue.Issue) httpkit.Answer {
	return issueAnswer(i).At("/v1/companies/" + string(i.Company) + "/issues/" + string(i.ID))
}

func commentAnswer(c issue.Comment) httpkit.Answer { return httpkit.Answer{Data: c.Fields()} }
