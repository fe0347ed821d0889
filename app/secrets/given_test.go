package secrets_test

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"holdco/app/secrets"
	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/redact"
	"holdco/domain/run"
	"holdco/ports/inbound"
)

const (
	lease = id.Lease("lse_1")
	value = "hunter2"
)

// recorder keeps what it is sent.
type recorder struct {
	inbound.Leases
	inbound.AgentApprovals

	sent []any
}

func (r *recorder) note(sent any) { r.sent = append(r.sent, sent) }

func (r *recorder) Checkpoint(
	_ context.Context, _ agent.Caller, _ inbound.LeaseCall, sent run.CheckpointDraft,
) (state inbound.LeaseState, err error) {
	r.note(sent)
	return state, nil
}

func (r *recorder) Charge(
	_ context.Context, _ agent.Caller, _ inbound.LeaseCall, sent []cost.Draft,
) (state inbound.LeaseState, outcomes []inbound.ChargeOutcome, err error) {
	r.note(sent)
	return state, nil, nil
}

func (r *recorder) Comment(_ context.Context, _ agent.Caller, _ inbound.LeaseCall, sent issue.Note) (made issue.Comment, err error) {
	r.note(sent)
	return made, nil
}

func (r *recorder) End(_ context.Context, _ agent.Caller, _ inbound.LeaseCall, sent inbound.LeaseEnd) (ended inbound.Ended, err error) {
	r.note(sent)
	return ended, nil
}

func (r *recorder) File(_ context.Context, _ agent.Caller, _ inbound.LeaseCall, sent issue.Draft) (made issue.Issue, err error) {
	r.note(sent)
	return made, nil
}

func (r *recorder) RequestApproval(
	_ context.Context, _ agent.Caller, _ inbound.LeaseCall, sent approval.Draft,
) (made inbound.RequestedApproval, err error) {
	r.note(sent)
	return made, nil
}

func (r *recorder) AnswerQuestion(
	_ context.Context, _ agent.Caller, _ id.Approval, sent issue.Note, _ idempotency.Request,
) (answered inbound.Approval, err error) {
	r.note(sent)
	return answered, nil
}

// Every text that a program sends under its lease, and that Holdco may keep, hides the secrets that it was given.
func TestNoTextUnderALeaseKeepsASecret(t *testing.T) {
	t.Parallel()
	var s secrets.Service
	defer s.Give(lease, redact.New(map[string]string{value: "[secret]"}))()
	kept := &recorder{}
	leases, approvals := s.Hiding(kept), s.HidingInApprovals(kept)
	ctx, by, call := t.Context(), agent.Caller{Lease: lease}, inbound.LeaseCall{Lease: lease}
	for n, send := range []func() error{
		func() error { _, err := leases.Checkpoint(ctx, by, call, filled[run.CheckpointDraft](t)); return err },
		func() error { _, _, err := leases.Charge(ctx, by, call, filled[[]cost.Draft](t)); return err },
		func() error { _, err := leases.Comment(ctx, by, call, filled[issue.Note](t)); return err },
		func() error { _, err := leases.End(ctx, by, call, filled[inbound.LeaseEnd](t)); return err },
		func() error { _, err := leases.File(ctx, by, call, filled[issue.Draft](t)); return err },
		func() error {
			_, err := approvals.RequestApproval(ctx, by, call, filled[approval.Draft](t))
			return err
		},
		func() error {
			_, err := approvals.AnswerQuestion(ctx, by, "apr_1", filled[issue.Note](t), idempotency.Request{})
			return err
		},
	} {
		if err := send(); err != nil || len(kept.sent) != n+1 {
			t.Fatalf("call %d: %d were sent, %v", n, len(kept.sent), err)
		}
		hidden := 0
		walk(t, reflect.TypeOf(kept.sent[n]).String(), reflect.ValueOf(kept.sent[n]), func(path, text string) {
			if strings.Contains(text, value) {
				t.Errorf("%s is %q", path, text)
			}
			hidden += strings.Count(text, "[secret]")
		})
		if hidden == 0 {
			t.Errorf("nothing was hidden in %T", kept.sent[n])
		}
	}
}

// named are the fields whose texts have to be a number, one of a few words, or the name of something that there is.
var named = []string{
	"Action", "Kind", "USD", "PerTask", "Agent", "Team", "Workflow", "Parent", "Project", "Goal", "BlockedBy", "Priority", "DueAt",
	"NotBefore", "Problems", "Setback",
}

// filled is a value in whose every text there is the secret, but for those that are named.
func filled[T any](t *testing.T) (sent T) {
	t.Helper()
	fill(t, reflect.ValueOf(&sent).Elem())
	return sent
}

func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		v.SetString("It is " + value + ".")
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(`{"is":"` + value + `"}`))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case reflect.Struct:
		for field, f := range v.Fields() {
			isText := v.Type() == reflect.TypeFor[approval.Draft]() && field.Name == "Action"
			if isText || !slices.Contains(named, field.Name) {
				fill(t, f)
			}
		}
	}
}

// walk calls see with every text in a value.
func walk(t *testing.T, path string, v reflect.Value, see func(path, text string)) {
	t.Helper()
	switch v.Kind() {
	case reflect.String:
		see(path, v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			walk(t, path, v.Elem(), see)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			see(path, string(v.Bytes()))
			return
		}
		for n := range v.Len() {
			walk(t, path, v.Index(n), see)
		}
	case reflect.Struct:
		for field, f := range v.Fields() {
			walk(t, path+"."+field.Name, f, see)
		}
	}
}
