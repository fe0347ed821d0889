// This program does an issue from its title to its end, with clients that oapi-codegen made of the OpenAPI documents.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"

	"clients/export"
	"clients/gateway"
	"clients/rest"
)

func main() {
	log.SetFlags(log.Lshortfile)
	ctx := context.Background()
	issue, token := file(ctx)
	work(ctx, issue, token)
	client := must(export.NewClientWithResponses(os.Getenv("HOLDCO_EXPORT_URL"),
		export.WithRequestEditorFn(bearer(os.Getenv("HOLDCO_PARTNER_KEY")))))
	me := must(client.GetMeWithResponse(ctx, nil))
	check(me.JSON200 != nil, me.StatusCode(), me.Body)
	fmt.Println("done")
}

// file founds a company with one agent and an issue, and returns the issue's id and the agent's token.
func file(ctx context.Context) (issue, token string) {
	client := must(rest.NewClientWithResponses(os.Getenv("HOLDCO_URL"), rest.WithRequestEditorFn(bearer(os.Getenv("HOLDCO_TOKEN")))))
	usd := float32(100)
	company := must(client.CreateCompanyWithResponse(ctx, nil,
		rest.CompanyDraft{Name: "Acme", Slug: "acme", Budget: &rest.BudgetChange{Usd: &usd}}))
	check(company.JSON201 != nil, company.StatusCode(), company.Body)
	id := company.JSON201.Data.Id
	team := must(client.CreateTeamWithResponse(ctx, id, nil, rest.TeamDraft{Name: "Sales", Headcount: 1}))
	check(team.JSON201 != nil, team.StatusCode(), team.Body)
	agent := must(client.HireAgentWithResponse(ctx, id, nil,
		rest.AgentDraft{Name: "Ada", Role: "Engineer", TeamId: team.JSON201.Data.Id}))
	check(agent.JSON201 != nil, agent.StatusCode(), agent.Body)
	filed := must(client.CreateIssueWithResponse(ctx, id, nil, rest.IssueDraft{Title: "Write the letter"}))
	check(filed.JSON201 != nil, filed.StatusCode(), filed.Body)
	return filed.JSON201.Data.Id, *agent.JSON201.Data.Token
}

// work claims an issue, charges for it, and completes it.
func work(ctx context.Context, issue, token string) {
	client := must(gateway.NewClientWithResponses(os.Getenv("HOLDCO_GATEWAY_URL"), gateway.WithRequestEditorFn(bearer(token))))
	claimed := must(client.ClaimLeaseWithResponse(ctx, nil, gateway.Claim{}))
	check(claimed.JSON200 != nil, claimed.StatusCode(), claimed.Body)
	lease := claimed.JSON200.Data
	check(lease.Issue.Id == issue, claimed.StatusCode(), claimed.Body)

	usd := float32(0.5)
	charge := gateway.Charge{Key: "first", Kind: "tools", Usd: &usd}
	stale := must(client.ChargeLeaseWithResponse(ctx, lease.LeaseId,
		gateway.CostReport{FencingToken: lease.FencingToken + 1, Costs: []gateway.Charge{charge}}))
	check(stale.JSON409 != nil && stale.JSON409.Error.Code == gateway.ErrorCodeStaleLease, stale.StatusCode(), stale.Body)
	charged := must(client.ChargeLeaseWithResponse(ctx, lease.LeaseId,
		gateway.CostReport{FencingToken: lease.FencingToken, Costs: []gateway.Charge{charge}}))
	check(charged.JSON200 != nil, charged.StatusCode(), charged.Body)
	ended := must(client.CompleteLeaseWithResponse(ctx, lease.LeaseId, gateway.Completion{FencingToken: lease.FencingToken}))
	check(ended.JSON200 != nil, ended.StatusCode(), ended.Body)
}

func bearer(token string) func(context.Context, *http.Request) error {
	return func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+token)
		return nil
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Output(2, err.Error())
		os.Exit(1)
	}
	return value
}

// check ends the program with an answer that is not as it has to be.
func check(holds bool, status int, body json.RawMessage) {
	if !holds {
		log.Output(2, fmt.Sprintf("%d %s", status, body))
		os.Exit(1)
	}
}
