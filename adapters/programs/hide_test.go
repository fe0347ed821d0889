package programs_test

import (
	"strings"
	"testing"

	"holdco/domain/redact"
	"holdco/ports/outbound"
)

func TestSecretsAreHiddenInTheLogAndWhatIsLeft(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	program := script(`printf 'to'; sleep 0.05; printf 'ken\n'; sleep 0.05; printf 'a token and a to'; echo token >&2`)
	program.Hidden = redact.New(map[string]string{"token": "[secret TOKEN]"})
	program.Command[2] += `; printf '{"is": "\\u0074oken"}' >"$HOLDCO_RESULT_FILE"`
	var heard strings.Builder
	program.Output = func(written []byte) { heard.Write(written) }
	got := w.run(program)
	if got.Output != "[secret TOKEN]\na [secret TOKEN] and a to" || string(got.Result) != `{"is": "[secret TOKEN]"}` {
		t.Errorf("the output is %q, the result %s", got.Output, got.Result)
	}
	if heard.String() != "token\na token and a to" { // what it costs is read from it
		t.Errorf("heard is %q", heard.String())
	}
	log := w.log() // the line of the standard error may come at any place
	if strings.Contains(log, "token") || strings.Count(log, "[secret TOKEN]") != 3 || !strings.HasSuffix(log, "to") {
		t.Errorf("the log is %q", log)
	}
}

func TestNoPartOfASecretIsLeftWhereTheOutputIsCut(t *testing.T) {
	t.Parallel()
	w := newPrograms(t)
	value := strings.Repeat("0123456789", 10)
	program := script(`i=0; while [ $i -lt 2000 ]; do echo "$VALUE"; i=$((i+1)); done`)
	program.Env = map[string]string{"VALUE": value}
	program.Hidden = redact.New(map[string]string{value: "[secret VALUE]"})
	got := w.run(program)
	if len(got.Output) > outbound.MostOutput || strings.Contains(got.Output, "01234") || !strings.Contains(got.Output, "[secret VALUE]") {
		t.Errorf("the output is %.200q", got.Output)
	}
}
