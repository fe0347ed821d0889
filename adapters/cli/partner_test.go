package cli_test

import (
	"testing"

	"holdco/adapters/cli"
	"holdco/ports/inbound"
)

const partnerID = "prt_00000000000000000000000001"

func init() {
	added = append(added, func(f *fake) cli.Command { return cli.PartnerCommand(opener[inbound.Partners](f, nil)) })
}

func TestWrongUsageOfPartnersIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	checkMisuse(t, []misuse{
		{"partner", "partner", `"holdco partner" needs a command: create, list, revoke, rotate, update`},
		{"partner create --name a", "partner create", `required flag(s) "origin" not set`},
		{admit("--expires=never"), "partner create", notATime + `it is "never"`},
		{
			change(""), "partner update",
			`at least one of the flags in the group [name origin expires campaign industry no-contacts] is required`,
		},
		{change("--expires="), "partner update", notATime + `it is ""`},
		{"partner rotate", "partner rotate",
			`"holdco partner rotate" needs one argument, the id of a partner; "holdco partner list" shows them`},
		{"partner revoke Acme", "partner revoke", `"Acme" is not the id of a partner; "holdco partner list" shows them`},
	})
}

func admit(flags string) string  { return "partner create --name a --origin https://a.b " + flags }
func change(flags string) string { return "partner update " + partnerID + " " + flags }
