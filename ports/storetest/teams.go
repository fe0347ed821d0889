package storetest

import (
	"context"
	"time"

	"holdco/domain/id"
	"holdco/domain/team"
	"holdco/ports/store"
)

var teamRules = []rule{
	{"teams and slots read back as they were added, oldest first", teamsReadBack},
	{"the companies have nothing in common", teamsOfOneCompany},
	{"thousands of slots are added at once", manySlots},
	{"a filled slot and the counts of a team are kept", filledSlot},
	{"teams without slots, and no teams at all, can be added", noSlots},
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
			gotTeams, err := reader.OfCompany(ctx, which)
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
