package wiring_test

import (
	"fmt"
	"strings"
	"testing"

	pages "holdco/adapters/dashboard/browsertest"
	"holdco/adapters/http/rest/resttest"
)

// choose puts a file into the form, as the dialog of a browser does, which no test can use.
func choose(tab *pages.Tab, name, text string) {
	tab.Focus("File")
	tab.Evaluate(fmt.Sprintf(`(() => {
		const chosen = new DataTransfer()
		chosen.items.add(new File([%q], %q))
		document.activeElement.files = chosen.files
		document.activeElement.dispatchEvent(new Event("change", {bubbles: true}))
		return ""
	})()`, text, name))
}

func TestPeopleImportLeadsInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	tab := s.enter(t, string(rootToken), "/instance/leads")
	tab.See("No file was imported here yet")
	tab.See("Industries")
	tab.Look("leads_empty")

	tab.Push("Import a file")
	tab.See("at most 1 GB")
	tab.Push("Import")
	tab.See("Choose a file.")
	for name, wrong := range map[string]string{
		"leads.xlsx": "The name of the file does not tell its format", "leads": "The name of the file does not tell its format",
		"empty.csv": "The file is empty.",
	} {
		text := "name"
		if name == "empty.csv" {
			text = ""
		}
		choose(tab, name, text)
		tab.Push("Import")
		tab.See(wrong)
	}
	choose(tab, "colours.csv", "name,colour\nA,red\n")
	tab.Expect(400)
	tab.Push("Import")
	tab.See("the header names the unknown column")
	tab.Look("import")
	choose(tab, "leads 2026.csv", "id,name,google_rating\ncmp_1,One,4.5\ncmp_2,Two,7\ncmp_3,,3\n")
	tab.Push("Import")
	tab.See("google_rating must be from 0 to 5")
	tab.See("Line 4")
	tab.Look("import_rejected")
	tab.Press("\u001b")
	tab.Wait(`!document.querySelector("[role=dialog]")`)
	tab.See("leads 2026.csv")
	tab.See("Done, 2 lines rejected")
	tab.Wait(`document.querySelector("dl dd").innerText === "1"`) // the counts
	tab.Look("leads")
	if found := s.leadsAddUp(t); found != 1 {
		t.Errorf("there are %d leads", found)
	}

	// Only checked, by keyboard.
	tab.Push("Import a file")
	choose(tab, "more.ndjson", `{"name":"More"}`)
	tab.Focus("Only check: import nothing")
	tab.Press(" ")
	tab.Push("Import")
	tab.See("No line was rejected or merged.")
	tab.See("Checked only")
	tab.Press("\u001b")
	if found := s.leadsAddUp(t); found != 1 {
		t.Errorf("there are %d leads", found)
	}
	taxonomy, _, _ := sampleFiles(t, 1)
	importsFile(t, s.Client, "kind=taxonomy", jsonFile, taxonomy)

	// One that fails, and filters.
	importsFile(t, s.Client, "kind=leads&strict=true&name=strict.ndjson", ndjson, "{}")
	tab.Go("/instance/leads?status=failed")
	tab.See("strict.ndjson")
	tab.Push("strict.ndjson")
	tab.See("nothing was imported: strict asks for that")
	tab.Look("import_failed")
	tab.Go("/instance/leads?kind=campaigns")
	tab.See("Nothing matches")
	tab.Push("Clear filters")
	tab.See("Taxonomy without a name")
	tab.Expect(404)
	tab.Go("/instance/leads?open=imp_01j5ze4n1hf4wv7m0b6k3xq2ra")
	tab.See("There is no such import.")
}

func TestPeopleSeeHowFarAnImportIsInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	tab := s.enter(t, string(rootToken), "/instance/leads")
	tab.See("No file was imported here yet")
	started := s.runsElsewhere(t)
	tab.Go("/instance/leads?open=" + started.ID)
	tab.Wait(`document.querySelector("progress")?.value === 40`)
	tab.See("Importing, 40 %")
	tab.Look("import_running")
	tab.Press("\u001b")
	tab.Wait(`!document.querySelector("[role=dialog]")`)
	tab.Push("Import a file")
	choose(tab, "other.csv", "name\nOther\n"+strings.Repeat(" ", 20<<20))
	tab.Expect(409)
	tab.Push("Import")
	tab.See("Another import runs")
	must(t, s.giveUp(started))
	tab.Push("Cancel")
	tab.See("Interrupted")
	tab.Look("import_interrupted")
	tab.Push("many.ndjson")
	tab.See("Send the file again")
}

func TestTheLeadsPageSaysWhatIsWrongInABrowser(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	reader := s.enter(t, s.issue(t, "read").Token, "/instance/leads")
	reader.Expect(403)
	reader.See("Your token does not have the scope admin.")
	if shown := reader.Evaluate(`document.querySelector("main").innerText`); strings.Contains(shown, "Import a file") {
		t.Error(shown)
	}
	reader.Look("leads_refused")

	importsFile(t, s.Client, "kind=leads&name=kept.csv", csvFile, "name\nOne\n")
	tab := s.enter(t, string(rootToken), "/instance/leads")
	tab.See("kept.csv")
	list := resttest.Data[[]apiImport](t, s.Get("/v1/imports"))
	if len(list) != 1 {
		t.Errorf("%+v", list)
	}
	tab.Expect(503)
	must(t, s.stop())
	tab.Push("kept.csv") // what is asked now gets no answer
	tab.See("The server does not answer.")
	tab.See("kept.csv")
}
