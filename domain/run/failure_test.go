package run_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/fault"
	"holdco/domain/fault/faulttest"
	"holdco/domain/issue"
	"holdco/domain/run"
)

func TestAFailureIsWhatWasSent(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent run.FailureDraft
		want issue.Failure
	}{
		{run.FailureDraft{}, issue.Failure{}},
		{run.FailureDraft{Retry: new(true), RetryAfter: new(int64(0))}, issue.Failure{After: new(time.Duration(0))}},
		{run.FailureDraft{Retry: new(false)}, issue.Failure{IsFinal: true}},
		{run.FailureDraft{RetryAfter: new(int64(run.LongestRetry))}, issue.Failure{After: new(24 * time.Hour)}},
		{
			run.FailureDraft{Retry: new(false), RetryAfter: new(int64(1))},
			issue.Failure{IsFinal: true, After: new(time.Second)},
		},
	} {
		c.sent.Code, c.sent.Message = new(" exit_1 "), new("It \"broke\".\n")
		c.want.Error = `{"code":"exit_1","message":"It \"broke\".\n"}`
		var problems fault.Problems
		got := run.ParseFailure(c.sent, &problems)
		if diff := cmp.Diff(c.want, got); diff != "" || problems != nil {
			t.Errorf("%v\n%s", problems, diff)
		}
	}
}

func TestEveryFieldOfAFailureObeysItsRule(t *testing.T) {
	t.Parallel()
	for want, sent := range map[string]run.FailureDraft{
		"": {Code: new(strings.Repeat("ö", run.CodeLength)), Message: new(strings.Repeat("ö", run.MessageLength))},
		"validation_failed error.code:required error.message:required": {},
		"validation_failed error.code:required error.message:required retryAfter:out_of_range": {
			Code: new(" "), Message: new("\n\u200b"), RetryAfter: new(int64(-1)),
		},
		"validation_failed error.code:too_long error.message:too_long retryAfter:out_of_range": {
			Code: new(strings.Repeat("ö", run.CodeLength+1)), Message: new(strings.Repeat("ö", run.MessageLength+1)),
			RetryAfter: new(int64(run.LongestRetry + 1)),
		},
		"validation_failed error.code:invalid_characters error.message:invalid_characters": {Code: new("a\nb"), Message: new("a\x00")},
	} {
		var problems fault.Problems
		run.ParseFailure(sent, &problems)
		var err error
		if len(problems) > 0 {
			err = fault.Validation(problems)
		}
		faulttest.Check(t, "failure", err, want)
	}
}
