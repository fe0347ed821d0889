package issue

import (
	"slices"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// CommentLength bounds the characters of a comment.
const CommentLength = 20_000

// Comment is something that was said about an issue. It never changes.
type Comment struct {
	ID        id.Comment
	Company   id.Company
	Issue     id.Issue
	Author    event.Actor
	Body      string // Markdown, 1 to CommentLength characters
	Explains  Action // of which it is the note; empty: of none
	CreatedAt time.Time
}

// Owner returns the company, for generic code.
func (c Comment) Owner() id.Company { return c.Company }

// NewComment makes a comment on an issue from a note, which was sent as a field. It fails with fault.ValidationFailed.
func (i Issue) NewComment(newID id.Comment, field string, note Note, by event.Actor, at time.Time) (Comment, error) {
	problems := slices.Clone(note.Problems)
	c := Comment{ID: newID, Company: i.Company, Issue: i.ID, Author: by, CreatedAt: at}
	if note.Body == nil || text.IsBlank(*note.Body) {
		problems.Add(fault.Fieldf(field, fault.Required, "%s is required, and must not be blank", field))
	} else {
		var wrong []fault.Field
		c.Body, wrong = text.Prose(field, *note.Body, CommentLength)
		problems.Add(wrong...)
	}
	if len(problems) > 0 {
		return Comment{}, fault.Validation(problems)
	}
	return c, nil
}

// noteFields are the fields of the notes with which actions are explained, and whether they have to be sent.
var noteFields = map[Action]struct {
	name       string
	isRequired bool
}{
	Complete: {"summary", false}, Release: {"note", false}, HandOff: {"note", true}, Reject: {"note", true}, Cancel: {"reason", false},
}

// NoteField is the field of the note with which the action is explained; empty: it takes none.
func (a Action) NoteField() string { return noteFields[a].name }

// Explain makes a comment of the note with which an action is explained; nil: there is none. It fails with fault.ValidationFailed.
func (i Issue) Explain(action Action, newID id.Comment, note Note, by event.Actor, at time.Time) (*Comment, error) {
	field := noteFields[action]
	switch {
	case field.name != "" && (field.isRequired || note.Body != nil):
		made, err := i.NewComment(newID, field.name, note, by, at)
		made.Explains = action
		return &made, err
	case len(note.Problems) > 0:
		return nil, fault.Validation(note.Problems)
	}
	return nil, nil //nolint:nilnil // nothing was said
}

// Commented is the event of a comment on the issue. Its data is the issue with the comment.
func (i Issue) Commented(c Comment) event.Event { return i.event(event.IssueCommented, c.Field()) }

// Field is the comment as a field of the event of a move that it explains.
func (c Comment) Field() event.Field { return event.F("comment", c.Fields()) }

// Fields returns the comment as the API shows it.
func (c Comment) Fields() event.Fields {
	return event.Fields{
		event.F("id", string(c.ID)),
		event.F("companyId", string(c.Company)),
		event.F("issueId", string(c.Issue)),
		event.F("author", string(c.Author)),
		event.F("body", c.Body),
		event.F("createdAt", instant.Format(c.CreatedAt)),
	}
}

// Note is what was sent to say something about an issue; a nil body was absent. Problems are errors of its form.
type Note struct {
	Body     *string
	Problems fault.Problems
}
