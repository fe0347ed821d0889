package cli_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"holdco/domain/access"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/ports/inbound"
)

// fakeFiles reads names, one per line.
type fakeFiles struct{}

func (fakeFiles) Leads(from io.Reader, format string) iter.Seq2[inbound.LeadLine, error] {
	return func(yield func(inbound.LeadLine, error) bool) {
		number, end := int64(0), int64(0)
		lines := bufio.NewScanner(from)
		for lines.Scan() {
			number++
			end += int64(len(lines.Text())) + 1
			if !yield(inbound.LeadLine{Number: number, End: end, Draft: lead.Draft{Name: lines.Text(), Industry: format}}, nil) {
				return
			}
		}
	}
}

func (f fakeFiles) Campaigns(from io.Reader, format string) iter.Seq2[inbound.CampaignLine, error] {
	return func(yield func(inbound.CampaignLine, error) bool) {
		for line, err := range f.Leads(from, format) {
			draft := lead.CampaignDraft{Name: line.Draft.Name, Industry: format}
			if !yield(inbound.CampaignLine{Number: line.Number, End: line.End, Draft: draft}, err) {
				return
			}
		}
	}
}

func (fakeFiles) Taxonomy(from io.Reader) (lead.TaxonomyDraft, error) {
	text, err := io.ReadAll(from)
	if string(text) == "unreadable" {
		err = errors.New("it cannot be read")
	}
	return lead.TaxonomyDraft{Industries: []lead.IndustryDraft{{Name: string(text)}}}, err
}

// fakeImports keeps names. It rejects those that begin with an exclamation mark, and is interrupted by "interrupt".
type fakeImports struct {
	caller    access.Caller
	passes    []inbound.ImportOptions
	format    string
	kept      []string
	removed   []id.Lead
	interrupt func()
	fails     error
}

func (f *fakeImports) Leads(
	ctx context.Context, caller access.Caller, lines iter.Seq2[inbound.LeadLine, error], options inbound.ImportOptions,
) (inbound.ImportSummary, error) {
	f.caller, f.passes = caller, append(f.passes, options)
	first := inbound.ImportOptions{DryRun: true, Report: func(inbound.RejectedLine) error { return nil }, Progress: func(now inbound.ImportProgress) {
		now.Checking = true
		options.Progress(now)
	}}
	if options.Strict {
		first.Report = options.Report
	}
	checked, err := (&fakeImports{fails: f.fails, interrupt: func() {}}).read(ctx, lines, first)
	if options.Strict && (err != nil || checked.Rejected > 0) {
		return inbound.ImportSummary{Read: checked.Read, Rejected: checked.Rejected}, err
	}
	return f.read(ctx, lines, options)
}

// read makes one pass over lines.
func (f *fakeImports) read(
	ctx context.Context, lines iter.Seq2[inbound.LeadLine, error], options inbound.ImportOptions,
) (inbound.ImportSummary, error) {
	var summary inbound.ImportSummary
	for line, err := range lines {
		if err != nil || f.fails != nil {
			return summary, errors.Join(err, f.fails)
		}
		f.format = line.Draft.Industry
		summary.Read++
		options.Progress(inbound.ImportProgress{Lines: summary.Read, Bytes: line.End})
		switch {
		case strings.HasPrefix(line.Draft.Name, "!"):
			summary.Rejected++
			fields := []fault.Field{
				fault.Fieldf("name", fault.InvalidFormat, "name must not begin with %s", line.Draft.Name),
				fault.Fieldf("email", fault.Required, "email must not be blank"),
			}
			if err := options.Report(inbound.RejectedLine{Number: line.Number, ID: strings.Trim(line.Draft.Name, "!"), Fields: fields}); err != nil {
				return summary, err
			}
			continue
		case line.Draft.Name == "interrupt":
			f.interrupt()
			return summary, ctx.Err()
		case !options.DryRun:
			f.kept = append(f.kept, line.Draft.Name)
		}
		summary.Inserted++
	}
	return summary, f.fails
}

func (f *fakeImports) Campaigns(
	ctx context.Context, caller access.Caller, lines iter.Seq2[inbound.CampaignLine, error], options inbound.ImportOptions,
) (inbound.ImportSummary, error) {
	return f.Leads(ctx, caller, func(yield func(inbound.LeadLine, error) bool) {
		for line, err := range lines {
			draft := lead.Draft{Name: "campaign " + line.Draft.Name, Industry: line.Draft.Industry}
			if !yield(inbound.LeadLine{Number: line.Number, End: line.End, Draft: draft}, err) {
				return
			}
		}
	}, options)
}

func (f *fakeImports) Taxonomy(_ context.Context, caller access.Caller, draft lead.TaxonomyDraft, dryRun bool) (lead.Change, error) {
	f.caller = caller
	name := draft.Industries[0].Name
	if name == "!" {
		return lead.Change{}, fault.Validation([]fault.Field{
			fault.Fieldf("industries.0.id", fault.Required, "industries.0.id is required"),
			fault.Fieldf("industries.0.name", fault.Required, "industries.0.name must not be \x1b"),
		})
	}
	if !dryRun {
		f.kept = append(f.kept, name)
	}
	return lead.Change{Inserted: 1, Updated: 2, Unchanged: 3}, f.fails
}

func (f *fakeImports) RemoveLeads(_ context.Context, caller access.Caller, ids iter.Seq2[id.Lead, error]) (int, error) {
	f.caller = caller
	for which, err := range ids {
		if err != nil || which == "cmp_interrupt" {
			f.interrupt()
			break
		}
		f.removed = append(f.removed, which)
	}
	return len(f.removed), f.fails
}

// fakeSamples tells what it was asked for.
type fakeSamples struct {
	leads int
	seed  uint64
}

func (f fakeSamples) Taxonomy(to io.Writer) error {
	_, err := fmt.Fprintf(to, "taxonomy of %d", f.seed)
	return err
}

func (f fakeSamples) Campaigns(to io.Writer) error {
	_, err := fmt.Fprintf(to, "campaigns of %d", f.seed)
	return err
}

func (f fakeSamples) Leads(to io.Writer) error {
	_, err := fmt.Fprintf(to, "%d leads of %d", f.leads, f.seed)
	return err
}
