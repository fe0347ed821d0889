package wiring_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// clientDocuments are the reviewed documents, which are those that are served, by the names of their clients in the programs of
// testdata/clients.
var clientDocuments = map[string]string{"rest": "openapi.json", "gateway": "gateway_openapi.json", "export": "export_openapi.json"}

// programWithClients copies a program of testdata/clients, and has a client for it made of each document.
func programWithClients(t *testing.T, program string, generate func(folder, client, document string)) (folder string) {
	t.Helper()
	folder = t.TempDir()
	must(t, os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "clients", program))))
	for client, golden := range clientDocuments {
		document, err := filepath.Abs(filepath.Join(goldenFolder, golden))
		must(t, err)
		generate(folder, client, document)
	}
	return folder
}

// runIn runs a program in a folder, with more in its environment, and returns what it printed.
func runIn(t *testing.T, folder string, environ []string, program string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir, command.Env = folder, append(os.Environ(), environ...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, output)
	}
	return string(output)
}

// completes runs a program with generated clients against a server, and fails the test unless it completed its issue.
func completes(t *testing.T, folder, program string, arguments ...string) {
	t.Helper()
	s := startOnSQLite(t)
	partner := s.admit(t)
	output := runIn(t, folder, []string{
		"HOLDCO_URL=" + s.url, "HOLDCO_TOKEN=" + string(rootToken), "HOLDCO_GATEWAY_URL=" + s.gatewayURL,
		"HOLDCO_EXPORT_URL=" + s.exportURL, "HOLDCO_PARTNER_KEY=" + partner.Key,
	}, program, arguments...)
	if strings.TrimSpace(output) != "done" {
		t.Errorf("it printed %s", output)
	}
	acme := resttest.Data[[]company](t, s.Get("/v1/companies"))[0]
	issue := resttest.Data[[]apiIssue](t, s.Get(acme.path()+"/issues"))[0]
	if issue.Status != "review" {
		t.Errorf("the issue is %s", issue.Status)
	}
}

// The defaults of the generator, but without the server that it makes too.
func TestAGeneratedGoClientCompletesAnIssue(t *testing.T) {
	t.Parallel()
	folder := programWithClients(t, "go", func(folder, client, document string) {
		must(t, os.Mkdir(filepath.Join(folder, client), 0o700))
		runIn(t, ".", nil, "go", "tool", "oapi-codegen", "-generate", "types,client", "-package", client,
			"-o", filepath.Join(folder, client, "client.go"), document)
	})
	runIn(t, folder, nil, "go", "build", "-o", "program", ".")
	completes(t, folder, filepath.Join(folder, "program"))
}

// The defaults of the generator, and a strict compiler.
func TestAGeneratedJavaScriptClientCompletesAnIssue(t *testing.T) {
	t.Parallel()
	var installed sync.Once
	folder := programWithClients(t, "typescript", func(folder, client, document string) {
		installed.Do(func() { runIn(t, folder, nil, "npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts") })
		runIn(t, folder, nil, "npx", "--no", "openapi-typescript", document, "-o", client+".d.ts")
	})
	runIn(t, folder, nil, "npx", "--no", "tsc")
	completes(t, folder, "node", "client.js")
}

// A default says what a request means that leaves something out: answers leave nothing out.
func TestOnlyRequestsHaveDefaults(t *testing.T) {
	t.Parallel()
	for _, golden := range clientDocuments {
		text, err := os.ReadFile(filepath.Join(goldenFolder, golden))
		must(t, err)
		var document map[string]any
		must(t, json.Unmarshal(text, &document))
		seen := map[string]bool{}
		for path, item := range document["paths"].(map[string]any) {
			for method, operation := range item.(map[string]any) {
				if described, ok := operation.(map[string]any); ok {
					findDefaults(t, document, described["responses"], golden+": "+method+" "+path, seen)
				}
			}
		}
	}
}

// findDefaults fails the test for every default that is reachable from a node of a document.
func findDefaults(t *testing.T, document map[string]any, node any, place string, seen map[string]bool) {
	t.Helper()
	switch node := node.(type) {
	case []any:
		for _, child := range node {
			findDefaults(t, document, child, place, seen)
		}
	case map[string]any:
		if target, ok := node["$ref"].(string); ok && !seen[target] {
			seen[target] = true
			var component any = document
			for name := range strings.SplitSeq(strings.TrimPrefix(target, "#/"), "/") {
				component = component.(map[string]any)[name]
			}
			findDefaults(t, document, component, target, seen)
		}
		if value, has := node["default"]; has {
			if _, property := value.(map[string]any); !property { // a property of this name is no default
				t.Errorf("%s: an answer has the default %v", place, value)
			}
		}
		for name, child := range node {
			if name != "example" && name != "examples" {
				findDefaults(t, document, child, place, seen)
			}
		}
	}
}
