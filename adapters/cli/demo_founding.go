package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"time"

	"holdco/adapters/client"
	"holdco/domain/agent"
	"holdco/domain/demo"
)

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
