package postgres

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"

	"holdco/domain/fault"
)

// errReadOnly is the fault of a server that answers queries alone.
var errReadOnly = fault.New(fault.Unavailable, "PostgreSQL takes no writes: it is a standby, or its sessions are read-only.")

// explainServer says what an operator can do about a server that does not let a store be restored or moved.
func explainServer(err error) error {
	var answer *pgconn.PgError
	if !errors.As(err, &answer) {
		return err
	}
	switch answer.Code {
	case readOnly:
		return errReadOnly
	case "53100":
		return fmt.Errorf("the disk of PostgreSQL is full; make room, and run the command again: %w", answer)
	case tooMany:
		return fmt.Errorf("PostgreSQL lets the user of the database URL have too few connections: the command takes up to %d at once; "+
			"raise the CONNECTION LIMIT of the user or of the database, or max_connections, or end others: %w", 1+loaders, answer)
	}
	return err
}

const readOnly, tooMany = "25006", "53300"

// explainBroken says in one line that a server, or its operator, has ended what was done, and what is there then.
func explainBroken(err error, there string) error {
	if err == nil || fault.Of(err) != nil || errors.Is(err, context.Canceled) || !isBroken(err) {
		return err
	}
	reason := lastAttempt(err)
	if answer, isAnswer := errors.AsType[*pgconn.PgError](err); isAnswer {
		reason = answer.Error()
	}
	return fmt.Errorf("PostgreSQL, or its operator, has ended the connection: %s; run the command again: %s", there, reason)
}

// isBroken reports whether a server that could be reached no longer can, or has ended something.
func isBroken(err error) bool {
	if answer, isAnswer := errors.AsType[*pgconn.PgError](err); isAnswer {
		return answer.Code[:2] == "57" || answer.Code[:2] == "08"
	}
	_, isUnreached := errors.AsType[*pgconn.ConnectError](err)
	return isUnreached || isLost(err) || errors.Is(err, sql.ErrConnDone)
}

// cleaned is what is told of a failure to clean up: nothing where the connection is lost, or the server takes no writes any more. The next
// restoration removes what is left.
func cleaned(err error) error {
	if err == nil || isBroken(err) {
		return nil
	}
	if answer, isAnswer := errors.AsType[*pgconn.PgError](err); isAnswer && answer.Code == readOnly {
		return nil
	}
	return err
}
