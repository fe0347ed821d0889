package runner

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"holdco/domain/agent"
	"holdco/domain/anyjson"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/run"
	"holdco/domain/usage"
	"holdco/ports/inbound"
	"holdco/ports/outbound"
)

// ending is why a program ended.
type ending int

const (
	byItself     ending = iota
	leaseEnded          // its lease had ended, and not by the agent
	agentEnded          // the agent had ended its lease, and the program has had time for its last words
	saidItIsDone        // it had printed that it succeeded, and did not exit
	timedOut
	holdcoStops
)

// firstSignalCode is the first exit code by which shells, and programs that catch signals, say that a signal ended them.
const firstSignalCode = 128

// endOf is how a lease ends whose program has ended. What the program itself said counts more than how its process ended: one that
// printed that it succeeded has succeeded, even if it had to be stopped afterwards.
func endOf(why ending, exit outbound.Exit, kind usage.Kind, report usage.Report) inbound.LeaseEnd {
	hasExited := why == byItself && exit.Signal == 0 && exit.Code < firstSignalCode
	switch {
	case report.IsDone && !report.IsError && !hasExited:
		return completed(exit, kind, report)
	case why == holdcoStops:
		return inbound.LeaseEnd{Action: issue.Release}
	case report.Setback.Kind != usage.NoSetback:
		return setBack(agent.Setback{Kind: agent.SetbackKind(report.Setback.Kind), Until: report.Setback.ResetsAt},
			cmp.Or(explanation(exit, report), "The program says that it could not work."))
	case why == timedOut:
		return failed("timeout", "The program did not end in time.", explanation(exit, report))
	case report.IsError && report.Message != "":
		return failed("reported_error", report.Message, "")
	case report.IsError:
		return failed("reported_error", "The program reported an error.", explanation(exit, report))
	case exit.Signal != 0:
		return failed(fmt.Sprintf("signal_%d", exit.Signal), fmt.Sprintf("The signal %d ended the program.", exit.Signal),
			explanation(exit, report))
	case exit.Code != 0:
		return failed(fmt.Sprintf("exit_%d", exit.Code), fmt.Sprintf("The program ended with exit code %d.", exit.Code),
			explanation(exit, report))
	}
	return completed(exit, kind, report)
}

// setBack gives an issue back that could not be worked on. The attempt does not count.
func setBack(why agent.Setback, message string) inbound.LeaseEnd {
	return inbound.LeaseEnd{
		Action: issue.Release, Failure: run.FailureDraft{Code: new(string(why.Kind)), Message: &message}, Setback: &why,
	}
}

// maxExplanation bounds what explains a failure, in characters.
const maxExplanation = 2_000

// wrote stands before what explains a failure.
const wrote = " It wrote:\n"

// failed is the end of an attempt that failed. Explanation, if there is one, are the last lines that the program wrote.
func failed(code, message, explanation string) inbound.LeaseEnd {
	if explanation != "" {
		message += wrote + explanation
	}
	return inbound.LeaseEnd{Action: issue.Fail, Failure: run.FailureDraft{Code: &code, Message: &message}}
}

// explanation are the last lines of the standard error of a program, or else of its standard output, without lines of JSON: those are
// for programs, and the log has them. If the program said what went wrong in its own form, that counts.
func explanation(exit outbound.Exit, report usage.Report) string {
	if report.Message != "" {
		return report.Message
	}
	if text := lastOf(printable(withoutJSON(exit.Errors))); text != "" {
		return text
	}
	return lastOf(printable(withoutJSON(exit.Output)))
}

// withoutJSON is what a program wrote, without lines of JSON.
func withoutJSON(written string) string {
	if isJSON(written) { // on several lines
		return ""
	}
	var lines strings.Builder
	for line := range strings.Lines(written) {
		if !isJSON(line) {
			lines.WriteString(line)
		}
	}
	return strings.TrimSpace(lines.String())
}

// isJSON reports whether a line is an object or a list of JSON, or the rest of one whose beginning was cut off.
func isJSON(line string) bool {
	line = strings.TrimSpace(line)
	isRest := strings.HasSuffix(line, "}") && strings.Contains(line, `":`)
	isWhole := strings.HasPrefix(line, "{") || strings.HasPrefix(line, "[")
	return isRest || isWhole && json.Valid([]byte(line))
}

// lastOf are the last characters of a text, maxExplanation at most.
func lastOf(text string) string {
	const cut = "... "
	runes := []rune(text)
	if len(runes) <= maxExplanation {
		return text
	}
	return cut + string(runes[len(runes)-maxExplanation+len(cut):])
}

// printable replaces the characters that a text for people cannot have.
func printable(output string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r) {
			return '\uFFFD'
		}
		return r
	}, output)
}

// completed is the end of a program that succeeded. The result is what it wrote to its result file, or else its final message, or
// else its output. A final message beside a result file is the summary.
func completed(exit outbound.Exit, kind usage.Kind, report usage.Report) inbound.LeaseEnd {
	if exit.ResultIsTooLarge {
		const message = "The result file has more than %d bytes. What is larger belongs in other files of the workspace."
		return failed("result_too_large", fmt.Sprintf(message, issue.ResultSize), "")
	}
	result, problem := resultOf(exit)
	if problem != "" {
		return failed("result_unreadable", problem, "")
	}
	message := strings.TrimSpace(report.Result)
	end := inbound.LeaseEnd{Action: issue.Complete, Result: result}
	switch {
	case result == nil && message != "":
		end.Result = said(message)
	case result == nil && kind.HasEvents():
		end.Result = textResult(withoutJSON(exit.Output))
	case result == nil:
		end.Result = textResult(strings.TrimSpace(exit.Output))
	case message != "":
		end.Note.Body = new(summary(message))
	}
	return end
}

// byteOrderMark begins UTF-8 as some programs write it.
var byteOrderMark = []byte("\ufeff")

// resultOf returns what a program wrote to its result file, as JSON; nil: nothing. The problem says why it cannot be read.
func resultOf(exit outbound.Exit) (result []byte, problem string) {
	if exit.ResultProblem != "" {
		return nil, exit.ResultProblem
	}
	content := bytes.TrimSpace(bytes.TrimPrefix(exit.Result, byteOrderMark))
	if len(content) == 0 {
		return nil, ""
	}
	var refused fault.Problems
	if checked := anyjson.Check("result", content, issue.ResultSize, &refused); checked != "" {
		return []byte(checked), ""
	}
	const isNot = "The result file does not hold JSON that Holdco can read: "
	var decoded any
	err := json.Unmarshal(content, &decoded)
	switch {
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}), bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		return nil, isNot + "it is UTF-16, and must be UTF-8."
	case !utf8.Valid(content):
		return nil, isNot + "it is not UTF-8."
	case err != nil:
		return nil, isNot + err.Error() + "."
	}
	return nil, isNot + "it nests deeper than 31 levels, names a member of an object twice, or holds half of a surrogate pair."
}

// said is the final message of a program as a result: the JSON that it is, also in a Markdown fence, or else a text.
func said(message string) []byte {
	unfenced := strings.TrimSuffix(message, "```")
	if len(unfenced) < len(message) {
		if fenced, isFenced := strings.CutPrefix(unfenced, "```json\n"); isFenced {
			unfenced = fenced
		} else {
			unfenced = strings.TrimPrefix(unfenced, "```\n")
		}
	}
	for _, text := range []string{message, unfenced} {
		var none fault.Problems
		if result := anyjson.Check("result", []byte(text), issue.ResultSize, &none); result != "" && result != "null" {
			return []byte(result)
		}
	}
	return textResult(message)
}

// textResult is a text as a result; nil: it is empty. If it is too long as JSON, its beginning is left out.
func textResult(text string) []byte {
	if text == "" {
		return nil
	}
	encoded := jsonText(text)
	for len(encoded) > issue.ResultSize { // it has many characters that JSON escapes
		text = strings.ToValidUTF8(text[len(text)/2:], "")
		encoded = jsonText(text)
	}
	return encoded
}

// summary is a final message as a comment.
func summary(message string) string {
	message = printable(message)
	if runes := []rune(message); len(runes) > issue.CommentLength {
		return string(runes[:issue.CommentLength-len("...")]) + "..."
	}
	return message
}
