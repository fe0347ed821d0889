package fault

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Code is the reason of a refusal, for programs. Codes are part of the public API and never change their meaning.
type Code string

// The codes of the public API.
const (
	InvalidJSON          Code = "invalid_json"
	InvalidFile          Code = "invalid_file"
	InvalidParameter     Code = "invalid_parameter"
	InvalidCursor        Code = "invalid_cursor"
	Unauthorized         Code = "unauthorized"
	InsufficientScope    Code = "insufficient_scope"
	OriginNotAllowed     Code = "origin_not_allowed"
	NotFound             Code = "not_found"
	MethodNotAllowed     Code = "method_not_allowed"
	SlugInUse            Code = "slug_in_use"
	InvalidTransition    Code = "invalid_transition"
	RestoreWindowExpired Code = "restore_window_expired"
	CompanyArchived      Code = "company_archived"
	IdempotencyConflict  Code = "idempotency_conflict"
	TeamNotEmpty         Code = "team_not_empty"
	HeadcountLimit       Code = "headcount_limit"
	WebhookLimit         Code = "webhook_limit"
	StaleLease           Code = "stale_lease"
	BudgetExhausted      Code = "budget_exhausted"
	TooManyOf            Code = "too_many"
	ApprovalRequired     Code = "approval_required"
	PreconditionFailed   Code = "precondition_failed"
	PayloadTooLarge      Code = "payload_too_large"
	UnsupportedMediaType Code = "unsupported_media_type"
	ValidationFailed     Code = "validation_failed"
	ImmutableField       Code = "immutable_field"
	BudgetInvalid        Code = "budget_invalid"
	TeamBudgetExceeded   Code = "team_budget_exceeded"
	ReserveExhausted     Code = "reserve_exhausted"
	AdapterNotInstalled  Code = "adapter_not_installed"
	DependencyCycle      Code = "dependency_cycle"
	GoalClosed           Code = "goal_closed"
	ProjectArchived      Code = "project_archived"
	ProjectNotEmpty      Code = "project_not_empty"
	WorkflowInUse        Code = "workflow_in_use"
	ImportRunning        Code = "import_running"
	RateLimited          Code = "rate_limited"
	Internal             Code = "internal"
	Unavailable          Code = "unavailable"
)

// Error is a refusal: a code for programs, a message for people, details for both, and the cause for the log only.
type Error struct {
	Code    Code
	Message string
	Details map[string]any // more for programs, under the names of the public API; nil when there is none
	Fields  []Field        // the fields at fault; shown as details.fields

	// RetryAfter is how long to wait before a retry; zero: unknown.
	RetryAfter time.Duration

	cause error
}

// New returns a fault; the message is formatted as by fmt.Sprintf.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Transition is the fault of an action that a resource does not allow in the state that it is in. The message is formatted
// as by fmt.Sprintf.
func Transition(from, action, format string, args ...any) *Error {
	return New(InvalidTransition, format, args...).With("from", from).With("action", action)
}

// NotInstalled is the fault of an adapter that is none of those installed.
func NotInstalled(adapter string, installed []string) *Error {
	return New(AdapterNotInstalled, "The adapter %q is not installed on this instance; installed are: %s.",
		adapter, strings.Join(installed, ", ")).With("adapter", adapter).With("installed", installed)
}

// With returns a copy of e with one more detail.
func (e *Error) With(name string, value any) *Error {
	next := *e
	next.Details = make(map[string]any, len(e.Details)+1)
	for k, v := range e.Details {
		next.Details[k] = v
	}
	next.Details[name] = value
	return &next
}

// Stopping refuses what a server does not begin or finish because it stops. Then says what the client is to do.
func Stopping(then string) *Error { return New(Unavailable, "The server stops; %s.", then) }

// EmptyFile refuses a request whose body is to be a file.
func EmptyFile() *Error { return New(InvalidFile, "The body is empty; it must be the file.") }

// After returns a copy of e with RetryAfter.
func (e *Error) After(wait time.Duration) *Error {
	next := *e
	next.RetryAfter = wait
	return &next
}

// Because returns a copy of e that wraps cause, which is logged and never shown.
func (e *Error) Because(cause error) *Error {
	next := *e
	next.cause = cause
	return &next
}

func (e *Error) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

func (e *Error) Unwrap() error { return e.cause }

// Of returns the fault that err is or wraps, or nil.
func Of(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}

// CodeOf returns the code of err: that of its fault, Internal if it is none, and "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e := Of(err); e != nil {
		return e.Code
	}
	return Internal
}
