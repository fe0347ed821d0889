package sqlstore

import (
	"fmt"
	"reflect"

	"github.com/uptrace/bun"
)

// modelRow is a pointer to a row that is a model of bun. Its columns are pointers to the fields, in the order of the model.
type modelRow interface{ columns() []any }

// columnNames are the names of a row's columns.
func columnNames(db *bun.DB, row modelRow) []string {
	fields := db.Table(reflect.TypeOf(row).Elem()).Fields
	names := make([]string, len(fields))
	for i, field := range fields {
		names[i] = field.Name
	}
	return names
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
