package wiring

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdco/adapters/archive"
	"holdco/adapters/limits/redislimit"
	"holdco/app/runner"
	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/budget"
	"holdco/domain/company"
	"holdco/domain/money"
	"holdco/domain/partner"
	"holdco/domain/ratelimit"
	"holdco/domain/retention"
	"holdco/domain/run"
	"holdco/domain/webhook"
)

// setting is one line of the table from which flags, variables, keys of the file, help and errors come.
type setting struct {
	name     string // in the file; the flag is --name with hyphens, the variable is HOLDCO_NAME
	kind     string // what the value is called in the help
	help     string
	allowed  string // what the value must be
	fallback string // the value when none is given; empty: none
	absent   string // how the help calls that the value is absent
	ofStore  bool   // says where the store is
	secret   bool   // the value is never shown, not even a part of it

	// set puts a value into the configuration, and reports whether it is allowed.
	set func(c *Config, value string) bool
}

// settings are all there are, in the order of the help.
var settings = []setting{
	{
		name: "database_url", kind: "URL", absent: "sqlite://<data dir>/holdco.db", ofStore: true,
		help:    "the store: sqlite://PATH, sqlite::memory: (ends with the process) or postgres://USER:PASSWORD@HOST/NAME",
		allowed: "sqlite://PATH, sqlite::memory:, or postgres://USER:PASSWORD@HOST/NAME with special characters as %XX",
		set:     func(c *Config, v string) (ok bool) { c.Database, ok = parseDatabase(v); return ok },
	},
	{
		name: "database_wait", kind: "DURATION", fallback: "30s", ofStore: true,
		help:    "how long the start waits for a Postgres server that does not answer",
		allowed: "a duration such as 30s or 2m; 0s does not wait",
		set:     func(c *Config, v string) bool { return parseDuration(&c.DatabaseWait, v, 0) },
	},
	{
		name: "database_pooler", kind: "MODE", fallback: "none", ofStore: true,
		help:    "transaction: the database URL is that of a pooler in transaction mode, such as PgBouncer",
		allowed: "none or transaction",
		set:     func(c *Config, v string) bool { return parseOneOf(&c.DatabasePooler, v, "none", poolerOfTransactions) },
	},
	{
		name: "database_migrate_url", kind: "URL", absent: "none", ofStore: true,
		help:    "with such a pooler, the way straight to the server, to migrate, back up, restore and move",
		allowed: "postgres://USER:PASSWORD@HOST/NAME with special characters as %XX, or empty",
		set: func(c *Config, v string) bool {
			parsed, ok := parseDatabase(v)
			c.DatabaseDirect = parsed.Postgres
			return v == "" || ok && parsed.Postgres != ""
		},
	},
	{
		name: "sqlite_sync", kind: "MODE", fallback: "full", ofStore: true,
		help:    "full: a commit survives a loss of power; normal: it survives a crash of the process",
		allowed: "full or normal",
		set:     func(c *Config, v string) bool { return parseOneOf(&c.SQLiteSync, v, "full", "normal") },
	},
	{
		name: "data_dir", kind: "DIRECTORY", fallback: "./data", ofStore: true,
		help:    "directory of the embedded store and of the companies' workspaces; made when missing",
		allowed: "the path of a directory",
		set:     func(c *Config, v string) bool { c.DataDir = v; return v != "" && !strings.Contains(v, "\x00") },
	},
	{
		name: "key_file", kind: "FILE", absent: "<data dir>/key", ofStore: true,
		help:    "the key that encrypts secrets in the store; made at the first start, the same for all replicas; back it up",
		allowed: "the path of a file",
		set:     func(c *Config, v string) bool { c.KeyFile = v; return v != "" && !strings.Contains(v, "\x00") },
	},
	{
		name: "api_addr", kind: "HOST:PORT", fallback: "127.0.0.1:3100",
		help:    "where the orchestration API listens; empty turns it off",
		allowed: "HOST:PORT such as 127.0.0.1:3100, :3100 or [::1]:3100, or empty",
		set:     func(c *Config, v string) bool { c.APIAddr = v; return v == "" || isAddress(v) },
	},
	{
		name: "dashboard_addr", kind: "HOST:PORT", fallback: "127.0.0.1:3101",
		help:    "where the dashboard listens; empty turns it off",
		allowed: "HOST:PORT such as 127.0.0.1:3101, :3101 or [::1]:3101, or empty",
		set:     func(c *Config, v string) bool { c.DashboardAddr = v; return v == "" || isAddress(v) },
	},
	{
		name: "partner_addr", kind: "HOST:PORT", fallback: "127.0.0.1:3102",
		help:    "where the export API for partners listens; empty turns it off",
		allowed: "HOST:PORT such as 127.0.0.1:3102, :3102 or [::1]:3102, or empty",
		set:     func(c *Config, v string) bool { c.PartnerAddr = v; return v == "" || isAddress(v) },
	},
	{
		name: "gateway_addr", kind: "HOST:PORT", fallback: "127.0.0.1:3103",
		help:    "where the gateway for agents listens; empty turns it off",
		allowed: "HOST:PORT such as 127.0.0.1:3103, :3103 or [::1]:3103, or empty",
		set:     func(c *Config, v string) bool { c.GatewayAddr = v; return v == "" || isAddress(v) },
	},
	{
		name: "gateway_url", kind: "URL", absent: "by the address of the gateway",
		help:    "how agents reach the gateway, behind a proxy, say; without /gateway/v1",
		allowed: "http://HOST:PORT or https://HOST, or empty",
		set:     func(c *Config, v string) (ok bool) { c.GatewayURL, ok = parseBase(v); return ok },
	},
	{
		name: "gateway_origins", kind: "ORIGINS", absent: "none",
		help:    "origins, separated by commas, whose pages may call the gateway from a browser, beside its own",
		allowed: "origins as browsers send them, such as http://localhost:6274, separated by commas; never *",
		set:     func(c *Config, v string) (ok bool) { c.GatewayOrigins, ok = parseOrigins(v); return ok },
	},
	{
		name: "metrics_addr", kind: "HOST:PORT", absent: "/metrics on the API's listener",
		help:    "where metrics are served, when not beside the API",
		allowed: "HOST:PORT such as 127.0.0.1:9464, :9464 or [::1]:9464, or empty",
		set:     func(c *Config, v string) bool { c.MetricsAddr = v; return v == "" || isAddress(v) },
	},
	{
		name: "adapters", kind: "NAMES", fallback: "process,http",
		help:    "adapters installed on this instance, separated by commas; the first is the default of new companies",
		allowed: "different names of a-z, 0-9, - and _, separated by commas",
		set:     func(c *Config, v string) (ok bool) { c.Adapters, ok = parseNames(v); return ok },
	},
	{
		name: "max_processes", kind: "NUMBER", fallback: "32",
		help:    "how many programs of agents of the adapter process run at once; 0: none, here",
		allowed: "a whole number from 0 to 200",
		set:     func(c *Config, v string) bool { return parseNumber(&c.MostProcesses, v, 0, runner.MostProcesses) },
	},
	{
		name: "archive_retention", kind: "DURATION", fallback: "720h",
		help:    "how long an archived company can be restored; at least " + inHours(company.ShortestRetention),
		allowed: "a duration of at least " + inHours(company.ShortestRetention) + ", such as 2160h",
		set: func(c *Config, v string) bool {
			return parseDuration(&c.ArchiveRetention, v, company.ShortestRetention)
		},
	},
	{
		name: "keep_activity", kind: "DAYS", fallback: "off",
		help:    "how long entries of the activity log are kept, such as 90d or 2160h; off: for ever. Costs are always kept",
		allowed: "off, or whole days of at least 90d, such as 90d or 2160h",
		set:     func(c *Config, v string) bool { return parseKeep(&c.Keep.Activity, v, retention.Activity) },
	},
	{
		name: "keep_audit", kind: "DAYS", fallback: "off",
		help:    "how long, of these, the entries that an audit shows are kept at least; off: for ever",
		allowed: "off, or whole days of at least 365d, such as 365d or 8760h",
		set:     func(c *Config, v string) bool { return parseKeep(&c.Keep.Audit, v, retention.Audit) },
	},
	{
		name: "keep_runs", kind: "DAYS", fallback: "90d",
		help:    "how long checkpoints and logs of runs are kept once these have ended and their issues are closed, or off: for ever",
		allowed: "off, or whole days of at least 1d, such as 90d or 2160h",
		set:     func(c *Config, v string) bool { return parseKeep(&c.Keep.Runs, v, retention.Runs) },
	},
	{
		name: "keep_removed", kind: "DAYS", fallback: "365d",
		help:    "how long partners can read which leads were removed, or off: for ever",
		allowed: "off, or whole days of at least 1d, such as 365d or 8760h",
		set:     func(c *Config, v string) bool { return parseKeep(&c.Keep.Removed, v, retention.Removed) },
	},
	{
		name: "max_import", kind: "SIZE", fallback: "1GiB",
		help:    "how large a file may be that is sent to be imported; one that is packed may be 16 times that when it is unpacked",
		allowed: "a whole number of MiB or GiB from 1MiB to 1024GiB, such as 500MiB",
		set:     func(c *Config, v string) bool { return parseSize(&c.MaxImport, v) },
	},
	{
		name: "lease_time", kind: "DURATION", fallback: "5m",
		help: "how long the lease of an agent lasts without a call, unless its claim asks for another time",
		allowed: fmt.Sprintf("a duration from %.0fs to %.0fh in whole seconds, such as 300s",
			run.ShortestUsual.Seconds(), run.LongestLease.Hours()),
		set: func(c *Config, v string) bool {
			return parseDuration(&c.LeaseTime, v, run.ShortestUsual) && c.LeaseTime <= run.LongestLease && c.LeaseTime%time.Second == 0
		},
	},
	{
		name: "reserve_usd", kind: "DOLLARS", fallback: "0.10",
		help:    "what a lease reserves of the budgets for an issue that has none of its own",
		allowed: fmt.Sprintf("dollars from %s to %s, with at most 6 decimals", budget.LeastReserve, budget.MostReserve),
		set: func(c *Config, v string) bool {
			amount, err := money.ParseUSD(money.Number(v))
			c.Reserve = amount
			return err == nil && amount >= budget.LeastReserve && amount <= budget.MostReserve
		},
	},
	{
		name: "rate_read", kind: "NUMBER", fallback: "600",
		help:    "read requests that a token may make per minute, or off",
		allowed: rates,
		set:     func(c *Config, v string) bool { return parseRate(&c.Rates.Read, v) },
	},
	{
		name: "rate_write", kind: "NUMBER", fallback: "120",
		help:    "write requests that a token may make per minute, or off",
		allowed: rates,
		set:     func(c *Config, v string) bool { return parseRate(&c.Rates.Write, v) },
	},
	{
		name: "rate_costly", kind: "NUMBER", fallback: "10",
		help:    "costly requests that a token may make per minute, or off: exports, audits and imports",
		allowed: rates,
		set:     func(c *Config, v string) bool { return parseRate(&c.Rates.Costly, v) },
	},
	{
		name: "rate_partner", kind: "NUMBER", fallback: "600",
		help:    "requests that a partner's key may make per minute, or off",
		allowed: rates,
		set:     func(c *Config, v string) bool { return parseRate(&c.Rates.Partner, v) },
	},
	{
		name: "rate_gateway", kind: "NUMBER", fallback: "1200",
		help:    "requests that an agent may make at the gateway per minute, or off",
		allowed: rates,
		set:     func(c *Config, v string) bool { return parseRate(&c.Rates.Gateway, v) },
	},
	{
		name: "backup_dir", kind: "DIRECTORY", absent: "none: the server makes no backups",
		help:    "where the server writes backups of the store",
		allowed: "the path of a directory", // that it is there, a server that starts sees
		set:     func(c *Config, v string) bool { c.BackupDir = v; return !strings.Contains(v, "\x00") },
	},
	{
		name: "backup_every", kind: "DURATION", fallback: "24h",
		help:    "how often the server makes a backup",
		allowed: "a duration of at least 10m, such as 6h",
		set:     func(c *Config, v string) bool { return parseDuration(&c.BackupEvery, v, backup.ShortestEvery) },
	},
	{
		name: "backup_keep", kind: "NUMBERS", fallback: "7d,4w,6m",
		help:    "which of these backups are kept: the newest of each of so many days, weeks and months that have one",
		allowed: "numbers from 1 to 1000 of days, weeks and months, such as 7d,4w,6m",
		set:     func(c *Config, v string) (ok bool) { c.BackupKeep, ok = backup.ParseSelection(v); return ok },
	},
	{
		name: "backup_recipients", kind: "KEYS", absent: "none: backups are not encrypted", secret: true, // somebody may give an identity
		help:    "public keys of age, separated by commas, for which these backups are encrypted",
		allowed: "public keys of age, which begin with age1, separated by commas",
		set:     func(c *Config, v string) (ok bool) { c.BackupRecipients, ok = parseRecipients(v); return ok },
	},
	{
		name: "redis_url", kind: "URL", absent: "none: each process counts by itself",
		help:    "the Redis in which replicas count requests together: redis://:PASSWORD@HOST:PORT/NUMBER, rediss:// with TLS",
		allowed: "redis://USER:PASSWORD@HOST:PORT/NUMBER, rediss://... or unix://PATH, with special characters as %XX",
		set:     func(c *Config, v string) bool { c.RedisURL = v; return v == "" || redislimit.ValidURL(v) },
	},
	{
		name: "webhook_parallel", kind: "NUMBER", fallback: "16",
		help:    "how many messages to one webhook may be in flight; those about one company, token and so on go one at a time",
		allowed: fmt.Sprintf("a whole number from 1 to %d", webhook.MostParallel),
		set:     func(c *Config, v string) bool { return parseNumber(&c.WebhookParallel, v, 1, webhook.MostParallel) },
	},
	{
		name: "webhook_allow_private", kind: "BOOL", fallback: "false",
		help:    "true lets webhooks call loopback and private addresses",
		allowed: "true or false",
		set: func(c *Config, v string) bool {
			c.WebhookPrivate = v == "true"
			return v == "true" || v == "false"
		},
	},
	{
		name: "cors_origins", kind: "ORIGINS", absent: "none",
		help:    "origins, separated by commas, whose pages may call the orchestration API from a browser",
		allowed: "origins as browsers send them, such as https://dashboard.example.com, separated by commas; never *",
		set:     func(c *Config, v string) (ok bool) { c.CORSOrigins, ok = parseOrigins(v); return ok },
	},
	{
		name: "trusted_proxies", kind: "NETWORKS", absent: "none",
		help:    "addresses or networks of proxies, separated by commas, whose X-Forwarded-For is believed",
		allowed: "addresses such as 192.0.2.1 or networks such as 10.0.0.0/8, separated by commas",
		set:     func(c *Config, v string) (ok bool) { c.TrustedProxies, ok = parseNetworks(v); return ok },
	},
	{
		name: "log_level", kind: "LEVEL", fallback: "info",
		help:    "the least important messages to log: debug, info, warn or error",
		allowed: "debug, info, warn or error",
		set: func(c *Config, v string) bool {
			return slices.Contains([]string{"debug", "info", "warn", "error"}, v) && c.LogLevel.UnmarshalText([]byte(v)) == nil
		},
	},
	{
		name: "log_format", kind: "FORMAT", absent: "text on a terminal, else json",
		help:    "text for people, or json with one object per line",
		allowed: "text or json",
		set:     func(c *Config, v string) bool { return parseOneOf(&c.LogFormat, v, "text", "json", "") },
	},
	{
		name: "admin_token", kind: "TOKEN", absent: "a random value, shown once", secret: true,
		help:    "value of the first admin token of a new store; other users of the machine see flags, so use the variable",
		allowed: "a token value: hco_ and 49 letters and digits, the last 6 of them a checksum",
		set: func(c *Config, v string) (ok bool) {
			c.AdminToken, ok = access.ParseAPIToken(v)
			return ok || v == ""
		},
	},
}

// inHours spells a duration of whole days.
func inHours(of time.Duration) string {
	return fmt.Sprintf("%.0fh (%.0f days)", of.Hours(), of.Hours()/24)
}

func parseDatabase(value string) (Database, bool) {
	if value == "sqlite:"+Memory {
		return Database{SQLite: Memory}, true
	}
	if path, ok := strings.CutPrefix(value, "sqlite://"); ok {
		// SQLite would take what follows a question mark for options.
		return Database{SQLite: path}, path != "" && path != Memory && !strings.ContainsAny(path, "?\x00")
	}
	_, err := url.Parse(value)
	isPostgres := strings.HasPrefix(value, "postgres://") || strings.HasPrefix(value, "postgresql://")
	return Database{Postgres: value}, isPostgres && err == nil
}

func parseDuration(duration *time.Duration, value string, least time.Duration) bool {
	parsed, err := time.ParseDuration(value)
	*duration = parsed
	return err == nil && parsed >= least
}

func parseKeep(keep *retention.Period, value string, of retention.Kind) (ok bool) {
	*keep, ok = retention.ParsePeriod(value, retention.LeastDays(of))
	return ok
}

// parseSize reads a size of at least 1 MiB and at most 1024 GiB.
func parseSize(size *int64, value string) bool {
	const mebibyte, gibibyte, most = 1 << 20, 1 << 30, 1024 << 30
	digits, inGiB := strings.CutSuffix(value, "GiB")
	unit := int64(gibibyte)
	if !inGiB {
		var inMiB bool
		if digits, inMiB = strings.CutSuffix(value, "MiB"); !inMiB {
			return false
		}
		unit = mebibyte
	}
	number, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || strconv.FormatInt(number, 10) != digits || number < 1 || number > most/unit {
		return false
	}
	*size = number * unit
	return true
}

func parseOneOf(chosen *string, value string, choices ...string) bool {
	*chosen = value
	return slices.Contains(choices, value)
}

func parseNames(value string) (names []string, ok bool) {
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" || slices.Contains(names, name) {
			return nil, false
		}
		names = append(names, name)
	}
	return names, true
}

const rates = "a whole number from 1 to 1000000000, or off"

func parseRate(limit *ratelimit.Limit, value string) bool {
	if value == "off" {
		*limit = ratelimit.Off
		return true
	}
	number, err := strconv.ParseInt(value, 10, 64)
	*limit = ratelimit.Limit(number)
	return err == nil && *limit >= 1 && *limit <= ratelimit.MostLimit
}

func parseNumber(number *int, value string, least, most int) bool {
	parsed, err := strconv.Atoi(value)
	*number = parsed
	return err == nil && parsed >= least && parsed <= most
}

// parseBase parses a URL that paths are added to.
func parseBase(value string) (base string, ok bool) {
	if value == "" {
		return "", true
	}
	parsed, err := url.Parse(value)
	if err != nil || parsed.Hostname() == "" || parsed.User != nil || strings.ContainsAny(value, "?#") ||
		parsed.Scheme != "http" && parsed.Scheme != "https" {
		return "", false
	}
	return strings.TrimRight(value, "/"), true
}

func parseOrigins(value string) (origins []string, ok bool) {
	if value == "" {
		return nil, true
	}
	for origin := range strings.SplitSeq(value, ",") {
		origin = strings.TrimSpace(origin)
		if !partner.IsOrigin(origin) {
			return nil, false
		}
		origins = append(origins, origin)
	}
	return origins, true
}

func parseRecipients(value string) (recipients []string, ok bool) {
	if value == "" {
		return nil, true
	}
	for recipient := range strings.SplitSeq(value, ",") {
		recipients = append(recipients, strings.TrimSpace(recipient))
	}
	return recipients, archive.Archives{}.Recipients(recipients) == nil
}

func parseNetworks(value string) (networks []netip.Prefix, ok bool) {
	if value == "" {
		return nil, true
	}
	for text := range strings.SplitSeq(value, ",") {
		text = strings.TrimSpace(text)
		network, err := netip.ParsePrefix(text)
		if address, addressErr := netip.ParseAddr(text); addressErr == nil && address.Zone() == "" {
			network, err = address.Prefix(address.BitLen())
		}
		// Clients that come as IPv4 over IPv6 are compared as IPv4.
		if err != nil || network.Addr().Is4In6() {
			return nil, false
		}
		networks = append(networks, network)
	}
	return networks, true
}

func isAddress(value string) bool {
	_, port, err := net.SplitHostPort(value)
	if err != nil {
		return false
	}
	_, err = strconv.ParseUint(port, 10, 16)
	return err == nil
}
