package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"holdco/adapters/client"
	"holdco/domain/access"
	"holdco/domain/demo"
	"holdco/domain/fault"
)

// DemoWorkerCommand is the program of the agents that the command demo hires.
func DemoWorkerCommand(a *app) *cobra.Command {
	w := demoWorker{}
	command := &cobra.Command{
		Use:    "demo-worker",
		Short:  "Work on one issue as agents of \"holdco demo\" do",
		Hidden: true, // Holdco starts it
		Long: "Work on one issue as agents of \"holdco demo\" do: it thinks for seconds, writes checkpoints, reports what a model would\n" +
			"have cost, asks for approvals, fails and hands off. No model is called. Holdco starts it, with the variables that the\n" +
			"programs of agents get.",
		Args: noArgs,
		RunE: a.run(func(command *cobra.Command, _ []string) error { return w.run(command.Context(), command.OutOrStdout()) }),
	}
	flags := command.Flags()
	flags.StringVar(&w.model, "model", "claude-sonnet-4-5", "the model whose tokens it reports")
	flags.IntVar(&w.pace, "pace", usualPace, "how long it thinks, in percent of some seconds for each step")
	return command
}

const usualPace = 100

// demoWorker works on one issue.
type demoWorker struct {
	client.AtWork

	model string
	pace  int
	out   io.Writer
	given demoLease
}

// demoLease is what it reads of its lease.
type demoLease struct {
	Issue struct {
		Number  int64    `json:"number"`
		Title   string   `json:"title"`
		Attempt int64    `json:"attempt"`
		Labels  []string `json:"labels"`
		Step    any      `json:"step"` // nil: it is none
	} `json:"issue"`
	Context struct {
		Checkpoints []any `json:"checkpoints"`
	} `json:"context"`
}

// open reads what Holdco gave to the program.
func (w *demoWorker) open() error {
	token, isToken := access.ParseRunToken(os.Getenv(agentTokenVariable))
	fencing, err := strconv.ParseInt(os.Getenv("HOLDCO_FENCING_TOKEN"), 10, 64)
	url, lease := os.Getenv(gatewayURLVariable), os.Getenv("HOLDCO_LEASE_ID")
	if !isToken || err != nil || !isServerURL(url) || lease == "" {
		return WrongUsage(errors.New("this is the program of an agent of \"holdco demo\": Holdco starts it, and gives it a lease"))
	}
	text, err := os.ReadFile(os.Getenv("HOLDCO_CONTEXT_FILE"))
	if err == nil {
		err = json.Unmarshal(text, &w.given)
	}
	if err != nil {
		return fmt.Errorf("the lease in HOLDCO_CONTEXT_FILE cannot be read: %w", err)
	}
	w.AtWork = client.AtWork{Lease: lease, Token: fencing, Client: client.Client{URL: url, Token: token, Patience: patience}}
	w.Wait = func(ctx context.Context, d time.Duration, why error) error {
		fmt.Fprintf(w.out, "%v; trying again in %s\n", why, d)
		return client.Sleep(ctx, d)
	}
	return nil
}

var errEnded = errors.New("the lease has ended, so this stops here")

func (w *demoWorker) run(ctx context.Context, out io.Writer) error {
	w.out = out
	if err := w.open(); err != nil {
		return err
	}
	i := w.given.Issue
	fmt.Fprintf(out, "#%d %s, attempt %d\n", i.Number, i.Title, i.Attempt)
	err := w.play(ctx, demo.ScriptFor(demo.Situation{
		Number: i.Number, Attempt: i.Attempt, Labels: i.Labels, IsStep: i.Step != nil, IsBegun: len(w.given.Context.Checkpoints) > 0,
	}))
	switch {
	case err != nil && ctx.Err() != nil:
		return errors.New("stopped; Holdco gives the issue back")
	case fault.CodeOf(err) == fault.StaleLease: // what this came to does not count any more, whatever the exit code
		return fmt.Errorf("%w: %w", errEnded, err)
	}
	return err
}

// play plays a script until an act ends it, a budget is spent, or the lease has ended.
func (w *demoWorker) play(ctx context.Context, script []demo.Beat) error {
	for n, beat := range script {
		if err := client.Sleep(ctx, beat.Think*time.Duration(w.pace)/usualPace); err != nil {
			return err
		}
		state, err := w.Charge(ctx, demo.ChargeKey(n+1), w.model, map[string]int64{
			"input": beat.Tokens.Input, "output": beat.Tokens.Output, "cacheRead": beat.Tokens.CacheRead,
		})
		if err == nil && beat.Note != "" {
			fmt.Fprintln(w.out, beat.Note)
			state, err = w.note(ctx, beat.Note, state)
		}
		if err != nil {
			return err
		}
		isOver, err := w.act(ctx, beat.Do, state.Lease.MustFinish)
		if err != nil || isOver {
			return err
		}
	}
	return nil
}

// note writes a checkpoint. When there are too many, it goes on without.
func (w *demoWorker) note(ctx context.Context, note string, before client.LeaseState) (client.LeaseState, error) {
	state, err := w.Checkpoint(ctx, note)
	if fault.CodeOf(err) == fault.TooManyOf {
		return before, nil
	}
	return state, err
}

// act does what a beat says, and reports whether the script is over. When the budget is spent, the issue is finished at once.
func (w *demoWorker) act(ctx context.Context, do demo.Act, mustFinish bool) (isOver bool, err error) {
	number := w.given.Issue.Number
	if mustFinish && do != demo.Complete {
		return true, w.complete(ctx, demo.OutOfBudget)
	}
	switch do {
	case demo.Ask:
		said, err := w.ask(ctx)
		if err != nil || said == "" {
			return false, err
		}
		return true, w.complete(ctx, said)
	case demo.Complete:
		return true, w.complete(ctx, demo.Summary(number))
	case demo.Fail:
		code, message := demo.Failure(number)
		fmt.Fprintln(w.out, message)
		return true, w.Fail(ctx, code, message)
	case demo.HandOff:
		question := demo.Question(number)
		fmt.Fprintln(w.out, question)
		return true, w.HandOff(ctx, question)
	}
	return false, nil
}

func (w *demoWorker) complete(ctx context.Context, summary string) error {
	fmt.Fprintln(w.out, summary)
	return w.Complete(ctx, demo.Result(w.given.Issue.Number, summary), summary)
}

// ask asks for an approval, and waits until somebody has decided. It returns why the work is over: the approval was not given, or there
// is no budget to go on with; empty: it goes on.
func (w *demoWorker) ask(ctx context.Context) (over string, err error) {
	asking := demo.AskingFor(w.given.Issue.Title)
	asked, err := w.Ask(ctx, map[string]any{
		"actionName": demo.Deploy, "action": asking.Action, "reasoning": asking.Reasoning, "ifDenied": asking.IfDenied,
		"sideEffects": asking.SideEffects,
	})
	switch fault.CodeOf(err) {
	case fault.BudgetExhausted:
		return demo.OutOfBudget, nil
	case fault.TooManyOf:
		return demo.NotAllowed, nil
	}
	fmt.Fprintln(w.out, "I have asked for an approval.")
	for err == nil {
		switch asked.Status {
		case "approved", "approved_with_edits":
			fmt.Fprintln(w.out, "It is approved.")
			return "", nil
		case "denied", "expired":
			return demo.NotAllowed, nil
		case "asked_question":
			switch err = w.Answer(ctx, asked.ID, demo.Answer); fault.CodeOf(err) {
			case fault.TooManyOf:
				return demo.NotAllowed, nil
			case "", fault.InvalidTransition: // somebody was faster
			default:
				return "", err
			}
		}
		asked, err = w.Look(ctx, asked.ID)
	}
	return "", err
}
