package issue_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/id"
	"holdco/domain/issue"
)

const commentID = id.Comment("cmt_01h455vb4pex5vsknk084sn02q")

func comment(field string, note issue.Note) (issue.Comment, error) {
	return call(issue.Done).NewComment(commentID, field, note, "token:tok_1", later)
}

func TestACommentSaysWhatWasSent(t *testing.T) {
	t.Parallel()
	for sent, body := range map[string]string{
		" *Why*\r\n\tnot? ": " *Why*\r\n\tnot? ",
		"e\u0301":           "\u00e9",
		strings.Repeat("🦆", issue.CommentLength): strings.Repeat("🦆", issue.CommentLength),
	} {
		got, err := comment("body", issue.Note{Body: &sent})
		want := issue.Comment{ID: commentID, Company: acme, Issue: callID, Author: "token:tok_1", Body: body, CreatedAt: later}
		if diff := cmp.Diff(want, got); diff != "" || err != nil || got.Owner() != acme {
			t.Errorf("%v, %s", err, diff)
		}
	}
}

func TestACommentHasABody(t *testing.T) {
	t.Parallel()
	for _, field := range []string{"body", "note", "reason"} {
		form := fault.Problems{fault.Fieldf(field, fault.WrongType, "%s must be text", field)}
		for want, note := range map[string]issue.Note{
			" %:required":           {},
			" %:too_long":           {Body: new(strings.Repeat("x", issue.CommentLength+1))},
			" %:invalid_characters": {Body: new("a\x00")},
			" %:wrong_type":         {Problems: form},
			" x:unknown_field %:required": {
				Body: new(" \n\u200b"), Problems: fault.Problems{fault.Fieldf("x", fault.UnknownField, "there is no field x")},
			},
		} {
			got, err := comment(field, note)
			faulttest.Check(t, field, err, "validation_failed"+strings.ReplaceAll(want, "%", field))
			if got != (issue.Comment{}) {
				t.Errorf("%+v", got)
			}
		}
	}
}

func TestANoteExplainsAnAction(t *testing.T) {
	t.Parallel()
	form := fault.Problems{fault.Fieldf("x", fault.UnknownField, "there is no field x")}
	for action, c := range map[issue.Action]struct {
		field      string
		isRequired bool
	}{
		issue.Complete: {"summary", false}, issue.Release: {"note", false}, issue.HandOff: {"note", true}, issue.Reject: {"note", true},
		issue.Cancel: {"reason", false}, issue.Fail: {"", false}, issue.Accept: {"", false},
	} {
		explain := func(note issue.Note) (string, error) {
			made, err := call(issue.Running).Explain(action, commentID, note, "token:tok_1", later)
			if err != nil || made == nil {
				return "", err
			}
			return made.Body, nil
		}
		said, err := explain(issue.Note{Body: new("Why")})
		if err != nil || said != map[bool]string{true: "Why"}[c.field != ""] || action.NoteField() != c.field {
			t.Errorf("%s: %q, %v", action, said, err)
		}
		none, missing := "", "validation_failed x:unknown_field"
		if c.isRequired {
			none, missing = "validation_failed "+c.field+":required", missing+" "+c.field+":required"
		}
		_, err = explain(issue.Note{})
		faulttest.Check(t, string(action), err, none)
		_, err = explain(issue.Note{Problems: form})
		faulttest.Check(t, string(action), err, missing)
	}
}

func TestACommentIsAnEventOfItsIssue(t *testing.T) {
	t.Parallel()
	made, err := comment("body", issue.Note{Body: new("Why <not>?")})
	if err != nil {
		t.Fatal(err)
	}
	const want = `"comment":{"id":"cmt_01h455vb4pex5vsknk084sn02q","companyId":"cmp_01h455vb4pex5vsknk084sn02q",` +
		`"issueId":"iss_01h455vb4pex5vsknk084sn02q","author":"token:tok_1","body":"Why <not>?","createdAt":"2026-04-11T13:00:00.000Z"}`
	i := call(issue.Done)
	checkEvent(t, "a comment", i.Commented(made), event.IssueCommented, i, want)
	rejected, happened, err := call(issue.Review).Reject(true, later, made.Field())
	if err != nil {
		t.Fatal(err)
	}
	checkEvent(t, "a note", happened, event.IssueRejected, rejected, want)
}
