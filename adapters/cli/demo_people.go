package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"holdco/adapters/client"
	"holdco/domain/budget"
	"holdco/domain/demo"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/money"
)

// file files an issue, unless enough are waiting.
func (s *stage) file(ctx context.Context) error {
	counts, err := s.counts(ctx)
	if err != nil || counts[string(issue.Queued)]+counts[string(issue.Assigned)] >= demo.Backlog {
		return err
	}
	task := demo.NextTaskNow(s.dice)
	body := map[string]any{
		"title": task.Title, "description": task.Description, "priority": task.Priority, "labels": task.Labels,
	}
	if task.Workflow != "" {
		body["workflowId"] = task.Workflow
	} else {
		body["assignedTeamId"], body["requiresReview"] = s.teams[task.Team], !task.NeedsNoReview
	}
	if task.Project >= 0 && s.projects[task.Project] != archivedProject {
		body["projectId"] = s.projects[task.Project]
	}
	if task.Attempts > 0 {
		body["maxAttempts"] = task.Attempts
	}
	one, err := made[client.Issue](ctx, s, client.CreateIssue.In(s.company).Sending(body))
	if err == nil {
		s.say("#%d %s: filed", one.Number, one.Title)
	}
	return err
}

// decide does what people have not done for long.
func (s *stage) decide(ctx context.Context) error {
	if s.patience == 0 {
		return nil
	}
	for _, step := range []func(context.Context) error{s.approve, s.review, s.finance} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// isLeft reports whether something that came at a time has been left alone for long.
func (s *stage) isLeft(since string) bool {
	at, err := time.Parse(time.RFC3339, since)
	return err == nil && s.app.program.Clock.Now().Sub(at) >= s.patience
}

// tell makes a call that decides something. Somebody else may have been faster.
func (s *stage) tell(ctx context.Context, call client.Call, what string) error {
	_, err := s.Do(ctx, call)
	if code := fault.CodeOf(err); code == fault.InvalidTransition || code == fault.NotFound {
		return nil
	}
	if err == nil {
		s.say("%s", what)
	}
	return err
}

func (s *stage) approve(ctx context.Context) error {
	var left []client.Approval
	take := func(a client.Approval) {
		if s.isLeft(a.RequestedAt) {
			left = append(left, a)
		}
	}
	if err := eachOf(ctx, s, client.ListApprovals, take, "status", "pending"); err != nil {
		return err
	}
	for _, one := range slices.Backward(left) {
		call, said := client.Approve.In(s.company, one.ID), "approved"
		body := map[string]any{}
		verdict, note, edits := demo.Decide(s.dice)
		switch verdict {
		case demo.Deny:
			call, said = client.Deny.In(s.company, one.ID), "denied"
		case demo.ApproveWithEdits:
			call, said = client.ApproveWithEdits.In(s.company, one.ID), "approved with edits"
			body["edits"] = edits
		}
		if note != "" {
			body["note"] = note
		}
		if err := s.tell(ctx, call.Sending(body), one.Action+" "+said); err != nil {
			return err
		}
	}
	return nil
}

// review decides about what is done, and what was handed off.
func (s *stage) review(ctx context.Context) error {
	var left []client.Issue
	take := func(i client.Issue) {
		if s.isLeft(i.UpdatedAt) {
			left = append(left, i)
		}
	}
	if err := eachOf(ctx, s, client.ListIssues, take, "status", string(issue.Review)+","+string(issue.Handoff)); err != nil {
		return err
	}
	for _, one := range slices.Backward(left) {
		response, isDue := demo.Respond(s.dice, issue.Status(one.Status), one.WaitingFor != "", int64(one.Attempt))
		if !isDue {
			continue
		}
		if err := s.respond(ctx, one, response); err != nil {
			return err
		}
	}
	return nil
}

func (s *stage) respond(ctx context.Context, one client.Issue, response demo.Response) error {
	at := []string{s.company, one.ID}
	title := fmt.Sprintf("#%d %s: ", one.Number, one.Title)
	switch response.Action {
	case issue.Assign:
		advice := map[string]any{"body": response.Note}
		if err := s.tell(ctx, client.CommentOnIssue.In(at...).Sending(advice), title+"answered"); err != nil {
			return err
		}
		to := map[string]any{"agentId": one.AssignedAgentID}
		return s.tell(ctx, client.AssignIssue.In(at...).Sending(to), title+"assigned")
	case issue.Reject:
		return s.tell(ctx, client.RejectIssue.In(at...).Sending(map[string]any{"note": response.Note}), title+"rejected")
	}
	return s.tell(ctx, client.AcceptIssue.In(at...), title+"accepted")
}

// finance raises the budget of the company when most of it is spent.
func (s *stage) finance(ctx context.Context) (err error) {
	var of client.Envelope
	if err = eachOf(ctx, s, client.ListBudgets, func(e client.Envelope) { of = e }, "scope", "company"); err != nil {
		return err
	}
	if of.LimitUSD == "" {
		return nil
	}
	limit, err := money.ParseUSD(money.Number(of.LimitUSD))
	if err != nil {
		return err
	}
	to, isDue := demo.Raised(limit, budget.Level(of.Level))
	if !isDue {
		return nil
	}
	next := map[string]any{"budget": map[string]any{"usd": to}}
	return s.tell(ctx, client.UpdateCompany.In(s.company).Sending(next), fmt.Sprintf("The budget is raised to %s USD.", to))
}
