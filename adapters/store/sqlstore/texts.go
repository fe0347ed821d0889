package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"reflect"

	"github.com/uptrace/bun"

	"holdco/domain/page"
)

// texts are the statements that most requests come down to. bun writes arguments into its text, so that an engine must
// compile each statement anew, which costs more than running it. These are built once, by the same functions as all
// others but with placeholders, and so are compiled once.
type texts struct {
	companyByID, companyBySlug, companyLocked string
	companiesByStatus, companiesByStatusAfter string
	companyInsert, companySave, companyEdit   string // an edit leaves the status alone
	tokenByHash                               string
	entryByID, entryInsert, entryPlace        string
	outboxWaits, outboxNext, outboxGrow       string
	queueHeld, queueHold, queueHasten         string
	queueRelease                              string
	deliveriesDue, deliveryLocked             string
	deliveryInsert, deliverySave              string
	leadState, leadByID, leadLastKey          string
	leadsKeyed, leadsBetween, leadsStanding   string
	leadsKeep, entriesKeep                    string
}

func textsOf(engine Engine) *texts {
	db := engine.DB()
	arg := func(n int) any { return bun.Safe(engine.Placeholder(n)) }
	company := func() *bun.SelectQuery { return db.NewSelect().Model((*companyRow)(nil)) }
	queue := func() *bun.SelectQuery { return db.NewSelect().Model((*queueRow)(nil)) }
	entry := func() *bun.SelectQuery { return db.NewSelect().Model((*entryRow)(nil)) }
	delivery := func() *bun.SelectQuery { return db.NewSelect().Model((*deliveryRow)(nil)) }
	token := func() *bun.SelectQuery { return db.NewSelect().Model((*tokenRow)(nil)) }
	lead := func() *bun.SelectQuery { return db.NewSelect().Model((*leadRow)(nil)) }
	leadEntry := func() *bun.SelectQuery { return db.NewSelect().Model((*leadEntryRow)(nil)).Column("entry") }
	return &texts{
		companyByID:       byID(company(), arg(1)).String(),
		companyBySlug:     bySlug(company(), arg(1)).String(),
		companyLocked:     engine.ForUpdate(byID(company(), arg(1))).String(),
		companiesByStatus: newest(byStatus(company(), arg(1)), "created_at", nil, nil, page.DefaultSize+1).String(),
		companiesByStatusAfter: newest(byStatus(company(), arg(1)), "created_at", arg(2), arg(3), page.DefaultSize+1).
			String(),
		companyInsert:  insertion(db, new(companyRow), arg).String(),
		companySave:    updateText(db, new(companyRow), permanentColumns, arg),
		companyEdit:    updateText(db, new(companyRow), indexedColumns, arg),
		tokenByHash:    byHash(token(), arg(1)).String(),
		entryByID:      byID(entry(), arg(1)).String(),
		entryInsert:    inForm(intoOutbox(insertion(db, new(entryRow), arg), arg(len(new(entryRow).columns())+1))).String(),
		entryPlace:     placing(db.NewUpdate(), arg(1), arg(2)).String(),
		outboxWaits:    waiting(db, arg(1)).String(),
		outboxNext:     placedFrom(db, arg(1), arg(2), arg(3)).String(),
		outboxGrow:     growing(db.NewUpdate(), arg(1)).String(),
		queueHeld:      engine.ForUpdate(heldUnder(queue(), arg(1), arg(2))).String(),
		queueHold:      holding(db.NewUpdate(), arg(1), arg(2), arg(3), arg(4), arg(5)).String(),
		queueRelease:   releasing(db, arg(1), arg(2), arg(3), arg(4)).String(),
		queueHasten:    hastening(db.NewUpdate(), arg(1), arg(2)).String(),
		deliveriesDue:  dueAt(db, arg(1), arg(2), arg(3)).String(),
		deliveryLocked: engine.ForUpdate(byID(sentTo(delivery(), arg(1)), arg(2))).String(),
		deliveryInsert: insertion(db, new(deliveryRow), arg).String(),
		deliverySave:   moving(db.NewUpdate(), arg(1), arg(2), arg(3), arg(4), arg(5)).String(),
		leadState:      db.NewSelect().Model((*leadStateRow)(nil)).Where("single = ?", arg(1)).String(),
		leadByID:       entryOf(db, arg(1)).String(),
		leadLastKey:    lead().ColumnExpr("coalesce(max(key), 0)").Where("key > ?", arg(1)).String(),
		leadsKeyed:     engine.InList(leadEntry(), "key").String(),
		leadsBetween:   leadEntry().Where("key BETWEEN ? AND ?", arg(1), arg(2)).String(),
		leadsStanding:  engine.InList(lead().Column(standingColumns()...), "id").String(),
		leadsKeep:      keeping(engine, "leads", new(leadRow)),
		entriesKeep:    keeping(engine, "lead_entries", new(leadEntryRow)),
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

// updateText changes the columns from the given one on. Its arguments are these, in order, the id of the row, and the
// version that it has.
func updateText(db *bun.DB, row any, from int, arg func(n int) any) string {
	fields := db.Table(rowType(row)).Fields[from:]
	query := db.NewUpdate().Model(row)
	for i, field := range fields {
		query = query.Set("? = ?", bun.Ident(field.Name), arg(i+1))
	}
	return query.Where("id = ?", arg(len(fields)+1)).Where("version = ?", arg(len(fields)+2)).String()
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
