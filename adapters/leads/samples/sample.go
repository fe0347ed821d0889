package samples

import (
	"bytes"
	_ "embed" // what is odd
	"fmt"
	"io"
	"time"

	"holdco/adapters/leads/importer"
	"holdco/adapters/leads/leadjson"
	"holdco/domain/id"
	"holdco/domain/lead"
)

// odd are leads that have everything, or nothing, or what is seldom seen, one per line.
//
//go:embed odd.ndjson
var odd []byte

const (
	sampleLeads   = 1000 // that are there
	sampleRemoved = 20   // that were there
	sampleSeed    = 1
)

// sampleEnd is when the first lead was removed: after everything else that happened.
var sampleEnd = lastDay.AddDate(0, 0, 2)

// Sample makes what test keys read: leads of a Set with odd ones, all as an import would store them. It is the same in each process of
// a version of the program.
func Sample() *lead.Sample {
	set := New(sampleLeads+sampleRemoved-bytes.Count(odd, []byte("\n")), sampleSeed)
	draft, err := importer.Files{}.Taxonomy(encoded(set.Taxonomy))
	certain(err)
	taxonomy, _, err := draft.Over(lead.Taxonomy{}, firstDay)
	certain(err)

	var campaigns []lead.Campaign
	var ids []id.Campaign
	for line, err := range (importer.Files{}).Campaigns(encoded(set.Campaigns), importer.NDJSON) {
		certain(err)
		made, err := line.Draft.Campaign(taxonomy.Catalog(nil))
		certain(err)
		made.CreatedAt, made.UpdatedAt, err = line.Draft.Timestamps(sampleEnd)
		certain(err)
		campaigns, ids = append(campaigns, made), append(ids, made.ID)
	}
	var leads []lead.Sampled
	catalog := taxonomy.Catalog(ids)
	for line, err := range (importer.Files{}).Leads(io.MultiReader(encoded(set.Leads), bytes.NewReader(odd)), importer.NDJSON) {
		certain(err)
		made, err := line.Draft.Lead(catalog)
		certain(err)
		made.CreatedAt, made.UpdatedAt, err = line.Draft.Timestamps(sampleEnd)
		certain(err)
		one := lead.Sampled{Lead: made, Document: leadjson.Encode(made)}
		if removed := len(leads); removed < sampleRemoved {
			one.RemovedAt = sampleEnd.Add(time.Duration(removed) * time.Minute)
		}
		leads = append(leads, one)
	}
	return lead.NewSample(taxonomy, campaigns, leads)
}

// encoded is what a part of a set writes.
func encoded(write func(to io.Writer) error) io.Reader {
	var text bytes.Buffer
	certain(write(&text))
	return &text
}

// certain panics on errors of what this program made itself.
func certain(err error) {
	if err != nil {
		panic(fmt.Sprintf("the sample is invalid: %v", err))
	}
}
