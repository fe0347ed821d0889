package cli_test

import (
	"testing"

	"holdco/adapters/cli"
)

const partnerID = "prt_00000000000000000000000001"

func TestWrongUsageOfPartnersIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"partner":                                  `"holdco partner" needs a command: create, list, revoke, rotate, update; see "holdco partner --help"`,
		"partner create --name a":                  `required flag(s) "origin" not set; see "holdco partner create --help"`,
		admit("--expires=never"):                   `--expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is "never"; see "holdco partner create --help"`,
		admit("--expires=-1h"):                     `--expires must lie in the future; it is "-1h"; see "holdco partner create --help"`,
		change(""):                                 `at least one of the flags in the group [name origin expires] is required; see "holdco partner update --help"`,
		change("--expires="):                       `--expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is ""; see "holdco partner update --help"`,
		"partner rotate":                           `"holdco partner rotate" needs one argument, the id of a partner; "holdco partner list" shows them; see "holdco partner rotate --help"`,
		"partner revoke Acme":                      `"Acme" is not the id of a partner; "holdco partner list" shows them; see "holdco partner revoke --help"`,
		"partner rotate --grace=721h " + partnerID: `--grace must be from 0s to 720h; it is 721h0m0s; see "holdco partner rotate --help"`,
	} {
		var f fake
		if got := f.run(line); got != (result{cli.Misuse, "", "holdco: " + want + "\n"}) || f.dataDir != "" {
			t.Errorf("%s:\n got %+v\nwant %s", line, got, want)
		}
	}
}

func admit(flags string) string  { return "partner create --name a --origin https://a.b " + flags }
func change(flags string) string { return "partner update " + partnerID + " " + flags }
