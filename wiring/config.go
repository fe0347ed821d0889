package wiring

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"holdco/adapters/cli"
	"holdco/adapters/http/rest"
	"holdco/adapters/system"
	"holdco/adapters/telemetry/tracing"
	"holdco/domain/access"
	"holdco/domain/backup"
	"holdco/domain/money"
	"holdco/domain/ratelimit"
	"holdco/domain/retention"
	"holdco/domain/text"
	"holdco/ports/outbound"
)

// Config is what an operator sets. Its zero value is no configuration: see LoadConfig. Rates that are not set are off.
type Config struct {
	Database         Database
	DatabaseWait     time.Duration // how long the start waits for a Postgres server
	DatabasePooler   string        // none or poolerOfTransactions
	DatabaseDirect   string        // URL that leads past such a pooler; empty: none does. May hold a password
	Unhurried        bool          // reads take as long as they need; no setting
	SQLiteSync       string        // full or normal
	DataDir          string
	KeyFile          string   // holds the key that encrypts secrets in the store
	APIAddr          string   // host:port; empty: no listener
	DashboardAddr    string   // the same, of the dashboard
	PartnerAddr      string   // the same, of the export API
	GatewayAddr      string   // the same, of the gateway for agents
	GatewayURL       string   // how agents reach the gateway, without a slash at its end; empty: by its address
	GatewayOrigins   []string // whose pages may call the gateway, beside its own
	MetricsAddr      string   // host:port; empty: metrics are served beside the API
	Adapters         []string // at least one
	LeaseTime        time.Duration
	Reserve          money.USD
	MostProcesses    int             // of agents at once
	LongestStop      time.Duration   // how long they may take to end when the server stops; no setting
	StreamPace       rest.StreamPace // no setting either
	Room             Room            // nor is it: what tells it, if not the disk
	ArchiveRetention time.Duration
	Keep             retention.Settings
	MaxImport        int64            // how large a file may be that is sent to be imported, in bytes
	Rates            ratelimit.Limits // of each token, each partner's key, and each agent
	BackupDir        string           // where the server writes backups; empty: it makes none
	BackupEvery      time.Duration
	BackupKeep       backup.Selection
	BackupRecipients []string // for whom they are encrypted; none: they are not
	RedisURL         string   // where replicas count requests together; empty: each process by itself. May hold a password
	CORSOrigins      []string // whose pages may call the orchestration API
	TrustedProxies   []netip.Prefix
	WebhookParallel  int  // attempts at one endpoint that may be in flight
	WebhookPrivate   bool // webhooks may call loopback and private addresses
	LogLevel         slog.Level
	LogFormat        string       // text or json; empty: text on a terminal, else json
	AdminToken       access.Value // of the first admin token; empty: a random one
	Traces           bool         // the variables of OpenTelemetry name an endpoint; the rest of them is read by its SDK
}

// Room tells what the disk of the store has.
type Room func() (outbound.Room, error)

// room tells what the disk with the embedded store has, or else that with the data directory.
func (c Config) room() Room {
	switch {
	case c.Room != nil:
		return c.Room
	case c.Database.SQLite == Memory:
		return func() (outbound.Room, error) { return outbound.Room{}, errors.ErrUnsupported }
	case c.Database.SQLite != "":
		return func() (outbound.Room, error) { return system.Disk{}.Room(filepath.Dir(c.Database.SQLite)) }
	}
	return func() (outbound.Room, error) { return system.Disk{}.Room(c.DataDir) }
}

// hasRoom fails while the disk with the embedded store is nearly full. What cannot be told is no reason to refuse anything.
func (c Config) hasRoom() error {
	if c.Database.SQLite == "" {
		return nil
	}
	room, err := c.room()()
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	return retention.CheckRoom(room.Free)
}

// Database says where the store is. One of its fields is set.
type Database struct {
	SQLite   string // path of a file, or Memory
	Postgres string // connection URL; may hold a password
}

// poolerOfTransactions is a pooler that gives each transaction another session.
const poolerOfTransactions = "transaction"

func (c Config) isPooled() bool { return c.DatabasePooler == poolerOfTransactions }

// needsSession fails if what is to be done needs a session of the server, and a pooler gives none.
func (c Config) needsSession(what string) error {
	if !c.isPooled() || c.DatabaseDirect != "" {
		return nil
	}
	return cli.WrongUsage(fmt.Errorf("%s needs a session of its own, which HOLDCO_DATABASE_POOLER=transaction does not give: "+
		"set HOLDCO_DATABASE_MIGRATE_URL to a URL that leads straight to the server", what))
}

// hasDataDir makes the data directory of a server, and fails unless the server can write to it.
func (c Config) hasDataDir() error {
	err := os.MkdirAll(c.DataDir, 0o700)
	if err == nil {
		var probe *os.File
		if probe, err = os.CreateTemp(c.DataDir, ".holdco-"); err == nil {
			err = errors.Join(probe.Close(), os.Remove(probe.Name()))
		}
	}
	if err != nil {
		return fmt.Errorf("HOLDCO_DATA_DIR must be a directory that the server can write to; let its user own it, or name another: %w", err)
	}
	return nil
}

// hasBackupDir fails if the server is to write backups into a directory that is not there. It makes none, because the one that is meant
// may be a disk that is not mounted.
func (c Config) hasBackupDir() error {
	if c.BackupDir == "" {
		return nil
	}
	if found, err := os.Stat(c.BackupDir); err != nil || !found.IsDir() {
		return cli.WrongUsage(fmt.Errorf("HOLDCO_BACKUP_DIR must be the path of a directory that is there; it is %q", c.BackupDir))
	}
	return nil
}

// Memory is the path of a SQLite database that ends with its process.
const Memory = ":memory:"

// Flags adds the flags of all settings, and --config, to a command.
func Flags(flags *pflag.FlagSet) { addFlags(flags, settings) }

// StoreFlags adds the flags of the settings that say where the store is, and --config, to a command that works on it.
func StoreFlags(flags *pflag.FlagSet) {
	addFlags(flags, slices.DeleteFunc(slices.Clone(settings), func(s setting) bool { return !s.ofStore }))
}

func addFlags(flags *pflag.FlagSet, settings []setting) {
	flags.Var(&flagValue{kind: "FILE"}, configFlag,
		"settings in YAML, such as \"log_level: debug\"; flags and variables take precedence over it")
	for _, s := range settings {
		help := s.help + "\n" + s.variable()
		if s.absent != "" {
			help += " (default " + s.absent + ")"
		}
		flags.Var(&flagValue{text: s.fallback, kind: s.kind}, s.flag(), help)
	}
}

// LoadConfig takes each setting from the flag, else from the variable in environ (in the form of os.Environ), else from
// the file that --config names, else from its default. The error has one line for every value that is not allowed.
// Warnings name variables that look like settings but are none.
func LoadConfig(flags *pflag.FlagSet, environ []string) (config Config, warnings []string, err error) {
	variables := holdcoVariables(environ)
	file, err := readFile(flags)
	if err != nil {
		return Config{}, nil, err
	}

	var problems []error
	for _, s := range settings {
		value, origin := s.fallback, ""
		if inFile, ok := file.values[s.name]; ok {
			value, origin = inFile, s.name+" in "+file.path
		}
		if variable, ok := variables[s.variable()]; ok {
			value, origin = variable, s.variable()
		}
		if flag := flags.Lookup(s.flag()); flag != nil && flag.Changed {
			value, origin = flag.Value.String(), "--"+s.flag()
		}
		if origin == "" && s.fallback == "" {
			continue
		}
		if !s.set(&config, value) {
			problems = append(problems, fmt.Errorf("%s must be %s; it is %s", origin, s.allowed, s.show(value)))
		}
	}
	if config.Traces, err = tracing.Configured(environ); err != nil {
		problems = append(problems, err)
	}
	if config.BackupDir != "" && config.Database.SQLite == Memory {
		problems = append(problems, errors.New("HOLDCO_BACKUP_DIR does not go with sqlite::memory:, which cannot be copied"))
	}
	switch {
	case config.isPooled() && config.Database.Postgres == "":
		problems = append(problems, errors.New("HOLDCO_DATABASE_POOLER=transaction goes with a HOLDCO_DATABASE_URL of Postgres alone"))
	case config.DatabaseDirect != "" && !config.isPooled():
		problems = append(problems, errors.New("HOLDCO_DATABASE_MIGRATE_URL goes with HOLDCO_DATABASE_POOLER=transaction alone"))
	}
	if problems != nil {
		return Config{}, nil, errors.Join(problems...)
	}
	if config.Database == (Database{}) {
		config.Database.SQLite = filepath.Join(config.DataDir, "holdco.db")
	}
	if config.KeyFile == "" {
		config.KeyFile = filepath.Join(config.DataDir, "key")
	}
	config.LongestStop, config.StreamPace = longestStop, rest.UsualPace
	return config, unknown(variables), nil
}

const (
	configFlag     = "config"
	variablePrefix = "HOLDCO_"
	testPrefix     = "HOLDCO_TEST_" // read by the tests alone
)

func (s setting) variable() string { return variablePrefix + strings.ToUpper(s.name) }
func (s setting) flag() string     { return strings.ReplaceAll(s.name, "_", "-") }

// show spells a value for an error, without secrets.
func (s setting) show(value string) string {
	const hidden = "a value that is not shown, for it may be secret"
	parsed, err := url.Parse(value)
	switch {
	case s.secret || strings.Contains(strings.ToLower(value), "password"):
		return hidden
	case !strings.Contains(value, "@"):
		return fmt.Sprintf("%q", value)
	case err != nil || parsed.User == nil || strings.Count(value, "@") > 1:
		return hidden
	}
	return fmt.Sprintf("%q", parsed.Redacted())
}

// configFile is what a file of settings says.
type configFile struct {
	path   string
	values map[string]string // by the name of the setting
}

// readFile reads the file that --config names, if it names one.
func readFile(flags *pflag.FlagSet) (configFile, error) {
	named := flags.Lookup(configFlag)
	if named == nil || !named.Changed {
		return configFile{}, nil
	}
	file := configFile{path: named.Value.String(), values: map[string]string{}}
	read, err := os.ReadFile(file.path)
	if err != nil {
		return file, fmt.Errorf("--%s names a file that cannot be read: %w", configFlag, err)
	}
	var entries map[string]yaml.Node
	if err := yaml.Unmarshal(read, &entries); err != nil {
		return file, fmt.Errorf("%s is not a YAML file of settings: %w", file.path, err)
	}

	names := make([]string, len(settings))
	for i, s := range settings {
		names[i] = s.name
	}
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		value, ok := plain(entries[key])
		switch {
		case !slices.Contains(names, key):
			nearest, _ := text.Nearest(key, names)
			problems = append(problems, fmt.Errorf("%s has the unknown key %s; the nearest is %s", file.path, key, nearest))
		case !ok:
			problems = append(problems, fmt.Errorf("%s in %s must be one value, or a list of values", key, file.path))
		}
		file.values[key] = value
	}
	return file, errors.Join(problems...)
}

// plain returns a value as it was written, and the values of a list with commas between them.
func plain(node yaml.Node) (text string, ok bool) {
	switch {
	case node.Kind == yaml.ScalarNode && node.Tag != "!!null":
		return node.Value, true
	case node.Kind == yaml.SequenceNode:
		items := make([]string, len(node.Content))
		for i, item := range node.Content {
			if item.Kind != yaml.ScalarNode {
				return "", false
			}
			items[i] = item.Value
		}
		return strings.Join(items, ","), true
	}
	return "", false
}

// holdcoVariables picks those that are meant for Holdco.
func holdcoVariables(environ []string) map[string]string {
	variables := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, variablePrefix) && !strings.HasPrefix(name, testPrefix) {
			variables[name] = value
		}
	}
	return variables
}

func unknown(variables map[string]string) (warnings []string) {
	names := cli.RemoteVariables()
	for _, s := range settings {
		names = append(names, s.variable())
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if !slices.Contains(names, name) {
			nearest, _ := text.Nearest(name, names)
			warnings = append(warnings, fmt.Sprintf("the variable %s is not known and has no effect; the nearest is %s", name, nearest))
		}
	}
	return warnings
}

// flagValue is a flag that keeps its text and the kind of its value.
type flagValue struct{ text, kind string }

func (v *flagValue) String() string { return v.text }

// Type is what the help calls the value.
func (v *flagValue) Type() string { return v.kind }

// Set takes any text; LoadConfig looks at it, whichever source it comes from.
func (v *flagValue) Set(text string) error {
	v.text = text
	return nil
}
