package imports_test

import (
	"context"
	"testing"

	"holdco/adapters/system"
	"holdco/app/imports"
	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// taxonomyFile is a file that was sent.
type taxonomyFile struct {
	inbound.ImportFile

	draft lead.TaxonomyDraft
	read  func() error // is called when the file is read
}

func (taxonomyFile) Size() int64  { return 100 }
func (taxonomyFile) Close() error { return nil }

func (f taxonomyFile) Taxonomy() (lead.TaxonomyDraft, error) { return f.draft, f.read() }

// sends sends a taxonomy, and has it imported until ctx ends.
func (f fixture) sends(ctx context.Context, t *testing.T, file inbound.ImportFile) lead.Import {
	t.Helper()
	uploads := imports.NewUploads(f.imports, system.IDs{})
	sent, err := uploads.Start(t.Context(), caller, inbound.Upload{
		ImportDraft: lead.ImportDraft{Kind: lead.ImportTaxonomy, Format: lead.JSON},
		Receive:     func(lead.ImportDraft) (inbound.ImportFile, error) { return file, nil },
		Once:        func() idempotency.Request { return idempotency.Request{} },
	})
	must(t, err)
	_, err = uploads.Run(ctx)
	must(t, err)
	got, err := uploads.Get(t.Context(), caller, sent.ID)
	must(t, err)
	return got
}

func TestAnImportThatIsCompleteAsTheServerStopsIsDone(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	more := lead.TaxonomyDraft{Industries: []lead.IndustryDraft{{ID: "ind_2", Name: "Tools"}}}
	for status, end := range map[lead.ImportStatus]error{lead.ImportDone: nil, lead.ImportInterrupted: context.Canceled} {
		ctx, stop := context.WithCancel(t.Context())
		got := f.sends(ctx, t, taxonomyFile{draft: more, read: func() error {
			if end == nil {
				f.store.committed = stop // with the taxonomy in the store
			} else {
				stop()
			}
			return end
		}})
		f.store.committed = nil
		if got.Status != status || (got.Problem == "") != (end == nil) {
			t.Errorf("%s: %+v", status, got)
		}
	}
}
