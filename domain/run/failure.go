package run

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/issue"
	"holdco/domain/text"
)

// Bounds of what is sent of a failure.
const (
	CodeLength    = 100
	MessageLength = 20_000
	LongestRetry  = 86_400 // seconds
)

// FailureDraft is what was sent of a failure; nil fields were absent.
type FailureDraft struct {
	Code, Message *string
	Retry         *bool
	RetryAfter    *int64 // seconds
}

// ParseFailure parses why an agent gave up. Problems get what is wrong with it.
func ParseFailure(draft FailureDraft, problems *fault.Problems) issue.Failure {
	var failure issue.Failure
	code, message := "", ""
	if draft.Code == nil {
		problems.Add(fault.Fieldf("error.code", fault.Required, "error.code is required"))
	} else {
		var wrong []fault.Field
		code, wrong = text.Name("error.code", *draft.Code, CodeLength)
		problems.Add(wrong...)
	}
	if draft.Message == nil || text.IsBlank(*draft.Message) {
		problems.Add(fault.Fieldf("error.message", fault.Required, "error.message is required, and must not be blank"))
	} else {
		var wrong []fault.Field
		message, wrong = text.Prose("error.message", *draft.Message, MessageLength)
		problems.Add(wrong...)
	}
	if draft.RetryAfter != nil {
		if *draft.RetryAfter < 0 || *draft.RetryAfter > LongestRetry {
			problems.Add(fault.Fieldf("retryAfter", fault.OutOfRange, "retryAfter must be from 0 to %d", LongestRetry))
		}
		failure.After = new(time.Duration(*draft.RetryAfter) * time.Second)
	}
	failure.IsFinal = draft.Retry != nil && !*draft.Retry
	failure.Error = string(event.Fields{event.F("code", code), event.F("message", message)}.Append(nil))
	return failure
}
