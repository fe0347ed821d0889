package cli

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"holdco/domain/audit"
	"holdco/domain/id"
	"holdco/ports/inbound"
)

const auditText = `Follow a chain of the activity log, and name the first entry that was changed, removed or inserted; the exit code is
then 1.

COMPANY is the id of a company, and instance stands for the entries that belong to none. Their chain is read directly from the store,
so it needs no token; servers may be running. The last 2 seconds are not chained yet, and not looked at.

FILE is an export of all activity of a company, in JSON lines and without filters, such as the API answers to
GET /v1/companies/{id}/activity/export. It needs no store.

Who can write to the store can make all hashes after an entry anew. This is found with a head that was kept elsewhere, --head: what
the API answers to GET /v1/companies/{id}/audit/head, in a file, read before the export. Its signature must be by a key of --key, the
public key of the instance; without --key the head is taken as it is.

What retention has removed is no finding: a signed stub stands for it, in the store and in a head. Read the head of an export after
the last prune: one that was read before does not know what is missing.`

// verification is what the command is asked for.
type verification struct {
	head string   // a file; empty: none
	keys []string // of the instance

	parsed []ed25519.PublicKey
}

// known reads the keys and the head that are named. Without one it is zero.
func (v *verification) known() (signed audit.Signed, err error) {
	var keys []ed25519.PublicKey
	for _, text := range v.keys {
		key, err := audit.ParseKey(text)
		if err != nil {
			return signed, fmt.Errorf("--key: %w", err)
		}
		keys = append(keys, key)
	}
	v.parsed = keys
	switch {
	case v.head == "" && keys != nil:
		return signed, errors.New("--key is for a head: name its file with --head")
	case v.head == "":
		return signed, nil
	}
	text, err := os.ReadFile(v.head)
	if err == nil {
		signed, err = audit.ParseSigned(text)
	}
	if err == nil && keys != nil {
		err = signed.Check(keys...)
	}
	if err != nil {
		return signed, fmt.Errorf("%s: %w", v.head, err)
	}
	return signed, nil
}

// AuditCommand is the command that checks the chains of the activity log.
func AuditCommand(open Opener[inbound.Activity]) Command {
	return func(a *app) *cobra.Command {
		var wanted verification
		verify := &cobra.Command{
			Use:   "verify COMPANY|instance|FILE",
			Short: "Find the first entry of the activity log that was tampered with",
			Long:  auditText,
			Example: "  holdco audit verify cmp_01jz...\n  holdco audit verify instance\n" +
				"  holdco audit verify acme.jsonl --head acme.head.json --key sGNdW3v5...",
			Args: cobra.ExactArgs(1),
			RunE: a.run(func(command *cobra.Command, args []string) error {
				head, err := wanted.known()
				if err != nil {
					return err
				}
				of, isCompany := id.Parse[id.Company](args[0])
				var last audit.Verified
				if isCompany || args[0] == "instance" {
					if wanted.head != "" && head.Company != of {
						return fmt.Errorf("%s: it is of another chain", wanted.head)
					}
					err = on(a, open, func(command *cobra.Command, port inbound.Activity, _ []string) (err error) {
						last, err = port.Verify(command.Context(), a.caller, of, wanted.parsed, head.Link)
						return err
					})(command, args)
				} else {
					last, err = verifyFile(args[0], wanted, head)
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(command.OutOrStdout(), "%s; the last has the hash %s\n", last, last.Hash)
				return err
			}),
		}
		verify.Flags().StringVar(&wanted.head, "head", "", "`FILE` with a head that was kept, as the API answers it")
		verify.Flags().StringArrayVar(&wanted.keys, "key", nil,
			"public `KEY` of the instance, which has signed the head; one of several")
		a.program.StoreFlags(verify.Flags())
		command := &cobra.Command{Use: "audit", Short: "Check the activity log"}
		command.AddCommand(verify)
		return command
	}
}

// verifyFile checks an export.
func verifyFile(path string, wanted verification, head audit.Signed) (last audit.Verified, err error) {
	file, err := os.Open(path)
	if err != nil {
		return last, err
	}
	defer func() { _ = file.Close() }()
	var chain audit.Chain
	chain.Expect(head.Link)
	if head.Stub != nil {
		chain.Allow(head.Stub.Stub)
	}
	var of *id.Company
	if wanted.head != "" {
		of = &head.Company
	}
	if err = chain.AddExport(file, of); err == nil {
		err = chain.End()
	}
	if err != nil {
		return chain.Verified(), fmt.Errorf("%s: %w", path, err)
	}
	return chain.Verified(), nil
}
