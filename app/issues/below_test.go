package issues_test

import (
	"context"
	"testing"

	"holdco/adapters/store/sqlite/sqlitetest"
	"holdco/adapters/store/sqlstore"
	"holdco/adapters/system"
	"holdco/app/issues"
	"holdco/domain/access"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/issue"
	"holdco/domain/precondition"
	"holdco/ports/inbound"
	"holdco/ports/store"
)

// More issues than one unit of work cancels: the rest is cancelled by a job, which does not run here.
func TestWhatIsAboutToBeCancelledIsRefused(t *testing.T) {
	t.Parallel()
	engine := sqlitetest.Open(t)
	kept := sqlstore.New(engine, system.Clock{}, system.IDs{}, engine.Migrator())
	service, caller, of := issues.New(kept, system.IDs{}, nil), access.System("test"), id.New[id.Company](system.IDs{}.UUIDv7())
	must(t, kept.Update(t.Context(), func(ctx context.Context, tx store.Tx) error {
		draft := company.Draft{Name: new("Acme"), Slug: new("acme")}
		founding, created, err := company.New(of, draft, []string{"process"}, system.IDs{}, tx.Now())
		if err != nil {
			return err
		}
		if err := tx.Companies().Add(ctx, founding.Company); err != nil {
			return err
		}
		return tx.Record(ctx, created.By(caller.Actor))
	}))
	file := func(parent *string) issue.Issue {
		draft := issue.Draft{Title: new("Some"), Settings: issue.Settings{Parent: &parent}}
		made, err := service.Create(t.Context(), caller, of, draft, idempotency.Request{})
		must(t, err)
		return made
	}
	move := func(which id.Issue, action issue.Action) error {
		_, err := service.Move(t.Context(), caller, of, which, inbound.IssueMove{
			Action: action, Note: issue.Note{Body: new("Why.")},
		}, precondition.Match{}, idempotency.Request{})
		return err
	}
	root := file(nil)
	for range store.Portion {
		file(new(string(root.ID)))
	}
	last := file(new(string(root.ID)))
	must(t, move(root.ID, issue.Cancel))
	if now, err := service.Get(t.Context(), caller, of, last.ID); err != nil || now.Status != issue.Queued {
		t.Fatalf("the last one is %s, %v", now.Status, err)
	}
	var none *string
	_, err := service.Update(t.Context(), caller, of, last.ID, issue.Patch{Settings: issue.Settings{Parent: &none}}, precondition.Match{})
	for what, err := range map[string]error{"update": err, "handoff": move(last.ID, issue.HandOff)} {
		if fault.CodeOf(err) != fault.InvalidTransition || fault.Of(err).Details["action"] != what {
			t.Errorf("%s: %v", what, err)
		}
	}
	must(t, move(last.ID, issue.Cancel))
	if err := move(last.ID, issue.Retry); err != nil {
		t.Errorf("it cannot be retried: %v", err)
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
