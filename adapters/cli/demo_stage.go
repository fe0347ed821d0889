package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
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

// counts are how many issues there are in each state.
func (s *stage) counts(ctx context.Context) (map[string]int, error) {
	found, err := made[client.IssueCounts](ctx, s, client.CountIssues.In(s.company))
	return found.ByStatus, err
}
