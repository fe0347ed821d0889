package sqlstore

import (
	"fmt"
	"reflect"

	"github.com/uptrace/bun"

	"holdco/domain/page"
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

// arguments returns the values of columns, as arguments of a statement. Package sql handles only these types without
// reflection.
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

// listed is a row of a list, which holds one value of the domain.
type listed[T any] interface {
	value() (T, error)
	position() page.Position
}

// values converts rows to values of the domain.
func values[T any, R listed[T]](rows []R) ([]T, error) {
	found := make([]T, len(rows))
	for i, row := range rows {
		var err error
		if found[i], err = row.value(); err != nil {
			return nil, err
		}
	}
	return found, nil
}
