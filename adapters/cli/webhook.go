package cli

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/precondition"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

// WebhookCommand is the command on webhooks, with those below it.
func WebhookCommand(open Opener[inbound.Webhooks]) Command {
	return func(a *app) *cobra.Command { return (&webhooks{app: a, open: open}).group() }
}

func (w *webhooks) group() *cobra.Command {
	command := &cobra.Command{
		Use:   "webhook",
		Short: "Manage webhooks, and see what was delivered to them",
		Long: "Manage webhooks, URLs to which events are posted as they happen, and see what was delivered to them. These\n" +
			"commands work directly on the store, so they need no token; the server may be running, and it alone sends.",
	}
	command.AddCommand(
		w.create(), w.list(), w.update(), w.rotateSecret(), w.rm(),
		w.test(), w.deliveries(), w.redeliver(), w.resume(),
	)
	jsonFlag(command.PersistentFlags(), &w.asJSON)
	w.program.StoreFlags(command.PersistentFlags())
	return command
}

func (w *webhooks) resume() *cobra.Command {
	return &cobra.Command{
		Use:   "resume",
		Short: "Send what is held since the store was restored",
		Long: "Send what is held since the store was restored from a backup: the events that waited to be sent at the time of the\n" +
			"backup, and those that happened since. Receivers may have had some of them, with the same webhook-id.",
		Example: "  holdco webhook resume",
		Args:    noArgs,
		RunE: on(w.app, w.open, func(command *cobra.Command, port inbound.Webhooks, _ []string) error {
			resumed, err := port.Resume(command.Context(), w.caller)
			switch {
			case err != nil:
				return err
			case w.asJSON:
				all := make([]event.Fields, len(resumed))
				for n, one := range resumed {
					all[n] = one.Fields()
				}
				return printJSON(command.OutOrStdout(), all)
			case len(resumed) == 0:
				_, err = fmt.Fprintln(command.OutOrStdout(), "Nothing is held.")
			default:
				_, err = fmt.Fprintf(command.OutOrStdout(), "Webhooks that send again: %d\n", len(resumed))
			}
			return err
		}),
	}
}

// webhooks are the commands below "webhook". Those on deliveries are in delivery.go.
type webhooks struct {
	*app
	open   Opener[inbound.Webhooks]
	asJSON bool
}

func (w *webhooks) create() *cobra.Command {
	var sent webhookFlags
	var company string
	var disabled bool
	command := &cobra.Command{
		Use:   "create",
		Short: "Create a webhook and print its secret, which is shown this once",
		Long: "Create a webhook and print its secret, which is shown this once. Receivers check with it that a message comes\n" +
			"from here, best with one of the libraries of https://www.standardwebhooks.com.\n\n" +
			"Events have names such as company.created, token.revoked or webhook.disabled, and patterns such as company.*\n" +
			"match all of a kind. The API reference of the server, at /docs, describes each.",
		Example: "  holdco webhook create --url https://example.com/holdco\n" +
			"  holdco webhook create --url https://example.com/holdco --events company.created,company.deleted\n" +
			"  holdco webhook create --url https://example.com/holdco --company cmp_01jqvb2k3e8m0t9c5x7a4n6p1r --json",
		Args: noArgs,
		RunE: on(w.app, w.open, func(command *cobra.Command, port inbound.Webhooks, _ []string) error {
			draft := webhook.Draft{Settings: sent.settings(command.Flags())}
			if command.Flags().Changed("company") {
				draft.Company = &company
			}
			if disabled {
				draft.Enabled = new(false)
			}
			issued, err := port.Create(command.Context(), w.caller, draft, idempotency.Request{})
			if err != nil {
				return err
			}
			return w.printIssued(command, issued)
		}),
	}
	flags := command.Flags()
	sent.add(command)
	flags.StringVar(&company, "company", "", "id of the only company whose events are sent (default all companies)")
	flags.BoolVar(&disabled, "disabled", false, "send nothing until the webhook is enabled")
	setsField(flags, "company", "companyId")
	_ = command.MarkFlagRequired("url")
	return command
}

func (w *webhooks) list() *cobra.Command {
	head := []string{"ID", "URL", "EVENTS", "COMPANY", "CREATED", "STATE"}
	return listAll(w.app, w.open, &w.asJSON, "webhook", inbound.Webhooks.List, head, webhookRow)
}

func (w *webhooks) update() *cobra.Command {
	var sent webhookFlags
	var enable, disable bool
	var patch webhook.Patch
	command := &cobra.Command{
		Use:   "update ID",
		Short: "Change a webhook, enable or disable it",
		Long: "Change a webhook, enable or disable it. What is not named stays as it is. When a webhook is enabled, deliveries\n" +
			"that were pending continue; events from while it was disabled are not sent.",
		Example: "  holdco webhook update whk_01jqvb2k3e8m0t9c5x7a4n6p1r --enable\n" +
			"  holdco webhook update whk_01jqvb2k3e8m0t9c5x7a4n6p1r --url https://example.com/new --events 'company.*'",
		Args: oneID[id.Webhook]("webhook"),
		RunE: onResource(w.app, w.open, &w.asJSON,
			func(ctx context.Context, port inbound.Webhooks, args []string) (webhook.Endpoint, error) {
				return port.Update(ctx, w.caller, id.Webhook(args[0]), patch, precondition.Any())
			}, func(out io.Writer, next webhook.Endpoint) error { return printTable(out, webhookTable(next)) }),
	}
	command.PreRun = func(command *cobra.Command, _ []string) {
		patch.Settings = sent.settings(command.Flags())
		switch flags := command.Flags(); {
		case flags.Changed("enable"):
			patch.Enabled = &enable
		case flags.Changed("disable"):
			patch.Enabled = new(!disable)
		}
	}
	sent.add(command)
	command.Flags().BoolVar(&enable, "enable", false, "send events from now on")
	command.Flags().BoolVar(&disable, "disable", false, "send nothing from now on")
	command.MarkFlagsMutuallyExclusive("enable", "disable")
	command.MarkFlagsOneRequired("url", "events", "description", "enable", "disable")
	return command
}

func (w *webhooks) rotateSecret() *cobra.Command {
	return &cobra.Command{
		Use:   "rotate-secret ID",
		Short: "Give a webhook a new secret and print it, which is shown this once",
		Long: "Give a webhook a new secret and print it, which is shown this once. For 24 hours messages are signed with the\n" +
			"old one too, so that receivers have time to switch.",
		Example: "  holdco webhook rotate-secret whk_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    oneID[id.Webhook]("webhook"),
		RunE: on(w.app, w.open, func(command *cobra.Command, port inbound.Webhooks, args []string) error {
			issued, err := port.RotateSecret(command.Context(), w.caller, id.Webhook(args[0]), precondition.Any(), idempotency.Request{})
			if err != nil {
				return err
			}
			return w.printIssued(command, issued)
		}),
	}
}

func (w *webhooks) rm() *cobra.Command {
	return &cobra.Command{
		Use:     "rm ID",
		Short:   "Remove a webhook with all deliveries to it",
		Example: "  holdco webhook rm whk_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    oneID[id.Webhook]("webhook"),
		RunE: onResource(w.app, w.open, &w.asJSON,
			func(ctx context.Context, port inbound.Webhooks, args []string) (webhook.Endpoint, error) {
				return port.Delete(ctx, w.caller, id.Webhook(args[0]), precondition.Any())
			}, func(out io.Writer, last webhook.Endpoint) error {
				_, err := fmt.Fprintf(out, "The webhook %s (%s) is removed.\n", last.ID, last.URL)
				return err
			}),
	}
}

// webhookFlags are the flags that create and update have in common.
type webhookFlags struct {
	url, description string
	events           []string
}

func (f *webhookFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.url, "url", "", "where events are posted, such as https://example.com/holdco")
	flags.StringSliceVar(&f.events, "events", nil, "which events, separated by commas: names, and patterns such as company.* or * (a new\n"+
		"webhook gets all by default)")
	flags.StringVar(&f.description, "description", "", "what the webhook is for")
	_ = command.RegisterFlagCompletionFunc("events",
		cobra.FixedCompletions([]string{"*", "company.*"}, cobra.ShellCompDirectiveNoFileComp))
}

// settings are what the flags say, where they say anything.
func (f *webhookFlags) settings(flags *pflag.FlagSet) webhook.Settings {
	var s webhook.Settings
	if flags.Changed("url") {
		s.URL = &f.url
	}
	if flags.Changed("events") {
		s.Events = new(trimmed(f.events))
	}
	if flags.Changed("description") {
		s.Description = &f.description
	}
	return s
}

func (w *webhooks) printIssued(command *cobra.Command, issued inbound.IssuedWebhook) error {
	return printIssued(command.OutOrStdout(), w.asJSON, issued.Endpoint, webhookTable(issued.Endpoint), "secret", string(issued.Secret))
}

func webhookTable(e webhook.Endpoint) [][]string {
	return [][]string{
		{"id", string(e.ID)},
		{"url", e.URL},
		{"events", strings.Join(webhook.Names(e.Events), ",")},
		{"company", companyOrAll(e.Company)},
		{"state", state(e)},
	}
}

func webhookRow(e webhook.Endpoint) []string {
	return []string{
		string(e.ID), e.URL, strings.Join(webhook.Names(e.Events), ","), companyOrAll(e.Company), shown(e.CreatedAt, "-"), state(e),
	}
}

func companyOrAll(company id.Company) string {
	if company == "" {
		return "all"
	}
	return string(company)
}

func state(e webhook.Endpoint) string {
	switch {
	case e.Enabled:
		return "enabled"
	case e.DisabledReason != "":
		return "disabled: " + strings.TrimSuffix(e.DisabledReason, ".")
	}
	return "disabled"
}
