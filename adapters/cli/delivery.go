package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/webhook"
	"holdco/ports/inbound"
)

func (w *webhooks) test() *cobra.Command {
	return &cobra.Command{
		Use:   "test ID",
		Short: "Send a test message to a webhook",
		Long: "Send a test message, webhook.test, to a webhook, whatever its events are. The server sends it; \"holdco\n" +
			"webhook deliveries\" shows the outcome.",
		Example: "  holdco webhook test whk_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    oneID[id.Webhook]("webhook"),
		RunE: onResource(w.app, w.open, &w.asJSON,
			func(ctx context.Context, port inbound.Webhooks, args []string) (webhook.Delivery, error) {
				return port.Test(ctx, w.caller, id.Webhook(args[0]), idempotency.Request{})
			}, printPending),
	}
}

func (w *webhooks) deliveries() *cobra.Command {
	var list inbound.DeliveryList
	var status string
	var limit int
	command := &cobra.Command{
		Use:   "deliveries ID",
		Short: "List the deliveries to a webhook, newest first",
		Long: "List the deliveries to a webhook, newest first. They are kept for 30 days. With --json each attempt\n" +
			"is shown with its answer.",
		Example: "  holdco webhook deliveries whk_01jqvb2k3e8m0t9c5x7a4n6p1r\n" +
			"  holdco webhook deliveries whk_01jqvb2k3e8m0t9c5x7a4n6p1r --status failed --limit 1 --json",
		Args: oneID[id.Webhook]("webhook"),
		RunE: on(w.app, w.open, func(command *cobra.Command, port inbound.Webhooks, args []string) error {
			list.Endpoint = id.Webhook(args[0])
			found, err := gather(limit, func(after page.Position, size int) (page.Page[webhook.Delivery], error) {
				list.After, list.Size = after, size
				return port.Deliveries(command.Context(), w.caller, list)
			})
			if err != nil {
				return err
			}
			head := []string{"ID", "EVENT", "CREATED", "STATUS", "ATTEMPTS", "LAST ANSWER", "NEXT ATTEMPT"}
			return printList(command.OutOrStdout(), w.asJSON, found, head, deliveryRow)
		}),
	}
	command.PreRunE = func(command *cobra.Command, _ []string) error {
		if limit < 1 {
			return fmt.Errorf("--limit must be 1 or more; it is %d", limit)
		}
		if command.Flags().Changed("status") {
			var ok bool
			if list.Status, ok = webhook.ParseStatus(status); !ok {
				return fmt.Errorf("--status must be %s, %s or %s; it is %q", webhook.Pending, webhook.Succeeded, webhook.Failed, status)
			}
		}
		return nil
	}
	command.Flags().StringVar(&status, "status", "", "only deliveries that are pending, succeeded or failed")
	command.Flags().IntVar(&limit, "limit", page.DefaultSize, "how many to list at most")
	_ = command.RegisterFlagCompletionFunc("status", cobra.FixedCompletions(
		[]string{string(webhook.Pending), string(webhook.Succeeded), string(webhook.Failed)}, cobra.ShellCompDirectiveNoFileComp))
	return command
}

func (w *webhooks) redeliver() *cobra.Command {
	return &cobra.Command{
		Use:   "redeliver ID DELIVERY",
		Short: "Deliver a message to a webhook again",
		Long: "Deliver a message to a webhook again, whatever its status is. The message has the same webhook-id, so a\n" +
			"receiver can recognize a duplicate. The server sends it.",
		Example: "  holdco webhook redeliver whk_01jqvb2k3e8m0t9c5x7a4n6p1r dlv_01jqvb7w5hf2c9s4d8k1m3x6zq",
		Args:    webhookAndDeliveryID,
		RunE: onResource(w.app, w.open, &w.asJSON,
			func(ctx context.Context, port inbound.Webhooks, args []string) (webhook.Delivery, error) {
				return port.Redeliver(ctx, w.caller, id.Webhook(args[0]), id.Delivery(args[1]), idempotency.Request{})
			}, printPending),
	}
}

func printPending(out io.Writer, d webhook.Delivery) error {
	_, err := fmt.Fprintf(out, "The delivery %s (%s) is pending. The server sends it, at once if it is running;\n"+
		"\"holdco webhook deliveries %s\" shows the outcome.\n", d.ID, d.Type, d.Endpoint)
	return err
}

func deliveryRow(d webhook.Delivery) []string {
	return []string{
		string(d.ID), string(d.Type), shown(d.CreatedAt, "-"), string(d.Status), strconv.Itoa(len(d.Attempts)), lastAnswer(d.Attempts),
		shown(d.NextAttemptAt, "-"),
	}
}

// lastAnswer is the status of the last answer, or why there was none.
func lastAnswer(attempts []webhook.Attempt) string {
	if len(attempts) == 0 {
		return "-"
	}
	last := attempts[len(attempts)-1]
	if last.Status == 0 {
		return last.Error
	}
	return strconv.Itoa(last.Status)
}

// webhookAndDeliveryID asks for two arguments, the id of a webhook and that of a delivery to it.
func webhookAndDeliveryID(command *cobra.Command, args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("%q needs two arguments, the id of a webhook and the id of a delivery to it; "+
			"\"holdco webhook deliveries\" shows these", command.CommandPath())
	}
	if err := oneID[id.Webhook]("webhook")(command, args[:1]); err != nil {
		return err
	}
	if _, ok := id.Parse[id.Delivery](args[1]); !ok {
		return fmt.Errorf("%q is not the id of a delivery; \"holdco webhook deliveries\" shows them", args[1])
	}
	return nil
}
