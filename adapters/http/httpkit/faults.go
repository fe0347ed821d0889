package httpkit

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/idempotency"
)

// statuses is the one table from codes to statuses. What is not in it is a fault of this program.
var statuses = map[fault.Code]int{
	fault.InvalidJSON:          http.StatusBadRequest,
	fault.InvalidFile:          http.StatusBadRequest,
	fault.InvalidParameter:     http.StatusBadRequest,
	fault.InvalidCursor:        http.StatusBadRequest,
	fault.Unauthorized:         http.StatusUnauthorized,
	fault.InsufficientScope:    http.StatusForbidden,
	fault.OriginNotAllowed:     http.StatusForbidden,
	fault.ApprovalRequired:     http.StatusForbidden,
	fault.NotFound:             http.StatusNotFound,
	fault.MethodNotAllowed:     http.StatusMethodNotAllowed,
	fault.SlugInUse:            http.StatusConflict,
	fault.InvalidTransition:    http.StatusConflict,
	fault.RestoreWindowExpired: http.StatusConflict,
	fault.CompanyArchived:      http.StatusConflict,
	fault.IdempotencyConflict:  http.StatusConflict,
	fault.TeamNotEmpty:         http.StatusConflict,
	fault.HeadcountLimit:       http.StatusConflict,
	fault.WebhookLimit:         http.StatusConflict,
	fault.StaleLease:           http.StatusConflict,
	fault.BudgetExhausted:      http.StatusConflict,
	fault.GoalClosed:           http.StatusConflict,
	fault.ProjectArchived:      http.StatusConflict,
	fault.ProjectNotEmpty:      http.StatusConflict,
	fault.WorkflowInUse:        http.StatusConflict,
	fault.ImportRunning:        http.StatusConflict,
	fault.PreconditionFailed:   http.StatusPreconditionFailed,
	fault.PayloadTooLarge:      http.StatusRequestEntityTooLarge,
	fault.UnsupportedMediaType: http.StatusUnsupportedMediaType,
	fault.ValidationFailed:     http.StatusUnprocessableEntity,
	fault.ImmutableField:       http.StatusUnprocessableEntity,
	fault.BudgetInvalid:        http.StatusUnprocessableEntity,
	fault.TeamBudgetExceeded:   http.StatusUnprocessableEntity,
	fault.ReserveExhausted:     http.StatusUnprocessableEntity,
	fault.AdapterNotInstalled:  http.StatusUnprocessableEntity,
	fault.DependencyCycle:      http.StatusUnprocessableEntity,
	fault.TooManyOf:            http.StatusUnprocessableEntity,
	fault.RateLimited:          http.StatusTooManyRequests,
	fault.Unavailable:          http.StatusServiceUnavailable,
}

// The statuses of success.
const (
	OK        = http.StatusOK
	Created   = http.StatusCreated
	Accepted  = http.StatusAccepted
	NoContent = http.StatusNoContent

	notModified = http.StatusNotModified
	clientGone  = 499 // for the log and metrics: the client closed the connection
)

// Failed is the first status of a server error.
const Failed = http.StatusInternalServerError

// retryAfter is the default of Retry-After for fault.Unavailable.
const retryAfter = 2 * time.Second

// Fail answers with an error: a refusal as its code says, an *idempotency.Replay with the answer that was kept, anything
// else as fault.Internal, which is logged and shows the client nothing.
func Fail(c *gin.Context, err error) {
	c.Abort()
	var replay *idempotency.Replay
	if errors.As(err, &replay) {
		repeat(c, replay)
		return
	}
	if errors.Is(err, context.Canceled) && c.Request.Context().Err() != nil {
		logFailure(c, slog.LevelDebug, "the client did not wait", err)
		c.Status(clientGone)
		return
	}

	status, refusal := refusalOf(c, err)
	if status == http.StatusUnauthorized {
		c.Header("WWW-Authenticate", "Bearer")
	}
	if refusal.RetryAfter > 0 {
		c.Header("Retry-After", seconds(refusal.RetryAfter))
	}
	failure := failureOf(refusal)
	if refuse := of(c).options.Refuse; refuse != nil && refuse(c, status, *failure) {
		return
	}
	send(c, status, event.F("error", failure), Answer{})
}

// Failure is an error as Fail would show it, for an answer that tells of several outcomes.
func (r Request) Failure(err error) any {
	_, refusal := refusalOf(r.c, err)
	return failureOf(refusal)
}

// refusalOf returns how an error is answered. What is not a refusal, or cannot be served, is logged.
func refusalOf(c *gin.Context, err error) (status int, refusal *fault.Error) {
	refusal, status = fault.Of(err), http.StatusInternalServerError
	if refusal != nil {
		if listed, ok := statuses[refusal.Code]; ok {
			status = listed
		}
	}
	switch status {
	case http.StatusInternalServerError:
		logFailure(c, slog.LevelError, "a request failed", err)
		refusal = fault.New(fault.Internal, "Internal error; the server's log has the details under this request id.")
	case http.StatusServiceUnavailable:
		logUnserved(c, err)
		refusal = refusal.After(max(refusal.RetryAfter, retryAfter))
	}
	return status, refusal
}

// Failure is the error of an envelope.
type Failure struct {
	Code    fault.Code     `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

type fieldFailure struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

func failureOf(refusal *fault.Error) *Failure {
	details := map[string]any{}
	maps.Copy(details, refusal.Details)
	if refusal.Fields != nil {
		fields := make([]fieldFailure, len(refusal.Fields))
		for i, field := range refusal.Fields {
			fields[i] = fieldFailure{Field: field.Path, Code: field.Code, Message: field.Message}
		}
		details["fields"] = fields
	}
	return &Failure{Code: refusal.Code, Message: refusal.Message, Details: details}
}
