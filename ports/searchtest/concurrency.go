package searchtest

import (
	"sync"

	"holdco/domain/lead"
)

// oneRevision lets readers page through all leads, over and over, while these change, move and go.
func oneRevision(f *fixture) {
	const most, changes, readers = 300, 60, 4
	f.keep(numbered(most)...)
	f.catchUp()
	var all sync.WaitGroup
	answers := make([][]answer, readers)
	done := make(chan struct{})
	for i := range answers {
		all.Go(func() {
			answers[i] = f.readUntil(done, []lead.Filter{{}, enrichedAs(lead.None), enrichedAs(lead.Deep, lead.Basic), {}}[i])
		})
	}
	for change := range changes {
		batch := numbered(most)
		switch change % 5 {
		case 0:
			f.remove(batch[change].ID, batch[2*change].ID)
		case 1:
			f.keep(newLead(batch[change].Name, at(f.now()[change].UpdatedAt)))
		default:
			var changed []lead.Lead
			for i := change % 7; i < most; i += 3 + change%11 {
				batch[i].Enrichment = lead.Enrichments()[change%4]
				changed = append(changed, batch[i])
			}
			f.keep(changed...)
		}
	}
	close(done)
	all.Wait()
	for _, of := range answers {
		own := *f
		own.seen = 0
		for _, one := range of {
			if one.err != nil {
				f.Fatal(one.err)
			}
			own.same(one.query, one.page)
		}
	}
}

// answer is what a reader got.
type answer struct {
	query lead.Query
	page  lead.Page
	err   error
}

// readUntil pages through all that a filter wants, again and again.
func (f *fixture) readUntil(done <-chan struct{}, filter lead.Filter) []answer {
	var answers []answer
	query := lead.Query{Filter: filter, Size: 40}
	for {
		page, err := f.subject.Search(f.ctx, query)
		answers = append(answers, answer{query, page, err})
		if err != nil {
			return answers
		}
		select {
		case <-done:
			return answers
		default:
		}
		query.After = lead.Place{}
		if page.More {
			query.After = page.Leads[len(page.Leads)-1].Place
		}
	}
}
