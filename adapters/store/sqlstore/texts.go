package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"
	"strings"

	"github.com/uptrace/bun"
)

// texts are the statements that most requests come down to. bun writes arguments into its text, so that an engine must
// compile each statement anew, which costs more than running it. These are built once, by the same functions as all
// others but with placeholders, and so are compiled once.
type texts struct {
	entryByID, entryInsert, entryEnqueue    string
	outboxWork, outboxNext, outboxGrow      string
	outboxEvents                            string
	queueLeased, queueSave, queueWake       string
	queueRelease                            string
	deliveriesDue, deliveryLocked           string
	deliveriesLocked, deliveriesInsert      string
	deliverySave                            string
	leadState, leadByID, leadLastKey        string
	leadsKeyed, leadsBetween, leadsStanding string
	leadsKeep, entriesKeep                  string
}

func textsOf(engine Engine) *texts {
	db := engine.DB()
	text := engine.Placeholder
	arg := func(n int) any { return bun.Safe(text(n)) }
	queue := func() *bun.SelectQuery { return db.NewSelect().Model((*queueRow)(nil)) }
	entry := func() *bun.SelectQuery { return db.NewSelect().Model((*entryRow)(nil)) }
	delivery := func() *bun.SelectQuery { return db.NewSelect().Model((*deliveryRow)(nil)) }
	lead := func() *bun.SelectQuery { return db.NewSelect().Model((*leadRow)(nil)) }
	leadEntry := func() *bun.SelectQuery { return db.NewSelect().Model((*leadEntryRow)(nil)).Column("entry") }
	return &texts{
		entryByID:        visible(byID(entry(), arg(1))).String(),
		entryInsert:      inForm(intoOutbox(insertion(db, new(entryRow), arg), arg(len(new(entryRow).columns())+1))).String(),
		entryEnqueue:     enqueueing(db.NewUpdate(), arg(1), arg(2)).String(),
		outboxWork:       workAt(db, arg(1)).String(),
		outboxNext:       nextOf(db, text(1), text(2), text(3)).String(),
		outboxEvents:     engine.InList(entry().ColumnExpr("?TableColumns, position"), "id").String(),
		outboxGrow:       growing(db.NewUpdate(), arg(1)).String(),
		queueLeased:      engine.ForUpdate(leasedUnder(queue(), arg(1), arg(2))).String(),
		queueSave:        savingQueue(db.NewUpdate(), arg(1), arg(2), arg(3), arg(4), arg(5), arg(6)).String(),
		queueRelease:     releasing(db, text(1), text(2), arg(3), arg(4), arg(5)).String(),
		queueWake:        waking(db.NewUpdate(), arg(1), arg(2)).String(),
		deliveriesDue:    dueAt(db, arg(1), arg(2), arg(3)).String(),
		deliveryLocked:   engine.ForUpdate(visible(byID(sentTo(delivery(), arg(1)), arg(2)))).String(),
		deliveriesLocked: engine.ForUpdate(engine.InList(delivery(), "id")).String(),
		deliveriesInsert: "INSERT INTO deliveries (" + strings.Join(columnNames(db, new(deliveryRow)), ", ") + ") " +
			engine.Rows(arguments(new(deliveryRow).columns())),
		deliverySave:  moving(db.NewUpdate(), arg(1), arg(2), arg(3), arg(4), arg(5)).String(),
		leadState:     db.NewSelect().Model((*leadStateRow)(nil)).Where("single = ?", arg(1)).String(),
		leadByID:      entryOf(db, arg(1)).String(),
		leadLastKey:   lead().ColumnExpr("coalesce(max(key), 0)").Where("key > ?", arg(1)).String(),
		leadsKeyed:    engine.InList(leadEntry(), "key").String(),
		leadsBetween:  leadEntry().Where("key BETWEEN ? AND ?", arg(1), arg(2)).String(),
		leadsStanding: engine.InList(lead().Column(standingColumns()...), "id").String(),
		leadsKeep:     keeping(engine, "leads", new(leadRow)),
		entriesKeep:   keeping(engine, "lead_entries", new(leadEntryRow)),
	}
}

// insertion inserts a row whose columns, in order, are the arguments.
func insertion(db *bun.DB, row any, arg func(n int) any) *bun.InsertQuery {
	query := db.NewInsert().Model(row).Returning("NULL")
	for i, field := range db.Table(rowType(row)).Fields {
		query = query.Value(field.Name, "?", arg(i+1))
	}
	return query
}

// rowType is the type of a row to which row points.
func rowType(row any) reflect.Type { return reflect.TypeOf(row).Elem() }

// write is a statement of texts with its arguments.
type write struct {
	conn bun.IConn
	text string
	args []any
}

// Exec runs it. There is nothing to read from it.
func (w write) Exec(ctx context.Context, _ ...any) (sql.Result, error) {
	return w.conn.ExecContext(ctx, w.text, w.args...)
}

// arguments are the values that the columns of a row point to. Package sql reads into these types, and no others,
// without reflection.
func arguments(columns []any) []any {
	values := make([]any, len(columns), len(columns)+2)
	for i, column := range columns {
		switch column := column.(type) {
		case *string:
			values[i] = *column
		case *int64:
			values[i] = *column
		case **int64:
			values[i] = *column
		default:
			panic(fmt.Sprintf("a column of type %T", column))
		}
	}
	return values
}
