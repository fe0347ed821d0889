package team

import (
	"time"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/text"
)

// Roster makes the first teams of a company, with unique names and slugs.
type Roster struct {
	company id.Company
	names   map[string]bool // folded
	slugs   map[string]bool
}

// NewRoster returns the roster of a company without teams.
func NewRoster(company id.Company) *Roster {
	return &Roster{company: company, names: map[string]bool{}, slugs: map[string]bool{}}
}

// Add makes a team from the name and the headcount of a draft, with a headcount of empty slots. Paths of faults start with
// path.
func (r *Roster) Add(path string, draft Draft, ids id.Source, at time.Time) (Team, []Slot, []fault.Field) {
	var problems fault.Problems
	made, slots := assemble(path+".", r.company, draft, r.names, ids, at, &problems)
	if made.Name != "" {
		r.names[text.Fold(made.Name)] = true
	}
	if problems != nil {
		return Team{}, nil, problems
	}
	made.Slug = freeSlug(made.Name, func(slug string) bool { return r.slugs[slug] })
	r.slugs[made.Slug] = true
	return made, slots, nil
}
