package wiring_test

import (
	"strings"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

// A person without a mouse signs in, founds a company, changes it, makes a token, a webhook and a partner, archives the company, and
// signs out.
func TestTheDashboardWorksByKeyboardInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	tab, began := s.browse(t, s.pagesURL), time.Now()
	tab.Expect(401)
	tab.Go("/instance/tokens")
	tab.See("API token")
	tab.Look("sign_in")
	tab.Fill("API token", "hco_wrong")
	tab.Press("\r")
	tab.See("The token is missing, mistyped, unknown, expired or revoked.")
	tab.Fill("API token", strings.Repeat("\b", len("hco_wrong"))+string(rootToken))
	tab.Press("\r")
	tab.See("Tokens let programs call the API")
	if kept := tab.Evaluate(`JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie])`); kept !=
		`[[],[],""]` &&
		strings.Contains(kept, "hco_") {
		t.Errorf("the browser keeps %s", kept)
	}
	tab.Look("tokens")
	tab.Push("New token")
	tab.Fill("Name", "ci")
	tab.Focus("read Read everything")
	tab.Press(" ")
	tab.Look("new_token")
	tab.Push("New token")
	tab.See("Copy it now")
	value := tab.Evaluate(`document.querySelector(".once input").value`)
	s.As(value).In(t).Get("/v1/companies").Is(t, 200, "")
	tab.Push("Close")

	tab.Go("/")
	tab.See("No company yet")
	tab.Look("companies_empty")
	tab.Push("New company")
	tab.Fill("Name", "Acme & Söhne")
	tab.Fill("Budget in US dollars", "1500")
	tab.Fill("Starting teams", "Research 2")
	tab.Look("new_company")
	tab.Push("Create company")
	tab.See("Waiting for you")
	tab.See("Next steps")
	tab.See("POST /v1/webhooks")
	tab.Look("overview_new")
	tab.Go("/c/acme-sohne/settings")
	tab.See("Company settings")
	tab.Look("settings")
	tab.Fill("Description", "Sells ducks")
	tab.Push("Save")
	tab.See("Saved")
	made := resttest.Data[[]company](t, s.Get("/v1/companies?slug=acme-sohne"))
	if len(made) != 1 || made[0].Name != "Acme & Söhne" || made[0].Description != "Sells ducks" {
		t.Fatalf("%+v", made)
	}
	tab.Go("/")
	tab.See("Acme & Söhne")
	tab.Look("companies")

	tab.Go("/instance/webhooks")
	tab.See("No webhooks")
	tab.Look("webhooks_empty")
	tab.Push("New webhook")
	tab.Fill("URL", "https://receiver.example.com/hook")
	tab.Push("New webhook")
	tab.See("Copy the secret now")
	tab.Push("Close")
	tab.Push("https://receiver.example.com/hook")
	tab.See("Nothing was sent yet.")
	tab.Look("webhooks")

	tab.Go("/instance/partners")
	tab.See("No partners")
	tab.Push("New partner")
	tab.Fill("Name", "Data Ltd")
	tab.Fill("Origins", "https://data.example")
	tab.Push("New partner")
	tab.See("Copy the key now")
	tab.Push("Close")
	tab.See("https://data.example")
	narrowPartners(t, s, tab)
	tab.Look("partners")

	signIn(t, s, "token", string(rootToken)) // in a browser of another name
	s.clock.advance(time.Since(began))       // as that of the browser did, which the page compares
	tab.Go("/instance")
	tab.See("Go-http-client/1.1")
	tab.Look("server_" + resttest.Data[struct{ Store struct{ Kind string } }](t, s.Get("/v1/instance")).Store.Kind)
	tab.Push("Actions for Go-http-client/1.1")
	tab.Wait(`document.activeElement.matches("[role=menuitem][data-highlighted]")`)
	tab.Press("\r")
	tab.See("End this session?")
	tab.Push("End session")
	tab.Wait(`!document.body.innerText.includes("Go-http-client/1.1")`)

	tab.Go("/")
	tab.Push("Actions for Acme & Söhne")
	tab.Wait(`document.activeElement.matches("[role=menuitem][data-highlighted]")`)
	tab.Press("\r")
	tab.See("Archive Acme & Söhne?")
	tab.Look("archive")
	tab.Push("Archive")
	tab.See("No company yet")
	tab.Go("/?status=archived")
	tab.See("more days") // the clock of the server stands still
	tab.Push("Account")
	tab.Wait(`document.activeElement.closest("[role=menu]") && !!document.querySelector("[role^=menuitem][data-highlighted]")`)
	tab.Push("Sign out")
	tab.See("Paste a token")
}
