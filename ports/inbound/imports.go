package inbound

import (
	"context"
	"iter"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// Imports is how leads, campaigns and the taxonomy come in. Everything needs Admin.
type Imports interface {
	// Leads imports leads from lines, in batches: each is kept whole or not at all, and is seen at once. A line at fault is
	// handed to Report and does not stop the rest. An error ends the import; what was kept before it stays.
	//
	// Lines are iterated twice, from the first on each time: of several lines with one id the last counts, and the others
	// are unchanged. That takes 16 bytes of memory for each line.
	Leads(ctx context.Context, caller access.Caller, lines iter.Seq2[LeadLine, error], options ImportOptions) (ImportSummary, error)

	// Campaigns is Leads for campaigns.
	Campaigns(ctx context.Context, caller access.Caller, lines iter.Seq2[CampaignLine, error], options ImportOptions) (ImportSummary, error)

	// Taxonomy lays a draft over the taxonomy, all of it or nothing. Its faults are those of lead.TaxonomyDraft.Over.
	Taxonomy(ctx context.Context, caller access.Caller, draft lead.TaxonomyDraft, dryRun bool) (lead.Change, error)

	// RemoveLeads removes leads for good, and returns how many of them there were.
	RemoveLeads(ctx context.Context, caller access.Caller, ids iter.Seq2[id.Lead, error]) (removed int, err error)
}

// LeadLine is a line of a file of leads.
type LeadLine struct {
	Number int64 // from 1 on
	End    int64 // bytes of the file up to the end of the line
	Draft  lead.Draft
}

// CampaignLine is a line of a file of campaigns.
type CampaignLine struct {
	Number int64
	End    int64
	Draft  lead.CampaignDraft
}

// ImportOptions say how to import.
type ImportOptions struct {
	DryRun         bool                     // only check: nothing is kept
	Strict         bool                     // keep nothing unless every line is fine
	KeepTimestamps bool                     // take the timestamps from the lines
	Report         func(RejectedLine) error // is told each line at fault; its error ends the import
	Progress       func(ImportProgress)     // is told now and then how far the import is
}

// ImportProgress is how far an import is.
type ImportProgress struct {
	Checking     bool // the first of two times that lines are read
	Lines, Bytes int64
}

// RejectedLine is a line at fault.
type RejectedLine struct {
	Number int64
	ID     string // of the lead or campaign, as far as it can be told
	Fields []fault.Field
}

// ImportSummary is what came of an import.
type ImportSummary struct {
	lead.Change
	Read, Rejected int64
}
