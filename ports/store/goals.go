package store

import (
	"context"

	"holdco/domain/goal"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/domain/text"
)

// GoalReader reads goals.
type GoalReader interface {
	Getter[id.Goal, goal.Goal]

	// List returns at most size of the goals that match and come after a position: newest first, and by descending id within one
	// instant. A page by words can have fewer, even none, while another follows: it looks at MostSearched goals at most.
	List(ctx context.Context, filter GoalFilter, after page.Position, size int) (page.Page[goal.Goal], error)

	// Work returns what is done for goals of a company. The cost grows with their projects, not with the issues of these. What was
	// spent is what their accounts have.
	Work(ctx context.Context, of id.Company, goals []id.Goal) (map[id.Goal]goal.Work, error)
}

// GoalFilter says which goals a list holds: those that meet every condition that is set.
type GoalFilter struct {
	Company id.Company
	Status  []goal.Status // nil: any
	Words   text.Words    // in the title or the description; nil: any
}

// Goals reads and changes goals.
type Goals interface {
	GoalReader

	// Save does not change the company and CreatedAt, which are permanent.
	Repository[id.Goal, goal.Goal]
}

// ProjectReader reads projects.
type ProjectReader interface {
	Getter[id.Project, goal.Project]

	// List returns at most size of the projects that match and come after a position, in the order of GoalReader.List, and as that
	// does by words.
	List(ctx context.Context, filter ProjectFilter, after page.Position, size int) (page.Page[goal.Project], error)

	// Count counts the projects of a goal.
	Count(ctx context.Context, of id.Goal) (int, error)

	// Work returns what is done in projects of a company. The cost does not grow with their issues.
	Work(ctx context.Context, of id.Company, projects []id.Project) (map[id.Project]goal.Work, error)
}

// ProjectFilter says which projects a list holds: those that meet every condition that is set.
type ProjectFilter struct {
	Company id.Company
	Goal    id.Goal              // "": any
	Status  []goal.ProjectStatus // nil: any
	Words   text.Words           // in the title or the description; nil: any
}

// Projects reads and changes projects.
type Projects interface {
	ProjectReader

	// Save does not change the company and CreatedAt, which are permanent.
	Repository[id.Project, goal.Project]
}
