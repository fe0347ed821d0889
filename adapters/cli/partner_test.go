package cli_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/cli"
	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/page"
	"holdco/domain/partner"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
)

// fakePartners holds what was asked for, and answers with acme.
type fakePartners struct {
	caller access.Caller
	draft  partner.Draft
	patch  partner.Patch
	which  id.Partner
	grace  time.Duration
	all    []partner.Partner
	fails  error
}

var (
	key  = access.NewPartnerKey([32]byte{31: 9})
	acme = partner.Partner{
		Credential: access.NewCredential(key), ID: id.New[id.Partner]([16]byte{15: 1}), Name: "Acme Data",
		Origins: []string{"https://a.b", "http://localhost:3000"}, CreatedAt: now,
	}
	ended = partner.Partner{
		Credential: access.Credential{Hint: key.Hint(), ExpiresAt: now.Add(time.Hour), RevokedAt: now},
		ID:         id.New[id.Partner]([16]byte{15: 2}), Name: "Old", Origins: []string{"https://c.d"},
		CreatedAt: now.Add(-time.Hour), LastUsedAt: now,
	}
)

func (f *fakePartners) List(_ context.Context, caller access.Caller, after page.Position, _ int) (page.Page[partner.Partner], error) {
	f.caller = caller
	rest := f.all[len(after.Values):]
	return page.Of(rest, 1, func(partner.Partner) page.Position {
		return page.Position{ID: "next", Values: make([]string, len(after.Values)+1)}
	}), f.fails
}

func (f *fakePartners) Get(context.Context, access.Caller, id.Partner) (partner.Partner, error) {
	return partner.Partner{}, errors.New("nobody asks for one partner")
}

func (f *fakePartners) Create(
	_ context.Context, caller access.Caller, draft partner.Draft, _ idempotency.Request,
) (inbound.IssuedPartner, error) {
	f.caller, f.draft = caller, draft
	return inbound.IssuedPartner{Partner: acme, Key: key}, f.fails
}

func (f *fakePartners) Update(
	_ context.Context, caller access.Caller, which id.Partner, patch partner.Patch, match precondition.Match,
) (partner.Partner, error) {
	f.caller, f.which, f.patch = caller, which, patch
	if match.Demanded {
		return partner.Partner{}, errors.New("the command line demands a version")
	}
	return acme, f.fails
}

func (f *fakePartners) Rotate(
	_ context.Context, caller access.Caller, which id.Partner, grace time.Duration, _ idempotency.Request,
) (inbound.IssuedPartner, error) {
	f.caller, f.which, f.grace = caller, which, grace
	return inbound.IssuedPartner{Partner: acme, Key: key}, f.fails
}

func (f *fakePartners) Revoke(ctx context.Context, caller access.Caller, which id.Partner, match precondition.Match) (partner.Partner, error) {
	return f.Update(ctx, caller, which, partner.Patch{}, match)
}

func admit(flags string) string  { return "partner create --name a --origin https://a.b " + flags }
func change(flags string) string { return "partner update " + string(acme.ID) + " " + flags }

const shownPartner = "id       prt_00000000000000000000000001\n" +
	"name     Acme Data\n" +
	"origins  https://a.b http://localhost:3000\n" +
	"expires  never\n"

func TestPartnerCreate(t *testing.T) {
	t.Parallel()
	var f fake
	got := f.runArgs("partner", "create", "--name", "Acme Data", "--origin", "https://a.b", "--origin", "http://localhost:3000",
		"--expires", "720h", "--data-dir", "here")
	if got != (result{cli.Done, shownPartner + "key      " + string(key) + "  (shown only this once)\n", ""}) {
		t.Errorf("%+v", got)
	}
	want := partner.Draft{Settings: partner.Settings{
		Name: new("Acme Data"), Origins: &[]string{"https://a.b", "http://localhost:3000"}, ExpiresAt: new(now.Add(720 * time.Hour)),
	}}
	if diff := cmp.Diff(want, f.partners.draft); diff != "" {
		t.Error(diff)
	}
	if f.dataDir != "here" || f.closed != 1 || f.partners.caller.Actor != access.System("cli").Actor {
		t.Errorf("%+v", f)
	}
	if f.run(admit("")); f.partners.draft.ExpiresAt != nil {
		t.Errorf("%+v", f.partners.draft)
	}
}

func TestPartnerUpdateChangesWhatItNames(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]partner.Patch{
		"--name=":                              {Settings: partner.Settings{Name: new("")}},
		"--origin https://c.d --origin=x,y":    {Settings: partner.Settings{Origins: &[]string{"https://c.d", "x,y"}}},
		"--expires 2027-04-11 --name New":      {Settings: partner.Settings{Name: new("New"), ExpiresAt: new(time.Date(2027, 4, 11, 0, 0, 0, 0, time.UTC))}},
		"--expires never":                      {NeverExpires: true},
		"--expires never --origin https://c.d": {Settings: partner.Settings{Origins: &[]string{"https://c.d"}}, NeverExpires: true},
	} {
		var f fake
		if got := f.run(change(flags)); got != (result{cli.Done, shownPartner, ""}) || f.partners.which != acme.ID {
			t.Errorf("%s: %+v, %+v", flags, got, f.partners)
		}
		if diff := cmp.Diff(want, f.partners.patch); diff != "" {
			t.Errorf("%s: %s", flags, diff)
		}
	}
}

func TestPartnerListShowsAllPages(t *testing.T) {
	t.Parallel()
	f := fake{partners: fakePartners{all: []partner.Partner{acme, ended}}}
	want := []string{
		"ID NAME ORIGINS HINT CREATED EXPIRES LAST USED REVOKED",
		"prt_00000000000000000000000001 Acme Data https://a.b http://localhost:3000 " + key.Hint() + " 2026-11-21T10:00:00.000Z never never -",
		"prt_00000000000000000000000002 Old https://c.d " + key.Hint() + " 2026-11-21T09:00:00.000Z 2026-11-21T11:00:00.000Z 2026-11-21T10:00:00.000Z 2026-11-21T10:00:00.000Z",
	}
	got := f.run("partner list")
	if diff := cmp.Diff(want, squeezed(got.stdout)); diff != "" || got.code != cli.Done {
		t.Error(diff, got.stderr)
	}
}

func TestPartnerRotateKeepsTheOldKeyForADayUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	for flags, want := range map[string]time.Duration{"": 24 * time.Hour, " --grace 0s": 0, " --grace 720h": 720 * time.Hour} {
		var f fake
		got := f.run("partner rotate " + string(acme.ID) + flags)
		if got.code != cli.Done || !strings.Contains(got.stdout, string(key)) || f.partners.which != acme.ID || f.partners.grace != want {
			t.Errorf("%q: %+v, %+v", flags, got, f.partners)
		}
	}
}

func TestPartnerRevoke(t *testing.T) {
	t.Parallel()
	var f fake
	want := result{cli.Done, "The key of the partner " + string(acme.ID) + " (Acme Data) is revoked.\n", ""}
	if got := f.run("partner revoke " + string(acme.ID)); got != want || f.partners.which != acme.ID {
		t.Errorf("%+v, %+v", got, f.partners)
	}
}

func TestJSONOfPartnersIsTheObjectOfTheAPIAndNothingElse(t *testing.T) {
	t.Parallel()
	object := `{
  "id": "prt_00000000000000000000000001",
  "name": "Acme Data",
  "origins": [
    "https://a.b",
    "http://localhost:3000"
  ],
  "hint": "` + key.Hint() + `",
  "createdAt": "2026-11-21T10:00:00.000Z",
  "expiresAt": null,
  "lastUsedAt": null,
  "revokedAt": null`
	issued := fmt.Sprintf("%s,\n  \"key\": %q\n}\n", object, key)
	for line, want := range map[string]string{
		admit("--json"): issued,
		"partner rotate --json " + string(acme.ID): issued,
		change("--name=x --json"):                  object + "\n}\n",
		"partner --json revoke " + string(acme.ID): object + "\n}\n",
		"partner list --json":                      "[\n  " + strings.ReplaceAll(object+"\n}", "\n", "\n  ") + "\n]\n",
	} {
		f := fake{partners: fakePartners{all: []partner.Partner{acme}}}
		if diff := cmp.Diff(want, f.run(line).stdout); diff != "" {
			t.Errorf("%s: %s", line, diff)
		}
	}
}

func TestWrongUsageOfPartnersIsOneLineAndCode2(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"partner":                 `"holdco partner" needs a command: create, list, revoke, rotate, update; see "holdco partner --help"`,
		"partner create --name a": `required flag(s) "origin" not set; see "holdco partner create --help"`,
		admit("--expires=never"):  `--expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is "never"; see "holdco partner create --help"`,
		admit("--expires=-1h"):    `--expires must lie in the future; it is "-1h"; see "holdco partner create --help"`,
		change(""):                `at least one of the flags in the group [name origin expires] is required; see "holdco partner update --help"`,
		change("--expires="):      `--expires must be a duration such as 720h, a date such as 2027-04-11 or a time such as 2027-04-11T10:42:17Z; it is ""; see "holdco partner update --help"`,
		"partner rotate":          `"holdco partner rotate" needs one argument, the id of a partner; "holdco partner list" shows them; see "holdco partner rotate --help"`,
		"partner revoke Acme":     `"Acme" is not the id of a partner; "holdco partner list" shows them; see "holdco partner revoke --help"`,
		"partner rotate --grace=721h " + string(acme.ID): `--grace must be from 0s to 720h; it is 721h0m0s; see "holdco partner rotate --help"`,
	} {
		var f fake
		if got := f.run(line); got != (result{cli.Misuse, "", "holdco: " + want + "\n"}) || f.dataDir != "" {
			t.Errorf("%s:\n got %+v\nwant %s", line, got, want)
		}
	}
}
