package wiring_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"holdco/adapters/http/rest/resttest"
	"holdco/domain/event"
)

func TestArchiveHidesAndRestoreBringsBack(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"A","headcount":1}]`))
		kept := filepath.Join(s.workspace(acme), "kept")
		must(t, os.WriteFile(kept, []byte("x"), 0o600))
		active := s.see(t, acme)

		s.clock.advance(time.Minute)
		archived := resttest.Data[company](t, s.Post(acme.path()+"/archive", ""))
		want := active
		want.Status, want.UpdatedAt = "archived", "2026-04-11T12:01:00.000Z"
		want.ArchivedAt, want.RestorableUntil = new("2026-04-11T12:01:00.000Z"), new("2026-05-11T12:01:00.000Z")
		if diff := cmp.Diff(want, archived) + cmp.Diff(want, s.see(t, acme)); diff != "" {
			t.Error(diff)
		}
		if got := len(slugs(t, s.Get("/v1/companies"))); got != 0 {
			t.Errorf("the list holds %d companies", got)
		}

		s.clock.advance(time.Minute)
		restored := resttest.Data[company](t, s.Post(acme.path()+"/restore", ""))
		active.UpdatedAt = "2026-04-11T12:02:00.000Z"
		if diff := cmp.Diff(active, restored) + cmp.Diff(active, s.see(t, acme)); diff != "" {
			t.Error(diff)
		}
		if !exists(t, kept) || len(resttest.Data[company](t, s.Get(acme.path()+"?include=teams")).Teams) != 1 {
			t.Error("archive and restore lost something")
		}
	})
}

func TestRestoreWorksUntilTheWindowEnds(t *testing.T) {
	t.Parallel()
	const retention = 30 * 24 * time.Hour
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		for _, c := range []struct {
			after  time.Duration
			status int
			code   string
		}{
			{0, 200, ""},
			{retention - time.Millisecond, 200, ""},
			{retention, 200, ""},
			{retention + time.Millisecond, 409, "restore_window_expired"},
		} {
			s.Post(acme.path()+"/archive", "").Is(t, 200, "")
			s.clock.advance(c.after)
			s.Post(acme.path()+"/restore", "").Is(t, c.status, c.code)
		}
		s.clock.advance(10 * retention)
		refused := s.Post(acme.path()+"/restore", "")
		refused.Is(t, 409, "restore_window_expired")
		archived := s.see(t, acme)
		if archived.Status != "archived" || details(t, refused)["restorableUntil"] != *archived.RestorableUntil {
			t.Errorf("%v, %+v", details(t, refused), archived)
		}
		s.Post("/v1/companies", named("acme")).Is(t, 409, "slug_in_use")
		s.Delete(acme.path()).Is(t, 200, "")
	})
}

func TestEveryMoveFromEveryState(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		companies := map[string]company{}
		for _, state := range []string{"active", "archived", "deleting"} {
			companies[state] = s.create(t, named(state))
		}
		s.Post(companies["archived"].path()+"/archive", "").Is(t, 200, "")
		unblock := s.obstruct(t) // so that the deletion does not come to its end
		s.abandonedDelete(t, companies["deleting"])

		for _, c := range []struct {
			state, action string
			status        int
			code          string
		}{
			{"active", "restore", 409, "invalid_transition"},
			{"active", "update", 200, ""},
			{"archived", "update", 409, "company_archived"},
			{"archived", "archive", 409, "invalid_transition"},
			{"deleting", "update", 409, "invalid_transition"},
			{"deleting", "archive", 409, "invalid_transition"},
			{"deleting", "restore", 409, "invalid_transition"},
			{"active", "archive", 200, ""},
			{"archived", "restore", 200, ""},
		} {
			path := companies[c.state].path()
			before := s.Get(path)
			var answer resttest.Answer
			if c.action == "update" {
				answer = s.Patch(path, `{"name":"New"}`)
			} else {
				answer = s.Post(path+"/"+c.action, "")
			}
			answer.Is(t, c.status, c.code)
			want := map[string]any{"from": c.state, "action": c.action}
			if c.code == "invalid_transition" && cmp.Diff(want, details(t, answer)) != "" {
				t.Errorf("%s %s: %v", c.state, c.action, details(t, answer))
			}
			if after := s.Get(path); c.code != "" && string(after.Data) != string(before.Data) {
				t.Errorf("%s %s changed the company: %s", c.state, c.action, after.Data)
			}
		}

		deleting := s.see(t, companies["deleting"])
		if deleting.Status != "deleting" || deleting.ArchivedAt != nil {
			t.Errorf("%+v", deleting)
		}
		s.Post("/v1/companies", named("deleting")).Is(t, 409, "slug_in_use")
		for _, query := range []string{"", "?status=archived", "?slug=deleting"} {
			for _, slug := range slugs(t, s.Get("/v1/companies"+query)) {
				if slug == "deleting" {
					t.Errorf("%s lists a company that is being deleted", query)
				}
			}
		}
		unblock()
		if answer := s.Delete(companies["deleting"].path()); answer.Status != 404 { // the company may be gone by now
			answer.Is(t, 200, "") // a repeat waits for the end
		}
		s.Get(companies["deleting"].path()).Is(t, 404, "not_found")
	})
}

func TestWhatBelongsToACompanyThatIsBeingDeletedIsNotChanged(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme, sales, all := s.workers(t, 2)
		filed, ada := s.file(t, acme, ""), all[0].apiAgent
		unblock := s.obstruct(t)
		s.abandonedDelete(t, acme)
		await(t, "the removal of the team", func() bool { return s.Get(sales.path()).Status == 404 })
		for path, body := range map[string]string{
			acme.path() + "/teams":     `{"name":"New","headcount":1}`,
			acme.path() + "/agents":    `{"teamId":"` + sales.ID + `","name":"Bob","role":"Engineer"}`,
			acme.path() + "/issues":    `{"title":"Write","assignedAgentId":"` + ada.ID + `"}`,
			ada.path() + "/retire":     "",
			filed.path() + "/assign":   `{"agentId":"` + ada.ID + `"}`,
			filed.path() + "/comments": `{"body":"Hello"}`,
		} {
			s.Post(path, body).Is(t, 409, "invalid_transition")
		}
		s.Patch(sales.path(), `{"headcount":3}`).Is(t, 409, "invalid_transition")
		s.Delete(sales.path()).Is(t, 409, "invalid_transition")
		unblock()
		if answer := s.Delete(acme.path()); answer.Status != 404 { // the company may be gone by now
			answer.Is(t, 200, "")
		}
	})
}

// abandonedDelete asks for a deletion and does not wait for the answer.
func (s *instance) abandonedDelete(t *testing.T, c company) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, s.url+c.path(), http.NoBody)
	must(t, err)
	request.Header.Set("Authorization", "Bearer "+string(rootToken))
	go func() {
		if response, err := http.DefaultClient.Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	await(t, "the deletion", func() bool { return s.see(t, c).Status == "deleting" })
}

func TestDeleteLeavesNothingButOneEntry(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"A","headcount":3}]`))
		other := s.create(t, named("other"))
		must(t, os.MkdirAll(filepath.Join(s.workspace(acme), "deep", "er"), 0o500))
		reader, writer := s.with(t, "company:acme:read"), s.with(t, "company:acme:write", "read")
		s.Patch(acme.path(), `{"name":"B"}`).Is(t, 200, "")
		s.Post(acme.path()+"/archive", "").Is(t, 200, "")
		instance := len(s.events(t, ""))

		s.clock.advance(time.Minute)
		answer := s.Delete(acme.path())
		answer.Is(t, 200, "")
		if last := resttest.Data[company](t, answer); last.Status != "deleting" || last.Name != "B" ||
			last.UpdatedAt != "2026-04-11T12:01:00.000Z" {
			t.Errorf("%+v", last)
		}
		for _, client := range []*resttest.Client{s.Client, reader, writer} {
			client.Get("/v1/whoami").Is(t, 200, "")
			if got := slugs(t, client.Get("/v1/companies?slug=acme")); len(got) != 0 {
				t.Errorf("%v are listed", got)
			}
			client.Get(acme.path()).Is(t, 404, "not_found")
			client.Get(acme.path()+"?include=teams").Is(t, 404, "not_found")
		}
		writer.Patch(acme.path(), `{"name":"C"}`).Is(t, 404, "not_found")
		s.Post(acme.path()+"/restore", "").Is(t, 404, "not_found")
		s.Delete(acme.path()).Is(t, 404, "not_found")
		if exists(t, s.workspace(acme)) || !exists(t, s.workspace(other)) {
			t.Error("the workspace is there still, or the one of another company is gone")
		}
		events := s.events(t, "")
		last := events[len(events)-1]
		data, err := json.Marshal(last.Data)
		must(t, err)
		if len(events) != instance+1 || last.Type != event.CompanyDeleted || last.Previous != nil || last.Subject.ID != acme.ID ||
			string(data) != fmt.Sprintf(`{"id":%q,"slug":"acme"}`, acme.ID) || !strings.HasPrefix(string(last.Actor), "token:tok_") {
			t.Errorf("%d events, the last is %+v %s", len(events)-instance, last, data)
		}
		if left := s.events(t, acme.ID); len(left) != 0 {
			t.Errorf("events are left: %+v", left)
		}
		if again := s.create(t, draft(t, "")); again.ID == acme.ID {
			t.Error("the id is used again")
		}
		if got := slugs(t, reader.Get("/v1/companies")); len(got) != 0 {
			t.Error("a token of the deleted company sees the new one with its slug")
		}
	})
}

func TestABigCompanyIsMadeAndDeletedWhileOthersContinue(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const most, heads = 50, 100 // more heads could exceed the time limit of a unit on a busy machine
		teams := make([]string, most)
		for i := range teams {
			teams[i] = fmt.Sprintf(`{"name":"Team %d","headcount":%d}`, i, heads)
		}
		var answer struct{ Data company } // too much to hold each slot against the document
		status, err := exchangeInto(http.MethodPost, s.url+"/v1/companies", draft(t, `"startingTeams":[`+strings.Join(teams, ",")+"]"),
			&answer)
		must(t, err)
		big := answer.Data
		if status != 201 || big.TeamCount != most || len(big.Teams) != most || len(big.AgentSlots) != most*heads {
			t.Errorf("%d: %d teams, %d slots", status, len(big.Teams), len(big.AgentSlots))
		}

		deleted := make(chan resttest.Answer, 1)
		go func() { deleted <- s.Delete(big.path()) }()
		for done, others := false, 0; !done; others++ {
			select {
			case last := <-deleted:
				done = true
				if last.Status != 200 && last.Status != 202 {
					t.Errorf("answered %d", last.Status)
				}
			default:
				s.create(t, named(fmt.Sprintf("other-%d", others)))
			}
		}
		await(t, "the deletion", func() bool { return s.Get(big.path()).Status == 404 })
	})
}

func TestADeletionThatTakesLongIsAcceptedAndContinues(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	acme := s.create(t, draft(t, ""))
	unblock := s.obstruct(t)
	answer := s.Delete(acme.path())
	answer.Is(t, 202, "")
	if shown := resttest.Data[company](t, answer); shown.Status != "deleting" {
		t.Errorf("%+v", shown)
	}
	unblock()
	await(t, "the deletion", func() bool { return s.Get(acme.path()).Status == 404 })
	if exists(t, s.workspace(acme)) {
		t.Error("the workspace is there still")
	}
}

func TestADeletionCutShortIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, `"startingTeams":[{"name":"A","headcount":3}]`))
		unblock := s.obstruct(t)
		s.abandonedDelete(t, acme)
		must(t, s.stop())
		unblock()
		s = start(t, s.clock, s.environ...)
		await(t, "the deletion", func() bool { return s.Get(acme.path()).Status == 404 })
		if events := s.events(t, ""); events[len(events)-1].Type != event.CompanyDeleted || exists(t, s.workspace(acme)) {
			t.Errorf("%+v", events[len(events)-1])
		}
	})
}

func TestAMissingWorkspaceIsMadeLaterAndOneOfNobodyIsLeftAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		first := s.create(t, named("first"))
		unblock := s.obstruct(t)
		acme := s.create(t, draft(t, "")) // the company does not fail with its directory
		if !strings.Contains(s.log.String(), acme.ID) {
			t.Error("the log does not report it")
		}
		must(t, s.stop())
		unblock()
		orphan := filepath.Join(filepath.Dir(s.workspace(acme)), "cmp_"+strings.Repeat("0", 26))
		foreign := filepath.Join(filepath.Dir(s.workspace(acme)), "lost+found")
		must(t, os.Mkdir(orphan, 0o700))
		must(t, os.Mkdir(foreign, 0o700))
		s = start(t, s.clock, s.environ...)
		const said = "There are workspaces of companies that this store does not know"
		await(t, "the mending", func() bool { return strings.Contains(s.log.String(), said) })
		if !exists(t, s.workspace(acme)) || !exists(t, s.workspace(first)) || !exists(t, foreign) || !exists(t, orphan) {
			t.Error("what is none of its business was removed")
		}
	})
}

func TestEveryChangeIsInTheActivityLogWithItsActor(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		issued := s.issue(t, "read", "write")
		writer := s.As(issued.Token)
		acme := resttest.Data[company](t, writer.Post("/v1/companies",
			draft(t, `"description":"d","startingTeams":[{"name":"A","headcount":1}]`)))
		type entry struct {
			Type     event.Type
			Previous string
		}
		var shown []map[string]any
		note := func() { shown = append(shown, object(t, s.Get(acme.path()).Data)) }
		note()
		for _, patch := range []string{`{"name":"B"}`, `{}`, `{"description":"","budget":{"usd":0.5}}`} {
			s.clock.advance(time.Second)
			writer.Patch(acme.path(), patch).Is(t, 200, "")
			if patch != "{}" {
				note()
			}
		}
		for _, move := range []string{"/archive", "/restore"} {
			s.clock.advance(time.Second)
			writer.Post(acme.path()+move, "").Is(t, 200, "")
			note()
		}

		want := []entry{
			{event.CompanyCreated, ""},
			{event.CompanyUpdated, `{"name":"Acme","updatedAt":"2026-04-11T12:00:00.000Z"}`},
			{event.CompanyUpdated,
				`{"budget":{"period":"monthly","reservePercent":0,"usd":1000000000},"description":"d",` +
					`"updatedAt":"2026-04-11T12:00:01.000Z"}`},
			{event.CompanyArchived, ""},
			{event.CompanyRestored, ""},
		}
		events := s.events(t, acme.ID)
		if len(events) != len(want) {
			t.Fatalf("%d events, want %d", len(events), len(want))
		}
		for i, e := range events {
			data, err := json.Marshal(e.Data)
			must(t, err)
			if diff := cmp.Diff(shown[i], object(t, data)); diff != "" {
				t.Errorf("%s: %s", e.Type, diff)
			}
			previous := ""
			if e.Previous != nil {
				text, err := json.Marshal(e.Previous)
				must(t, err)
				previous = string(text)
			}
			if got := (entry{e.Type, previous}); got != want[i] {
				t.Errorf("%+v, want %+v", got, want[i])
			}
			if e.Actor != event.Actor("token:"+issued.ID) || e.Subject != (event.Subject{Type: "company", ID: acme.ID}) ||
				e.At.Format("2006-01-02T15:04:05.000Z") != strings.Trim(shown[i]["updatedAt"].(string), `"`) {
				t.Errorf("%+v", e)
			}
		}
	})
}
