package client

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// AtWork is the gateway for a program that works under one lease, with the token of its run. Its calls have the patience of the
// Client. They fail with the fault that the gateway answers.
type AtWork struct {
	Client
	Lease string
	Token int64 // the fencing token
}

// LeaseState is what is read of the answer to a call on a lease.
type LeaseState struct {
	Lease struct {
		MustFinish bool `json:"mustFinish"`
	} `json:"lease"`
}

// Asked is what is read of an approval that was asked for.
type Asked struct {
	ID     string `json:"id"`
	Status string `json:"status"`
}

const oneAsked = "/gateway/v1/approvals/{approval}"

var (
	checkpointLease = declareOfGateway(Operation{
		ID: "checkpointLease", Method: http.MethodPost, Path: oneLease + "/checkpoint", Fields: []string{"fencingToken", "note"},
		Shows: LeaseState{},
	})
	requestApproval = declareOfGateway(Operation{
		ID: "requestApproval", Method: http.MethodPost, Path: oneLease + "/approval", Shows: Asked{},
		Fields: []string{"fencingToken", "actionName", "action", "reasoning", "sideEffects", "ifDenied"},
	})
	checkApproval = declareOfGateway(Operation{
		ID: "checkApproval", Method: http.MethodGet, Path: oneAsked, Query: []string{"wait"}, Shows: Asked{},
	})
	answerQuestion = declareOfGateway(Operation{
		ID: "answerQuestion", Method: http.MethodPost, Path: oneAsked + "/answer", Fields: []string{"body"}, Shows: Asked{},
	})
)

// call makes a call on the lease.
func call[T any](ctx context.Context, w AtWork, o Operation, body map[string]any) (answer T, err error) {
	body["fencingToken"] = w.Token
	data, err := w.Do(ctx, o.In(w.Lease).Sending(body))
	if err != nil {
		return answer, err
	}
	return Read[T](data)
}

// Checkpoint writes down how far the work is.
func (w AtWork) Checkpoint(ctx context.Context, note string) (LeaseState, error) {
	return call[LeaseState](ctx, w, checkpointLease, map[string]any{"note": note})
}

// Charge reports what a model cost, under a key.
func (w AtWork) Charge(ctx context.Context, key, model string, tokens map[string]int64) (LeaseState, error) {
	charge := map[string]any{"key": key, "kind": "llm", "model": model, "tokens": tokens}
	return call[LeaseState](ctx, w, chargeLease, map[string]any{"costs": []any{charge}})
}

// Ask asks for an approval, of which the members are sent.
func (w AtWork) Ask(ctx context.Context, approval map[string]any) (Asked, error) {
	return call[Asked](ctx, w, requestApproval, approval)
}

// longestLook is how long Look waits at most.
const longestLook = 20 * time.Second

// Look returns an approval: when it is decided, or after a while.
func (w AtWork) Look(ctx context.Context, approval string) (found Asked, err error) {
	seconds := strconv.Itoa(int(longestLook / time.Second))
	data, err := w.Do(ctx, checkApproval.In(approval).With("wait", seconds).waiting(longestLook))
	if err != nil {
		return found, err
	}
	return Read[Asked](data)
}

// Answer answers what a person asked about an approval.
func (w AtWork) Answer(ctx context.Context, approval, body string) error {
	_, err := w.Do(ctx, answerQuestion.In(approval).Sending(map[string]any{"body": body}))
	return err
}

// Complete ends the lease with a result.
func (w AtWork) Complete(ctx context.Context, result any, summary string) error {
	_, err := call[json.RawMessage](ctx, w, completeLease, map[string]any{"result": result, "summary": summary})
	return err
}

// Fail ends the lease with a failure, after which another attempt may follow at once.
func (w AtWork) Fail(ctx context.Context, code, message string) error {
	failure := map[string]any{"code": code, "message": message}
	_, err := call[json.RawMessage](ctx, w, failLease, map[string]any{"error": failure, "retryAfter": 0})
	return err
}

// HandOff ends the lease, because a person must decide.
func (w AtWork) HandOff(ctx context.Context, note string) error {
	_, err := call[json.RawMessage](ctx, w, handOffLease, map[string]any{"note": note})
	return err
}
