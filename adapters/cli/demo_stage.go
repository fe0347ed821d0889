package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/agent"
	"holdco/domain/demo"
	"holdco/domain/fault"
)

// stage is the company to look at on a running server, with the people who file its issues and decide.
type stage struct {
	*server
	*demoCommand

	out, warnings io.Writer
	explain       func(error) string
	teams         map[string]string // ids by slug
	projects      []string          // ids, in the order of demo.Projects
	dice          *demo.Dice
}

func newStage(command *cobra.Command, s *server, c demoCommand) *stage {
	return &stage{
		server: s, demoCommand: &c, out: command.OutOrStdout(), warnings: command.ErrOrStderr(), teams: map[string]string{},
		explain: func(err error) string { return explain(command, err) },
	}
}

func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format+"\n", args...) }

// find finds the company that the command has made, and reports whether there is one. It fails when another has its slug.
func (s *stage) find(ctx context.Context) (found client.Company, exists bool, err error) {
	data, err := s.Do(ctx, client.ListCompanies.In().With("slug", demo.Slug))
	if err != nil {
		return found, false, err
	}
	all, err := client.Read[[]client.Company](data)
	switch {
	case err != nil || len(all) == 0:
		return found, false, err
	case all[0].Description != demo.Description:
		return found, false, fmt.Errorf("there is a company %q that holdco demo has not made, or whose description was changed; "+
			"it is left alone", demo.Slug)
	}
	return all[0], true, nil
}

// remove removes the company.
func (s *stage) remove(ctx context.Context) error {
	found, exists, err := s.find(ctx)
	if err != nil {
		return err
	}
	if !exists {
		s.say("There is no company %q.", demo.Slug)
		return nil
	}
	if _, err = s.Do(ctx, client.DeleteCompany.In(found.ID)); err == nil {
		s.say("The company %q (%s) is removed.", demo.Slug, found.ID)
	}
	return err
}

// run runs the company until ctx ends. What it says is in the order in which it happens.
func (s *stage) run(ctx context.Context) error {
	if err := s.open(ctx); err != nil {
		return err
	}
	s.say("The company %q (%s) is at work. Ctrl+C stops it; \"holdco demo --remove\" removes it.", demo.Slug, s.company)
	file, decide := time.NewTicker(s.pace), time.NewTicker(max(s.pace, s.patience/10, 10*time.Millisecond)) //nolint:mnd // often enough
	defer file.Stop()
	defer decide.Stop()
	isAway := false
	for do := s.file; ; {
		err := do(ctx)
		code := fault.CodeOf(err)
		isLost := errors.As(err, new(*client.Unreachable)) || code == fault.Unavailable || code == fault.RateLimited
		switch {
		case ctx.Err() != nil:
			s.say("Stopped. Agents finish what they have begun; \"holdco demo\" goes on.")
			return nil
		case isLost && !isAway:
			fmt.Fprintf(s.warnings, "holdco: %s; it goes on when the server is back\n", s.explain(err))
		case err != nil && !isLost:
			return err
		}
		isAway = isLost
		select {
		case <-file.C:
			do = s.file
		case <-decide.C:
			do = s.decide
		case <-ctx.Done():
		}
	}
}

// open makes what is missing of the company.
func (s *stage) open(ctx context.Context) error {
	found, exists, err := s.find(ctx)
	switch {
	case err != nil:
		return err
	case exists && found.Status != "active":
		return fmt.Errorf("the company %q is %s; restore it, or remove it with --remove", demo.Slug, found.Status)
	case !exists:
		if found, err = s.found(ctx); err != nil {
			return err
		}
	}
	s.company = found.ID
	for _, step := range []func(context.Context) error{s.staff, s.hire, s.plan, s.workflow} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	counts, err := s.counts(ctx)
	if err != nil {
		return err
	}
	all := uint64(0)
	for _, n := range counts {
		all += uint64(n) //nolint:gosec // it is not negative
	}
	s.dice = demo.NewDice(s.seed, all) // so that it does not begin with the same issues again
	return nil
}

// staff finds the teams by their slugs, and makes those that are missing.
func (s *stage) staff(ctx context.Context) error {
	if err := eachOf(ctx, s, client.ListTeams, func(t client.Team) { s.teams[t.Slug] = t.ID }); err != nil {
		return err
	}
	for _, t := range demo.Teams {
		if s.teams[t.Slug] != "" {
			continue
		}
		one, err := made[client.Team](ctx, s, client.CreateTeam.In(s.company).Sending(map[string]any{
			"name": t.Name, "description": t.Description, "headcount": demo.Headcount(t.Slug),
		}))
		if err != nil {
			return err
		}
		s.teams[t.Slug] = one.ID
	}
	return nil
}

// eachOf calls take with all that an operation lists in the company.
func eachOf[T any](ctx context.Context, s *stage, list client.Operation, take func(T), with ...string) error {
	call := list.In(s.company)
	for n := 0; n < len(with); n += 2 {
		call = call.With(with[n], with[n+1])
	}
	found, err := s.List(ctx, call)
	if err != nil {
		return err
	}
	for _, data := range found {
		item, err := client.Read[T](data)
		if err != nil {
			return err
		}
		take(item)
	}
	return nil
}

// made makes something, and reads it.
func made[T any](ctx context.Context, s *stage, call client.Call) (item T, err error) {
	data, err := s.Do(ctx, call)
	if err != nil {
		return item, err
	}
	return client.Read[T](data)
}

func (s *stage) found(ctx context.Context) (client.Company, error) {
	return made[client.Company](ctx, s, client.CreateCompany.In().Sending(map[string]any{
		"slug": demo.Slug, "name": demo.Name, "description": demo.Description,
		"budget": map[string]any{"usd": json.Number(demo.Budget)},
	}))
}

// program is how the server runs an agent.
func (s *stage) program(of demo.Agent) map[string]any {
	return map[string]any{
		"command": []string{s.worker, "demo-worker", "--model", of.Model, "--pace", strconv.Itoa(s.thinking)},
		"stdin":   string(agent.Nothing),
	}
}

// hire hires who is missing, and gives everybody the program.
func (s *stage) hire(ctx context.Context) error {
	staff := map[string]client.Agent{}
	take := func(a client.Agent) {
		if _, has := staff[a.Name]; !has || a.Status != retired {
			staff[a.Name] = a
		}
	}
	if err := eachOf(ctx, s, client.ListAgents, take, "status", employed+","+retired); err != nil {
		return err
	}
	for _, who := range demo.Agents {
		config := s.program(who)
		if has, isThere := staff[who.Name]; isThere {
			if has.Status == retired || has.Adapter != agent.ProcessAdapter || isWithin(config, has.Config) {
				continue
			}
			if _, err := s.Do(ctx, client.UpdateAgent.In(s.company, has.ID).Sending(map[string]any{"adapterConfig": config})); err != nil {
				return err
			}
			continue
		}
		budget := map[string]any{}
		for field, amount := range map[string]string{"perTaskUsd": who.PerTask, "dailyUsd": who.Daily} {
			if amount != "" {
				budget[field] = json.Number(amount)
			}
		}
		_, err := s.Do(ctx, client.HireAgent.In(s.company).Sending(map[string]any{
			"teamId": s.teams[who.Team], "name": who.Name, "role": who.Role, "adapter": agent.ProcessAdapter, "adapterConfig": config,
			"model": who.Model, "budget": budget, "approvalPolicy": map[string]any{"requires": append([]string{}, who.Requires...)},
		}))
		if err != nil {
			return err
		}
		s.say("%s is hired.", who.Name)
	}
	return nil
}

// isWithin reports whether an object has the members of another, as JSON.
func isWithin(wanted map[string]any, object any) bool {
	has, isObject := object.(map[string]any)
	text, err := json.Marshal(wanted)
	var plain map[string]any
	if !isObject || err != nil || json.Unmarshal(text, &plain) != nil {
		return false
	}
	for name, value := range plain {
		if !reflect.DeepEqual(has[name], value) {
			return false
		}
	}
	return true
}

// plan makes the goals and projects that are missing. They are known by their titles.
func (s *stage) plan(ctx context.Context) error {
	goals, projects := map[string]string{}, map[string]string{}
	if err := eachOf(ctx, s, client.ListGoals, func(g client.Goal) { goals[g.Title] = g.ID }); err != nil {
		return err
	}
	if err := eachOf(ctx, s, client.ListProjects, func(p client.Project) {
		if p.Status == "active" {
			projects[p.Title] = p.ID
		} else if projects[p.Title] == "" {
			projects[p.Title] = archivedProject
		}
	}); err != nil {
		return err
	}
	for _, g := range demo.Goals {
		if goals[g.Title] != "" {
			continue
		}
		one, err := made[client.Goal](ctx, s, client.CreateGoal.In(s.company).Sending(withBudget(g.Budget, map[string]any{
			"title": g.Title, "description": g.Description,
			"targetDate": s.app.program.Clock.Now().AddDate(0, 0, g.Days).Format(time.DateOnly),
		})))
		if err != nil {
			return err
		}
		goals[g.Title] = one.ID
	}
	for _, p := range demo.Projects {
		if projects[p.Title] == "" {
			one, err := made[client.Project](ctx, s, client.CreateProject.In(s.company).Sending(withBudget(p.Budget, map[string]any{
				"title": p.Title, "description": p.Description, "goalId": goals[demo.Goals[p.Goal].Title], "ownerTeamId": s.teams[p.Team],
			})))
			if err != nil {
				return err
			}
			projects[p.Title] = one.ID
		}
		s.projects = append(s.projects, projects[p.Title])
	}
	return nil
}

// archivedProject stands for a project that gets no more issues.
const archivedProject = "-"

func withBudget(amount string, body map[string]any) map[string]any {
	if amount != "" {
		body["budget"] = map[string]any{"usd": json.Number(amount)}
	}
	return body
}

// workflow makes the workflow, unless it is there.
func (s *stage) workflow(ctx context.Context) error {
	has := false
	err := eachOf(ctx, s, client.ListWorkflows, func(w client.Workflow) { has = has || w.Slug == demo.WorkflowSlug })
	if err != nil || has {
		return err
	}
	var steps []map[string]any
	for _, step := range demo.Steps {
		one := map[string]any{"key": step.Key, "title": step.Title, "instructions": step.Instructions, "team": s.teams[step.Team]}
		if step.Gate != "" {
			one["gate"] = step.Gate
		}
		steps = append(steps, one)
	}
	_, err = s.Do(ctx, client.CreateWorkflow.In(s.company).Sending(map[string]any{
		"name": demo.WorkflowName, "slug": demo.WorkflowSlug, "steps": steps,
	}))
	return err
}

// counts are how many issues there are in each state.
func (s *stage) counts(ctx context.Context) (map[string]int, error) {
	found, err := made[client.IssueCounts](ctx, s, client.CountIssues.In(s.company))
	return found.ByStatus, err
}

// enough is how many issues may wait.
const enough = 8

// file files an issue, unless enough are waiting.
func (s *stage) file(ctx context.Context) error {
	counts, err := s.counts(ctx)
	if err != nil || counts["queued"]+counts["assigned"] >= enough {
		return err
	}
	task := demo.NextTask(s.dice)
	isRelease := s.dice.Percent(3) //nolint:mnd // per cent
	if isRelease {
		task = demo.ReleaseTask(s.dice.Below(100)) //nolint:mnd // versions
	}
	body := map[string]any{
		"title": task.Title, "description": task.Description, "priority": task.Priority, "labels": task.Labels,
	}
	if isRelease {
		body["workflowId"] = demo.WorkflowSlug
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
		if i.WaitingFor == "" && s.isLeft(i.UpdatedAt) {
			left = append(left, i)
		}
	}
	if err := eachOf(ctx, s, client.ListIssues, take, "status", "review,handoff"); err != nil {
		return err
	}
	for _, one := range slices.Backward(left) {
		at := []string{s.company, one.ID}
		title := fmt.Sprintf("#%d %s: ", one.Number, one.Title)
		var err error
		note := demo.Review(s.dice, int64(one.Attempt))
		switch {
		case one.Status == "handoff":
			advice := map[string]any{"body": demo.Advice(s.dice)}
			if err = s.tell(ctx, client.CommentOnIssue.In(at...).Sending(advice), title+"answered"); err != nil {
				return err
			}
			to := map[string]any{"agentId": one.AssignedAgentID}
			err = s.tell(ctx, client.AssignIssue.In(at...).Sending(to), title+"assigned")
		case note != "":
			err = s.tell(ctx, client.RejectIssue.In(at...).Sending(map[string]any{"note": note}), title+"rejected")
		default:
			err = s.tell(ctx, client.AcceptIssue.In(at...), title+"accepted")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// finance raises the budget of the company when most of it is spent.
func (s *stage) finance(ctx context.Context) (err error) {
	var of client.Envelope
	if err = eachOf(ctx, s, client.ListBudgets, func(e client.Envelope) { of = e }, "scope", "company"); err != nil {
		return err
	}
	if of.Level == "none" || of.LimitUSD == "" {
		return nil
	}
	limit, err := of.LimitUSD.Float64()
	if err != nil {
		return err
	}
	raise, err := strconv.Atoi(demo.Raise)
	if err != nil {
		return err
	}
	next := map[string]any{"budget": map[string]any{"usd": int(limit) + raise}}
	return s.tell(ctx, client.UpdateCompany.In(s.company).Sending(next), fmt.Sprintf("The budget is raised to %d USD.", int(limit)+raise))
}
