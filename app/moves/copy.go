package moves

import (
	"context"
	"fmt"
	"slices"

	"holdco/domain/move"
)

// A batch is what one transaction of the target takes.
const (
	batchRows  = 5000
	batchBytes = 8 << 20
)

type batch struct {
	table move.Table
	rows  []move.Row
}

// copy copies the rows that follow a place, and returns the last place. The next batch is read while one is written.
func (p *pair) copy(ctx context.Context, at move.Place) (move.Place, error) {
	ctx, cancel := context.WithCancel(ctx)
	batches, failed := make(chan batch), make(chan error, 1)
	go func() {
		defer close(batches)
		failed <- p.read(ctx, at, func(b batch) error {
			select {
			case batches <- b:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
	}()
	defer func() {
		cancel()
		for range batches { // until the reader has ended
		}
	}()
	for b := range batches {
		last := b.rows[len(b.rows)-1]
		next := move.Place{Table: b.table.Name, After: b.table.Key(last).Encode(), Rows: at.Rows + int64(len(b.rows))}
		if err := p.to.Write(ctx, b.table, b.rows, next); err != nil {
			return at, err
		}
		at = next
		p.report(move.Progress{Table: at.Table, Rows: at.Rows})
	}
	return at, <-failed
}

// read gives the rows that follow a place in batches, table by table.
func (p *pair) read(ctx context.Context, at move.Place, give func(b batch) error) error {
	tables := p.tables
	if at.Table != "" {
		first := slices.IndexFunc(tables, func(one move.Table) bool { return one.Name == at.Table })
		if first < 0 {
			return fmt.Errorf("the move was interrupted in the table %s, which the store does not have; undo it with "+
				`"holdco move --abandon", and move again`, at.Table)
		}
		tables = tables[first:]
	}
	for _, table := range tables {
		var after move.Row
		if table.Name == at.Table {
			var err error
			if after, err = table.Decode(at.After); err != nil {
				return err
			}
		}
		b, bytes := batch{table: table}, 0
		err := p.from.Read(ctx, table, after, func(row move.Row) (err error) {
			size := row.Size()
			if len(b.rows) > 0 && (len(b.rows) == batchRows || bytes+size > batchBytes) {
				err = give(b)
				b, bytes = batch{table: table}, 0
			}
			b.rows = append(b.rows, row)
			bytes += size
			return err
		})
		if err == nil && len(b.rows) > 0 {
			err = give(b)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
