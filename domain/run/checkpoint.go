package run

import (
	"slices"
	"time"

	"holdco/domain/anyjson"
	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// Bounds of a checkpoint.
const (
	NoteLength = 2000
	DataSize   = 64 << 10

	noteShown = 200 // characters of the note in the activity log
)

// Checkpoint is what an agent wrote down on its way. It never changes.
type Checkpoint struct {
	Company id.Company
	Run     id.Run
	Number  int    // 1, 2, 3, ... in its run
	Note    string // 1 to NoteLength characters
	Data    string // JSON, at most DataSize bytes; empty: none
	At      time.Time
}

// CheckpointDraft is what was sent of a checkpoint; nil fields were absent. Problems are errors of its form.
type CheckpointDraft struct {
	Note     *string
	Data     []byte // JSON; nil: none
	Problems fault.Problems
}

// Checkpoint adds a checkpoint. It returns the run, the checkpoint and the event to record. It fails with fault.ValidationFailed or
// fault.TooManyOf.
func (r Run) Checkpoint(draft CheckpointDraft, at time.Time) (Run, Checkpoint, event.Event, error) {
	problems := slices.Clone(draft.Problems)
	made := Checkpoint{Company: r.Company, Run: r.ID, Number: r.Checkpoints + 1, At: at}
	if draft.Note == nil || text.IsBlank(*draft.Note) {
		problems.Add(fault.Fieldf("note", fault.Required, "note is required, and must not be blank"))
	} else {
		var wrong []fault.Field
		made.Note, wrong = text.Prose("note", *draft.Note, NoteLength)
		problems.Add(wrong...)
	}
	made.Data = anyjson.Check("data", draft.Data, DataSize, &problems)
	switch {
	case len(problems) > 0:
		return r, made, event.Event{}, fault.Validation(problems)
	case r.Checkpoints >= MostCheckpoints:
		return r, made, event.Event{}, fault.New(fault.TooManyOf, "A run can have at most %d checkpoints.", MostCheckpoints).
			With("limit", MostCheckpoints)
	}
	r.Checkpoints++
	return r, made, event.Of(event.RunCheckpointed, r.Company, string(r.ID), event.Fields{
		event.F("id", string(r.ID)),
		event.F("issueId", string(r.Issue)),
		event.F("agentId", string(r.Agent)),
		event.F("note", shortened(made.Note)),
	}), nil
}

func shortened(note string) string {
	if runes := []rune(note); len(runes) > noteShown {
		return string(runes[:noteShown])
	}
	return note
}

// Fields returns the checkpoint as the API shows it.
func (c Checkpoint) Fields() event.Fields {
	return event.Fields{
		event.F("at", instant.Format(c.At)),
		event.F("note", c.Note),
		event.F("data", anyjson.Shown(c.Data)),
	}
}
