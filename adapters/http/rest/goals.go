package rest

import (
	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

type goals struct{ port inbound.Goals }

// Goals handles the operations on goals.
func Goals(port inbound.Goals) httpkit.Handlers {
	h := goals{port}
	return httpkit.Handlers{
		"listGoals":  h.list,
		"createGoal": h.create,
		"getGoal":    h.get,
		"updateGoal": h.update,
		"closeGoal":  h.close,
	}
}

func (h goals) list(r httpkit.Request) (httpkit.Answer, error) {
	words, err := wordsIn(r.Query())
	if err != nil {
		return httpkit.Answer{}, err
	}
	list := inbound.GoalList{Company: companyOf(r), Status: statesOf[goal.Status](r), Words: words}
	bound := "goals of=" + string(list.Company) + " " + r.Query().Filters()
	return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[goal.ShownGoal], error) {
		list.After, list.Size = after, size
		return h.port.List(r.Context(), r.Caller(), list)
	})
}

func (h goals) create(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[GoalDraft](r)
	draft := goal.Draft{PurposeDraft: purposeOf(sent.Title, sent.Description, sent.Budget, problems), TargetDate: sent.TargetDate}
	made, err := h.port.Create(r.Context(), r.Caller(), companyOf(r), draft, httpkit.Once(r, newGoalAnswer))
	return newGoalAnswer(made), err
}

func (h goals) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), goalOf(r))
	return goalAnswer(found), err
}

func (h goals) update(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[GoalPatch](r)
	patch := goal.Draft{PurposeDraft: purposeOf(sent.Title, sent.Description, sent.Budget, problems), TargetDate: sent.TargetDate}
	next, err := h.port.Update(r.Context(), r.Caller(), companyOf(r), goalOf(r), patch, r.Match())
	return goalAnswer(next), err
}

func (h goals) close(r httpkit.Request) (httpkit.Answer, error) {
	sent, problems := httpkit.Body[GoalClosing](r)
	closing := goal.Closing{Outcome: sent.Outcome, Problems: problems}
	next, err := h.port.Close(r.Context(), r.Caller(), companyOf(r), goalOf(r), closing, r.Match(), httpkit.Once(r, goalAnswer))
	return goalAnswer(next), err
}

func goalOf(r httpkit.Request) id.Goal { return httpkit.PathID[id.Goal](r, "goal") }

// purposeOf are the fields that goals and projects have in common.
func purposeOf(title, description *string, limit **PurposeBudgetChange, problems fault.Problems) goal.PurposeDraft {
	draft := goal.PurposeDraft{Title: title, Description: description, Problems: problems}
	switch {
	case limit == nil:
	case *limit == nil:
		draft.Budget = new(*money.Number)
	default:
		draft.Budget = (*limit).Usd
	}
	return draft
}

func purposeAnswer[I id.ID, T goal.Kind[I]](shown goal.Shown[I, T]) httpkit.Answer {
	fields := shown.Fields()
	return httpkit.Answer{Data: fields, ETag: httpkit.ShownTag(shown.Of.CurrentVersion(), fields)}
}

var goalAnswer = purposeAnswer[id.Goal, goal.Goal]

func newGoalAnswer(shown goal.ShownGoal) httpkit.Answer {
	return goalAnswer(shown).At("/v1/companies/" + string(shown.Of.Company) + "/goals/" + string(shown.Of.ID))
}
