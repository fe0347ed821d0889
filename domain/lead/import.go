package lead

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/text"
)

// ImportKind is what a file holds.
type ImportKind string

// The kinds of imports.
const (
	ImportLeads     ImportKind = "leads"
	ImportCampaigns ImportKind = "campaigns"
	ImportTaxonomy  ImportKind = "taxonomy"
)

// ImportStatus is the state of an import.
type ImportStatus string

// The states of an import. All but the first are final.
const (
	ImportRunning     ImportStatus = "running"
	ImportDone        ImportStatus = "done"        // the file was read to its end
	ImportFailed      ImportStatus = "failed"      // Problem says why; batches before it are kept
	ImportInterrupted ImportStatus = "interrupted" // the server stopped or died; batches before that are kept
)

// The formats of files.
const (
	NDJSON = "ndjson" // one JSON object per line
	CSV    = "csv"    // with a header
	JSON   = "json"   // one list of objects; of a taxonomy one object
)

// Bounds of imports.
const (
	ImportsKept       = 100    // imports that have ended, the newest; older ones are removed
	ImportReportsKept = 10_000 // reported lines of an import, the first; the others are only counted
	ImportFieldsKept  = 20     // invalid fields of a reported line, the first
	ImportNameLength  = 200    // characters
)

// ImportStep is how often it is written down how far an import has got.
const ImportStep = time.Second

// ImportLease is how long an import counts as running after it last said so.
const ImportLease = 15 * time.Second

// ImportDraft is what is asked of an import.
type ImportDraft struct {
	Kind           ImportKind
	Name           string // what the client calls the file; may be empty
	Format         string
	DryRun         bool // only check: nothing is stored
	Strict         bool // store nothing unless every line is valid
	KeepTimestamps bool // take created_at and updated_at from the file
	Replace        bool // clear what lines leave out
	Lenient        bool // see Rules
	Key            string
	Region         string
	Encoding       string // of a text that is not in UTF-8; empty: it is
}

// Rules are how the drafts of a file of leads are read. The draft has been parsed.
func (d ImportDraft) Rules() Rules {
	return Rules{Key: Key(d.Key), Region: Region(d.Region), Replace: d.Replace, Lenient: d.Lenient}
}

// The encodings that can be converted, beside that of files that say theirs by a byte order mark.
const (
	Windows1252 = "windows-1252"
	UTF16       = "utf-16"
)

// Encodings are the names of encodings; UTF-8 need not be named.
func Encodings() []string { return []string{"utf-8", UTF16, Windows1252} }

// Parse checks a draft, and normalizes the name. Its faults are fault.InvalidParameter and fault.UnsupportedMediaType.
func (d ImportDraft) Parse() (ImportDraft, error) {
	parameter := func(name, message string) error {
		return fault.New(fault.InvalidParameter, "%s", message).With("parameter", name)
	}
	switch {
	case !slices.Contains([]ImportKind{ImportLeads, ImportCampaigns, ImportTaxonomy}, d.Kind):
		return d, parameter("kind", "kind must be leads, campaigns or taxonomy.")
	case d.Kind == ImportTaxonomy && d.Format != JSON:
		return d, fault.New(fault.UnsupportedMediaType, "A taxonomy is one JSON object; send it as application/json.")
	case d.Kind == ImportTaxonomy && d.KeepTimestamps:
		return d, parameter("keepTimestamps", "keepTimestamps is for leads and campaigns; a taxonomy has no timestamps.")
	}
	key, ok := ParseKey(d.Key)
	if !ok {
		return d, parameter("key", "key must be names of columns, separated by commas: of "+KeyFields()+".")
	}
	region, ok := ParseRegion(d.Region)
	if !ok {
		return d, parameter("region", "region must be a country by its two letters, such as DE.")
	}
	if d.Encoding != "" && !slices.Contains(Encodings(), d.Encoding) {
		return d, parameter("encoding", "encoding must be one of "+strings.Join(Encodings(), ", ")+".")
	}
	ofLeads := map[string]bool{"key": key != "", "region": region != "", "replace": d.Replace, "lenient": d.Lenient}
	for _, name := range slices.Sorted(maps.Keys(ofLeads)) {
		if ofLeads[name] && d.Kind != ImportLeads {
			return d, parameter(name, name+" is for leads alone.")
		}
	}
	d.Key, d.Region = string(key), string(region)
	if d.Name != "" {
		name, problems := text.Name("name", d.Name, ImportNameLength)
		if len(problems) > 0 {
			return d, parameter("name", problems[0].Message+".")
		}
		d.Name = name
	}
	return d, nil
}

// ImportFilter selects imports. What is empty selects all.
type ImportFilter struct {
	Kind   ImportKind
	Status ImportStatus
}

// ImportCount is what has become of the lines of a file, or of the parts of a taxonomy. Lines that change nothing, and those that say the
// same as a later one with their id, are unchanged.
type ImportCount struct {
	Change
	Read       int64
	Rejected   int64
	Merged     int64 // differ from a later line with the same id, which counts instead
	Suppressed int64 // are of leads that were forgotten
	Dropped    int64 // values that were left out of lines that are counted elsewhere
}

// ImportProgress is how far a running import has got.
type ImportProgress struct {
	Checking bool // in the first of the two passes: nothing is stored yet
	Lines    int64
	Bytes    int64 // of the file, as it was sent
	ImportCount
}

// Import is a file that was sent to be imported, and what has become of it.
type Import struct {
	ID id.Import
	ImportDraft
	Size      int64 // of the file as it was sent, in bytes
	Status    ImportStatus
	Progress  ImportProgress
	Code      fault.Code // why it failed; empty unless it did
	Problem   string     // the same for people; also of one that was interrupted
	Version   int64
	CreatedAt time.Time
	LiveUntil time.Time // by the store's clock: until then it counts as running
	EndedAt   time.Time // zero while it runs
}

// NewImport begins an import of a file that has arrived in full. It fails with fault.ImportRunning while another one runs. The draft
// has been parsed; now is the time by the store's clock.
func NewImport(newID id.Import, draft ImportDraft, size int64, running []Import, at, now time.Time) (Import, event.Event, error) {
	if err := ImportsBusy(running, now); err != nil {
		return Import{}, event.Event{}, err
	}
	made := Import{
		ID: newID, ImportDraft: draft, Size: size, Status: ImportRunning, Progress: ImportProgress{Checking: draft.Kind != ImportTaxonomy},
		Version: 1, CreatedAt: at, LiveUntil: now.Add(ImportLease),
	}
	return made, made.event(event.ImportStarted), nil
}

// ImportsBusy fails with fault.ImportRunning if one of these imports still runs, by the store's clock: one runs at a time. RetryAfter is
// when that has lapsed unless its process says until then that it lives: nobody can know sooner that a process is gone.
func ImportsBusy(running []Import, now time.Time) error {
	for _, one := range running {
		if !one.Lapsed(now) {
			return fault.New(fault.ImportRunning, "Another import runs; send the file when that has ended.").
				With("importId", string(one.ID)).After(one.LiveUntil.Sub(now))
		}
	}
	return nil
}

// CurrentVersion is raised by every change.
func (i Import) CurrentVersion() int64 { return i.Version }

// Lapsed reports whether nobody works on a running import any more, by the store's clock.
func (i Import) Lapsed(now time.Time) bool {
	return i.Status == ImportRunning && !now.Before(i.LiveUntil)
}

// Advance notes how far an import has got, and that its process lives. It fails with fault.InvalidTransition when the import
// has ended, because its process was given up.
func (i Import) Advance(to ImportProgress, now time.Time) (Import, error) {
	if i.Status != ImportRunning {
		return i, fault.Transition(string(i.Status), "advance", "The import is %s.", i.Status)
	}
	i.Progress, i.LiveUntil = to, now.Add(ImportLease)
	i.Version++
	return i, nil
}

// ImportOutcome is how an import ended.
type ImportOutcome struct {
	Status   ImportStatus
	Progress ImportProgress
	Code     fault.Code
	Problem  string
}

// ImportEnded is how an import ended that counted lines and returned an error or nil. What is no refusal is not told.
func ImportEnded(d ImportDraft, progress ImportProgress, err error) ImportOutcome {
	done := ImportOutcome{Status: ImportDone, Progress: progress}
	refused := fault.Of(err)
	switch {
	case err == nil && d.Strict && !d.DryRun && progress.Rejected > 0:
		done.Status, done.Code = ImportFailed, fault.ValidationFailed
		done.Problem = "Some lines are not valid, so nothing was imported: strict asks for that."
	case err == nil && d.Strict && !d.DryRun && progress.Merged > 0:
		done.Status, done.Code = ImportFailed, fault.ValidationFailed
		done.Problem = "Some lines have the id of a later line and differ from it, so nothing was imported: strict asks for that."
	case err == nil:
	case refused == nil || refused.Code == fault.Internal:
		done.Status, done.Code = ImportFailed, fault.Internal
		done.Problem = "Internal error; the server's log has the details. " + sendAgain + "."
	case d.Kind == ImportTaxonomy && refused.Code == fault.ValidationFailed:
		done.Status, done.Code = ImportFailed, refused.Code
		done.Problem = "The taxonomy is not valid, so nothing was imported."
	case refused.Code == fault.Unavailable:
		done.Status, done.Code = ImportFailed, refused.Code
		done.Problem = refused.Message + " The file can be sent again: what was imported stays as it is, and the rest follows."
	default:
		done.Status, done.Code, done.Problem = ImportFailed, refused.Code, refused.Message
	}
	return done
}

// sendAgain says what to do about an import that has begun and did not end.
const sendAgain = "Send the file again (through the API with another Idempotency-Key): what was imported stays as it is"

// ImportCut is how an import ended whose server stopped or died.
func ImportCut(progress ImportProgress, why string) ImportOutcome {
	return ImportOutcome{
		Status: ImportInterrupted, Progress: progress,
		Problem: why + " " + sendAgain + ", and the rest follows.",
	}
}

// End ends an import. It fails with fault.InvalidTransition when it has ended before.
func (i Import) End(how ImportOutcome, at time.Time) (Import, event.Event, error) {
	if i.Status != ImportRunning {
		return i, event.Event{}, fault.Transition(string(i.Status), "end", "The import is %s.", i.Status)
	}
	i.Status, i.Progress, i.Code, i.Problem, i.EndedAt = how.Status, how.Progress, how.Code, how.Problem, at
	i.Progress.Checking = false
	i.Version++
	return i, i.event(event.ImportEnded), nil
}

// GiveUp ends an import that has lapsed.
func (i Import) GiveUp(at time.Time) (Import, event.Event, error) {
	return i.End(ImportCut(i.Progress, "The server ended before the import did."), at)
}

// Fields returns the import as the API shows it.
func (i Import) Fields() event.Fields {
	var progress, problem any
	if i.Status == ImportRunning {
		phase := "importing"
		if i.Progress.Checking {
			phase = "checking"
		}
		progress = event.Fields{event.F("phase", phase), event.F("lines", i.Progress.Lines), event.F("bytes", i.Progress.Bytes)}
	}
	if i.Code != "" || i.Problem != "" {
		problem = event.Fields{event.Optional("code", i.Code), event.F("message", i.Problem)}
	}
	return event.Fields{
		event.F("id", string(i.ID)),
		event.F("kind", string(i.Kind)),
		event.Optional("name", i.Name),
		event.F("format", i.Format),
		event.F("bytes", i.Size),
		event.F("dryRun", i.DryRun),
		event.F("strict", i.Strict),
		event.F("keepTimestamps", i.KeepTimestamps),
		event.F("replace", i.Replace),
		event.F("lenient", i.Lenient),
		event.Optional("key", i.Key),
		event.Optional("region", i.Region),
		event.Optional("encoding", i.Encoding),
		event.F("status", string(i.Status)),
		event.F("progress", progress),
		event.F("read", i.Progress.Read),
		event.F("inserted", i.Progress.Inserted),
		event.F("updated", i.Progress.Updated),
		event.F("unchanged", i.Progress.Unchanged),
		event.F("rejected", i.Progress.Rejected),
		event.F("merged", i.Progress.Merged),
		event.F("suppressed", i.Progress.Suppressed),
		event.F("dropped", i.Progress.Dropped),
		event.F("error", problem),
		event.F("createdAt", instant.Format(i.CreatedAt)),
		event.F("endedAt", instant.Optional(i.EndedAt)),
	}
}

func (i Import) event(what event.Type) event.Event {
	return event.Of(what, "", string(i.ID), i.Fields())
}

// LineOutcome is what has become of a reported line.
type LineOutcome string

// The outcomes.
const (
	LineRejected LineOutcome = "rejected" // it is invalid, and was not imported
	LineMerged   LineOutcome = "merged"   // a later line has the same id, differs, and counts instead
	LineTrimmed  LineOutcome = "trimmed"  // it was imported without some values
)

// ReportedLine is a line of a file that was not imported as it stands.
type ReportedLine struct {
	Number   int64
	Item     int64  // in a JSON list, 1-based; 0: the file is none
	ID       string // of the lead or campaign; empty if unknown
	Outcome  LineOutcome
	Into     int64 // of a merged line: the line that counts instead
	IntoItem int64
	Problems fault.Problems
}

// Place says where the line is, for people.
func (l ReportedLine) Place() string { return linePlace(l.Number, l.Item) }

func linePlace(number, item int64) string {
	if item > 0 {
		return fmt.Sprintf("item %d (line %d)", item, number)
	}
	return fmt.Sprintf("line %d", number)
}

// Merge reports a line instead of which another one counts.
func (l ReportedLine) Merge(into, intoItem int64) ReportedLine {
	l.Outcome, l.Into, l.IntoItem = LineMerged, into, intoItem
	l.Problems = fault.Problems{fault.Fieldf("id", fault.Duplicate,
		"%s has the same id and differs: that one counts, and this one does not", linePlace(into, intoItem))}
	return l
}

// Kept is the line as stores keep it: without what its messages quote of it, nor what was sent instead of an id, because nobody could
// tell later that these are of a person who was forgotten, and with no more fields than are kept.
func (l ReportedLine) Kept() ReportedLine {
	_, isLead := id.ParseForeign[id.Lead](l.ID)
	if _, isCampaign := id.ParseForeign[id.Campaign](l.ID); !isLead && !isCampaign {
		l.ID = ""
	}
	problems := make(fault.Problems, min(len(l.Problems), ImportFieldsKept))
	for i := range problems {
		problems[i] = l.Problems[i].Unquoted()
	}
	l.Problems = problems
	return l
}

// Fields returns the line as the API and the command line show it.
func (l ReportedLine) Fields() event.Fields {
	errors := make([]event.Fields, len(l.Problems))
	for i, field := range l.Problems {
		errors[i] = event.Fields{event.F("field", field.Path), event.F("code", field.Code), event.F("message", field.Message)}
	}
	return event.Fields{
		event.F("line", l.Number), event.F("item", optionalPlace(l.Item)), event.Optional("id", l.ID),
		event.F("outcome", string(l.Outcome)),
		event.F("mergedIntoLine", optionalPlace(l.Into)), event.F("mergedIntoItem", optionalPlace(l.IntoItem)), event.F("errors", errors),
	}
}

// optionalPlace is nil for none.
func optionalPlace(place int64) any {
	if place == 0 {
		return nil
	}
	return place
}
