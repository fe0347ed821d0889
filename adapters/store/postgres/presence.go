package postgres

import (
	"context"
	"database/sql"
	"time"
)

// presence is one connection that a server always has, so that its store is not restored while it needs no other. See storeLock. Where it
// can have no session of its own, it finds out when that has happened.
type presence struct {
	engine  *Engine
	conn    *sql.Conn // nil: it is lost
	closing context.CancelFunc
	stopped chan struct{}
}

// presencePause is how often a server looks whether it still has its connection.
const presencePause = 5 * time.Second

// present takes the connection of a server, and keeps it.
func (e *Engine) present(ctx context.Context) error {
	p := &presence{engine: e, stopped: make(chan struct{})}
	if err := p.take(ctx); err != nil {
		return err
	}
	keeping, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.closing, e.presence = cancel, p
	go p.keep(keeping)
	return nil
}

func (p *presence) take(ctx context.Context) (err error) {
	limited, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	if !p.engine.hasSessions {
		return p.engine.findGeneration(limited)
	}
	p.conn, err = p.engine.migrating.Conn(limited)
	return err
}

// keep takes another connection when that one was lost.
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
		_ = p.take(ctx) // while it fails, the store is not there either; units say so
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
