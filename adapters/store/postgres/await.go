package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdco/adapters/store/sqlstore"
)

// await returns when the server accepts connections and will do, or when waiting is of no use or has taken too long.
func (e *Engine) await(ctx context.Context, options Options) error {
	giveUp := time.Now().Add(options.Wait)
	for attempt := 0; ; attempt++ {
		err := e.check(ctx)
		if err == nil || isRefusal(err) || ctx.Err() != nil || time.Now().After(giveUp) {
			return err
		}
		if attempt == 0 && options.OnWait != nil {
			options.OnWait(err)
		}
		pause(ctx, attempt, 100*time.Millisecond, time.Second)
	}
}

// pause waits longer with every attempt, for a random time so that those who wait do not meet again; or until ctx ends.
func pause(ctx context.Context, attempt int, first, most time.Duration) {
	longest := min(first<<min(attempt, 10), most)
	select {
	case <-time.After(longest/2 + rand.N(longest/2)):
	case <-ctx.Done():
	}
}

// unfit is what this program has against a database that answers.
type unfit string

func (u unfit) Error() string { return string(u) }

// check asks the server for its version and for the encoding of the database.
func (e *Engine) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var number int
	var version, encoding string
	if err := e.Conn().QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int, "+
		"current_setting('server_version'), current_setting('server_encoding')").Scan(&number, &version, &encoding); err != nil {
		return err
	}
	const digits = 100_00 // of the number that tell the minor version
	switch {
	case number/digits < oldestVersion:
		return unfit(fmt.Sprintf("this is version %s; Holdco needs PostgreSQL %d or newer", version, oldestVersion))
	case encoding != "UTF8":
		return unfit(fmt.Sprintf("its encoding is %s; create it anew with ENCODING 'UTF8' TEMPLATE template0", encoding))
	}
	return nil
}

// isRefusal tells what somebody has to put right from what passes by waiting.
func isRefusal(err error) bool {
	var wrong unfit
	var answer *pgconn.PgError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &wrong) || errors.As(err, &certificate) ||
		errors.As(err, &answer) && meaning(answer.Code) != sqlstore.Unavailable
}

// explain says in one line what an operator can do about a database that does not open. pgx leaves passwords out of
// its errors.
func explain(config *pgx.ConnConfig, err error) error {
	at := net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))
	var answer *pgconn.PgError
	refused := errors.As(err, &answer)
	reason := lastAttempt(err)
	switch {
	case !isRefusal(err):
		return fmt.Errorf("PostgreSQL at %s cannot be reached; see whether it runs, and whether the database URL is right: %s", at, reason)
	case refused && strings.HasPrefix(answer.Code, "28"):
		return fmt.Errorf("PostgreSQL at %s refuses the user %q; check the user and the password in the database URL: %s",
			at, config.User, reason)
	case refused && answer.Code == "3D000":
		return fmt.Errorf("PostgreSQL at %s has no database %q; create it, or name another in the database URL: %s",
			at, config.Database, reason)
	}
	return fmt.Errorf("PostgreSQL at %s, database %q: %s", at, config.Database, reason)
}

// lastAttempt is what pgx tells of its last attempt to connect. It has a line for each: to every address, and with and
// without TLS.
func lastAttempt(err error) string {
	account := err.Error()
	return strings.TrimSpace(account[strings.LastIndexByte(account, '\n')+1:])
}
