package storetest

import (
	"context"
	"slices"
	"time"

	"holdco/domain/budget"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/team"
	"holdco/ports/store"
)

var teamRules = anyTeam.rules([]rule{
	{"teams and slots read back as they were added, oldest first", teamsReadBack},
	{"the companies have nothing in common", teamsOfOneCompany},
	{"thousands of slots are added at once", manySlots},
	{"a filled slot and the counts of a team are kept", filledSlot},
	{"teams without slots, and no teams at all, can be added", noSlots},
	{"a company has no two teams of one name, whatever its case", teamNames},
	{"a name in use is found, whatever its case", teamHasName},
	{"a team is found by its slug in its company", teamBySlug},
	{"slugs are found by what they begin with", slugsFrom},
	{"the youngest empty slots are dropped", dropSlots},
	{"a team is removed with its slots", removeTeam},
})

var anyTeam = aggregate[id.Team, team.Team]{
	of: func(r store.Reader) store.Getter[id.Team, team.Team] { return r.Teams() },
	in: func(tx store.Tx) store.Repository[id.Team, team.Team] { return tx.Teams() },
	new: func(f *fixture) team.Team {
		teams, _ := f.newTeams(f.employer(), 0)
		return teams[0]
	},
	list: func(f *fixture, size int) pages[team.Team] {
		return func(after page.Position) (page.Page[team.Team], error) {
			return f.store.Teams().List(f.ctx, f.employer(), after, size)
		}
	},
	remove: func(f *fixture, which id.Team) {
		f.update(func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Teams().Remove(ctx, which)
		})
	},
	full: func(f *fixture, t *team.Team) {
		t.Description, t.Manager, t.Budget = "First line\nsecond line", "agt_manager", budget.Of(budget.Most)
		t.Headcount, t.AgentCount, t.Version = 1000, 999, 1<<53+1
		t.UpdatedAt = f.clock.Now().Add(time.Minute)
	},
	edit: func(f *fixture, t *team.Team) {
		t.Company, t.Slug, t.CreatedAt = "cmp_other", "other", f.clock.Now().Add(time.Hour)
		t.Name, t.Description, t.Manager, t.Budget = "New "+t.Name, "", "", budget.Limit{}
		t.Headcount, t.AgentCount = 8, 7
		t.UpdatedAt = f.clock.Now().Add(time.Hour)
	},
	permanent: []string{"Company", "Slug", "CreatedAt"},
	texts: func(t *team.Team, text string) {
		t.Description, t.Manager = text, id.Agent(text)
		if len(text) <= team.NameLength { // an index has it
			t.Name = string(t.ID) + text
		}
	},
}

func someTeam(f *fixture, of id.Company) unit { return staffing(f.newTeams(of, 2)) }

// employer returns the company whose teams and agents a rule makes. It is found when it is first asked for.
func (f *fixture) employer() id.Company {
	f.Helper()
	found, err := f.store.Companies().BySlug(f.ctx, "employer")
	if fault.CodeOf(err) == fault.NotFound {
		return f.found("employer").ID
	}
	f.ok(err)
	return found.ID
}

func teamNames(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	add := func(to id.Company, name, slug string) (team.Team, error) {
		teams, _ := f.newTeams(to, 0)
		teams[0].Name, teams[0].Slug = name, slug
		return teams[0], f.store.Update(f.ctx, func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Teams().Add(ctx, teams[0])
		})
	}
	_, err := add(acme.ID, "Straße", "a")
	f.ok(err)
	_, err = add(other.ID, "STRASSE", "a")
	f.ok(err)
	_, err = add(acme.ID, "STRASSE", "b")
	f.code(err, fault.Internal) // the domain has asked HasName
	_, err = add(acme.ID, "Another", "a")
	f.code(err, fault.Internal) // the slug: the domain has chosen one that is free
	second, err := add(acme.ID, "Second", "c")
	f.ok(err)
	second.Name, second.Version = "strasse", second.Version+1
	f.refused(fault.Internal, anyTeam.saving(second))
}

func teamHasName(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	teams, _ := f.newTeams(acme.ID, 0)
	teams[0].Name = "Straße"
	f.update(staffing(teams, nil))
	f.update(func(ctx context.Context, tx store.Tx) error {
		for _, c := range []struct {
			of   id.Company
			name string
			want bool
		}{
			{acme.ID, "Straße", true}, {acme.ID, "STRASSE", true}, {other.ID, "Straße", false},
			{acme.ID, "Str", false}, {acme.ID, "", false},
		} {
			got, err := tx.Teams().HasName(ctx, c.of, c.name)
			f.ok(err)
			f.same(got, c.want)
		}
		return nil
	})
}

func teamBySlug(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	teams, _ := f.staff(acme.ID, 1, 0)
	f.staff(other.ID, 1)
	for _, want := range teams {
		got, err := f.store.Teams().BySlug(f.ctx, acme.ID, want.Slug)
		f.ok(err)
		f.same(got, want)
		_, err = f.store.Teams().BySlug(f.ctx, other.ID, want.Slug)
		f.code(err, fault.NotFound)
	}
	_, err := f.store.Teams().BySlug(f.ctx, acme.ID, "")
	f.code(err, fault.NotFound)
}

func slugsFrom(f *fixture) {
	acme, other := f.found("acme"), f.found("other")
	slugs := []string{"a", "sales", "sales-2", "sales-10", "sales0", "salesmen", "sale", "z"}
	for _, of := range []id.Company{acme.ID, other.ID} {
		teams, _ := f.newTeams(of, make([]int64, len(slugs))...)
		for i := range teams {
			teams[i].Slug = slugs[i]
		}
		f.update(staffing(teams, nil))
	}
	f.update(func(ctx context.Context, tx store.Tx) error {
		for stem, want := range map[string][]string{
			"sales": {"sales", "sales-10", "sales-2", "sales0", "salesmen"}, "z": {"z"}, "b": nil, "sales-2": {"sales-2"},
		} {
			got, err := tx.Teams().SlugsFrom(ctx, acme.ID, stem)
			f.ok(err)
			slices.Sort(got)
			f.same(got, want)
		}
		return nil
	})
}

func dropSlots(f *fixture) {
	acme := f.found("acme")
	teams, slots := f.newTeams(acme.ID, 5, 2)
	for i := range slots {
		slots[i].CreatedAt = slots[i].CreatedAt.Add(time.Duration(i) * time.Millisecond)
	}
	slots[4].Agent, slots[1].Agent = "agt_last", "agt_second"
	f.update(staffing(teams, slots))
	drop := func(count int) unit {
		return func(ctx context.Context, tx store.Tx) error {
			tx.Unrecorded()
			return tx.Teams().DropSlots(ctx, teams[0].ID, count)
		}
	}
	f.update(drop(0))
	f.update(drop(2)) // the third and the fourth, for the fifth is filled
	left := []team.Slot{slots[0], slots[1], slots[4], slots[5], slots[6]}
	f.hasTeams(acme.ID, teams, left)
	f.refused(fault.Internal, drop(2))
	f.hasTeams(acme.ID, teams, left)
	f.update(func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Teams().AddSlots(ctx, slots[2:4])
	})
	f.hasTeams(acme.ID, teams, slots)
	for _, size := range []int{1, 2, 5, page.MaxSize} {
		got := walk(f, size, func(after page.Position) (page.Page[team.Slot], error) {
			return f.store.Teams().Slots(f.ctx, teams[0].ID, after, size)
		})
		slices.Reverse(got)
		f.same(got, slots[:5])
	}
}

func removeTeam(f *fixture) {
	acme := f.found("acme")
	teams, slots := f.staff(acme.ID, 2, 1)
	anyTeam.remove(f, teams[0].ID)
	f.hasTeams(acme.ID, teams[1:], slots[2:])
	f.refused(fault.Internal, func(ctx context.Context, tx store.Tx) error {
		tx.Unrecorded()
		return tx.Teams().Remove(ctx, teams[0].ID)
	})
}

func (f *fixture) teamWrites() map[string]writeCase {
	acme := f.found("with-teams")
	teams, slots := f.staff(acme.ID, 2, 1)
	newTeams, newSlots := f.newTeams(acme.ID, 1, 0)
	more := slots[0]
	more.ID = id.New[id.Slot](f.ids.UUIDv7())
	lock := func(ctx context.Context, tx store.Tx) (team.Team, error) { return tx.Teams().Lock(ctx, teams[0].ID) }
	return map[string]writeCase{
		"Teams.Lock": {locks, func(ctx context.Context, tx store.Tx) error { _, err := lock(ctx, tx); return err }},
		"Teams.Add":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Teams().Add(ctx, newTeams[1]) }},
		"Teams.AddAll": {changes, func(ctx context.Context, tx store.Tx) error {
			return tx.Teams().AddAll(ctx, newTeams[:1], newSlots)
		}},
		"Teams.Save": {changes, func(ctx context.Context, tx store.Tx) error {
			locked, err := lock(ctx, tx)
			if err != nil {
				return err
			}
			locked.Name, locked.Version = "New", locked.Version+1
			return tx.Teams().Save(ctx, locked)
		}},
		"Teams.HasName": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Teams().HasName(ctx, acme.ID, "Team")
			return err
		}},
		"Teams.SlugsFrom": {locks, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Teams().SlugsFrom(ctx, acme.ID, "team")
			return err
		}},
		"Teams.AddSlots":  {changes, func(ctx context.Context, tx store.Tx) error { return tx.Teams().AddSlots(ctx, []team.Slot{more}) }},
		"Teams.DropSlots": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Teams().DropSlots(ctx, teams[0].ID, 1) }},
		"Teams.FillSlot": {changes, func(ctx context.Context, tx store.Tx) error {
			_, err := tx.Teams().FillSlot(ctx, teams[0].ID, "agt_some")
			return err
		}},
		"Teams.FreeSlot": {changes, func(ctx context.Context, tx store.Tx) error { return tx.Teams().FreeSlot(ctx, slots[0].ID) }},
		"Teams.Remove":   {changes, func(ctx context.Context, tx store.Tx) error { return tx.Teams().Remove(ctx, teams[1].ID) }},
	}
}

func teamsReadBack(f *fixture) {
	acme := f.found("acme")
	var teams []team.Team
	var slots []team.Slot
	for range 3 {
		moreTeams, moreSlots := f.staff(acme.ID, 2, 0, 1)
		teams, slots = append(teams, moreTeams...), append(slots, moreSlots...)
		f.clock.Advance(time.Millisecond)
	}
	f.hasTeams(acme.ID, teams, slots)

	// What was made earlier comes first even when it was added later.
	late := f.found("late")
	earlier, earlierSlots := f.newTeams(late.ID, 1)
	f.clock.Advance(time.Millisecond)
	later, laterSlots := f.staff(late.ID, 1)
	f.update(staffing(earlier, earlierSlots))
	f.hasTeams(late.ID, append(earlier, later...), append(earlierSlots, laterSlots...))
}

// hasTeams compares every way to read the teams of a company with what they should be.
func (f *fixture) hasTeams(which id.Company, teams []team.Team, slots []team.Slot) {
	f.Helper()
	f.ok(f.store.View(f.ctx, func(ctx context.Context, r store.Reader) error {
		for _, reader := range []store.TeamReader{r.Teams(), f.store.Teams()} {
			gotTeams, err := reader.OfCompany(ctx, which, 1000)
			if err != nil {
				return err
			}
			gotSlots, err := reader.SlotsOfCompany(ctx, which)
			if err != nil {
				return err
			}
			f.same(gotTeams, teams)
			f.same(gotSlots, slots)
		}
		return nil
	}))
}

func teamsOfOneCompany(f *fixture) {
	one, two, none := f.found("one"), f.found("two"), f.found("none")
	teams, slots := f.staff(one.ID, 3)
	f.hasTeams(one.ID, teams, slots)
	teams, slots = f.staff(two.ID, 1, 1)
	f.hasTeams(two.ID, teams, slots)
	f.hasTeams(none.ID, nil, nil)
	f.hasTeams("", nil, nil)
	f.hasTeams("cmp_none", nil, nil)
}

func manySlots(f *fixture) {
	acme := f.found("acme")
	headcounts := make([]int64, 50)
	for i := range headcounts {
		headcounts[i] = int64(i * 3)
	}
	teams, slots := f.staff(acme.ID, headcounts...)
	f.hasTeams(acme.ID, teams, slots)
}

func filledSlot(f *fixture) {
	acme := f.found("acme")
	teams, slots := f.newTeams(acme.ID, 2)
	slots[1].Agent = "agt_somebody"
	teams[0].AgentCount = 1
	teams[0].UpdatedAt = f.clock.Now().Add(time.Minute)
	f.update(staffing(teams, slots))
	f.hasTeams(acme.ID, teams, slots)
}

func noSlots(f *fixture) {
	acme := f.found("acme")
	teams, _ := f.newTeams(acme.ID, 0, 0)
	f.update(staffing(teams, nil))
	f.update(staffing(nil, nil))
	f.hasTeams(acme.ID, teams, nil)
}
