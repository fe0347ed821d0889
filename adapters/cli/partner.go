package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/partner"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
)

// PartnerCommand is the command on partners, with those below it.
func PartnerCommand(open Opener[inbound.Partners]) Command {
	return func(a *app) *cobra.Command { return (&partners{app: a, open: open}).group() }
}

func (p *partners) group() *cobra.Command {
	command := &cobra.Command{
		Use:   "partner",
		Short: "Admit partners, and rotate and revoke their keys",
		Long: "Admit partners, companies outside that read leads through the export API, and rotate and revoke their keys.\n" +
			"These commands work directly on the store, so they need no token; the server may be running, and obeys within a\n" +
			"second.",
	}
	command.AddCommand(p.create(), p.list(), p.update(), p.rotate(), p.revoke())
	jsonFlag(command.PersistentFlags(), &p.asJSON)
	p.program.StoreFlags(command.PersistentFlags())
	return command
}

// partners are the commands below "partner".
type partners struct {
	*app
	open   Opener[inbound.Partners]
	asJSON bool
}

func (p *partners) create() *cobra.Command {
	var sent partnerFlags
	var draft partner.Draft
	command := &cobra.Command{
		Use:   "create",
		Short: "Admit a partner and print its key, which is shown this once",
		Long: "Admit a partner and print its key, which is shown this once: only a hash of it is kept.\n\n" +
			"A browser names the origin of the page that sends a request: that must be one of the partner's origins, to the\n" +
			"letter. Requests of servers name none, and need none.\n\n" +
			"A key sees everything, unless --campaign, --industry or --no-contacts narrows it. What it may not see is not\n" +
			"there for it, in totals too.\n\n" +
			"A test key reads 1,000 leads that are made up instead, and always the same: give one to who writes a client.\n" +
			"Ids that narrow it are those of the sample.",
		Example: "  holdco partner create --name 'Acme Data' --origin https://app.acme.example\n" +
			"  holdco partner create --name Acme --origin https://acme.example --origin http://localhost:3000 --expires 2027-04-11 --json",
		Args: noArgs,
		RunE: on(p.app, p.open, func(command *cobra.Command, port inbound.Partners, _ []string) error {
			issued, err := port.Create(command.Context(), p.caller, draft, idempotency.Request{})
			if err != nil {
				return err
			}
			p.warnOfUnknown(command, port, issued.Partner)
			return p.printIssued(command, issued)
		}),
	}
	command.PreRunE = func(command *cobra.Command, _ []string) (err error) {
		draft.Settings = sent.settings(command.Flags())
		if command.Flags().Changed("expires") {
			draft.ExpiresAt, err = p.expiry(sent.expires)
		}
		return err
	}
	sent.add(command.Flags(), " (default never)")
	command.Flags().BoolVar(&draft.Test, "test", false, "make a test key, which reads a sample that is made up, no leads of the store")
	_ = command.MarkFlagRequired("name")
	_ = command.MarkFlagRequired("origin")
	return command
}

func (p *partners) list() *cobra.Command {
	head := []string{"ID", "NAME", "ORIGINS", "SEES", "HINT", "CREATED", "EXPIRES", "LAST USED", "REQUESTS", "LEADS READ", "REVOKED"}
	return listAll(p.app, p.open, &p.asJSON, "partner", inbound.Partners.List, head, partnerRow)
}

func (p *partners) update() *cobra.Command {
	const never = "never"
	var sent partnerFlags
	var patch partner.Patch
	command := &cobra.Command{
		Use:   "update ID",
		Short: "Change a partner",
		Long: "Change a partner. What is not named stays as it is; --origin, --campaign and --industry each replace\n" +
			"the whole list. An expired key is valid again when it gets a later expiry.",
		Example: "  holdco partner update prt_01jqvb2k3e8m0t9c5x7a4n6p1r --origin https://new.acme.example\n" +
			"  holdco partner update prt_01jqvb2k3e8m0t9c5x7a4n6p1r --expires never",
		Args: oneID[id.Partner]("partner"),
	}
	command.RunE = onResource(p.app, p.open, &p.asJSON,
		func(ctx context.Context, port inbound.Partners, args []string) (partner.Partner, error) {
			next, err := port.Update(ctx, p.caller, id.Partner(args[0]), patch, precondition.Any())
			if err == nil && (patch.Campaigns != nil || patch.Industries != nil) {
				p.warnOfUnknown(command, port, next)
			}
			return next, err
		}, func(out io.Writer, next partner.Partner) error { return printTable(out, partnerTable(next)) })
	command.PreRunE = func(command *cobra.Command, _ []string) (err error) {
		patch.Settings = sent.settings(command.Flags())
		switch {
		case sent.expires == never:
			patch.NeverExpires = true
		case command.Flags().Changed("expires"):
			patch.ExpiresAt, err = p.expiry(sent.expires)
		}
		return err
	}
	sent.add(command.Flags(), ", or never")
	command.MarkFlagsOneRequired("name", "origin", "expires", "campaign", "industry", "no-contacts")
	return command
}

func (p *partners) rotate() *cobra.Command {
	var rotation *access.Rotation
	command := &cobra.Command{
		Use:   "rotate ID",
		Short: "Give a partner a new key and print it, which is shown this once",
		Long: "Give a partner a new key and print it, which is shown this once. The old one stays valid for --grace, so that\n" +
			"the partner has time to switch; any older key ends now.",
		Example: "  holdco partner rotate prt_01jqvb2k3e8m0t9c5x7a4n6p1r --grace 1h",
		Args:    oneID[id.Partner]("partner"),
		RunE: on(p.app, p.open, func(command *cobra.Command, port inbound.Partners, args []string) error {
			issued, err := port.Rotate(command.Context(), p.caller, id.Partner(args[0]), *rotation,
				precondition.Any(), idempotency.Request{})
			if err != nil {
				return err
			}
			return p.printIssued(command, issued)
		}),
	}
	rotation = rotationFlags(command.Flags(), "key", partner.UsualGrace)
	return command
}

func (p *partners) revoke() *cobra.Command {
	return &cobra.Command{
		Use:     "revoke ID",
		Short:   "Revoke the key of a partner permanently",
		Example: "  holdco partner revoke prt_01jqvb2k3e8m0t9c5x7a4n6p1r",
		Args:    oneID[id.Partner]("partner"),
		RunE: onResource(p.app, p.open, &p.asJSON,
			func(ctx context.Context, port inbound.Partners, args []string) (partner.Partner, error) {
				return port.Revoke(ctx, p.caller, id.Partner(args[0]), precondition.Any())
			}, func(out io.Writer, last partner.Partner) error {
				_, err := fmt.Fprintf(out, "The key of the partner %s (%s) is revoked.\n", last.ID, last.Name)
				return err
			}),
	}
}

// warnOfUnknown says what a key is narrowed to and is not there: what is mistyped hides everything.
func (p *partners) warnOfUnknown(command *cobra.Command, port inbound.Partners, of partner.Partner) {
	unknown, err := port.Unknown(command.Context(), p.caller, of)
	if err != nil { // the partner is made or changed all the same
		fmt.Fprintf(command.ErrOrStderr(), "holdco: warning: whether what the key is narrowed to is there could not be read: %s\n", err)
		return
	}
	for _, which := range unknown {
		missing := fmt.Sprintf("there is no %s; until it is imported, the key sees nothing of it", which)
		if of.Test {
			missing = fmt.Sprintf("there is no %s in the sample, so the test key sees nothing of it", which)
		}
		fmt.Fprintf(command.ErrOrStderr(), "holdco: warning: %s\n", missing)
	}
}

// partnerFlags are the flags that create and update have in common.
type partnerFlags struct {
	name, expires         string
	origins               []string
	campaigns, industries []string
	withoutContacts       bool
}

func (f *partnerFlags) add(flags *pflag.FlagSet, otherwise string) {
	flags.StringVar(&f.name, "name", "", "who the partner is")
	flags.StringArrayVar(&f.origins, "origin", nil, "where pages of the partner come from, as browsers send it, such as\n"+
		"https://app.acme.example; can be given several times")
	flags.StringArrayVar(&f.campaigns, "campaign", nil, "narrow the key to leads of this campaign, by its id; can be given\n"+
		"several times; all is every campaign")
	flags.StringArrayVar(&f.industries, "industry", nil, "narrow the key to this industry likewise")
	flags.BoolVar(&f.withoutContacts, "no-contacts", false, "show the key no people at leads; --no-contacts=false shows them")
	flags.StringVar(&f.expires, "expires", "", expiryHelp+otherwise)
	setsField(flags, "origin", "origins")
	setsField(flags, "expires", "expiresAt")
	setsField(flags, "campaign", "campaignIds")
	setsField(flags, "industry", "industryIds")
	setsField(flags, "no-contacts", "contacts")
}

// settings are what the flags say, where they say anything. What --expires says is for the command to read.
func (f *partnerFlags) settings(flags *pflag.FlagSet) partner.Settings {
	var s partner.Settings
	if flags.Changed("name") {
		s.Name = &f.name
	}
	if flags.Changed("origin") {
		s.Origins = &f.origins
	}
	if flags.Changed("campaign") {
		s.Campaigns = allOr(f.campaigns)
	}
	if flags.Changed("industry") {
		s.Industries = allOr(f.industries)
	}
	if flags.Changed("no-contacts") {
		s.Contacts = new(!f.withoutContacts)
	}
	return s
}

// allOr returns what was given, or an empty list for the one word that stands for everything.
func allOr(given []string) *[]string {
	if len(given) == 1 && given[0] == "all" {
		return &[]string{}
	}
	return &given
}

func (p *partners) printIssued(command *cobra.Command, issued inbound.IssuedPartner) error {
	return printIssued(command.OutOrStdout(), p.asJSON, issued.Partner, partnerTable(issued.Partner), "key", string(issued.Key))
}

func partnerTable(p partner.Partner) [][]string {
	return [][]string{
		{"id", string(p.ID)},
		{"name", p.Name},
		{"origins", strings.Join(p.Origins, " ")},
		{"sees", viewOf(p)},
		{"expires", shown(p.ExpiresAt, "never")},
	}
}

// viewOf says in words what a key sees.
func viewOf(p partner.Partner) string {
	var words []string
	if p.Test {
		words = append(words, "sample")
	}
	for _, which := range p.View.Campaigns {
		words = append(words, string(which))
	}
	for _, which := range p.View.Industries {
		words = append(words, string(which))
	}
	if len(words) == 0 {
		words = append(words, "all")
	}
	if p.View.NoContacts {
		words = append(words, "without contacts")
	}
	return strings.Join(words, " ")
}

func partnerRow(p partner.Partner) []string {
	return []string{
		string(p.ID), p.Name, strings.Join(p.Origins, " "), viewOf(p), p.Hint, shown(p.CreatedAt, "-"),
		shown(p.ExpiresAt, "never"), shown(p.LastUsedAt, "never"), strconv.FormatInt(p.Requests, 10), strconv.FormatInt(p.LeadsRead, 10),
		shown(p.RevokedAt, "-"),
	}
}
