package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/uptrace/bun"

	"holdco/ports/store"
)

const (
	longestLog   = 256 << 20 // bytes of the write-ahead log after which it is truncated
	freePages    = 256       // that stay, to be used next
	pagesPerStep = 500       // that are given back at once, each of which may have to be moved
	incremental  = 2         // the auto_vacuum of a file that can give pages back
)

// Tidy implements sqlstore.Engine. A database that was made without auto_vacuum keeps its free pages, to use them again.
func (e *Engine) Tidy(ctx context.Context) (more bool, err error) {
	if sizes, err := e.Sizes(ctx); err != nil {
		return false, err
	} else if sizes.Log > e.longestLog {
		e.writer.truncates.Store(true) // after the next batch
	}
	err = e.writer.update(ctx, func(ctx context.Context, conn bun.IConn) error {
		var mode, free int
		if err := conn.QueryRowContext(ctx, "PRAGMA auto_vacuum").Scan(&mode); err != nil {
			return err
		}
		if err := conn.QueryRowContext(ctx, "PRAGMA freelist_count").Scan(&free); err != nil {
			return err
		}
		surplus := free - freePages
		if more = mode == incremental && surplus > pagesPerStep; mode != incremental || surplus <= 0 {
			return nil
		}
		_, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", min(surplus, pagesPerStep)))
		return err
	})
	return more && err == nil, err
}

// Sizes implements sqlstore.Engine.
func (e *Engine) Sizes(context.Context) (sizes store.Sizes, err error) {
	if sizes.Data, err = sizeOf(e.path); err != nil {
		return sizes, err
	}
	sizes.HasLog = true
	sizes.Log, err = sizeOf(e.path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return sizes, err
}

func sizeOf(path string) (int64, error) {
	found, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return found.Size(), nil
}
