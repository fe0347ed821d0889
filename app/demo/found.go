package demo

import (
	"context"
	"time"

	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/demo"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/money"
	"holdco/domain/team"
	"holdco/domain/workflow"
	"holdco/ports/inbound"
)

// once is that of calls which nobody repeats.
var once idempotency.Request

// amount is what is sent for a limit; text is empty for none.
func amount(text string) **money.Number {
	if text == "" {
		return nil
	}
	return new(new(money.Number(text)))
}

// found makes the company at a time, with all who work there. Its agents come through the gateway by themselves as yet, so that no
// server has them work now.
func (s *Service) found(ctx context.Context, at time.Time, past inbound.DemoPast) (*office, error) {
	s.Clock.set(at)
	o := &office{
		Service: s, teams: map[string]id.Team{}, until: past.Until, dice: *demo.NewDice(past.Seed), looked: at,
	}
	draft := company.Draft{Slug: new(demo.Slug), Name: new(demo.Name), Settings: company.Settings{
		Description: new(demo.Description), Budget: &budget.Change{USD: *amount(demo.Budget)},
	}}
	for _, t := range demo.Teams {
		draft.StartingTeams = append(draft.StartingTeams, team.Draft{
			Name: new(t.Name), Headcount: new(int64(demo.Headcount(t.Slug))), Settings: team.Settings{Description: new(t.Description)},
		})
	}
	founding, err := s.Companies.Create(ctx, people, draft, once)
	if err != nil {
		return nil, err
	}
	o.of = founding.Company.ID
	for _, t := range founding.Teams {
		o.teams[t.Slug] = t.ID
	}
	for _, make := range []func(context.Context) error{o.hire, o.plan} {
		if err := make(ctx); err != nil {
			return nil, err
		}
	}
	return o, nil
}

func (o *office) hire(ctx context.Context) error {
	for n, who := range demo.Agents {
		o.Clock.set(o.looked.Add(time.Duration(n+1) * time.Minute))
		settings := agent.Settings{
			Name: new(who.Name), Role: new(who.Role), Adapter: new(agent.ProcessAdapter), Model: new(who.Model),
			Budget: &agent.BudgetChange{PerTask: amount(who.PerTask), Daily: amount(who.Daily)},
		}
		if who.Requires != nil {
			settings.Requires = new(who.Requires)
		}
		hired, err := o.Agents.Hire(ctx, people, o.of, agent.Draft{Team: new(string(o.teams[who.Team])), Settings: settings}, once)
		if err != nil {
			return err
		}
		caller := agent.Caller{ID: hired.Agent.ID, Company: o.of, Team: hired.Agent.Team}
		o.staff = append(o.staff, employee{who, caller})
	}
	return nil
}

// plan makes goals, projects and the workflow.
func (o *office) plan(ctx context.Context) error {
	goals := make([]id.Goal, len(demo.Goals))
	for n, g := range demo.Goals {
		target := o.until.AddDate(0, 0, g.Days).Format(time.DateOnly)
		made, err := o.Goals.Create(ctx, people, o.of, goal.Draft{
			PurposeDraft: goal.PurposeDraft{Title: new(g.Title), Description: new(g.Description), Budget: amount(g.Budget)},
			TargetDate:   new(new(target)),
		}, once)
		if err != nil {
			return err
		}
		goals[n] = made.Of.ID
	}
	for _, p := range demo.Projects {
		made, err := o.Projects.Create(ctx, people, o.of, goal.ProjectDraft{
			PurposeDraft: goal.PurposeDraft{Title: new(p.Title), Description: new(p.Description), Budget: amount(p.Budget)},
			Goal:         new(new(string(goals[p.Goal]))), OwnerTeam: new(new(string(o.teams[p.Team]))),
		}, once)
		if err != nil {
			return err
		}
		o.projects = append(o.projects, made.Of.ID)
	}
	steps := make([]workflow.StepDraft, len(demo.Steps))
	for n, s := range demo.Steps {
		steps[n] = workflow.StepDraft{Key: new(s.Key), Title: new(s.Title), Instructions: new(s.Instructions), Team: new(new(s.Team))}
		if s.Gate != "" {
			steps[n].Gate = new(s.Gate)
		}
	}
	_, err := o.Workflows.Create(ctx, people, o.of, workflow.Draft{
		Name: new(demo.WorkflowName), Slug: new(demo.WorkflowSlug), Steps: new(steps),
	}, once)
	return err
}
