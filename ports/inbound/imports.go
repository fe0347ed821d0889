package inbound

import (
	"context"
	"iter"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// Imports are the use cases that import leads, campaigns and the taxonomy, and remove leads. All of them need Admin.
type Imports interface {
	// Leads imports leads in batches. A batch is one transaction, and visible at once. An invalid line is passed to
	// Report and does not stop the import. An error ends it; batches before it stay committed.
	//
	// Lines are iterated twice, from the start each time: of several lines with the same id the last one counts, and
	// the others count as unchanged. That takes 16 bytes of memory for each line.
	Leads(ctx context.Context, caller access.Caller, lines iter.Seq2[LeadLine, error], options ImportOptions) (ImportSummary, error)

	// Campaigns imports campaigns as Leads does leads.
	Campaigns(ctx context.Context, caller access.Caller, lines iter.Seq2[CampaignLine, error], options ImportOptions) (ImportSummary, error)

	// Taxonomy merges a draft into the taxonomy, all of it or nothing. Its faults are those of lead.TaxonomyDraft.Over.
	Taxonomy(ctx context.Context, caller access.Caller, draft lead.TaxonomyDraft, dryRun bool) (lead.Change, error)

	// RemoveLeads removes leads for good, and returns how many of them existed.
	RemoveLeads(ctx context.Context, caller access.Caller, ids iter.Seq2[id.Lead, error]) (removed int, err error)
}

// LeadLine is a line of a file of leads.
type LeadLine struct {
	Number int64 // 1-based
	End    int64 // bytes of the file up to the end of the line
	Draft  lead.Draft
}

// CampaignLine is a line of a file of campaigns.
type CampaignLine struct {
	Number int64
	End    int64
	Draft  lead.CampaignDraft
}

// ImportOptions control an import.
type ImportOptions struct {
	DryRun         bool                     // only validate: nothing is stored
	Strict         bool                     // store nothing unless every line is valid
	KeepTimestamps bool                     // take the timestamps from the lines
	Report         func(RejectedLine) error // is called with each invalid line; its error ends the import
	Progress       func(ImportProgress)     // is called now and then
}

// ImportProgress is how far an import has got.
type ImportProgress struct {
	Checking     bool // in the first of the two passes
	Lines, Bytes int64
}

// RejectedLine is an invalid line.
type RejectedLine struct {
	Number int64
	ID     string // of the lead or campaign; empty if unknown
	Fields []fault.Field
}

// ImportSummary is the result of an import.
type ImportSummary struct {
	lead.Change
	Read, Rejected int64
}
