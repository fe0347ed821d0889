package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/issue"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/domain/text"
	"holdco/ports/store"
)

var agentRules = anyAgent.rules([]rule{
	{"an agent is found by the hash of its token, in any state", agentByHash},
	{"hashes of tokens are read for many agents, unless they or their companies have ended", agentHashes},
	{"no two agents have the same token", agentHashUnique},
	{"a list has the agents that meet every condition", agentFilters},
	{"the agents of a company are its own that are not retired, oldest first", agentsOfCompany},
	{"the employment of an agent has its team, the manager of that, and its company", employmentOfAgent},
	{"only one agent by its id has its instructions", instructionsOfAgents},
	{"idle is who has the fewest open issues of those without a running one, then the oldest", idleAgent},
	{"runnable is who is active, has a program or a URL, need not wait, and has something to take", runnableAgents},
	{"what is counted is added to the stats of an agent", countsWork},
	{"a hire gets the oldest empty slot, and leaves it empty again", slotOfAgent},
})

var anyAgent = aggregate[id.Agent, agent.Agent]{
	of:  func(r store.Reader) store.Getter[id.Agent, agent.Agent] { return r.Agents() },
	in:  func(tx store.Tx) store.Repository[id.Agent, agent.Agent] { return tx.Agents() },
	new: func(f *fixture) agent.Agent { return f.newAgent(f.employer(), "tm_some") },
	list: func(f *fixture, size int) pages[agent.Agent] {
		return f.agentPages(store.AgentFilter{Company: f.employer()}, size)
	},
	listed: func(a *agent.Agent) { a.Instructions = "" },
	full: func(f *fixture, a *agent.Agent) {
		at := f.clock.Now()
		a.Slot, a.Model, a.AdapterConfig = "slt_some", "claude", `{"command":["sh","-c","true"],"n":1e400}`
		a.Instructions = "*Tests* first.\n\n- Then the rest."
		a.MemoryScopes, a.Requires = []agent.MemoryScope{"company", "agent"}, []string{"issue.create", "two words, \"quoted\""}
		a.Budget = agent.Budget{PerTask: budget.Of(1), Daily: budget.Of(budget.Most)}
		a.Stats = agent.Stats{
			Completed: 7, Failed: 3, LastActiveAt: at.Add(time.Second),
			AdapterFailures: 2, RetryAt: at.Add(time.Minute),
		}
		a.Guard = agent.Guard{
			Failures: 3, Issue: "iss_some", Several: true, Holds: 2, Reason: agent.QuickFailure,
			Error: `{"code":"two words, \"quoted\""}`, Runs: 5,
			Since: at, From: at.Add(time.Second), Until: at.Add(time.Minute),
		}
		a.UpdatedAt, a.Version = at.Add(time.Minute), 1<<53+1
	},
	edit: func(f *fixture, a *agent.Agent) {
		at := f.clock.Now()
		a.Company, a.Team, a.CreatedAt = "cmp_other", "tm_other", at.Add(time.Hour)
		a.Slot, a.Name, a.Role, a.Adapter, a.Model, a.AdapterConfig = "", "New", "Newer", "http", "", agent.NoConfig
		a.Status, a.MemoryScopes, a.Requires, a.Budget = agent.Retired, nil, nil, agent.Budget{}
		a.Instructions = "None."
		a.Hash = f.newKey().Hash()
		a.Stats, a.Guard = agent.Stats{LastActiveAt: at.Add(time.Hour), Spent: 5}, agent.Guard{}
		a.UpdatedAt = at.Add(time.Hour)
	},
	permanent: []string{"Company", "Team", "CreatedAt", "LastActiveAt", "Spent"},
	summed:    []string{"Spent"},
	touch:     touchingAgents,
	used:      func(of *agent.Agent) *time.Time { return &of.Stats.LastActiveAt },
	texts: func(a *agent.Agent, text string) {
		a.Name, a.Role, a.Adapter, a.Model = text, text, text, text
		a.Requires = []string{text, "other"}
		a.Instructions = text
	},
}

// newAgent makes an agent that is in no store yet.
func (f *fixture) newAgent(of id.Company, team id.Team) agent.Agent {
	f.Helper()
	var random [32]byte
	uuid := f.ids.UUIDv7()
	copy(random[:], uuid[:])
	made, err := agent.New(id.New[id.Agent](f.ids.UUIDv7()), of, "process", agent.Draft{
		Team: new(string(team)), Settings: agent.Settings{Name: new("Ada"), Role: new("Engineer")},
	}, access.NewAgentToken(random), func(id.Team) (bool, error) { return true, nil }, agent.Rules{Adapters: []string{"process"}},
		f.clock.Now())
	f.ok(err)
	made.Team = team
	return made
}

func hiring(a agent.Agent) unit {
	return func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Agents().Add(ctx, a)
	}
}

func someAgent(f *fixture, of id.Company) unit { return hiring(f.newAgent(of, "tm_some")) }

func (f *fixture) agentPages(filter store.AgentFilter, size int) pages[agent.Agent] {
	return func(after page.Position) (page.Page[agent.Agent], error) {
		return f.store.Agents().List(f.ctx, filter, after, size)
	}
}

func touchingAgents(active map[id.Agent]time.Time) unit {
	return func(ctx context.Context, tx store.Tx) error { return tx.Agents().Touch(ctx, active) }
}

func agentByHash(f *fixture) {
	first := anyAgent.add(f)
	anyAgent.add(f)
	found := func(hash string, want agent.Agent) {
		f.Helper()
		got, err := f.store.Agents().ByHash(f.ctx, hash)
		f.ok(err)
		f.same(got, want)
	}
	found(first.Hash, first)
	retired := anyAgent.edited(f, first, func(a *agent.Agent) { a.Status, a.Slot = agent.Retired, "" })
	found(first.Hash, retired)
	rotated := anyAgent.edited(f, retired, func(a *agent.Agent) { a.Hash = f.newKey().Hash() })
	found(rotated.Hash, rotated)
	for _, hash := range []string{first.Hash, ""} {
		_, err := f.store.Agents().ByHash(f.ctx, hash)
		f.code(err, fault.NotFound)
	}
}

func agentHashes(f *fixture) {
	acme := f.found("acme")
	want, which := map[id.Agent]string{}, []id.Agent{"agt_none"}
	f.severally(func(n int) {
		one := anyAgent.new(f)
		one.Company = acme.ID
		switch n % 3 {
		case 0:
			one.Status, one.Slot = agent.Retired, ""
		case 1:
			one.Status = agent.Paused
		}
		f.update(hiring(one))
		if which = append(which, one.ID); n%3 != 0 {
			want[one.ID] = one.Hash
		}
	})
	is := func(want map[id.Agent]string, which ...id.Agent) {
		f.Helper()
		got, err := f.store.Agents().Hashes(f.ctx, which)
		f.ok(err)
		f.same(got, want)
	}
	is(want, which...)
	is(map[id.Agent]string{})
	ended := anyAgent.new(f)
	ended.Company = f.found("archived", withStatus(company.Archived)).ID
	f.update(hiring(ended))
	is(map[id.Agent]string{}, ended.ID)
}

func agentHashUnique(f *fixture) {
	kept, twin := anyAgent.add(f), anyAgent.new(f)
	twin.Hash = kept.Hash
	f.refused(fault.Internal, hiring(twin))
	anyAgent.is(f, kept)
}

func agentFilters(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	var all []agent.Agent
	f.severally(func(i int) {
		a := f.newAgent([]id.Company{acme.ID, acme.ID, acme.ID, other.ID}[i%4], []id.Team{"tm_a", "tm_b"}[i%2])
		a.Status = []agent.Status{agent.Active, agent.Paused, agent.Retired}[i%3]
		a.Adapter = []string{"process", "http", "http"}[i%3]
		a.Name, a.Role = []string{"Ada", "Grace", "ADA II"}[i%3], []string{"Engineer of Straße", "writer"}[i/3%2]
		f.update(hiring(a))
		all = append([]agent.Agent{a}, all...)
	})
	for _, filter := range []store.AgentFilter{
		{Company: acme.ID}, {Company: other.ID}, {Company: acme.ID, Team: "tm_a"}, {Company: acme.ID, Team: "tm_none"},
		{Company: acme.ID, Status: []agent.Status{agent.Active}}, {Company: acme.ID, Status: []agent.Status{agent.Paused, agent.Retired}},
		{Company: acme.ID, Adapter: "http"}, {Company: acme.ID, Team: "tm_b", Adapter: "http", Status: []agent.Status{agent.Paused}},
		{Company: "cmp_none"}, {},
		{Company: acme.ID, Words: text.Words{"ada"}}, {Company: acme.ID, Words: text.Words{"strasse", "a"}},
		{Company: acme.ID, Words: text.Words{"none"}}, {Company: acme.ID, Words: text.Words{"ad", "ii"}, Team: "tm_a"},
		{Company: acme.ID, Words: text.Words{"writ"}, Status: []agent.Status{agent.Paused, agent.Retired}, Adapter: "http"},
	} {
		var want []agent.Agent
		for _, a := range all {
			if a.Company == filter.Company && (filter.Team == "" || a.Team == filter.Team) &&
				(filter.Adapter == "" || a.Adapter == filter.Adapter) && filter.Words.In(a.Name, a.Role) &&
				(filter.Status == nil || slices.Contains(filter.Status, a.Status)) {
				want = append(want, a)
			}
		}
		anyAgent.sortNewestFirst(want)
		for _, size := range []int{1, 3, page.DefaultSize} {
			f.same(walk(f, size, f.agentPages(filter, size)), want)
		}
	}
}

func runnableAgents(f *fixture) {
	now := f.clock.Now()
	acme := f.found("acme").ID
	archived := f.found("archived", withStatus(company.Archived)).ID
	paused := f.found("paused", func(c *company.Company) { c.WorkPaused = true }).ID
	idle := f.found("idle").ID
	hire := func(of id.Company, team id.Team, alter ...func(*agent.Agent)) agent.Agent {
		a := f.newAgent(of, team)
		a.AdapterConfig = `{"command":["true"]}`
		for _, change := range alter {
			change(&a)
		}
		f.update(hiring(a))
		return a
	}
	config := func(config agent.Config) func(*agent.Agent) {
		return func(a *agent.Agent) { a.AdapterConfig = config }
	}
	retry := func(at time.Time) func(*agent.Agent) { return func(a *agent.Agent) { a.Stats.RetryAt = at } }
	files := func(of id.Company, alter func(i *issue.Issue)) {
		f.files(of, 1, func(_ int, i *issue.Issue) { alter(i) })
	}
	a, b := hire(acme, "tm_a"), hire(acme, "tm_b")
	posts := hire(acme, "tm_b", func(a *agent.Agent) { a.Adapter, a.AdapterConfig = "http", `{"url":"http://a.example"}` })
	again := hire(acme, "tm_b", retry(now))
	hire(acme, "tm_b", retry(now.Add(time.Millisecond)))
	hire(acme, "tm_b", func(a *agent.Agent) { a.Status = agent.Paused })
	hire(acme, "tm_b", func(a *agent.Agent) { a.Status = agent.Retired })
	hire(acme, "tm_b", func(a *agent.Agent) { a.Adapter = "other" })
	for _, none := range []agent.Config{agent.NoConfig, `{"url":"http://a.example"}`, `{"command":[]}`} {
		hire(acme, "tm_b", config(none))
	}
	runnable := func(after id.Agent, want ...agent.Agent) {
		f.Helper()
		got, err := f.store.Agents().Runnable(f.ctx, now, after)
		f.ok(err)
		f.same(got, want)
	}
	for _, of := range []id.Company{archived, paused, idle} {
		hire(of, "tm_a")
	}
	for _, of := range []id.Company{archived, paused} {
		files(of, func(*issue.Issue) {})
	}
	files(acme, func(i *issue.Issue) { i.Status = issue.Review })
	runnable("")
	files(acme, func(i *issue.Issue) { i.Status, i.Agent, i.Binding = issue.Assigned, a.ID, issue.Named })
	runnable("", a)
	files(acme, func(i *issue.Issue) { i.Team = "tm_b" })
	runnable("", a, b, posts, again)
	runnable(b.ID, posts, again)
	runnable(again.ID)
	other := hire(acme, "tm_c")
	runnable(again.ID)
	files(acme, func(*issue.Issue) {})
	runnable(again.ID, other)
	off := anyAgent.edited(f, b, config(agent.NoConfig))
	runnable("", a, posts, again, other)
	anyAgent.edited(f, off, config(`{"command":["false"]}`))
	got, err := f.store.Agents().Runnable(f.ctx, now, a.ID)
	f.ok(err)
	f.same(len(got), 4)
}

func agentsOfCompany(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	var want []agent.Agent
	for range 3 {
		a := f.newAgent(acme.ID, "tm_a")
		f.update(hiring(a))
		f.update(hiring(f.newAgent(other.ID, "tm_a")))
		retired := f.newAgent(acme.ID, "tm_a")
		retired.Status = agent.Retired
		f.update(hiring(retired))
		want = append(want, a)
		f.clock.Advance(time.Millisecond)
	}
	got, err := f.store.Agents().OfCompany(f.ctx, acme.ID, 1000)
	f.ok(err)
	f.same(got, want)
}

func employmentOfAgent(f *fixture) {
	acme := f.found("acme", func(c *company.Company) { c.Description = "Anvils." })
	teams, slots := f.newTeams(acme.ID, 1, 2)
	hire := func(name string, alter ...func(*agent.Agent)) agent.Agent {
		a := f.newAgent(acme.ID, teams[0].ID)
		a.Name, a.Requires = name, []string{"deploy"}
		for _, change := range alter {
			change(&a)
		}
		f.update(hiring(a))
		return a
	}
	ada := hire("Ada", func(a *agent.Agent) { a.Instructions = "*Tests* first." })
	chief, gone := hire("Grace"), hire("Eve", func(a *agent.Agent) { a.Status, a.Slot = agent.Retired, "" })
	lost := hire("Bob", func(a *agent.Agent) { a.Team = "tm_deleted" })
	is := func(of agent.Agent, in *team.Team, under *agent.Agent) {
		f.Helper()
		want := store.Employment{
			Agent:   agent.Agent{ID: of.ID, Name: of.Name, Role: of.Role, Requires: of.Requires, Instructions: of.Instructions},
			Company: company.Company{ID: acme.ID, Name: acme.Name, Description: acme.Description},
		}
		if in != nil {
			want.Team = team.Team{ID: in.ID, Name: in.Name}
		}
		if under != nil {
			want.Manager = agent.Agent{ID: under.ID, Name: under.Name, Role: under.Role}
		}
		got, err := f.store.Agents().Employment(f.ctx, of.ID)
		f.ok(err)
		f.same(got, want)
	}
	f.update(staffing(teams, slots))
	is(ada, &teams[0], nil)
	is(lost, nil, nil)
	led := anyTeam.edited(f, teams[0], func(t *team.Team) { t.Manager = chief.ID })
	is(ada, &led, &chief)
	is(chief, &led, &chief)
	led = anyTeam.edited(f, led, func(t *team.Team) { t.Manager = gone.ID })
	is(ada, &led, nil)
	_, err := f.store.Agents().Employment(f.ctx, "agt_none")
	f.code(err, fault.NotFound)
}

func instructionsOfAgents(f *fixture) {
	acme := f.found("acme").ID
	a := f.newAgent(acme, "tm_a")
	a.AdapterConfig, a.Instructions = `{"command":["true"]}`, "*Tests* first."
	f.update(hiring(a))
	f.files(acme, 1, func(int, *issue.Issue) {})
	anyAgent.is(f, a)
	want := a
	want.Instructions = ""
	reader := f.store.Agents()
	for name, read := range map[string]func() ([]agent.Agent, error){
		"List": func() ([]agent.Agent, error) {
			found, err := reader.List(f.ctx, store.AgentFilter{Company: acme}, page.Position{}, page.DefaultSize)
			return found.Items, err
		},
		"a search": func() ([]agent.Agent, error) {
			found, err := reader.List(f.ctx, store.AgentFilter{Company: acme, Words: text.Words{"ada"}}, page.Position{}, 1)
			return found.Items, err
		},
		"OfCompany": func() ([]agent.Agent, error) { return reader.OfCompany(f.ctx, acme, 10) },
		"Runnable":  func() ([]agent.Agent, error) { return reader.Runnable(f.ctx, f.clock.Now(), "") },
		"Idle": func() ([]agent.Agent, error) {
			found, err := reader.Idle(f.ctx, "tm_a")
			return []agent.Agent{found}, err
		},
		"ByHash": func() ([]agent.Agent, error) {
			found, err := reader.ByHash(f.ctx, a.Hash)
			return []agent.Agent{found}, err
		},
	} {
		got, err := read()
		f.ok(err)
		if len(got) != 1 || got[0].Instructions != "" {
			f.Errorf("%s: %+v", name, got)
		}
		f.same(got, []agent.Agent{want})
	}
}

func idleAgent(f *fixture) {
	acme, other := f.found("acme").ID, f.found("other").ID
	idle := func(ctx context.Context, in store.AgentReader, want ...agent.Agent) {
		f.Helper()
		got, err := in.Idle(ctx, "tm_a")
		if len(want) == 0 {
			f.code(err, fault.NotFound)
			return
		}
		f.ok(err)
		f.same(got, want[0])
	}
	hire := func(of id.Company, team id.Team, status agent.Status) agent.Agent {
		a := f.newAgent(of, team)
		a.Status = status
		f.update(hiring(a))
		return a
	}
	hire(acme, "tm_a", agent.Paused)
	hire(acme, "tm_a", agent.Retired)
	hire(acme, "tm_b", agent.Active)
	idle(f.ctx, f.store.Agents())
	f.clock.Advance(time.Millisecond)
	first := hire(acme, "tm_a", agent.Active)
	twin := hire(acme, "tm_a", agent.Active)
	f.clock.Advance(-time.Hour)
	oldest := hire(acme, "tm_a", agent.Active)
	idle(f.ctx, f.store.Agents(), oldest)

	// give gives one more issue to an agent, and looks within the unit and after it.
	give := func(to agent.Agent, status issue.Status, want ...agent.Agent) issue.Issue {
		f.Helper()
		i := f.newIssue(acme)
		i.Agent, i.AgentTeam, i.Status = to.ID, to.Team, status
		f.update(func(ctx context.Context, tx store.Tx) error {
			err := filing(i)(ctx, tx)
			idle(ctx, tx.Agents(), want...)
			return err
		})
		idle(f.ctx, f.store.Agents(), want...)
		return i
	}
	for _, final := range []issue.Status{issue.Done, issue.Failed, issue.Cancelled} {
		give(oldest, final, oldest)
	}
	give(oldest, issue.Assigned, first)
	give(first, issue.Queued, twin)
	give(twin, issue.Review, oldest)
	give(oldest, issue.Handoff, first)
	give(oldest, issue.Queued, first)
	runs := give(first, issue.Running, twin)
	give(twin, issue.Running, oldest)
	give(oldest, issue.Running)
	done := anyIssue.edited(f, runs, func(i *issue.Issue) { i.Status = issue.Done })
	idle(f.ctx, f.store.Agents(), first)
	anyIssue.edited(f, done, func(i *issue.Issue) { i.Status, i.Agent = issue.Running, oldest.ID })
	idle(f.ctx, f.store.Agents(), first)
	hire(other, "tm_c", agent.Active)
	idle(f.ctx, f.store.Agents(), first)
}

func slotOfAgent(f *fixture) {
	acme := f.found("acme")
	teams, slots := f.newTeams(acme.ID, 3, 1)
	for i := range slots {
		slots[i].CreatedAt = slots[i].CreatedAt.Add(time.Duration(i) * time.Millisecond)
	}
	f.update(staffing(teams, slots))
	fill := func(by id.Agent, want id.Slot) {
		f.Helper()
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			got, err := tx.Teams().FillSlot(ctx, teams[0].ID, by)
			f.same(got, want)
			return err
		})
	}
	fill("agt_1", slots[0].ID)
	fill("agt_2", slots[1].ID)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Teams().FreeSlot(ctx, slots[0].ID)
	})
	fill("agt_3", slots[0].ID)
	fill("agt_4", slots[2].ID)
	slots[0].Agent, slots[1].Agent, slots[2].Agent = "agt_3", "agt_2", "agt_4"
	f.hasTeams(acme.ID, teams, slots)
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		_, err := tx.Teams().FillSlot(ctx, teams[0].ID, "agt_5")
		return err
	})
}

func countsWork(f *fixture) {
	counted, other := anyAgent.add(f, func(a *agent.Agent) { anyAgent.full(f, a) }), anyAgent.add(f)
	const rounds = 3
	more := agent.Work{Completed: 1, Failed: 2}
	f.exactly(together(crowd, func(int) error {
		for range rounds {
			if err := f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
				tx.Unrecorded()
				return tx.Agents().Count(ctx, counted.ID, more)
			}); err != nil {
				return err
			}
		}
		return nil
	}), map[fault.Code]int{"": crowd})
	const times = crowd * rounds
	counted.Stats.Completed += times
	counted.Stats.Failed += 2 * times
	counted.Version += times
	anyAgent.is(f, counted)
	anyAgent.is(f, other)
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Agents().Count(ctx, "agt_none", more)
	})
}

func (f *fixture) agentWrites() map[string]writeCase {
	acme := f.found("with-agents")
	kept, newcomer := f.newAgent(acme.ID, "tm_some"), f.newAgent(acme.ID, "tm_some")
	f.update(hiring(kept))
	lock := func(ctx context.Context, tx store.Tx) (agent.Agent, error) { return tx.Agents().Lock(ctx, kept.ID) }
	return map[string]writeCase{
		"Agents.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Agents.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Agents().Add(ctx, newcomer) }},
		"Agents.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Name, locked.Version = "New", locked.Version+1
			return tx.Agents().Save(ctx, locked)
		}},
		"Agents.Count": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Agents().Count(ctx, kept.ID, agent.Work{Completed: 1})
		}},
		"Agents.Touch": {notes, touchingAgents(map[id.Agent]time.Time{kept.ID: f.clock.Now().Add(time.Second)})},
	}
}
