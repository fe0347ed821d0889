package rest

import (
	"strings"

	"holdco/adapters/http/httpkit"
	"holdco/domain/approval"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type approvals struct{ port inbound.Approvals }

// Approvals handles the operations on approvals and on the rules that decide them.
func Approvals(port inbound.Approvals) httpkit.Handlers {
	h := approvals{port}
	return httpkit.Handlers{
		"listApprovals":      h.list,
		"getApproval":        h.get,
		"approve":            h.approve,
		"approveWithEdits":   h.approveWithEdits,
		"deny":               h.deny,
		"commentOnApproval":  h.comment,
		"listApprovalRules":  h.rules,
		"createApprovalRule": h.createRule,
		"getApprovalRule":    h.rule,
		"deleteApprovalRule": h.deleteRule,
	}
}

func (h approvals) list(r httpkit.Request) (httpkit.Answer, error) {
	query := r.Query()
	list := inbound.ApprovalList{Company: companyOf(r), Agent: query["agent"], Team: query["team"], Issue: query["issue"]}
	if status, sent := query["status"]; sent {
		for one := range strings.SplitSeq(status, ",") {
			list.Status = append(list.Status, approval.Status(one))
		}
	}
	var err error
	if list.Since, err = instantIn(query, "since"); err != nil {
		return httpkit.Answer{}, err
	}
	if list.Until, err = instantIn(query, "until"); err != nil {
		return httpkit.Answer{}, err
	}
	bound := "approvals of=" + string(list.Company) + " " + query.Filters()
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[approval.Approval], error) {
		list.After, list.Size = after, size
		return h.port.List(r.Context(), r.Caller(), list)
	})
}

func (h approvals) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), approvalOf(r))
	return approvalAnswer(found), err
}

func (h approvals) approve(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ApprovalConsent](r)
	return h.decide(r, approval.Verdict{Action: approval.Approve, Note: sent.Note, Problems: problems})
}

func (h approvals) approveWithEdits(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ApprovalEdits](r)
	return h.decide(r, approval.Verdict{Action: approval.ApproveWithEdits, Edits: sent.Edits, Note: sent.Note, Problems: problems})
}

func (h approvals) deny(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ApprovalDenial](r)
	return h.decide(r, approval.Verdict{Action: approval.Deny, Note: sent.Note, Problems: problems})
}

func (h approvals) decide(r httpkit.Request, verdict approval.Verdict) (httpkit.Answer, error) {
	decided, err := h.port.Decide(
		r.Context(), r.Caller(), companyOf(r), approvalOf(r), verdict, r.Match(), httpkit.Once(r, approvalAnswer))
	return approvalAnswer(decided), err
}

func (h approvals) comment(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[CommentDraft](r)
	note := issue.Note{Body: sent.Body, Problems: problems}
	asked, err := h.port.Comment(r.Context(), r.Caller(), companyOf(r), approvalOf(r), note, httpkit.Once(r, approvalAnswer))
	return approvalAnswer(asked), err
}

func (h approvals) rules(r httpkit.Request) (httpkit.Answer, error) {
	of := companyOf(r)
	return httpkit.List(r, "approval rules of="+string(of), func(after page.Position, size int) (page.Page[approval.Rule], error) {
		return h.port.Rules(r.Context(), r.Caller(), of, after, size)
	})
}

func (h approvals) createRule(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[ApprovalRuleDraft](r)
	draft := approval.RuleDraft{
		ActionName: sent.ActionName, Agent: sent.AgentID, Team: sent.TeamID, Decision: sent.Decision, MaxUSD: sent.MaxUsd,
		ExpiresAt: instantOf("expiresAt", sent.ExpiresAt, &problems),
	}
	draft.Problems = problems
	made, err := h.port.CreateRule(r.Context(), r.Caller(), companyOf(r), draft, httpkit.Once(r, newRuleAnswer))
	return newRuleAnswer(made), err
}

func (h approvals) rule(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Rule(r.Context(), r.Caller(), companyOf(r), ruleOf(r))
	return ruleAnswer(found), err
}

func (h approvals) deleteRule(r httpkit.Request) (httpkit.Answer, error) {
	last, err := h.port.DeleteRule(r.Context(), r.Caller(), companyOf(r), ruleOf(r), r.Match())
	return ruleAnswer(last), err
}

func ruleOf(r httpkit.Request) id.ApprovalRule { return httpkit.PathID[id.ApprovalRule](r, "rule") }

func approvalOf(r httpkit.Request) id.Approval { return httpkit.PathID[id.Approval](r, "approval") }

func approvalAnswer(a inbound.Approval) httpkit.Answer {
	return httpkit.Answer{Data: a.Fields(), ETag: httpkit.VersionTag(a.Version)}
}

func ruleAnswer(one approval.Rule) httpkit.Answer {
	return httpkit.Answer{Data: one.Fields(), ETag: httpkit.VersionTag(one.CurrentVersion())}
}

func newRuleAnswer(made approval.Rule) httpkit.Answer {
	return ruleAnswer(made).At("/v1/companies/" + string(made.Company) + "/approval-rules/" + string(made.ID))
}
