package issues

import (
	"context"
	"reflect"
	"slices"
	"sync"
	"time"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
	"holdco/ports/store"
)

// Service is the application's inbound.Issues.
type Service struct {
	store   store.Store
	ids     outbound.IDs
	logs    outbound.RunLogs
	once    sync.Once
	closing chan struct{} // closed when the server stops
}

var _ inbound.Issues = (*Service)(nil)

// New returns the use cases.
func New(s store.Store, ids outbound.IDs, logs outbound.RunLogs) *Service {
	return &Service{store: s, ids: ids, logs: logs, closing: make(chan struct{})}
}

// List returns a page of the issues of a company.
func (s *Service) List(
	ctx context.Context, caller access.Caller, list inbound.IssueList,
) (found page.Page[issue.Issue], err error) {
	err = s.matching(ctx, caller, list, func(ctx context.Context, r store.Reader, filter store.IssueFilter) (err error) {
		found, err = r.Issues().List(ctx, filter, list.After, list.Size)
		return err
	})
	return found, err
}

// Count counts the issues of a company. What is tallied is not counted.
func (s *Service) Count(ctx context.Context, caller access.Caller, list inbound.IssueList) (counts issue.Counts, err error) {
	err = s.matching(ctx, caller, list, func(ctx context.Context, r store.Reader, filter store.IssueFilter) (err error) {
		of := store.Tally{
			Company: filter.Company, Team: filter.Team, Agent: filter.Agent, Project: filter.Project, Goal: filter.Goal,
		}
		tallied := store.IssueFilter{
			Company: filter.Company, Team: filter.Team, Agent: filter.Agent, Project: filter.Project, Goal: filter.Goal, Sort: filter.Sort,
		}
		if reflect.DeepEqual(filter, tallied) && of.IsOne() {
			counts, err = r.Issues().Tally(ctx, of)
			return err
		}
		counts, err = r.Issues().Count(ctx, filter, inbound.MostCounted)
		return err
	})
	return counts, err
}

// sorts are the orders of lists by their names.
var sorts = map[string]store.IssueSort{
	"": store.ByCreation, "created": store.ByCreation, "updated": store.ByUpdate, "priority": store.ByPriority, "due": store.ByDueDate,
}

// matching reads with the filter of a list, on one snapshot.
func (s *Service) matching(
	ctx context.Context, caller access.Caller, list inbound.IssueList,
	read func(ctx context.Context, r store.Reader, filter store.IssueFilter) error,
) error {
	of := list.Company
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return err
	}
	return store.ViewIn(ctx, s.store, of, func(ctx context.Context, r store.Reader) error {
		filter := store.IssueFilter{
			Company: of, Number: list.Number, Status: list.Status, Label: list.Label, Priority: list.Priority, Words: list.Words,
			Since: list.Since, Until: list.Until, Sort: sorts[list.Sort],
		}
		if list.Team != "" {
			team, err := store.FindTeam(ctx, r.Teams(), of, list.Team)
			if err != nil {
				return err
			}
			filter.Team = team.ID
		}
		if list.Agent != "" {
			which, _ := id.Parse[id.Agent](list.Agent)
			if _, err := store.GetIn(ctx, r.Agents(), of, which); err != nil {
				return err
			}
			filter.Agent = which
		}
		if list.Project != "" {
			which, _ := id.Parse[id.Project](list.Project)
			if _, err := store.GetIn(ctx, r.Projects(), of, which); err != nil {
				return err
			}
			filter.Project = which
		}
		if list.Goal != "" {
			which, _ := id.Parse[id.Goal](list.Goal)
			if _, err := store.GetIn(ctx, r.Goals(), of, which); err != nil {
				return err
			}
			filter.Goal = which
		}
		if list.Workflow != "" {
			var err error
			if filter.Workflow, err = workflowOf(ctx, r, of, list.Workflow); err != nil {
				return err
			}
		}
		if list.Parent != nil {
			filter.Parent = new(id.Issue)
			if *list.Parent != "" {
				*filter.Parent, _ = id.Parse[id.Issue](*list.Parent)
				if _, err := store.GetIn(ctx, r.Issues(), of, *filter.Parent); err != nil {
					return err
				}
			}
		}
		return read(ctx, r, filter)
	})
}

// workflowOf returns the workflow of a company that has an id or a slug. One that was deleted is found by its id while there are issues
// with it.
func workflowOf(ctx context.Context, r store.Reader, of id.Company, which string) (id.Workflow, error) {
	found, err := store.FindWorkflow(ctx, r.Workflows(), of, which)
	if fault.CodeOf(err) != fault.NotFound {
		return found.ID, err
	}
	deleted, ok := id.Parse[id.Workflow](which)
	if !ok {
		return "", err
	}
	left, failed := r.Issues().List(ctx, store.IssueFilter{Company: of, Workflow: deleted}, page.Position{}, 1)
	if failed != nil {
		return "", failed
	}
	if len(left.Items) == 0 {
		return "", err
	}
	return deleted, nil
}

// Get returns one issue.
func (s *Service) Get(ctx context.Context, caller access.Caller, of id.Company, which id.Issue) (issue.Issue, error) {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return issue.Issue{}, err
	}
	return store.GetIn(ctx, s.store.Issues(), of, which)
}

// Comments returns a page of the comments on an issue.
func (s *Service) Comments(
	ctx context.Context, caller access.Caller, of id.Company, on id.Issue, after page.Position, size int,
) (found page.Page[issue.Comment], err error) {
	err = s.viewOf(ctx, caller, of, on, func(ctx context.Context, r store.Reader) (err error) {
		found, err = r.Issues().Comments(ctx, on, after, size)
		return err
	})
	return found, err
}

// Runs returns a page of the runs of an issue.
func (s *Service) Runs(
	ctx context.Context, caller access.Caller, of id.Company, on id.Issue, after page.Position, size int,
) (found page.Page[run.Run], err error) {
	err = s.viewOf(ctx, caller, of, on, func(ctx context.Context, r store.Reader) (err error) {
		found, err = r.Runs().List(ctx, on, after, size)
		return err
	})
	return found, err
}

// Run returns a run of an issue with its newest checkpoints.
func (s *Service) Run(
	ctx context.Context, caller access.Caller, of id.Company, on id.Issue, which id.Run,
) (found run.Run, checkpoints []run.Checkpoint, err error) {
	err = s.viewOf(ctx, caller, of, on, func(ctx context.Context, r store.Reader) (err error) {
		if found, err = runOf(ctx, r, of, on, which); err != nil {
			return err
		}
		checkpoints, err = r.Runs().Checkpoints(ctx, which, inbound.CheckpointsShown)
		slices.Reverse(checkpoints)
		return err
	})
	return found, checkpoints, err
}

// runOf returns a run of an issue.
func runOf(ctx context.Context, r store.Reader, of id.Company, on id.Issue, which id.Run) (run.Run, error) {
	found, err := store.GetIn(ctx, r.Runs(), of, which)
	if err == nil && found.Issue != on {
		_, err = r.Runs().Get(ctx, "") // not found
	}
	return found, err
}

// pollsLog is how often a log that is followed is read.
const pollsLog = 300 * time.Millisecond

// startLooks is how often a log is looked for that is not there yet.
const startLooks = 5

// Log returns a part of what the program of a run has written.
func (s *Service) Log(
	ctx context.Context, caller access.Caller, of id.Company, on id.Issue, which id.Run, part inbound.LogPart,
) (log inbound.RunLog, err error) {
	for looks := 0; ; looks++ {
		// Whether the run goes on is read first: what is written before its end is in the log then.
		var found run.Run
		err := s.viewOf(ctx, caller, of, on, func(ctx context.Context, r store.Reader) (err error) {
			found, err = runOf(ctx, r, of, on, which)
			return err
		})
		if err != nil {
			return log, err
		}
		log.IsOpen = found.IsOpen()
		log.Written, log.Next, err = s.logs.Read(of, which, part.From)
		isStarting := fault.CodeOf(err) == fault.NotFound && log.IsOpen && found.Lease.Holder != "" && looks < startLooks
		if !isStarting && (err != nil || len(log.Written) > 0 || !part.Wait || !log.IsOpen) {
			return log, err
		}
		select {
		case <-ctx.Done():
			return log, ctx.Err()
		case <-s.closing:
			return log, fault.Stopping("try again").Because(context.Canceled)
		case <-time.After(pollsLog):
		}
	}
}

// Close ends the wait of all who follow a log.
func (s *Service) Close() { s.once.Do(func() { close(s.closing) }) }

// viewOf reads what belongs to an issue of a company, on one snapshot.
func (s *Service) viewOf(
	ctx context.Context, caller access.Caller, of id.Company, on id.Issue, read func(ctx context.Context, r store.Reader) error,
) error {
	if err := caller.NeedsIn(access.Read, of); err != nil {
		return err
	}
	return s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		if _, err := store.GetIn(ctx, r.Issues(), of, on); err != nil {
			return err
		}
		return read(ctx, r)
	})
}
