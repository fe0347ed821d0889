package gateway

import (
	"encoding/json"
	"strconv"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/domain/approval"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/ports/inbound"
)

type approvals struct{ port inbound.AgentApprovals }

// Approvals handles the operations by which agents ask for approvals.
func Approvals(port inbound.AgentApprovals) httpkit.Handlers {
	h := approvals{port}
	return httpkit.Handlers{
		"requestApproval": h.request,
		"checkApproval":   h.check,
		"answerQuestion":  h.answer,
	}
}

func (h approvals) request(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ApprovalRequest](r)
	draft := approval.Draft{
		ActionName: sent.ActionName, Action: sent.Action, Reasoning: sent.Reasoning, IfDenied: sent.IfDenied, SideEffects: sent.SideEffects,
		ExpiresIn: sent.ExpiresIn, Park: sent.Park,
	}
	if sent.Cost != nil {
		draft.USD, draft.Tokens = sent.Cost.Usd, sent.Cost.Tokens
	}
	call := callOf(r, sent.FencingToken, problems)
	call.Once, call.Fingerprint = httpkit.Once(r, requestedAnswer), r.Fingerprint()
	asked, err := h.port.RequestApproval(r.Context(), r.Agent(), call, draft)
	return requestedAnswer(asked), err
}

func (h approvals) check(r httpkit.Request) (httpkit.Answer, error) {
	seconds, _ := strconv.Atoi(r.Query()["wait"]) // the gate has checked it
	wait := time.Duration(seconds) * time.Second
	if wait > 0 {
		r.Wait(wait)
	}
	found, err := h.port.Approval(r.Context(), r.Agent(), askedOf(r), wait)
	return approvalAnswer(found), err
}

func (h approvals) answer(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[CommentDraft](r)
	note := issue.Note{Body: sent.Body, Problems: problems}
	answered, err := h.port.AnswerQuestion(r.Context(), r.Agent(), askedOf(r), note, httpkit.Once(r, approvalAnswer))
	return approvalAnswer(answered), err
}

func askedOf(r httpkit.Request) id.Approval { return httpkit.PathID[id.Approval](r, "approval") }

func approvalAnswer(a inbound.Approval) httpkit.Answer { return httpkit.Answer{Data: a.Fields()} }

func requestedAnswer(asked inbound.RequestedApproval) httpkit.Answer {
	if asked.Answer != "" {
		return httpkit.Answer{Data: json.RawMessage(asked.Answer), IsReplayed: true}
	}
	return approvalAnswer(asked.Approval)
}
