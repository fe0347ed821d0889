package leases

import (
	"context"
	"slices"
	"strings"

	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/run"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// Bounds of a context.
const (
	mostShown   = 50        // comments, checkpoints, approvals and children
	contextSize = 256 << 10 // bytes of comments, checkpoints and approvals
	resultSize  = 16 << 10  // bytes of one result
	resultsSize = 256 << 10 // bytes of the results of blockers and children
)

// Context returns what an agent needs to know to work on an issue.
func (s *Service) Context(ctx context.Context, caller agent.Caller, which id.Lease) (shown inbound.WorkContext, err error) {
	if err := caller.MayRead(); err != nil {
		return shown, err
	}
	err = s.store.Update(ctx, func(ctx context.Context, tx store.Tx) error {
		found, err := ofCaller(caller)(tx.Runs().LockLease(ctx, which))
		if err != nil {
			return err
		}
		at, err := tx.StoreNow(ctx)
		if err != nil {
			return err
		}
		found.ContextAt = at
		tx.Unrecorded()
		return tx.Runs().Save(ctx, found)
	})
	if err != nil {
		return shown, err
	}
	err = s.store.View(ctx, func(ctx context.Context, r store.Reader) error {
		found, err := find(ctx, r, caller, which)
		if err != nil {
			return err
		}
		shown, err = contextOf(ctx, r, found.Run, found.Issue, false)
		return err
	})
	return shown, err
}

// contextOf reads the context of an issue for one of its runs. It reads neither children nor comments of an issue that is alone, and
// neither checkpoints nor approvals of one that had no run before.
func contextOf(ctx context.Context, r store.Reader, its run.Run, of issue.Issue, isAlone bool) (inbound.WorkContext, error) {
	shown := contextReader{from: r, run: its, issue: of}
	steps := []func(context.Context) error{shown.employment, shown.purposes, shown.parents, shown.blockers}
	if !isAlone {
		steps = append(steps, shown.children, shown.comments)
	}
	if of.FencingToken > 1 || its.Checkpoints > 0 { // there was an earlier run, or this one has made some
		steps = append(steps, shown.checkpoints)
	}
	if of.FencingToken > 1 || of.Asking {
		steps = append(steps, shown.approvals)
	}
	steps = append(steps, shown.former, shown.names)
	shown.LastError = of.Error
	for _, read := range steps {
		if err := read(ctx); err != nil {
			return inbound.WorkContext{}, err
		}
	}
	return shown.WorkContext, nil
}

// contextReader reads the parts of a context, one after the other.
type contextReader struct {
	inbound.WorkContext

	from  store.Reader
	run   run.Run
	issue issue.Issue

	said, results int // bytes of comments, checkpoints and approvals, and of results, so far
}

// hasRoom takes so many bytes of what is said, if there are.
func (c *contextReader) hasRoom(size int) bool {
	c.said += size
	return c.said <= contextSize
}

func (c *contextReader) employment(ctx context.Context) error {
	found, err := c.from.Agents().Employment(ctx, c.run.Agent)
	if err != nil {
		return err
	}
	c.Agent, c.Company = found.Agent, found.Company
	if found.Team.ID != "" {
		c.Team = &found.Team
	}
	if found.Manager.ID != "" {
		c.Manager = &found.Manager
	}
	return nil
}

// purposes are the goal and the project of the issue, and the instructions of its step.
func (c *contextReader) purposes(ctx context.Context) error {
	if c.issue.Goal != "" {
		found, err := c.from.Goals().Get(ctx, c.issue.Goal)
		if err != nil {
			return err
		}
		c.Goal = &found
	}
	if c.issue.Project != "" {
		found, err := c.from.Projects().Get(ctx, c.issue.Project)
		if err != nil {
			return err
		}
		c.Project = &found
	}
	if c.issue.IsStep() {
		steps, err := c.from.Workflows().Steps(ctx, c.issue.Workflow, c.issue.WorkflowVersion)
		if err != nil && fault.CodeOf(err) != fault.NotFound { // a workflow can be deleted once its issues have ended
			return err
		}
		if c.issue.Place <= len(steps) {
			c.Instructions = steps[c.issue.Place-1].Instructions
		}
	}
	return nil
}

func (c *contextReader) parents(ctx context.Context) error {
	for parent := c.issue.Parent; parent != ""; {
		above, err := c.from.Issues().Get(ctx, parent)
		if err != nil {
			return err
		}
		c.Parents = append(c.Parents, above)
		parent = above.Parent
	}
	return nil
}

func (c *contextReader) blockers(ctx context.Context) error {
	for _, which := range c.issue.BlockedBy {
		found, err := c.from.Issues().Get(ctx, which)
		if err != nil {
			return err
		}
		c.Blockers = append(c.Blockers, c.withResult(found))
	}
	return nil
}

func (c *contextReader) children(ctx context.Context) error {
	filter := store.IssueFilter{Company: c.issue.Company, Parent: &c.issue.ID}
	found, err := c.from.Issues().List(ctx, filter, page.Position{}, mostShown)
	for _, one := range found.Items {
		c.Children = append(c.Children, c.withResult(one))
	}
	slices.Reverse(c.Children)
	return err
}

// withResult is an issue with as much of its result as there is room for.
func (c *contextReader) withResult(of issue.Issue) inbound.RelatedIssue {
	room := min(resultSize, resultsSize-c.results)
	related := inbound.RelatedIssue{Issue: of}
	related.Result, related.IsCut = issue.Excerpt(of.Result, room)
	c.results += min(len(related.Result), room)
	return related
}

// comments finds the rejection of the last result too.
func (c *contextReader) comments(ctx context.Context) error {
	found, err := c.from.Issues().Comments(ctx, c.issue.ID, page.Position{}, mostShown)
	for _, one := range found.Items {
		if c.Rejection == nil && one.Explains == issue.Reject {
			c.Rejection = &one
		}
		if c.hasRoom(len(one.Body)) {
			c.Comments = append(c.Comments, one)
		}
	}
	slices.Reverse(c.Comments)
	return err
}

func (c *contextReader) checkpoints(ctx context.Context) error {
	found, err := c.from.Runs().CheckpointsOn(ctx, c.issue.ID, mostShown)
	for _, one := range found {
		if c.hasRoom(len(one.Note) + len(one.Data)) {
			c.Checkpoints = append(c.Checkpoints, one)
		}
	}
	slices.Reverse(c.Checkpoints)
	return err
}

// approvals are the newest of all runs of the issue, and what they let this run do.
func (c *contextReader) approvals(ctx context.Context) error {
	found, err := c.from.Approvals().OnIssue(ctx, c.issue.ID, mostShown)
	if err != nil {
		return err
	}
	looked := map[string]bool{}
	for _, one := range found {
		if c.hasRoom(one.Size()) {
			c.Approvals = append(c.Approvals, one)
		}
		if one.Agent != c.run.Agent || !one.Status.IsApproved() || looked[one.ActionName] {
			continue
		}
		looked[one.ActionName] = true
		covers, err := c.covers(ctx, one)
		if err != nil {
			return err
		}
		if covers {
			c.Approved = append(c.Approved, one.ActionName)
		}
	}
	slices.Reverse(c.Approvals)
	slices.Sort(c.Approved)
	return nil
}

// covers reports whether an approval lets the run do what it is for.
func (c *contextReader) covers(ctx context.Context, one approval.Approval) (bool, error) {
	asked := c.run
	if one.Run != c.run.ID {
		var err error
		asked, err = c.from.Runs().Get(ctx, one.Run)
		if exists, err := store.Exists(err); err != nil || !exists {
			return false, err
		}
	}
	return one.Covers(one.ActionName, asked, c.run), nil
}

// former is the result that was rejected, of the issue itself, or of the step that it does again.
func (c *contextReader) former(ctx context.Context) error {
	result := c.issue.Result
	if result == "" && c.Rejection != nil && c.issue.RetryOf != "" {
		before, err := c.from.Issues().Get(ctx, c.issue.RetryOf)
		if exists, err := store.Exists(err); err != nil || !exists {
			return err
		}
		result = before.Result
	}
	c.FormerResult.Result, c.FormerResult.IsCut = issue.Excerpt(result, resultSize)
	return nil
}

// names are those of who wrote comments and decided approvals.
func (c *contextReader) names(ctx context.Context) error {
	actors := map[event.Actor]bool{}
	for _, one := range c.Comments {
		actors[one.Author] = true
	}
	if c.Rejection != nil {
		actors[c.Rejection.Author] = true
	}
	for _, one := range c.Approvals {
		actors[event.Actor(one.DecidedBy)] = true
	}
	for actor := range actors {
		name, err := c.nameOf(ctx, actor)
		if err != nil {
			return err
		}
		if name == "" {
			continue
		}
		if c.Names == nil {
			c.Names = map[event.Actor]string{}
		}
		c.Names[actor] = name
	}
	return nil
}

// nameOf is the name of a token or an agent; empty: the actor has none.
func (c *contextReader) nameOf(ctx context.Context, actor event.Actor) (string, error) {
	kind, which, _ := strings.Cut(string(actor), ":")
	switch {
	case kind == "token":
		found, err := c.from.Tokens().Get(ctx, id.Token(which))
		_, err = store.Exists(err)
		return found.Name, err
	case kind == "agent" && which == string(c.Agent.ID):
		return c.Agent.Name, nil
	case kind == "agent":
		found, err := store.GetIn(ctx, c.from.Agents(), c.issue.Company, id.Agent(which))
		_, err = store.Exists(err)
		return found.Name, err
	}
	return "", nil
}
