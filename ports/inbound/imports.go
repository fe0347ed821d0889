package inbound

import (
	"context"
	"iter"

	"holdco/domain/access"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/domain/page"
)

// Imports are the use cases that import leads, campaigns and the taxonomy, and remove leads. All of them need Admin.
type Imports interface {
	// Leads imports leads in batches. A batch is one transaction, and visible at once. An invalid line is passed to
	// Report and does not stop the import. An error ends it; batches before it stay committed.
	//
	// Lines are iterated twice, from the start each time: of several lines with the same id the last valid one counts. Another
	// one is merged, and reported, or unchanged when it says the same. That takes 24 bytes of memory for each line.
	Leads(ctx context.Context, caller access.Caller, lines iter.Seq2[LeadLine, error], options ImportOptions) (lead.ImportCount, error)

	// Campaigns imports campaigns as Leads does leads.
	Campaigns(
		ctx context.Context, caller access.Caller, lines iter.Seq2[CampaignLine, error], options ImportOptions,
	) (lead.ImportCount, error)

	// Taxonomy merges a draft into the taxonomy, all of it or nothing. Its faults are those of lead.TaxonomyDraft.Over.
	Taxonomy(ctx context.Context, caller access.Caller, draft lead.TaxonomyDraft, dryRun bool) (lead.Change, error)

	// RemoveLeads removes leads for good, and returns how many of them existed. With forget, imports will not bring back any of them:
	// what a lead was known by is kept as digests alone.
	RemoveLeads(ctx context.Context, caller access.Caller, ids iter.Seq2[id.Lead, error], forget bool) (removed int, err error)

	// Suppress keeps imports from bringing back leads that lines describe, which need no name. If a line is invalid, nothing is
	// suppressed. Lines are iterated twice, from the start each time; they are stored in batches, and those before an error stay
	// committed. A line that adds nothing to what is suppressed is counted as unchanged.
	Suppress(ctx context.Context, caller access.Caller, lines iter.Seq2[LeadLine, error], options ImportOptions) (lead.ImportCount, error)

	// Suppressed returns what keeps imports from bringing back leads, in the order in which it was made.
	Suppressed(ctx context.Context, caller access.Caller) ([]lead.Suppression, error)

	// Release lets imports bring back leads again: by the suppressions themselves, or by the ids of leads. It returns how many
	// suppressions are gone.
	Release(ctx context.Context, caller access.Caller, which []id.Suppression, of []id.Lead) (released int, err error)
}

// Line is a line of a file, with what was read of it.
type Line[D any] struct {
	Number int64 // 1-based
	Item   int64 // likewise, in a JSON list; 0: the file is none
	End    int64 // bytes of the file up to the end of the line
	Draft  D
}

type (
	LeadLine     = Line[lead.Draft]
	CampaignLine = Line[lead.CampaignDraft]
)

// ImportOptions control an import.
type ImportOptions struct {
	DryRun         bool                          // only validate: nothing is stored
	Strict         bool                          // store nothing unless every line is valid and none is merged
	Whole          bool                          // store nothing unless the file can be read to its end
	KeepTimestamps bool                          // take the timestamps from the lines
	Rules          lead.Rules                    // of leads
	Report         func(lead.ReportedLine) error // is called with each line that is not imported as it stands; its error ends the import
	Progress       func(lead.ImportProgress)     // is called now and then
}

// Uploads are the use cases of files that are sent to a running server to be imported. All of them need Admin.
type Uploads interface {
	// Start receives a file and begins to import it: one at a time, on all servers of a store. The import goes on when the
	// context ends, and ends when the server stops. The faults are those of lead.ImportDraft.Parse, fault.ImportRunning, and
	// those of Upload.Receive; each of them leaves nothing.
	Start(ctx context.Context, caller access.Caller, upload Upload) (lead.Import, error)

	// Get returns an import. Its fault is fault.NotFound.
	Get(ctx context.Context, caller access.Caller, which id.Import) (lead.Import, error)

	// List returns a page of the imports that a filter selects: those that run, and the newest of the others.
	List(
		ctx context.Context, caller access.Caller, filter lead.ImportFilter, after page.Position, size int,
	) (page.Page[lead.Import], error)

	// Reported returns a page of the reported lines of an import, in the order of the file: the first lead.ImportReportsKept.
	// Its fault is fault.NotFound.
	Reported(
		ctx context.Context, caller access.Caller, of id.Import, after page.Position, size int,
	) (page.Page[lead.ReportedLine], error)
}

// Upload is a file that is being sent.
type Upload struct {
	lead.ImportDraft

	// Repeats: the client sent an idempotency key, so it may send again what runs already.
	Repeats bool

	// Receive receives the file, which then belongs to Start. It fails with fault.InvalidFile when that is empty, cut off, or
	// can be seen to be none of its format, and with fault.PayloadTooLarge.
	Receive func(draft lead.ImportDraft) (ImportFile, error)

	// Once is the request with its idempotency key, as it is known once the file was received.
	Once func() idempotency.Request
}

// ImportFile is a file that was received in full. Its lines can be iterated again and again, not at the same time; what is wrong
// with the file as a whole is fault.InvalidFile.
type ImportFile interface {
	Size() int64 // as it was sent, in bytes
	Leads() iter.Seq2[LeadLine, error]
	Campaigns() iter.Seq2[CampaignLine, error]
	Taxonomy() (lead.TaxonomyDraft, error)
	Close() error
}
