package postgres

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// Servers hold a lock of the database together for as long as they run, so that a restoration, which takes it alone, knows whether there
// are any, and keeps new ones away. The lock belongs to a connection, and ends with it, however its process ends. Commands do not hold it.
const serversLock = "hashtextextended('holdco servers ' || current_schema(), 0)"

// errRestoring is that of a server that starts meanwhile.
var errRestoring = errors.New("the store is being restored; start the server when that is done")

// presence is the lock of one server.
type presence struct {
	pool    *sql.DB
	conn    *sql.Conn // nil: it is lost
	closing context.CancelFunc
	stopped chan struct{}
}

// presencePause is how often a server looks whether it still has its lock.
const presencePause = 5 * time.Second

// present takes the lock of a server, and keeps it.
func (e *Engine) present(ctx context.Context) error {
	p := &presence{pool: e.migrating, stopped: make(chan struct{})}
	isAlone, err := p.take(ctx)
	if err != nil {
		return err
	}
	if !isAlone {
		return errRestoring
	}
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.closing, e.presence = cancel, p
	go p.keep(keeping)
	return nil
}

// take reports whether it got the lock.
func (p *presence) take(ctx context.Context) (locked bool, err error) {
	limited, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	conn, err := p.pool.Conn(limited)
	if err != nil {
		return false, err
	}
	err = conn.QueryRowContext(limited, "SELECT pg_try_advisory_lock_shared("+serversLock+")").Scan(&locked)
	if err != nil || !locked {
		return false, errors.Join(err, conn.Close())
	}
	p.conn = conn
	return true, nil
}

// keep takes the lock again when the connection was lost.
func (p *presence) keep(ctx context.Context) {
	defer close(p.stopped)
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(presencePause):
		}
		if p.conn != nil {
			limited, cancel := context.WithTimeout(ctx, waitTimeout)
			_, err := p.conn.ExecContext(limited, "SELECT 1")
			cancel()
			if err == nil || ctx.Err() != nil {
				continue
			}
			_ = p.conn.Close()
			p.conn = nil
		}
		_, _ = p.take(ctx) // while it fails, the store is not there either; units say so
	}
}

func (p *presence) close() error {
	if p == nil {
		return nil
	}
	p.closing()
	<-p.stopped
	if p.conn == nil {
		return nil
	}
	return p.conn.Close()
}
