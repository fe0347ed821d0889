package run_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/run"
)

func TestACheckpointIsTheNextOfItsRun(t *testing.T) {
	t.Parallel()
	before := working()
	before.Checkpoints = 4
	long := strings.Repeat("ö", 201)
	for _, c := range []struct {
		draft     run.CheckpointDraft
		data      string
		shownNote string
	}{
		{run.CheckpointDraft{Note: new("Half\nway")}, "", "Half\\nway"},
		{run.CheckpointDraft{Note: &long, Data: []byte(" { \"n\" : [1.0, 1e400] } ")}, `{"n":[1.0,1e400]}`, strings.Repeat("ö", 200)},
		{run.CheckpointDraft{Note: new("x"), Data: []byte("null")}, "null", "x"},
	} {
		got, made, happened, err := before.Checkpoint(c.draft, later)
		wantRun := before
		wantRun.Checkpoints = 5
		want := run.Checkpoint{Company: acme, Run: runID, Number: 5, Note: *c.draft.Note, Data: c.data, At: later}
		if diff := cmp.Diff(wantRun, got) + cmp.Diff(want, made); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
		data := `{"id":"run_01h455vb4pex5vsknk084sn02q","issueId":"iss_01h455vb4pex5vsknk084sn02q",` +
			`"agentId":"agt_01h455vb4pex5vsknk084sn02q","note":"` + c.shownNote + `"}`
		if happened.Type != event.RunCheckpointed || happened.Company != acme ||
			happened.Subject != (event.Subject{Type: "run", ID: string(runID)}) || shown(happened.Data) != data {
			t.Errorf("the event is %+v, %s", happened, shown(happened.Data))
		}
		field := `null`
		if c.data != "" {
			field = c.data
		}
		if got := shown(made.Fields()[2:]); got != `{"data":`+field+`}` {
			t.Error(got)
		}
	}
}

func TestACheckpointIsShownAsTheAPIDoes(t *testing.T) {
	t.Parallel()
	const want = `{"at":"2026-04-11T12:01:00.000Z","note":"Half","data":{"a":[]}}`
	if got := shown(run.Checkpoint{Note: "Half", Data: `{"a":[]}`, At: later}.Fields()); got != want {
		t.Error(got)
	}
}

func TestEveryFieldOfACheckpointObeysItsRule(t *testing.T) {
	t.Parallel()
	text := func(bytes int) []byte { return []byte(`"` + strings.Repeat("x", bytes-2) + `"`) }
	form := fault.Problems{fault.Fieldf("x", fault.UnknownField, "there is no field x")}
	for want, draft := range map[string]run.CheckpointDraft{
		"validation_failed note:required":                                     {},
		"validation_failed x:unknown_field note:required":                     {Note: new(" \n\u200b"), Problems: form},
		"validation_failed note:too_long":                                     {Note: new(strings.Repeat("ö", run.NoteLength+1))},
		"validation_failed note:invalid_characters":                           {Note: new("a\x00")},
		"validation_failed note:required data:invalid_format":                 {Data: []byte("{")},
		"validation_failed data:invalid_format":                               {Note: new("x"), Data: []byte{}},
		"validation_failed data:too_long":                                     {Note: new("x"), Data: text(run.DataSize + 1)},
		"validation_failed x:unknown_field note:required data:invalid_format": {Problems: form, Data: []byte("\"\xff\"")},
		"": {Note: new(strings.Repeat("ö", run.NoteLength)), Data: append([]byte(" "), text(run.DataSize)...)},
	} {
		got, _, happened, err := working().Checkpoint(draft, later)
		faulttest.Check(t, "checkpoint", err, want)
		if err != nil && (got != working() || happened.Type != "") {
			t.Errorf("%s: refused, yet changed to %+v", want, got)
		}
	}
	if len(form) != 1 {
		t.Error("the problems of the draft were added to")
	}
}

func TestARunHasSoManyCheckpoints(t *testing.T) {
	t.Parallel()
	r := working()
	for n := range 1000 {
		next, made, _, err := r.Checkpoint(run.CheckpointDraft{Note: new("x")}, later)
		if err != nil || made.Number != n+1 {
			t.Fatal(n, made.Number, err)
		}
		r = next
	}
	got, _, _, err := r.Checkpoint(run.CheckpointDraft{Note: new("x")}, later)
	if fault.CodeOf(err) != fault.TooManyOf || fault.Of(err).Details["limit"] != 1000 || got != r {
		t.Errorf("%v, %+v", err, got)
	}
	_, _, _, err = r.Checkpoint(run.CheckpointDraft{}, later)
	faulttest.Check(t, "what is wrong with it comes first", err, "validation_failed note:required")
}
