package runner

import (
	"encoding/json"
	"slices"
	"strings"
	"text/template"
	"unicode"

	_ "embed"

	"holdco/domain/approval"
	"holdco/domain/usage"
)

//go:embed prompt.tmpl
var promptText string

var promptTemplate = template.Must(template.New("prompt").Funcs(template.FuncMap{
	"line": line, "markdown": fenced("markdown"), "text": fenced("text"), "result": shownResult, "join": joined,
}).Parse(promptText))

// situation is what the template is executed with.
type situation struct {
	Lease

	IsCounted bool // Holdco reads from the output what the calls of models cost
}

// prompt is what a program is to do, as text for a model. What people and agents wrote is set off from it: a text of several lines is in
// a fence that it cannot close, and any other is one line.
func (l Lease) prompt(reports usage.Kind) []byte {
	var text strings.Builder
	if err := promptTemplate.Execute(&text, situation{l, reports != "" && reports != usage.None}); err != nil {
		panic(err) // it is written into memory
	}
	return []byte(text.String())
}

// line is a text as one line.
func line(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

func joined(lines []string) string {
	named := make([]string, len(lines))
	for n, one := range lines {
		named[n] = line(one)
	}
	return strings.Join(named, ", ")
}

// fence is the least one of Markdown.
const fence = "```"

// fenced sets a text off, as one of a language: its fence is longer than any in the text.
func fenced(language string) func(text string) string {
	return func(text string) string {
		edge := fence
		for strings.Contains(text, edge) {
			edge += "`"
		}
		return edge + language + "\n" + strings.Trim(text, "\n") + "\n" + edge
	}
}

// shownResult sets a result off: a text as Markdown, and anything else as JSON.
func shownResult(result json.RawMessage) string {
	var text string
	if json.Unmarshal(result, &text) == nil {
		return fenced("markdown")(text)
	}
	return fenced("json")(string(result))
}

// HasResult reports whether anything came of the issue.
func (r related) HasResult() bool { return isSomething(r.Result) }

// HasFormerResult reports whether a result was rejected.
func (c workContext) HasFormerResult() bool { return isSomething(c.FormerResult) }

// HasData reports whether there is more than the note.
func (c checkpoint) HasData() bool { return isSomething(c.Data) }

// HasEdits reports whether what was approved differs from what was asked for.
func (a asked) HasEdits() bool { return isSomething(a.Edits) }

func isSomething(value json.RawMessage) bool { return len(value) > 0 && string(value) != "null" }

// IsManager reports whether the agent manages its team itself.
func (c workContext) IsManager() bool { return c.Manager != nil && c.Manager.ID == c.Agent.ID }

// IsLimited reports whether the attempts of the issue are counted: a person can give it more.
func (s situation) IsLimited() bool { return s.Issue.Attempt <= s.Issue.MaxAttempts }

// Who is an author, or who decided, for people.
func (c workContext) Who(actor string) string {
	kind, which, _ := strings.Cut(actor, ":")
	name := line(c.Names[actor])
	switch {
	case kind == "agent" && which == string(c.Agent.ID):
		return "you"
	case kind == "agent" && name != "":
		return "the agent " + name
	case kind == "agent":
		return "an agent"
	case kind == "system":
		return "Holdco"
	case kind == "rule":
		return "a rule"
	case name != "":
		return name
	}
	return "a person"
}

// Decision is what became of an approval.
func (c workContext) Decision(a asked) string {
	by := ""
	if a.DecidedBy != "" {
		by = " by " + c.Who(a.DecidedBy)
	}
	isCurrent := a.Agent == c.Agent.ID && slices.Contains(c.ApprovedActions, a.ActionName)
	switch {
	case a.Status == approval.Pending:
		return "not decided yet"
	case a.Status == approval.AskedQuestion:
		return "a person asked a question; answer it with answer_question"
	case a.Status == approval.Denied:
		return "denied" + by + "; do not do it"
	case a.Status == approval.Expired:
		return "expired; that counts as denied"
	case !isCurrent:
		return "approved" + by + ", but not for this run; ask again before you do it"
	case a.Status == approval.ApprovedWithEdits:
		return "approved with changes" + by + "; you may do it now, as changed"
	}
	return "approved" + by + "; you may do it now"
}
