package rest

import (
	"io"

	"holdco/adapters/http/httpkit"
	"holdco/domain/id"
	"holdco/domain/idempotency"
	"holdco/domain/lead"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

// ImportFiles receive files that are sent. Their faults are those of inbound.Upload.
type ImportFiles interface {
	Receive(from io.Reader, draft lead.ImportDraft) (inbound.ImportFile, error)
}

type imports struct {
	port  inbound.Uploads
	files ImportFiles
}

// Imports handles the operations on imports.
func Imports(port inbound.Uploads, files ImportFiles) httpkit.Handlers {
	h := imports{port, files}
	return httpkit.Handlers{
		"listImports":      h.list,
		"startImport":      h.start,
		"getImport":        h.get,
		"listImportErrors": h.errors,
	}
}

func (h imports) list(r httpkit.Request) (httpkit.Answer, error) {
	filter := lead.ImportFilter{Kind: lead.ImportKind(r.Query()["kind"]), Status: lead.ImportStatus(r.Query()["status"])}
	return httpkit.List(r, "imports "+r.Query().Filters(), func(after page.Position, size int) (page.Page[lead.Import], error) {
		return h.port.List(r.Context(), r.Caller(), filter, after, size)
	})
}

// formats are those of files by the media types with which they are sent.
var formats = map[string]string{
	"application/x-ndjson": lead.NDJSON, "text/csv": lead.CSV, "application/json": lead.JSON,
}

func (h imports) start(r httpkit.Request) (httpkit.Answer, error) {
	is := func(name string) bool { return r.Query()[name] == "true" }
	started, err := h.port.Start(r.Context(), r.Caller(), inbound.Upload{
		ImportDraft: lead.ImportDraft{
			Kind: lead.ImportKind(r.Query()["kind"]), Name: r.Query()["name"], Format: formats[r.MediaType()],
			DryRun: is("dryRun"), Strict: is("strict"), KeepTimestamps: is("keepTimestamps"),
			Replace: is("replace"), Lenient: is("lenient"), Key: r.Query()["key"], Region: r.Query()["region"],
			Encoding: r.Query()["encoding"],
		},
		Repeats: r.OnceKey() != "",
		Receive: func(draft lead.ImportDraft) (file inbound.ImportFile, err error) {
			err = r.Upload(func(from io.Reader) (err error) {
				file, err = h.files.Receive(from, draft)
				return err
			})
			return file, err
		},
		Once: func() idempotency.Request { return httpkit.Once(r, startedImport) },
	})
	return startedImport(started), err
}

func startedImport(of lead.Import) httpkit.Answer {
	answer := importAnswer(of)
	answer.Status, answer.Location = httpkit.Accepted, "/v1/imports/"+string(of.ID)
	return answer
}

func importAnswer(of lead.Import) httpkit.Answer {
	return httpkit.Answer{ETag: httpkit.VersionTag(of.Version), Data: of.Fields()}
}

func (h imports) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), httpkit.PathID[id.Import](r, "id"))
	return importAnswer(found), err
}

func (h imports) errors(r httpkit.Request) (httpkit.Answer, error) {
	of := httpkit.PathID[id.Import](r, "id")
	return httpkit.List(r, "errors import="+string(of), func(after page.Position, size int) (page.Page[lead.ReportedLine], error) {
		return h.port.Reported(r.Context(), r.Caller(), of, after, size)
	})
}
