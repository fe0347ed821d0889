package cli

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"holdco/domain/event"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

func (a leadCommands) campaigns() *cobra.Command {
	command := &cobra.Command{
		Use:   "campaigns",
		Short: "Import and list campaigns",
		Long: "Import and list campaigns, which leads belong to. These commands work directly on the store, so they need no token; the\n" +
			"server may be running, and shows what is imported at once.",
	}
	command.AddCommand(a.listCampaigns(), a.importing("campaigns",
		"the name and the id are required; status is draft unless given. industry_id, vertical_id and geography_id name\n"+
			"what is in the taxonomy, so that is imported first.", a.importCampaigns))
	return command
}

func (a leadCommands) importCampaigns(
	ctx context.Context, port inbound.Imports, from *input, files Files, format string, options inbound.ImportOptions,
) (lead.ImportCount, error) {
	return port.Campaigns(ctx, a.caller, rewound(from, files.Campaigns(from, format)), options)
}

func (a leadCommands) listCampaigns() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:     "list",
		Short:   "List all campaigns, with their leads counted",
		Long:    "List all campaigns, those that changed first before the others, with their leads counted.",
		Example: "  holdco campaigns list",
		Args:    noArgs,
		RunE: on(a.app, a.Export, func(command *cobra.Command, port inbound.Export, _ []string) error {
			shown, rows := []event.Fields{}, [][]string{{"ID", "NAME", "STATUS", "LEADS"}}
			for query := (lead.CampaignQuery{Size: mostListed}); ; query.Skip += mostListed {
				page, err := port.Campaigns(command.Context(), query)
				if err != nil {
					return err
				}
				for _, one := range page.Campaigns {
					shown = append(shown, one.Fields(page.Names))
					rows = append(rows, []string{string(one.ID), one.Name, string(one.Status), strconv.FormatInt(one.LeadCount, 10)})
				}
				if !page.More {
					break
				}
			}
			if asJSON {
				return printJSON(command.OutOrStdout(), shown)
			}
			return printTable(command.OutOrStdout(), rows)
		}),
	}
	jsonFlag(command.Flags(), &asJSON)
	a.program.StoreFlags(command.Flags())
	return command
}
