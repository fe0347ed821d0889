package postgres

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"holdco/adapters/store/sqlstore"
)

// await retries until the server accepts connections and its version and encoding are supported. It gives up after
// options.Wait, or at once on an error that a retry cannot cure.
func (e *Engine) await(ctx context.Context, options Options) error {
	giveUp := time.Now().Add(options.Wait)
	for attempt := 0; ; attempt++ {
		err := e.look(ctx)
		if err == nil || isRefusal(err) || ctx.Err() != nil || time.Now().After(giveUp) {
			return err
		}
		if attempt == 0 && options.OnWait != nil {
			options.OnWait(err)
		}
		backOff(ctx, attempt, 100*time.Millisecond, time.Second)
	}
}

// backOff waits before the next attempt, or until ctx is done: exponential backoff with jitter.
func backOff(ctx context.Context, attempt int, first, most time.Duration) {
	longest := min(first<<min(attempt, 10), most)
	select {
	case <-time.After(longest/2 + rand.N(longest/2)):
	case <-ctx.Done():
	}
}

// unfit is why this program cannot use a database that answers.
type unfit string

func (u unfit) Error() string { return string(u) }

// look connects, and fails if this program cannot use what it finds.
func (e *Engine) look(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	switch err := e.check(ctx); {
	case err != nil:
		return err
	case !e.isPooled:
		return e.checkSessions(ctx)
	case e.hasSessions:
		if err := e.checkDirect(ctx); err != nil {
			return err
		}
	}
	return e.findGeneration(ctx)
}

// check asks the server for its version and for the encoding of the database.
func (e *Engine) check(ctx context.Context) error {
	var number int
	var version, encoding string
	if err := e.Conn().QueryRowContext(ctx, "SELECT current_setting('server_version_num')::int, "+
		"current_setting('server_version'), current_setting('server_encoding')").Scan(&number, &version, &encoding); err != nil {
		return err
	}
	const digits = 100_00 // of the number are the minor version
	switch {
	case number/digits < oldestVersion:
		return unfit(fmt.Sprintf("this is version %s; Holdco needs PostgreSQL %d or newer", version, oldestVersion))
	case encoding != "UTF8":
		return unfit(fmt.Sprintf("its encoding is %s; create it anew with ENCODING 'UTF8' TEMPLATE template0", encoding))
	}
	return nil
}

// isRefusal reports whether an error needs an operator, and does not go away with time.
func isRefusal(err error) bool {
	var wrong unfit
	var answer *pgconn.PgError
	var certificate *tls.CertificateVerificationError
	return errors.As(err, &wrong) || errors.As(err, &certificate) || isFenced(err) ||
		errors.As(err, &answer) && (meaning(answer.Code) != sqlstore.Unavailable || isStartupRefused(answer) || isUnprepared(answer))
}

// explain says in one line what an operator can do about a database that does not open. pgx leaves passwords out of
// its errors.
func explain(config *pgx.ConnConfig, err error, options Options) error {
	at := hosts(config)
	var answer *pgconn.PgError
	refused := errors.As(err, &answer)
	reason := lastAttempt(err)
	switch {
	case refused && answer.Code == tooMany:
		return fmt.Errorf("PostgreSQL at %s has no connection left for the user %q; raise its CONNECTION LIMIT, that of the database, or "+
			"max_connections, or end others: %w", at, config.User, answer)
	case !isRefusal(err):
		return fmt.Errorf("PostgreSQL at %s cannot be reached; see whether it runs, and whether the database URL is right: %s", at, reason)
	case refused && strings.HasPrefix(answer.Code, "28"):
		return fmt.Errorf("PostgreSQL at %s refuses the user %q; check the user and the password in the database URL: %s",
			at, config.User, reason)
	case refused && answer.Code == "3D000":
		return fmt.Errorf("PostgreSQL at %s has no database %q; create it, or name another in the database URL: %s",
			at, config.Database, reason)
	case refused && answer.Code == notPermitted:
		return fmt.Errorf("PostgreSQL at %s does not let the user %q into the database %q; GRANT CONNECT ON DATABASE to it, or name "+
			"another in the database URL: %s", at, config.User, config.Database, reason)
	case refused && isStartupRefused(answer) && options.Pooled:
		return fmt.Errorf("the pooler at %s takes no parameters of sessions; take them out of the database URL: %s", at, reason)
	case refused && isStartupRefused(answer):
		return fmt.Errorf("at %s is a pooler: for one in transaction mode set HOLDCO_DATABASE_POOLER=transaction, for one in session mode "+
			"let it pass over what it does not know (ignore_startup_parameters = %s): %s",
			at, strings.Join(slices.Sorted(maps.Keys(limitsOf(options))), ", "), reason)
	case refused && isUnprepared(answer):
		return fmt.Errorf("at %s is a pooler in transaction mode: set HOLDCO_DATABASE_POOLER=transaction: %s", at, reason)
	}
	return fmt.Errorf("PostgreSQL at %s, database %q: %s", at, config.Database, reason)
}

// hosts are all that a URL names, in its order. Fallbacks have some twice, with and without TLS.
func hosts(config *pgx.ConnConfig) string {
	all := []string{net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port)))}
	for _, other := range config.Fallbacks {
		if at := net.JoinHostPort(other.Host, strconv.Itoa(int(other.Port))); !slices.Contains(all, at) {
			all = append(all, at)
		}
	}
	return strings.Join(all, ", ")
}

// lastAttempt is the last line of an error of pgx. It has a line for each attempt to connect: to every address, with and
// without TLS.
func lastAttempt(err error) string {
	account := err.Error()
	return strings.TrimSpace(account[strings.LastIndexByte(account, '\n')+1:])
}
