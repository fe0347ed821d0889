package wiring_test

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"holdco/adapters/http/rest"
	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/ratelimit"
	"holdco/domain/retention"
	"holdco/wiring"
)

var adminToken = access.NewAPIToken([32]byte{31: 7})

// load reads the configuration from command line arguments, a file's text ("": no file), and variables.
func load(t *testing.T, args []string, file string, environ ...string) (wiring.Config, []string, error) {
	t.Helper()
	if file != "" {
		path := filepath.Join(t.TempDir(), "holdco.yaml")
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--config", path)
	}
	flags := pflag.NewFlagSet("holdco", pflag.ContinueOnError)
	wiring.Flags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	return wiring.LoadConfig(flags, environ)
}

func TestEverySettingHasADefault(t *testing.T) {
	t.Parallel()
	config, warnings, err := load(t, nil, "", "PATH=/bin", "HOME=/root")
	if err != nil || warnings != nil {
		t.Fatal(warnings, err)
	}
	want := wiring.Config{
		Database:         wiring.Database{SQLite: "data/holdco.db"},
		DatabasePooler:   "none",
		DatabaseWait:     30 * time.Second,
		SQLiteSync:       "full",
		DataDir:          "./data",
		KeyFile:          "data/key",
		APIAddr:          "127.0.0.1:3100",
		DashboardAddr:    "127.0.0.1:3101",
		PartnerAddr:      "127.0.0.1:3102",
		GatewayAddr:      "127.0.0.1:3103",
		Adapters:         []string{"process", "http"},
		LeaseTime:        5 * time.Minute,
		Reserve:          100_000,
		MostProcesses:    32,
		LongestStop:      20 * time.Second,
		StreamPace:       rest.UsualPace,
		ArchiveRetention: 720 * time.Hour,
		Keep:             retention.Settings{Runs: retention.Period(90 * 24 * time.Hour), Removed: retention.Period(365 * 24 * time.Hour)},
		MaxImport:        1 << 30,
		Rates:            ratelimit.Limits{Read: 600, Write: 120, Costly: 10, Partner: 600, Gateway: 1200},
		BackupEvery:      24 * time.Hour,
		BackupKeep:       backup.Selection{Days: 7, Weeks: 4, Months: 6},
		WebhookParallel:  16,
		LogLevel:         slog.LevelInfo,
	}
	if diff := cmp.Diff(want, config, networks); diff != "" {
		t.Error(diff)
	}
}

func TestEverySettingCanComeFromEverySource(t *testing.T) {
	t.Parallel()
	want := wiring.Config{
		Database:         wiring.Database{Postgres: "postgres://me@db/holdco"},
		DatabaseWait:     2 * time.Minute,
		SQLiteSync:       "normal",
		DataDir:          "/var/lib/holdco",
		KeyFile:          "/etc/holdco/key",
		APIAddr:          "[::1]:80",
		DashboardAddr:    "[::1]:83",
		PartnerAddr:      "[::1]:81",
		GatewayAddr:      "[::1]:82",
		GatewayURL:       "https://agents.example.com/holdco",
		MetricsAddr:      "10.0.0.1:9464",
		Adapters:         []string{"http", "my-own_1"},
		LeaseTime:        5 * time.Second,
		Reserve:          1,
		MostProcesses:    200,
		LongestStop:      20 * time.Second,
		StreamPace:       rest.UsualPace,
		ArchiveRetention: 1000*time.Hour + time.Minute,
		Keep: retention.Settings{
			Activity: retention.Period(90 * 24 * time.Hour), Audit: retention.Period(400 * 24 * time.Hour), Runs: retention.Off,
			Removed: retention.Period(24 * time.Hour),
		},
		MaxImport:        500 << 20,
		Rates:            ratelimit.Limits{Read: 1, Write: 1_000_000_000, Costly: ratelimit.Off, Partner: 7, Gateway: 8},
		RedisURL:         "redis://me@cache/1",
		CORSOrigins:      []string{"https://app.example.com", "http://[::1]:3000"},
		GatewayOrigins:   []string{"http://localhost:6274"},
		TrustedProxies:   []netip.Prefix{netip.MustParsePrefix("192.0.2.1/32"), netip.MustParsePrefix("fd00::/8")},
		DatabasePooler:   "transaction",
		DatabaseDirect:   "postgres://me@direct/holdco",
		BackupDir:        "/backup",
		BackupEvery:      10 * time.Minute,
		BackupKeep:       backup.Selection{Months: 1},
		BackupRecipients: []string{ageKey},
		WebhookParallel:  256,
		WebhookPrivate:   true,
		LogLevel:         slog.LevelWarn,
		LogFormat:        "json",
		AdminToken:       adminToken,
	}
	values := [][2]string{
		{"database_url", "postgres://me@db/holdco"}, {"database_wait", "2m"}, {"sqlite_sync", "normal"},
		{"database_pooler", "transaction"}, {"database_migrate_url", "postgres://me@direct/holdco"},
		{"data_dir", "/var/lib/holdco"}, {"key_file", "/etc/holdco/key"}, {"api_addr", "[::1]:80"}, {"partner_addr",
			"[::1]:81"}, {"dashboard_addr", "[::1]:83"}, {"metrics_addr", "10.0.0.1:9464"},
		{"gateway_addr", "[::1]:82"}, {"gateway_url", "https://agents.example.com/holdco/"}, {"rate_gateway", "8"},
		{"gateway_origins", "http://localhost:6274"},
		{"lease_time", "5s"}, {"reserve_usd", "0.000001"},
		{"max_processes", "200"},
		{"adapters", "http, my-own_1"}, {"cors_origins", "https://app.example.com, http://[::1]:3000"}, {"rate_partner", "7"},
		{"archive_retention", "1000h1m"}, {"keep_activity", "2160h"}, {"keep_audit", "400d"},
		{"keep_runs", "off"}, {"keep_removed", "1d"}, {"max_import", "500MiB"},
		{"rate_read", "1"}, {"rate_write", "1000000000"}, {"rate_costly", "off"},
		{"redis_url", "redis://me@cache/1"}, {"trusted_proxies", "192.0.2.1, fd00::/8"}, {"webhook_allow_private", "true"},
		{"webhook_parallel", "256"},
		{"backup_dir", "/backup"}, {"backup_every", "10m"}, {"backup_keep", "1m"}, {"backup_recipients", ageKey},
		{"log_level", "warn"}, {"log_format", "json"}, {"admin_token", string(adminToken)},
	}
	var flags, variables []string
	var file strings.Builder
	for _, v := range values {
		flags = append(flags, "--"+strings.ReplaceAll(v[0], "_", "-")+"="+v[1])
		variables = append(variables, "HOLDCO_"+strings.ToUpper(v[0])+"="+v[1])
		file.WriteString(v[0] + ": '" + v[1] + "'\n")
	}
	for source, given := range map[string]func() (wiring.Config, []string, error){
		"flags":     func() (wiring.Config, []string, error) { return load(t, flags, "") },
		"variables": func() (wiring.Config, []string, error) { return load(t, nil, "", variables...) },
		"file":      func() (wiring.Config, []string, error) { return load(t, nil, file.String()) },
	} {
		config, warnings, err := given()
		if err != nil || warnings != nil {
			t.Errorf("%s: %v, %v", source, warnings, err)
		}
		if diff := cmp.Diff(want, config, networks); diff != "" {
			t.Errorf("%s: %s", source, diff)
		}
	}
}

func TestFlagsGoBeforeVariablesBeforeTheFileBeforeDefaults(t *testing.T) {
	t.Parallel()
	const file, variable, flag = "data_dir: of-file", "HOLDCO_DATA_DIR=of-variable", "--data-dir=of-flag"
	for _, c := range []struct {
		args     []string
		file     string
		variable string
		want     string
	}{
		{want: "./data"},
		{file: file, want: "of-file"},
		{file: file, variable: variable, want: "of-variable"},
		{file: file, variable: variable, args: []string{flag}, want: "of-flag"},
		{file: file, args: []string{flag}, want: "of-flag"},
		{variable: variable, args: []string{"--data-dir=./data"}, want: "./data"}, // the default, but given
	} {
		config, _, err := load(t, c.args, c.file, c.variable)
		if err != nil || config.DataDir != c.want {
			t.Errorf("%+v: %q, %v", c, config.DataDir, err)
		}
		if want := filepath.Join(c.want, "holdco.db"); config.Database.SQLite != want {
			t.Errorf("%+v: the store is %q, not %q", c, config.Database.SQLite, want)
		}
	}
}

func TestValuesThatAreAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		variable string
		got      func(wiring.Config) any
		want     any
	}{
		{"HOLDCO_DATABASE_URL=sqlite::memory:", database, wiring.Database{SQLite: ":memory:"}},
		{"HOLDCO_DATABASE_URL=sqlite://a b/holdco.db", database, wiring.Database{SQLite: "a b/holdco.db"}},
		{"HOLDCO_DATABASE_URL=sqlite:///var/lib/holdco.db", database, wiring.Database{SQLite: "/var/lib/holdco.db"}},
		{"HOLDCO_DATABASE_URL=postgres:///holdco?host=/run/postgresql", database,
			wiring.Database{Postgres: "postgres:///holdco?host=/run/postgresql"}},
		{"HOLDCO_DATABASE_URL=postgresql://u:p%40ss@db:5432/holdco", database,
			wiring.Database{Postgres: "postgresql://u:p%40ss@db:5432/holdco"}},
		{"HOLDCO_DATABASE_WAIT=0s", func(c wiring.Config) any { return c.DatabaseWait }, time.Duration(0)},
		{"HOLDCO_API_ADDR=", address, ""},
		{"HOLDCO_API_ADDR=:0", address, ":0"},
		{"HOLDCO_API_ADDR=api.example.com:65535", address, "api.example.com:65535"},
		{"HOLDCO_DASHBOARD_ADDR=", func(c wiring.Config) any { return c.DashboardAddr }, ""},
		{"HOLDCO_PARTNER_ADDR=", func(c wiring.Config) any { return c.PartnerAddr }, ""},
		{"HOLDCO_GATEWAY_ADDR=", func(c wiring.Config) any { return c.GatewayAddr }, ""},
		{"HOLDCO_GATEWAY_URL=", agentsURL, ""},
		{"HOLDCO_GATEWAY_URL=http://10.0.0.1:3103", agentsURL, "http://10.0.0.1:3103"},
		{"HOLDCO_GATEWAY_URL=http://[::1]:3103/", agentsURL, "http://[::1]:3103"},
		{"HOLDCO_CORS_ORIGINS=", func(c wiring.Config) any { return c.CORSOrigins }, []string(nil)},
		{"HOLDCO_METRICS_ADDR=", func(c wiring.Config) any { return c.MetricsAddr }, ""},
		{"HOLDCO_ADAPTERS=one", func(c wiring.Config) any { return c.Adapters }, []string{"one"}},
		{"HOLDCO_MAX_IMPORT=1MiB", func(c wiring.Config) any { return c.MaxImport }, int64(1 << 20)},
		{"HOLDCO_MAX_IMPORT=1024GiB", func(c wiring.Config) any { return c.MaxImport }, int64(1 << 40)},
		{"HOLDCO_ARCHIVE_RETENTION=720h", func(c wiring.Config) any { return c.ArchiveRetention }, 720 * time.Hour},
		{"HOLDCO_REDIS_URL=", func(c wiring.Config) any { return c.RedisURL }, ""},
		{"HOLDCO_REDIS_URL=rediss://:p%40ss@cache:6380", func(c wiring.Config) any { return c.RedisURL }, "rediss://:p%40ss@cache:6380"},
		{"HOLDCO_TRUSTED_PROXIES=", proxies, []netip.Prefix(nil)},
		{"HOLDCO_TRUSTED_PROXIES=::1,10.0.0.0/8", proxies,
			[]netip.Prefix{netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("10.0.0.0/8")}},
		{"HOLDCO_LOG_LEVEL=debug", func(c wiring.Config) any { return c.LogLevel }, slog.LevelDebug},
		{"HOLDCO_LOG_FORMAT=", func(c wiring.Config) any { return c.LogFormat }, ""},
		{"HOLDCO_ADMIN_TOKEN=", func(c wiring.Config) any { return c.AdminToken }, access.Value("")},
	} {
		config, warnings, err := load(t, nil, "", c.variable)
		if err != nil || warnings != nil {
			t.Errorf("%s: %v, %v", c.variable, warnings, err)
		} else if diff := cmp.Diff(c.want, c.got(config), networks); diff != "" {
			t.Errorf("%s: %s", c.variable, diff)
		}
	}
}

func database(c wiring.Config) any  { return c.Database }
func address(c wiring.Config) any   { return c.APIAddr }
func agentsURL(c wiring.Config) any { return c.GatewayURL }
func proxies(c wiring.Config) any   { return c.TrustedProxies }

var networks = cmpopts.EquateComparable(netip.Prefix{})

func TestABadValueIsRefusedWithItsOriginAndWhatIsAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, value, allowed string }{
		{"HOLDCO_DATABASE_URL", "", "sqlite://PATH"},
		{"HOLDCO_DATABASE_URL", "holdco.db", "sqlite://PATH"},
		{"HOLDCO_DATABASE_URL", "sqlite://", "sqlite://PATH"},
		{"HOLDCO_DATABASE_URL", "sqlite://:memory:", "sqlite::memory:"},
		{"HOLDCO_DATABASE_URL", "sqlite://a.db?mode=ro", "sqlite://PATH"},
		{"HOLDCO_DATABASE_URL", "postgres:/db/holdco", "postgres://"},
		{"HOLDCO_DATABASE_URL", "postgres://db:port/holdco", "postgres://"},
		{"HOLDCO_DATABASE_URL", "mysql://db/holdco", "postgres://"},
		{"HOLDCO_DATABASE_WAIT", "30", "30s"},
		{"HOLDCO_DATABASE_WAIT", "-1s", "0s"},
		{"HOLDCO_DATABASE_POOLER", "session", "none or transaction"},
		{"HOLDCO_DATABASE_MIGRATE_URL", "sqlite://holdco.db", "postgres://"},
		{"HOLDCO_SQLITE_SYNC", "FULL", "full or normal"},
		{"HOLDCO_SQLITE_SYNC", "", "full or normal"},
		{"HOLDCO_DATA_DIR", "", "directory"},
		{"HOLDCO_API_ADDR", "3100", "HOST:PORT"},
		{"HOLDCO_API_ADDR", "localhost", "HOST:PORT"},
		{"HOLDCO_API_ADDR", "localhost:", "HOST:PORT"},
		{"HOLDCO_API_ADDR", "localhost:http", "HOST:PORT"},
		{"HOLDCO_API_ADDR", "localhost:65536", "HOST:PORT"},
		{"HOLDCO_API_ADDR", "::1:3100", "HOST:PORT"},
		{"HOLDCO_PARTNER_ADDR", "3102", "HOST:PORT"},
		{"HOLDCO_GATEWAY_ADDR", "3103", "HOST:PORT"},
		{"HOLDCO_GATEWAY_URL", "10.0.0.1:3103", "http://HOST:PORT"},
		{"HOLDCO_GATEWAY_URL", "agents.example.com", "https://HOST"},
		{"HOLDCO_GATEWAY_URL", "ftp://agents.example.com", "https://HOST"},
		{"HOLDCO_GATEWAY_URL", "https://", "https://HOST"},
		{"HOLDCO_GATEWAY_URL", "https://:443", "https://HOST"},
		{"HOLDCO_GATEWAY_URL", "https://agents.example.com/?a=1", "https://HOST"},
		{"HOLDCO_GATEWAY_URL", "https://agents.example.com#", "https://HOST"},
		{"HOLDCO_CORS_ORIGINS", "*", "never *"},
		{"HOLDCO_GATEWAY_ORIGINS", "*", "never *"},
		{"HOLDCO_GATEWAY_ORIGINS", "null", "as browsers send them"},
		{"HOLDCO_GATEWAY_ORIGINS", "localhost:6274", "as browsers send them"},
		{"HOLDCO_CORS_ORIGINS", "https://a.example,", "separated by commas"},
		{"HOLDCO_CORS_ORIGINS", "https://a.example/", "as browsers send them"},
		{"HOLDCO_METRICS_ADDR", "9464", "HOST:PORT"},
		{"HOLDCO_ADAPTERS", "", "names"},
		{"HOLDCO_ADAPTERS", "http,,process", "names"},
		{"HOLDCO_ADAPTERS", "http, http", "different"},
		{"HOLDCO_ADAPTERS", "HTTP", "a-z"},
		{"HOLDCO_MAX_IMPORT", "0MiB", "a whole number of MiB or GiB"},
		{"HOLDCO_MAX_IMPORT", "1025GiB", "a whole number of MiB or GiB"},
		{"HOLDCO_MAX_IMPORT", "1.5GiB", "a whole number of MiB or GiB"},
		{"HOLDCO_MAX_IMPORT", "1000000", "a whole number of MiB or GiB"},
		{"HOLDCO_MAX_IMPORT", "99999999999999999999GiB", "a whole number of MiB or GiB"},
		{"HOLDCO_ARCHIVE_RETENTION", "719h59m59s", "at least 720h"},
		{"HOLDCO_ARCHIVE_RETENTION", "30d", "at least 720h"},
		{"HOLDCO_KEEP_ACTIVITY", "89d", "at least 90d"},
		{"HOLDCO_KEEP_ACTIVITY", "2161h", "whole days"},
		{"HOLDCO_KEEP_AUDIT", "364d", "at least 365d"},
		{"HOLDCO_KEEP_RUNS", "23h", "at least 1d"},
		{"HOLDCO_KEEP_RUNS", "ever", "off, or whole days"},
		{"HOLDCO_KEEP_REMOVED", "0d", "at least 1d"},
		{"HOLDCO_RATE_READ", "0", "1 to 1000000000, or off"},
		{"HOLDCO_RATE_READ", "", "or off"},
		{"HOLDCO_RATE_WRITE", "1000000001", "1 to 1000000000"},
		{"HOLDCO_RATE_WRITE", "-1", "1 to 1000000000"},
		{"HOLDCO_RATE_COSTLY", "1e3", "whole number"},
		{"HOLDCO_RATE_COSTLY", "OFF", "or off"},
		{"HOLDCO_RATE_PARTNER", "0", "1 to 1000000000, or off"},
		{"HOLDCO_RATE_GATEWAY", "-1", "1 to 1000000000, or off"},
		{"HOLDCO_MAX_PROCESSES", "-1", "from 0 to 200"},
		{"HOLDCO_MAX_PROCESSES", "201", "from 0 to 200"},
		{"HOLDCO_WEBHOOK_PARALLEL", "0", "from 1 to 256"},
		{"HOLDCO_WEBHOOK_PARALLEL", "257", "from 1 to 256"},
		{"HOLDCO_WEBHOOK_PARALLEL", "many", "from 1 to 256"},
		{"HOLDCO_REDIS_URL", "localhost:6379", "redis://"},
		{"HOLDCO_REDIS_URL", "redis://cache:port", "redis://"},
		{"HOLDCO_REDIS_URL", "redis://cache/first", "redis://"},
		{"HOLDCO_TRUSTED_PROXIES", "proxy.internal", "192.0.2.1"},
		{"HOLDCO_TRUSTED_PROXIES", "10.0.0.1,,10.0.0.2", "separated by commas"},
		{"HOLDCO_TRUSTED_PROXIES", "10.0.0.0/33", "10.0.0.0/8"},
		{"HOLDCO_TRUSTED_PROXIES", "fe80::1%eth0", "addresses"},
		{"HOLDCO_TRUSTED_PROXIES", "::ffff:10.0.0.0/104", "networks"},
		{"HOLDCO_LOG_LEVEL", "warning", "debug, info, warn or error"},
		{"HOLDCO_LOG_LEVEL", "INFO+1", "debug, info, warn or error"},
		{"HOLDCO_LOG_FORMAT", "logfmt", "text or json"},
	} {
		_, _, err := load(t, nil, "", c.variable+"="+c.value)
		if err == nil {
			t.Errorf("%s took %q", c.variable, c.value)
			continue
		}
		for _, part := range []string{c.variable + " must be ", c.allowed, `it is "` + c.value + `"`} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s=%s: %q does not say %q", c.variable, c.value, err, part)
			}
		}
	}
}

func TestABadValueIsBlamedOnTheSourceItCameFrom(t *testing.T) {
	t.Parallel()
	_, _, err := load(t, []string{"--log-level=loud"}, "sqlite_sync: 7\n", "HOLDCO_API_ADDR=x", "HOLDCO_LOG_LEVEL=soft")
	if err == nil {
		t.Fatal("no error")
	}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "sqlite_sync in ") ||
		!strings.Contains(lines[0], `holdco.yaml must be full or normal; it is "7"`) ||
		!strings.HasPrefix(lines[1], "HOLDCO_API_ADDR ") ||
		!strings.HasPrefix(lines[2], `--log-level must be debug, info, warn or error; it is "loud"`) {
		t.Errorf("%q", lines)
	}
}

func TestErrorsHoldNoSecrets(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, shown string }{
		{"HOLDCO_ADMIN_TOKEN=hunter2", "not shown"},
		{"HOLDCO_ADMIN_TOKEN=" + string(adminToken[:len(adminToken)-1]) + "_hunter2", "not shown"},
		{"HOLDCO_DATABASE_URL=mysql://me:hunter2@db/holdco", "mysql://me:xxxxx@db/holdco"},
		{"HOLDCO_DATABASE_URL=postgres://me:hunter2%zz@db/holdco", "not shown"},
		{"HOLDCO_DATABASE_URL=mysql://me:1/hunter2@db/holdco", "not shown"},
		{"HOLDCO_DATABASE_URL=mysql://me:1@hunter2@db/holdco", "not shown"},
		{"HOLDCO_GATEWAY_URL=https://me:hunter2@agents.example.com", "https://me:xxxxx@agents.example.com"},
		{"HOLDCO_DATABASE_URL=mysql://db/holdco?sslPassword=hunter2", "not shown"},
		{"HOLDCO_DATABASE_URL=host=db user=me password=hunter2", "not shown"},
		{"HOLDCO_REDIS_URL=redis://:hunter2@cache/first", "redis://:xxxxx@cache/first"},
		{"HOLDCO_API_ADDR=postgres://me:hunter2@db/holdco", "postgres://me:xxxxx@db/holdco"},
	} {
		_, _, err := load(t, nil, "", c.variable)
		if err == nil || strings.Contains(err.Error(), "hunter2") || !strings.Contains(err.Error(), c.shown) {
			t.Errorf("%s: %v", c.variable, err)
		}
	}
}

func TestTheFile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want string // a part of the error; empty: none
	}{
		"empty":            {text: "# nothing\n"},
		"a list":           {text: "adapters: [process, http]\n"},
		"unquoted":         {text: "archive_retention: 720h\napi_addr: 127.0.0.1:3100\nlog_level: info\n"},
		"empty string":     {text: `api_addr: ""`},
		"unknown key":      {text: "api_adr: x", want: "unknown key api_adr; the nearest is api_addr"},
		"a variable's key": {text: "HOLDCO_API_ADDR: x", want: "unknown key HOLDCO_API_ADDR"},
		"no value":         {text: "api_addr:\n", want: "api_addr in "},
		"a tree":           {text: "api_addr: {host: x}", want: "must be one value, or a list of values"},
		"a list of trees":  {text: "adapters: [{name: x}]", want: "must be one value, or a list of values"},
		"twice":            {text: "log_level: info\nlog_level: warn\n", want: "already defined"},
		"no settings":      {text: "- a\n- b\n", want: "is not a YAML file of settings"},
		"no YAML":          {text: "a: b: c", want: "is not a YAML file of settings"},
	} {
		_, _, err := load(t, nil, c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := load(t, []string{"--config", "/nowhere/holdco.yaml"}, ""); err == nil ||
		!strings.Contains(err.Error(), "/nowhere/holdco.yaml") {
		t.Errorf("a file that is not there: %v", err)
	}
}

func TestAnUnknownVariableIsAWarningWithTheNearestName(t *testing.T) {
	t.Parallel()
	_, warnings, err := load(t, nil, "", "HOLDCO_LOGLEVEL=warn", "HOLDCO_API_ADDRESS=x", "HOLDCO_TEST_POSTGRES_URL=x", "HOLDCOX=1",
		"HOLDCO_URL=x", "HOLDCO_TOKEN=x", "HOLDCO_COMPANY=x", "HOLDCO_COMPNY=x") // some are for commands that ask a server
	want := []string{
		"the variable HOLDCO_API_ADDRESS is not known and has no effect; the nearest is HOLDCO_API_ADDR",
		"the variable HOLDCO_COMPNY is not known and has no effect; the nearest is HOLDCO_COMPANY",
		"the variable HOLDCO_LOGLEVEL is not known and has no effect; the nearest is HOLDCO_LOG_LEVEL",
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Error(diff)
	}
}

func TestAPoolerIsOfPostgresAlone(t *testing.T) {
	t.Parallel()
	const at = "HOLDCO_DATABASE_URL=postgres://me@db/holdco"
	for says, variables := range map[string][]string{
		"goes with a HOLDCO_DATABASE_URL of Postgres": {"HOLDCO_DATABASE_POOLER=transaction"},
		"goes with HOLDCO_DATABASE_POOLER":            {at, "HOLDCO_DATABASE_MIGRATE_URL=postgres://me@direct/holdco"},
	} {
		if _, _, err := load(t, nil, "", variables...); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: %v", variables, err)
		}
	}
	if _, _, err := load(t, nil, "", at, "HOLDCO_DATABASE_POOLER=transaction"); err != nil {
		t.Error(err)
	}
}

func TestTheHelpNamesEveryVariableAndDefault(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("holdco", pflag.ContinueOnError)
	wiring.Flags(flags)
	help := flags.FlagUsages()
	for _, part := range []string{
		"--config FILE", "--api-addr HOST:PORT", "HOLDCO_API_ADDR (default 127.0.0.1:3100)",
		"--metrics-addr HOST:PORT", "HOLDCO_METRICS_ADDR (default /metrics on the API's listener)",
		"HOLDCO_DATABASE_URL (default sqlite://<data dir>/holdco.db)", "HOLDCO_DATABASE_WAIT (default 30s)",
		"HOLDCO_SQLITE_SYNC (default full)", "HOLDCO_DATA_DIR (default ./data)", "HOLDCO_ADAPTERS (default process,http)",
		"HOLDCO_ARCHIVE_RETENTION (default 720h)", "HOLDCO_RATE_READ (default 600)", "HOLDCO_RATE_WRITE (default 120)",
		"HOLDCO_RATE_COSTLY (default 10)", "HOLDCO_RATE_PARTNER (default 600)", "HOLDCO_PARTNER_ADDR (default 127.0.0.1:3102)",
		"HOLDCO_GATEWAY_ADDR (default 127.0.0.1:3103)", "HOLDCO_GATEWAY_URL (default by the address of the gateway)",
		"HOLDCO_RATE_GATEWAY (default 1200)",
		"HOLDCO_CORS_ORIGINS (default none)", "HOLDCO_REDIS_URL (default none: each process counts by itself)",
		"HOLDCO_TRUSTED_PROXIES (default none)", "HOLDCO_LOG_LEVEL (default info)",
		"HOLDCO_LOG_FORMAT (default text on a terminal, else json)", "HOLDCO_ADMIN_TOKEN (default a random value, shown once)",
	} {
		if !strings.Contains(help, part) {
			t.Errorf("the help does not say %q:\n%s", part, help)
		}
	}
}

func TestCommandsOnTheStoreHaveFlagsForTheStoreAlone(t *testing.T) {
	t.Parallel()
	flags := pflag.NewFlagSet("holdco token", pflag.ContinueOnError)
	wiring.StoreFlags(flags)
	var names []string
	flags.VisitAll(func(flag *pflag.Flag) { names = append(names, flag.Name) })
	want := []string{
		"config", "data-dir", "database-migrate-url", "database-pooler", "database-url", "database-wait", "key-file", "sqlite-sync",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	if err := flags.Parse([]string{"--data-dir=elsewhere"}); err != nil {
		t.Fatal(err)
	}
	config, _, err := wiring.LoadConfig(flags, []string{"HOLDCO_LOG_LEVEL=warn"})
	if err != nil || config.DataDir != "elsewhere" || config.LogLevel != slog.LevelWarn {
		t.Errorf("%+v, %v", config, err)
	}
}

// ageKey is a public key of age.
const ageKey = "age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p"
