package posting_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"testing"

	"holdco/domain/webhook"
)

// The other half of the standard, written by others: what is sent must be verified by the library that receivers use.
func TestTheOfficialJavaScriptLibraryVerifiesWhatIsSent(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatal("the tests need Node.js: install it (Debian: apt-get install nodejs)")
	}
	old, foreign := webhook.NewSecret([32]byte{4}), webhook.NewSecret([32]byte{5})
	sent := message("")
	sent.Secrets = []webhook.Secret{secret, old}
	got, _ := deliver(t, sent)
	headers := map[string]string{}
	for name := range got.header {
		headers[name] = got.header.Get(name)
	}
	type claim struct {
		Headers map[string]string `json:"headers"`
		Body    string            `json:"body"`
		Secret  webhook.Secret    `json:"secret"`
	}
	input, err := json.Marshal([]claim{
		{headers, got.body, secret}, {headers, got.body, old}, {headers, got.body, foreign}, {headers, got.body + " ", secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	const want = "verified\nverified\nNo matching signature found\nNo matching signature found\n"
	run := exec.CommandContext(t.Context(), node, "testdata/javascript/verify.js")
	run.Stdin = bytes.NewReader(input)
	if output, err := run.CombinedOutput(); err != nil || string(output) != want {
		t.Errorf("%v: %s, want %s", err, output, want)
	}
}
