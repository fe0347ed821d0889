package cli_test

import (
	"testing"

	"holdco/adapters/cli"
	"holdco/ports/inbound"
)

const (
	webhookID  = "whk_00000000000000000000000001"
	deliveryID = "dlv_00000000000000000000000001"
)

func init() {
	added = append(added, func(f *fake) cli.Command { return cli.WebhookCommand(opener[inbound.Webhooks](f, nil)) })
}

func TestWrongUsageOfWebhooksIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	checkMisuse(t, []misuse{
		{"webhook", "webhook",
			`"holdco webhook" needs a command: create, deliveries, list, redeliver, resume, rm, rotate-secret, test, update`},
		{"webhook creat", "webhook", `"holdco webhook" has no command "creat", did you mean "create"?`},
		{"webhook create", "webhook create", `required flag(s) "url" not set`},
		{"webhook create http://a.b", "webhook create", `"holdco webhook create" takes no argument, and got "http://a.b"`},
		{"webhook rm", "webhook rm", `"holdco webhook rm" needs one argument, the id of a webhook; "holdco webhook list" shows them`},
		{"webhook test " + tokenID, "webhook test",
			`"tok_00000000000000000000000001" is not the id of a webhook; "holdco webhook list" shows them`},
		{"webhook redeliver " + webhookID, "webhook redeliver",
			`"holdco webhook redeliver" needs two arguments, the id of a webhook and the id of a delivery to it; ` +
				`"holdco webhook deliveries" shows these`},
		{"webhook redeliver a b", "webhook redeliver", `"a" is not the id of a webhook; "holdco webhook list" shows them`},
		{"webhook redeliver " + webhookID + " b", "webhook redeliver",
			`"b" is not the id of a delivery; "holdco webhook deliveries" shows them`},
		{update(""), "webhook update", `at least one of the flags in the group [url events description enable disable] is required`},
		{update("--enable --disable"), "webhook update", `--disable does not go with --enable`},
		{"webhook deliveries --limit 0 " + webhookID, "webhook deliveries", `--limit must be 1 or more; it is 0`},
		{"webhook deliveries --status= " + webhookID, "webhook deliveries", `--status must be pending, succeeded or failed; it is ""`},
		{"webhook deliveries --status lost " + webhookID, "webhook deliveries",
			`--status must be pending, succeeded or failed; it is "lost"`},
	})
}

func update(flags string) string { return "webhook update " + webhookID + " " + flags }
func redeliver(flags string) string {
	return "webhook redeliver " + webhookID + " " + deliveryID + " " + flags
}
