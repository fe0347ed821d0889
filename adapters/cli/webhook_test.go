package cli_test

import (
	"testing"

	"holdco/adapters/cli"
)

const (
	webhookID  = "whk_00000000000000000000000001"
	deliveryID = "dlv_00000000000000000000000001"
)

func TestWrongUsageOfWebhooksIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"webhook":                                       `"holdco webhook" needs a command: create, deliveries, list, redeliver, rm, rotate-secret, test, update; see "holdco webhook --help"`,
		"webhook creat":                                 `"holdco webhook" has no command "creat", did you mean "create"?; see "holdco webhook --help"`,
		"webhook create":                                `required flag(s) "url" not set; see "holdco webhook create --help"`,
		"webhook create http://a.b":                     `"holdco webhook create" takes no argument, and got "http://a.b"; see "holdco webhook create --help"`,
		"webhook rm":                                    `"holdco webhook rm" needs one argument, the id of a webhook; "holdco webhook list" shows them; see "holdco webhook rm --help"`,
		"webhook test " + tokenID:                       `"tok_00000000000000000000000001" is not the id of a webhook; "holdco webhook list" shows them; see "holdco webhook test --help"`,
		"webhook redeliver " + webhookID:                `"holdco webhook redeliver" needs two arguments, the id of a webhook and the id of a delivery to it; "holdco webhook deliveries" shows these; see "holdco webhook redeliver --help"`,
		"webhook redeliver a b":                         `"a" is not the id of a webhook; "holdco webhook list" shows them; see "holdco webhook redeliver --help"`,
		"webhook redeliver " + webhookID + " b":         `"b" is not the id of a delivery; "holdco webhook deliveries" shows them; see "holdco webhook redeliver --help"`,
		update(""):                                      `at least one of the flags in the group [url events description enable disable] is required; see "holdco webhook update --help"`,
		update("--enable --disable"):                    `if any flags in the group [enable disable] are set none of the others can be; [disable enable] were all set; see "holdco webhook update --help"`,
		"webhook deliveries --limit 0 " + webhookID:     `--limit must be 1 or more; it is 0; see "holdco webhook deliveries --help"`,
		"webhook deliveries --status= " + webhookID:     `--status must be pending, succeeded or failed; it is ""; see "holdco webhook deliveries --help"`,
		"webhook deliveries --status lost " + webhookID: `--status must be pending, succeeded or failed; it is "lost"; see "holdco webhook deliveries --help"`,
	} {
		var f fake
		if got := f.run(line); got != (result{cli.Misuse, "", "holdco: " + want + "\n"}) || f.dataDir != "" {
			t.Errorf("%s:\n got %+v\nwant %s", line, got, want)
		}
	}
}

func update(flags string) string { return "webhook update " + webhookID + " " + flags }
func redeliver(flags string) string {
	return "webhook redeliver " + webhookID + " " + deliveryID + " " + flags
}
