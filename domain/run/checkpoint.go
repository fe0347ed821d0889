package run

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

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
	made.Data = CheckJSON("data", draft.Data, DataSize, &problems)
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

// mostLevels is how deep a JSON value may nest: a request may have one level more, in which it is a member.
const mostLevels = 31

// CheckJSON returns a JSON value without insignificant space. It is at most so many bytes long, and as a request may have it: it
// names no member twice, and its strings are valid Unicode.
func CheckJSON(path string, sent []byte, most int, problems *fault.Problems) string {
	if sent == nil {
		return ""
	}
	value := jsontext.Value(slices.Clone(sent))
	if err := value.Compact(); err != nil || !isStrict(value) {
		problems.Add(fault.Fieldf(path, fault.InvalidFormat, "%s must be JSON", path))
		return ""
	}
	if len(value) > most {
		problems.Add(fault.Fieldf(path, fault.TooLong, "%s must have at most %d bytes", path, most))
		return ""
	}
	return string(value)
}

// isStrict reports whether the library, which follows RFC 7493 unless told otherwise, reads all of a value.
func isStrict(value jsontext.Value) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	for {
		_, err := decoder.ReadToken()
		if err != nil {
			return errors.Is(err, io.EOF)
		}
		if decoder.StackDepth() > mostLevels {
			return false
		}
	}
}

// Fields returns the checkpoint as the API shows it.
func (c Checkpoint) Fields() event.Fields {
	return event.Fields{
		event.F("at", instant.Format(c.At)),
		event.F("note", c.Note),
		event.F("data", anyJSON(c.Data)),
	}
}
