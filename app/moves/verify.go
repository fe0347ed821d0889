package moves

import (
	"bytes"
	"cmp"
	"context"

	"holdco/domain/move"
	"holdco/ports/store"
)

// verify reads both stores anew, and returns the digests of their tables. It fails with the names of rows that are not the same.
func (p *pair) verify(ctx context.Context) (verified []move.Verified, err error) {
	var differ move.Differences
	var before int64
	for _, table := range p.tables {
		one, err := p.compare(ctx, table, &differ, func(rows int64) {
			p.report(move.Progress{Verifying: true, Table: table.Name, Rows: before + rows})
		})
		if err != nil {
			return nil, err
		}
		if differ.More {
			break
		}
		before += one.Rows
		verified = append(verified, one)
	}
	return verified, differ.Err()
}

// compare reads the rows of a table on both sides, which go in the same order.
func (p *pair) compare(
	ctx context.Context, table move.Table, differ *move.Differences, report func(rows int64),
) (same move.Verified, err error) {
	ctx, cancel := context.WithCancel(ctx)
	from, to := p.readAll(ctx, p.from, table), p.readAll(ctx, p.to, table)
	defer func() {
		cancel()
		from.wait()
		to.wait()
	}()
	for !differ.More {
		kept, moved := from.peek(), to.peek()
		order := 0
		switch {
		case kept == nil && moved == nil:
			if err := from.err; err != nil {
				return same, err
			}
			return move.Verified{Table: table.Name, Rows: from.rows, Digest: from.digest.String()}, to.err
		case kept == nil:
			order = 1
		case moved == nil:
			order = -1
		default:
			order = kept.key.Compare(moved.key)
		}
		if kept == nil && from.err != nil || moved == nil && to.err != nil { // it ended too early
			return same, cmp.Or(from.err, to.err)
		}
		switch {
		case order < 0:
			differ.Add(table.RowName(kept.key), "is missing in "+p.to.Name())
			from.skip()
		case order > 0:
			differ.Add(table.RowName(moved.key), "is in "+p.to.Name()+" alone")
			to.skip()
		default:
			if !bytes.Equal(kept.code, moved.code) {
				differ.Add(table.RowName(kept.key), "is not the same in "+p.to.Name())
			}
			from.skip()
			to.skip()
			if from.rows%batchRows == 0 {
				report(from.rows)
			}
		}
	}
	return same, nil
}

// reading is one side of a comparison, which a goroutine of its own reads ahead.
type reading struct {
	chunks chan []coded
	now    []coded
	rows   int64 // that were skipped

	// Once chunks is closed:
	digest move.Digest
	err    error
}

type coded struct {
	key  move.Row
	code []byte
}

func (p *pair) readAll(ctx context.Context, on store.Moving, table move.Table) *reading {
	r := &reading{chunks: make(chan []coded, 1), digest: table.NewDigest()}
	go func() {
		defer close(r.chunks)
		const most, mostBytes = 500, 1 << 20
		var chunk []coded
		size := 0
		give := func() error {
			select {
			case r.chunks <- chunk:
				chunk, size = nil, 0
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r.err = on.Read(ctx, table, nil, func(row move.Row) error {
			code := row.Append(nil)
			r.digest.Add(code)
			chunk = append(chunk, coded{table.Key(row), code})
			if size += len(code); len(chunk) == most || size > mostBytes {
				return give()
			}
			return nil
		})
		if r.err == nil && len(chunk) > 0 {
			r.err = give()
		}
	}()
	return r
}

// peek returns the next row; nil: there is none.
func (r *reading) peek() *coded {
	if len(r.now) == 0 {
		r.now = <-r.chunks
	}
	if len(r.now) == 0 {
		return nil
	}
	return &r.now[0]
}

func (r *reading) skip() {
	r.now = r.now[1:]
	r.rows++
}

// wait waits until the goroutine has ended, whose context has.
func (r *reading) wait() {
	for range r.chunks { // what it has read is not needed
	}
}
