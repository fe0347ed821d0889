package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/uptrace/bun"

	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/lead"
	"holdco/domain/page"
)

// imports implements store.Imports.
type imports struct {
	stored[id.Import, lead.Import]
}

func importsOf(s session) imports {
	return imports{stored[id.Import, lead.Import]{s, importTable}}
}

var importTable = tableOf("imports", fault.New(fault.NotFound, "There is no such import."),
	asText("id", func(i *lead.Import) *id.Import { return &i.ID }),
	asText("kind", func(i *lead.Import) *lead.ImportKind { return &i.Kind }).fixed(),
	asText("name", func(i *lead.Import) *string { return &i.Name }).fixed(),
	asText("format", func(i *lead.Import) *string { return &i.Format }).fixed(),
	asBoolean("dry_run", func(i *lead.Import) *bool { return &i.DryRun }).fixed(),
	asBoolean("strict", func(i *lead.Import) *bool { return &i.Strict }).fixed(),
	asBoolean("keep_timestamps", func(i *lead.Import) *bool { return &i.KeepTimestamps }).fixed(),
	asBoolean("replace", func(i *lead.Import) *bool { return &i.Replace }).fixed(),
	asBoolean("lenient", func(i *lead.Import) *bool { return &i.Lenient }).fixed(),
	asText("natural_key", func(i *lead.Import) *string { return &i.Key }).fixed(),
	asText("region", func(i *lead.Import) *string { return &i.Region }).fixed(),
	asText("encoding", func(i *lead.Import) *string { return &i.Encoding }).fixed(),
	asInteger("bytes", func(i *lead.Import) *int64 { return &i.Size }).fixed(),
	asText("status", func(i *lead.Import) *lead.ImportStatus { return &i.Status }).inIndex(),
	asBoolean("checking", func(i *lead.Import) *bool { return &i.Progress.Checking }),
	asInteger("lines_done", func(i *lead.Import) *int64 { return &i.Progress.Lines }),
	asInteger("bytes_done", func(i *lead.Import) *int64 { return &i.Progress.Bytes }),
	asInteger("lines_read", func(i *lead.Import) *int64 { return &i.Progress.Read }),
	asInteger("inserted", func(i *lead.Import) *int { return &i.Progress.Inserted }),
	asInteger("updated", func(i *lead.Import) *int { return &i.Progress.Updated }),
	asInteger("unchanged", func(i *lead.Import) *int { return &i.Progress.Unchanged }),
	asInteger("rejected", func(i *lead.Import) *int64 { return &i.Progress.Rejected }),
	asInteger("merged", func(i *lead.Import) *int64 { return &i.Progress.Merged }),
	asInteger("suppressed", func(i *lead.Import) *int64 { return &i.Progress.Suppressed }),
	asInteger("dropped", func(i *lead.Import) *int64 { return &i.Progress.Dropped }),
	asText("code", func(i *lead.Import) *fault.Code { return &i.Code }),
	asText("problem", func(i *lead.Import) *string { return &i.Problem }),
	asInteger("version", func(i *lead.Import) *int64 { return &i.Version }),
	asMillis(createdAt, func(i *lead.Import) *time.Time { return &i.CreatedAt }).fixed(),
	asMillis("live_until", func(i *lead.Import) *time.Time { return &i.LiveUntil }),
	asOptionalMillis("ended_at", func(i *lead.Import) *time.Time { return &i.EndedAt }),
)

func (i imports) List(
	ctx context.Context, filter lead.ImportFilter, after page.Position, size int,
) (page.Page[lead.Import], error) {
	var where []condition
	if filter.Kind != "" {
		where = append(where, condition{"kind", string(filter.Kind)})
	}
	if filter.Status != "" {
		where = append(where, condition{"status", string(filter.Status)})
	}
	return listPage(ctx, i.session, i.table, where, after, size)
}

var runningImports = prepare(func(b builder) fmt.Stringer {
	return importTable.selects(b.db()).Where("status = 'running'") // as the index says
})

func (i imports) Running(ctx context.Context) ([]lead.Import, error) {
	return readEach(ctx, i.session, i.table, runningImports)
}

// reportedLine is a reported line in its table.
type reportedLine struct {
	of    id.Import
	place int64
	lead.ReportedLine
}

// keptProblem is an invalid field as it is kept.
type keptProblem struct {
	Path    string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
}

var rejectTable = tableOf("import_rejects", nil,
	asText("import_id", func(r *reportedLine) *id.Import { return &r.of }),
	asInteger("place", func(r *reportedLine) *int64 { return &r.place }).fixed(),
	asInteger("line", func(r *reportedLine) *int64 { return &r.Number }).fixed(),
	asInteger("item", func(r *reportedLine) *int64 { return &r.Item }).fixed(),
	asText("item_id", func(r *reportedLine) *string { return &r.ID }).fixed(),
	asText("outcome", func(r *reportedLine) *lead.LineOutcome { return &r.Outcome }).fixed(),
	asInteger("into_line", func(r *reportedLine) *int64 { return &r.Into }).fixed(),
	asInteger("into_item", func(r *reportedLine) *int64 { return &r.IntoItem }).fixed(),
	column[reportedLine]{
		name: "problems", kind: textKind, permanent: true,
		get: func(r *reportedLine) any {
			kept := make([]keptProblem, len(r.Problems))
			for i, field := range r.Problems {
				kept[i] = keptProblem{field.Path, field.Code, field.Message}
			}
			encoded, _ := json.Marshal(kept) // strings cannot fail
			return string(encoded)
		},
		set: func(r *reportedLine, c *cell) error {
			var kept []keptProblem
			err := json.Unmarshal([]byte(c.text), &kept)
			for _, field := range kept {
				r.Problems = append(r.Problems, fault.Field{Path: field.Path, Code: field.Code, Message: field.Message})
			}
			return err
		},
	},
)

var insertRejects = prepare(func(b builder) fmt.Stringer {
	return rejectTable.insertsMany(b) + " ON CONFLICT (import_id, place) DO NOTHING"
})

func (i imports) Report(ctx context.Context, to id.Import, before int, lines []lead.ReportedLine) error {
	if len(lines) == 0 {
		return nil
	}
	rows := make([][]any, len(lines))
	for n, line := range lines {
		rows[n] = rejectTable.inserted(&reportedLine{to, int64(before + n), line})
	}
	return i.runRows(ctx, insertRejects, rows)
}

func (i imports) Reported(
	ctx context.Context, of id.Import, after page.Position, size int,
) (page.Page[lead.ReportedLine], error) {
	query := selectRows(i.session, rejectTable).Where("import_id = ?", of).Order("place").Limit(int64(size) + 1)
	if !after.IsStart() {
		place, err := strconv.ParseInt(after.ID, 10, 64)
		if err != nil {
			return page.Page[lead.ReportedLine]{}, page.ErrForeign
		}
		query = query.Where("place > ?", place)
	}
	rows, err := readAll(ctx, i.session, rejectTable, query)
	if err != nil {
		return page.Page[lead.ReportedLine]{}, err
	}
	found := page.Of(rows, size, func(r reportedLine) page.Position {
		return page.Position{ID: strconv.FormatInt(r.place, 10)}
	})
	result := page.Page[lead.ReportedLine]{Next: found.Next}
	for _, row := range found.Items {
		result.Items = append(result.Items, row.ReportedLine)
	}
	return result, nil
}

// Purge removes one import after the other, of each its lines before itself.
func (i imports) Purge(ctx context.Context, keep, most int) (total int, err error) {
	var old []string
	query := i.selectFrom(i.table.name).Column("id").Where("status <> 'running'").
		OrderExpr("? DESC, id DESC", bun.Ident(createdAt)).Offset(int64(keep)).Limit(int64(most))
	if err := i.scan(ctx, query, &old); err != nil {
		return 0, err
	}
	for _, which := range old {
		some := i.selectFrom(rejectTable.name).Column("place").Where("import_id = ?", which).Order("place").Limit(int64(most - total))
		removed, err := i.exec(ctx, i.engine.DB().NewDelete().Conn(i.conn).Table(rejectTable.name).
			Where("import_id = ?", which).Where("place IN (?)", some))
		if total += removed; err != nil || total >= most {
			return total, err
		}
		removed, err = i.exec(ctx, i.engine.DB().NewDelete().Conn(i.conn).Table(i.table.name).Where("id = ?", which))
		if total += removed; err != nil || total >= most {
			return total, err
		}
	}
	return total, nil
}
