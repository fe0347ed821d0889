package wiring_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// topFolders are the only folders of the project, beside hidden ones and what a build or a run leaves.
var (
	topFolders = []string{"cmd", "domain", "ports", "adapters", "app", "wiring", "testdata"}
	leftovers  = []string{"bin", "data", "dist"}
)

// layer says what the packages in a folder may import beside the standard library. In patterns * stands for one name.
type layer struct {
	folders   []string
	ours      []string // packages of this project
	libraries []string // modules or packages of others, with all that is below them
	inTests   []string // the same, in tests alone
	not       []string // of the standard library, with all that is below; not checked in tests
}

// layers is the architecture. Of several that fit a package the first holds.
var layers = []layer{
	{folders: []string{"domain/text"}, ours: domain, not: impure,
		libraries: []string{"golang.org/x/text", "github.com/mozillazg/go-unidecode", "github.com/agnivade/levenshtein"}},
	{
		folders: []string{"domain/webhook"}, ours: domain, not: impure,
		libraries: []string{"net/url", "net/netip", "golang.org/x/net/idna"}, // which only read and spell
	},
	{
		folders: []string{"domain/lead"}, ours: domain, not: impure,
		libraries: []string{ // which only read and spell
			"net/url", "net/netip", "golang.org/x/net/idna", "golang.org/x/net/publicsuffix", "github.com/nyaruka/phonenumbers",
			"sync", // for a table that is made when it is first needed
		},
	},
	{
		folders: []string{"domain/partner"}, ours: domain, not: impure,
		libraries: []string{"net/url", "net/netip"}, // which only read and spell
	},
	{
		folders: []string{"domain/agent", "domain/anyjson", "domain/cost", "domain/price", "domain/usage"}, ours: domain, not: impure,
		libraries: []string{"github.com/go-json-experiment/json/jsontext"},
		inTests:   []string{"domain/fault/faulttest"},
	},
	{folders: []string{"domain/fault/faulttest"}, ours: domain, libraries: testLibraries},
	{folders: []string{"domain/*"}, ours: domain, not: impure, inTests: []string{"domain/fault/faulttest"}},
	{folders: []string{"ports/storetest", "ports/limitertest", "ports/searchtest"}, ours: slices.Concat(domain, ports),
		libraries: testLibraries},
	{folders: []string{"ports/store"}, ours: slices.Concat(domain, []string{"ports/outbound"}), not: outside}, // its migrator
	{folders: []string{"ports/*"}, ours: domain, not: outside},
	{folders: helpers, ours: domain, not: outside},
	{
		folders: []string{"app/work"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{"adapters/store/sqlite/sqlitetest", "adapters/store/sqlstore", "adapters/system"},
	},
	{
		folders: []string{"app/leases"}, ours: slices.Concat(domain, ports, []string{"app/aside", "app/cache", "app/work"}), not: outside,
		inTests: []string{ // people and agents at work together
			"app/agents", "app/approvals", "app/budgets", "app/companies", "app/costs", "app/goals", "app/issues", "app/prices",
			"app/teams", "app/workflows", "adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/postgres",
			"adapters/store/postgres/postgrestest", "adapters/store/sqlstore", "ports/storetest",
		},
	},
	{
		folders: []string{"app/activity"}, ours: slices.Concat(domain, ports, []string{"app/ahead"}), not: outside,
		inTests: []string{ // a company in which something happens
			"app/cache", "app/companies", "app/issues",
			"adapters/store/sqlite/sqlitetest", "adapters/store/sqlstore", "adapters/system",
		},
	},
	{
		folders: []string{"app/issues", "app/runner"}, ours: slices.Concat(domain, ports, []string{"app/work"}), not: outside,
		inTests: []string{ // agents who hold leases
			"app/agents", "app/cache", "app/companies", "app/issues", "app/leases",
			"adapters/store/sqlite/sqlitetest", "adapters/store/sqlstore", "adapters/system",
		},
	},
	{
		folders: []string{"app/keys"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{"adapters/store/sqlite", "adapters/store/sqlstore", "adapters/system", "adapters/system/vault"}, // its files
	},
	{
		folders: []string{"app/retention"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{ // a log that is chained
			"app/activity", "adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/sqlstore", "adapters/system",
			"ports/storetest",
		},
	},
	{
		folders: []string{"app/replicas"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{"adapters/store/sqlite/sqlitetest", "adapters/store/sqlstore", "ports/storetest"},
	},
	{
		folders: []string{"app/doctor"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{ // a company at work, and what is beside its store
			"app/activity", "app/agents", "app/backups", "app/cache", "app/companies", "app/costs", "app/deliveries", "app/goals",
			"app/issues", "app/keys", "app/leases", "app/retention", "app/secrets", "app/teams", "app/tokens", "app/webhooks", "app/work",
			"app/workflows",
			"adapters/archive", "adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/postgres",
			"adapters/store/postgres/postgrestest", "adapters/store/sqlstore", "adapters/system", "adapters/system/vault",
			"adapters/system/workspaces",
			"ports/storetest",
		},
	},
	{
		folders: []string{"app/backups"}, ours: slices.Concat(domain, ports, []string{"app/work"}), not: outside,
		inTests: []string{ // whole backups
			"app/doctor", "adapters/archive", "adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/postgres",
			"adapters/store/postgres/postgrestest", "adapters/store/sqlstore", "adapters/system", "adapters/system/vault",
			"adapters/system/workspaces", "ports/storetest", "filippo.io/age", "github.com/klauspost/compress", pgx,
		},
	},
	{
		folders: []string{"app/moves"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{ // whole stores
			"adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/postgres", "adapters/store/postgres/postgrestest",
			"adapters/store/sqlstore", "adapters/system", "ports/storetest", pgx,
		},
	},
	{
		folders: []string{"app/demo"}, ours: slices.Concat(domain, ports), not: outside,
		inTests: []string{ // a company at work, in the past
			"app/agents", "app/approvals", "app/budgets", "app/cache", "app/companies", "app/doctor", "app/goals", "app/issues",
			"app/leases", "app/work", "app/workflows",
			"adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/postgres",
			"adapters/store/postgres/postgrestest", "adapters/store/sqlstore", "adapters/system",
		},
	},
	{
		folders: []string{"app/companies"}, ours: slices.Concat(domain, ports, helpers, []string{"app/work"}), not: outside,
		inTests: []string{ // several servers remove one company
			"adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/postgres", "adapters/store/postgres/postgrestest",
			"adapters/store/sqlstore", "adapters/system",
		},
	},
	{
		folders: []string{"app/*"}, not: outside,
		ours:    slices.Concat(domain, ports, helpers, []string{"app/work"}),
		inTests: []string{"adapters/store/sqlite", "adapters/store/sqlite/sqlitetest", "adapters/store/sqlstore", "adapters/system"},
	},

	{
		folders: []string{"adapters/http/httpkit"}, ours: slices.Concat(domain, driving),
		libraries: []string{gin, "github.com/go-json-experiment/json", "github.com/klauspost/compress", yaml},
	},
	{
		folders: []string{"adapters/http/rest"}, ours: slices.Concat(domain, driving, []string{"adapters/http/httpkit"}),
		libraries: []string{gin, yaml},
		inTests:   []string{"adapters/http/rest/resttest", "adapters/http/apitest", openapi},
	},
	{
		folders: []string{"adapters/http/gateway"},
		ours:    slices.Concat(domain, driving, []string{"adapters/http/httpkit", "adapters/http/rest"}), // it shows resources of both
		libraries: []string{
			gin, "github.com/modelcontextprotocol/go-sdk/mcp", "github.com/modelcontextprotocol/go-sdk/jsonrpc",
			"github.com/go-json-experiment/json/jsontext",
		},
		inTests: []string{"adapters/http/rest/resttest", "adapters/http/apitest"},
	},
	{
		folders: []string{"adapters/http/partner"},
		ours: slices.Concat(domain, driving,
			[]string{"adapters/http/httpkit", "adapters/leads/leadcsv", "adapters/leads/leadjson"}),
		libraries: []string{gin},
		inTests:   []string{"adapters/http/partner/partnertest", "adapters/http/apitest", openapi, "github.com/klauspost/compress"},
	},
	{
		folders: []string{"adapters/http/partner/partnertest"}, ours: slices.Concat(domain,
			[]string{"adapters/http/apitest"}), libraries: testLibraries,
	},
	{
		folders: []string{"adapters/http/docs"}, ours: []string{"adapters/http/httpkit"},
		inTests: []string{"adapters/http/browsertest", "adapters/system/processtest", "github.com/chromedp", yaml},
	},
	{
		folders: []string{"adapters/http/browsertest"}, ours: []string{"adapters/system/processtest"},
		libraries: slices.Concat(testLibraries, []string{"github.com/chromedp"}),
	},
	{
		folders: []string{"adapters/http/rest/resttest"}, ours: slices.Concat(domain,
			[]string{"adapters/http/rest", "adapters/http/apitest"}),
		libraries: testLibraries,
	},
	{folders: []string{"adapters/http/apitest"}, libraries: slices.Concat(testLibraries, []string{openapi})},
	{
		folders: []string{"adapters/dashboard"}, ours: slices.Concat(domain, driving, []string{"adapters/http/httpkit"}),
		libraries: []string{gin},
	},
	{
		folders: []string{"adapters/dashboard/browsertest"}, ours: []string{"adapters/http/browsertest"},
		libraries: slices.Concat(testLibraries, []string{"github.com/chromedp"}),
	},
	{
		folders: []string{"adapters/cli"}, ours: slices.Concat(domain, driving, []string{"adapters/client"}),
		libraries: []string{"github.com/spf13", "github.com/schollz/progressbar/v3", "golang.org/x/sys", "golang.org/x/term"},
	},
	{folders: []string{"adapters/client"}, ours: slices.Concat(domain, []string{"ports/inbound"})},
	{
		folders: []string{"adapters/leads/importer"}, ours: slices.Concat(domain, driving),
		libraries: []string{
			"github.com/go-json-experiment/json/jsontext", "golang.org/x/text/encoding",
		},
	},
	{folders: []string{"adapters/leads/leadjson"}, ours: domain, libraries: []string{"github.com/go-json-experiment/json/jsontext"}},
	{
		folders: []string{"adapters/leads/leadcsv"}, ours: slices.Concat(domain, []string{"adapters/leads/leadjson"}),
		libraries: []string{"github.com/go-json-experiment/json/jsontext"},
		inTests:   []string{"adapters/leads/importer", "ports/inbound"},
	},
	{
		folders:   []string{"adapters/leads/samples"},
		ours:      slices.Concat(domain, []string{"adapters/leads/importer", "adapters/leads/leadjson"}),
		libraries: []string{"github.com/brianvoe/gofakeit/v7"},
	},

	{
		folders: []string{"adapters/store/sqlstore"}, ours: slices.Concat(domain, ports,
			[]string{"adapters/leads/leadjson"}), libraries: []string{bun, goose},
		inTests: []string{"ports/storetest", "adapters/store/sqlite", "adapters/store/postgres", "adapters/store/postgres/postgrestest"},
	},
	{
		folders: []string{"adapters/store/sqlite"}, ours: slices.Concat(domain, ports,
			[]string{"adapters/store/sqlstore", "adapters/system/partial"}),
		libraries: []string{bun, goose, "modernc.org/sqlite", "github.com/gofrs/flock", "golang.org/x/sys"},
		inTests:   []string{"ports/storetest", "adapters/store/sqlite/sqlitetest", "adapters/system/processtest"},
	},
	{folders: []string{"adapters/store/sqlite/sqlitetest"}, ours: []string{"adapters/store/sqlite"}, libraries: testLibraries},
	{
		folders: []string{"adapters/store/postgres"}, ours: slices.Concat(domain, ports, []string{"adapters/store/sqlstore"}),
		libraries: []string{bun, goose, pgx, "golang.org/x/sync", "github.com/go-json-experiment/json/jsontext"},
		inTests:   []string{"ports/storetest", "adapters/store/postgres/postgrestest"},
	},
	{
		folders:   []string{"adapters/store/postgres/postgrestest"},
		ours:      []string{"adapters/store/postgres", "adapters/store/sqlstore", "adapters/system/processtest"},
		libraries: slices.Concat(testLibraries, []string{pgx, "golang.org/x/sys"}),
	},
	{
		folders: []string{"adapters/leads/leadindex"}, ours: slices.Concat(domain, ports), libraries: []string{roaring},
		inTests: []string{
			"ports/searchtest", "ports/storetest",
			"adapters/store/sqlite/sqlitetest", "adapters/store/postgres", "adapters/store/postgres/postgrestest",
			"adapters/store/sqlstore",
		},
	},
	{folders: []string{"adapters/limits/memlimit"}, ours: slices.Concat(domain, ports), inTests: []string{"ports/limitertest"}},
	{
		folders: []string{"adapters/limits/redislimit"}, ours: slices.Concat(domain, ports), libraries: []string{redis},
		inTests: []string{"ports/limitertest", "adapters/limits/redislimit/redistest", "adapters/limits/memlimit", "adapters/system"},
	},
	{
		folders: []string{"adapters/limits/redislimit/redistest"}, ours: []string{"adapters/system/processtest"},
		libraries: slices.Concat(testLibraries, []string{redis}),
	},
	{
		folders: []string{"adapters/telemetry/metrics"}, ours: slices.Concat(domain, ports,
			[]string{"adapters/http/httpkit", "adapters/store/sqlstore"}),
		libraries: []string{prometheus},
	},
	{
		folders: []string{"adapters/telemetry/tracing"}, ours: slices.Concat(domain, ports,
			[]string{"adapters/http/httpkit", "adapters/store/sqlstore"}),
		libraries: []string{otel},
		inTests:   []string{otlp, protobuf},
	},
	{folders: []string{"adapters/scriptedmodel"}},
	{
		folders: []string{"adapters/archive"}, ours: slices.Concat(domain, ports, []string{"adapters/system/partial"}),
		libraries: []string{"filippo.io/age", "github.com/klauspost/compress"},
	},
	{
		folders: []string{"adapters/system/partial"}, ours: slices.Concat(domain, ports, []string{"adapters/system"}),
		libraries: []string{"github.com/gofrs/flock", "golang.org/x/sys"},
	},
	{folders: []string{"adapters/system"}, ours: slices.Concat(domain, ports), libraries: []string{"github.com/google/uuid"}},
	{folders: []string{"adapters/system/processtest"}, libraries: testLibraries},
	{folders: []string{"adapters/system/vault"}, ours: slices.Concat(domain, ports), libraries: []string{"github.com/gofrs/flock"}},
	{
		folders: []string{"adapters/posting"}, ours: slices.Concat(domain, ports),
		libraries: []string{
			"code.dny.dev/ssrf", "github.com/standard-webhooks/standard-webhooks/libraries", "github.com/go-json-experiment/json",
		},
		inTests: []string{"golang.org/x/net"},
	},
	{folders: []string{"adapters/system/workspaces"}, ours: slices.Concat(domain, ports, []string{"adapters/system/partial"})},
	{
		folders: []string{"adapters/programs"}, ours: slices.Concat(domain, ports),
		libraries: []string{"github.com/gofrs/flock", "golang.org/x/sys"},
		inTests:   []string{"adapters/system/processtest"},
	},

	{
		folders: []string{"wiring"}, ours: []string{"domain/*", "ports/*", "app/*", "adapters/*", "adapters/*/*"},
		libraries: []string{
			"github.com/google/wire", "github.com/spf13/pflag", yaml, "github.com/lmittmann/tint", "golang.org/x/term", "golang.org/x/sync",
		},
		inTests: []string{
			"adapters/http/rest/resttest", "adapters/http/partner/partnertest", roaring,
			"adapters/store/sqlite/sqlitetest", "adapters/store/postgres/postgrestest", "adapters/limits/redislimit/redistest",
			"adapters/http/browsertest", "adapters/dashboard/browsertest", "adapters/system/processtest", openapi,
			"github.com/modelcontextprotocol/go-sdk/mcp", "github.com/google/jsonschema-go/jsonschema",
			"github.com/standard-webhooks/standard-webhooks", "github.com/chromedp",
			"github.com/prometheus/common", "github.com/prometheus/client_model", otlp, protobuf,
			"github.com/creack/pty", "golang.org/x/sys",
		},
	},
	{folders: []string{"cmd/holdco"}, ours: []string{"wiring", "adapters/cli"}},
	{folders: []string{"cmd/pack"}, libraries: []string{"github.com/CycloneDX/cyclonedx-go", "github.com/google/uuid"}},
}

var (
	domain = []string{"domain/*"}
	ports  = []string{"ports/inbound", "ports/outbound", "ports/store"}

	// driving are the ports of those who drive Holdco: they do not reach past it into the store.
	driving = []string{"ports/inbound", "ports/outbound"}

	// testLibraries are the libraries that every test may use.
	testLibraries = []string{"testing", "github.com/google/go-cmp", "pgregory.net/rapid", "github.com/rogpeppe/go-internal"}

	// helpers are those of use cases; they are none themselves.
	helpers = []string{"app/ahead", "app/aside", "app/cache", "app/retries"}

	// outside is what only adapters touch; impure, what in addition is nothing for rules.
	outside = []string{"crypto/rand", "database/sql", "io/fs", "log", "math/rand", "net", "os"}
	impure  = append([]string{"context", "sync"}, outside...)
)

const (
	gin     = "github.com/gin-gonic/gin"
	bun     = "github.com/uptrace/bun"
	goose   = "github.com/pressly/goose/v3"
	pgx     = "github.com/jackc/pgx/v5"
	redis   = "github.com/redis/go-redis/v9"
	roaring = "github.com/RoaringBitmap/roaring/v2"
	openapi = "github.com/getkin/kin-openapi"
	yaml    = "go.yaml.in/yaml/v3"

	prometheus = "github.com/prometheus/client_golang"
	otel       = "go.opentelemetry.io/otel"
	otlp       = "go.opentelemetry.io/proto/otlp"
	protobuf   = "google.golang.org/protobuf"
)

const root = ".."

func TestEveryPackageImportsOnlyWhatItsLayerMay(t *testing.T) {
	t.Parallel()
	files := 0
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules" ||
			len(entry.Name()) > 2 && entry.Name()[0] == '.') {
			return fs.SkipDir
		}
		if entry.IsDir() || filepath.Ext(file) != ".go" {
			return nil
		}
		files++
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		if err != nil {
			return err
		}
		for _, spec := range parsed.Imports {
			imported, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if problem := refuse(filepath.ToSlash(folder), strings.HasSuffix(file, "_test.go"), imported); problem != "" {
				t.Errorf("%s: %s", strings.TrimPrefix(file, root+"/"), problem)
			}
		}
		return nil
	})
	if err != nil || files == 0 {
		t.Errorf("%d files, %v", files, err)
	}
}

func TestEachPackageIsInTheListOfFolders(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile(root + "/ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, list, _ := strings.Cut(string(document), "What each folder holds:")
	list, _, _ = strings.Cut(list, "\n\nPackages whose names end in")
	isUsed := map[string]bool{} // by folder
	for _, folder := range quoted(list) {
		if strings.Contains(folder, "/") || slices.Contains(topFolders, folder) {
			isUsed[folder] = false
		}
	}
	for _, one := range packagesOf(t) {
		folder := one
		for folder != "." {
			if _, isListed := isUsed[folder]; isListed {
				break
			}
			folder = path.Dir(folder)
		}
		if folder == "." {
			t.Errorf("%s is in no item of ARCHITECTURE.md", one)
		}
		isUsed[folder] = true
	}
	for folder, used := range isUsed {
		if !used {
			t.Errorf("%s is in ARCHITECTURE.md, but has no package", folder)
		}
	}
}

// quoted returns what stands between backquotes.
func quoted(text string) []string {
	parts := []string{}
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 {
			parts = append(parts, part)
		}
	}
	return parts
}

// packagesOf returns the folders that hold packages.
func packagesOf(t *testing.T) []string {
	t.Helper()
	var packages []string
	for _, top := range topFolders {
		err := filepath.WalkDir(filepath.Join(root, top), func(file string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || filepath.Ext(file) != ".go" {
				return err
			}
			folder, err := filepath.Rel(root, filepath.Dir(file))
			if folder = filepath.ToSlash(folder); !slices.Contains(packages, folder) {
				packages = append(packages, folder)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return packages
}

func TestTheTopLevelIsFixed(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		name := entry.Name()
		if entry.IsDir() && name[0] != '.' && !slices.Contains(topFolders, name) && !slices.Contains(leftovers, name) {
			t.Errorf("%s is a new folder at the top; the top level is %v", name, topFolders)
		}
	}
}

func TestTheLayersRefuseAWrongImport(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		folder, imported    string
		allowed, allowedToo bool // in the package, in its tests
	}{
		{"domain/company", "holdco/domain/team", true, true},
		{"domain/company", "holdco/ports/store", false, false},
		{"domain/company", "context", false, true},
		{"domain/company", "golang.org/x/text/cases", false, false},
		{"domain/text", "golang.org/x/text/cases", true, true},
		{"domain/money", "pgregory.net/rapid", false, true},
		{"ports/store", "holdco/domain/company", true, true},
		{"ports/store", "holdco/ports/inbound", false, false},
		{"ports/storetest", "holdco/ports/store", true, true},
		{"app/companies", "holdco/ports/store", true, true},
		{"app/companies", "holdco/app/tokens", false, false},
		{"app/companies", "holdco/app/cache", true, true},
		{"app/cache", "holdco/ports/store", false, false},
		{"app/companies", "holdco/adapters/store/sqlite", false, true},
		{"app/companies", "holdco/adapters/store/postgres", false, true},
		{"app/teams", "holdco/adapters/store/postgres", false, false},
		{"app/companies", "holdco/ports/storetest", false, false},
		{"app/companies", "math/rand/v2", false, true},
		{"app/companies", "net/http", false, true},
		{"adapters/http/rest", "holdco/adapters/http/httpkit", true, true},
		{"adapters/http/rest", "holdco/adapters/http/rest/resttest", false, true},
		{"adapters/http/rest", "holdco/adapters/store/sqlstore", false, false},
		{"adapters/http/rest", "holdco/app/companies", false, false},
		{"adapters/http/partner", "holdco/ports/store", false, false},
		{"adapters/cli", "holdco/adapters/client", true, true},
		{"adapters/client", "holdco/ports/inbound", true, true},
		{"adapters/client", "holdco/ports/outbound", false, false},
		{"adapters/http/gateway", "holdco/adapters/http/rest", true, true},
		{"adapters/http/rest", "holdco/adapters/http/gateway", false, false},
		{"ports/inbound", "holdco/ports/store", false, false},
		{"adapters/http/rest", "github.com/gin-gonic/gin/binding", true, true},
		{"adapters/store/sqlite", "holdco/ports/storetest", false, true},
		{"adapters/store/sqlite", "github.com/jackc/pgx/v5/pgconn", false, false},
		{"adapters/store/postgres", "modernc.org/sqlite", false, false},
		{"adapters/limits/redislimit", "holdco/adapters/limits/memlimit", false, true},
		{"adapters/limits/memlimit", "github.com/redis/go-redis/v9", false, false},
		{"adapters/store/sqlstore", "holdco/adapters/store/sqlite", false, true},
		{"adapters/store/sqlstore", "modernc.org/sqlite", false, false},
		{"adapters/store/sqlstore", "github.com/gin-gonic/gin", false, false},
		{"adapters/system/workspaces", "testing", false, true},
		{"wiring", "holdco/app/companies", true, true},
		{"wiring", "holdco/adapters/store/postgres/postgrestest", false, true},
		{"wiring", "holdco/ports/storetest", false, false},
		{"wiring", "github.com/gin-gonic/gin", false, false},
		{"wiring", "holdco/cmd/holdco", false, false},
		{"cmd/holdco", "holdco/wiring", true, true},
		{"cmd/holdco", "holdco/domain/access", false, false},
		{"cmd/other", "fmt", false, false},
		{"adapters/new", "fmt", false, false},
		{"domain/company/parts", "fmt", false, false},
	} {
		if problem := refuse(c.folder, false, c.imported); (problem == "") != c.allowed {
			t.Errorf("%s imports %s: %q", c.folder, c.imported, problem)
		}
		if problem := refuse(c.folder, true, c.imported); (problem == "") != c.allowedToo {
			t.Errorf("a test of %s imports %s: %q", c.folder, c.imported, problem)
		}
	}
}

// refuse says why a package, or its tests, may not import what they do; "" when they may.
func refuse(folder string, test bool, imported string) string {
	at := slices.IndexFunc(layers, func(l layer) bool { return fits(folder, l.folders) })
	if at < 0 {
		return "the folder is unknown; give it a line in wiring/architecture_test.go"
	}
	l := layers[at]
	name, ours := strings.CutPrefix(imported, "holdco/")
	standard := !ours && !strings.Contains(strings.Split(imported, "/")[0], ".")
	switch {
	case test && (name == folder || fits(name, l.inTests) || below(imported, l.inTests) || below(imported, testLibraries)):
		return ""
	case ours && fits(name, l.ours), below(imported, l.libraries):
		return ""
	case standard && (test || !below(imported, l.not) && !below(imported, []string{"testing"})):
		return ""
	}
	return "must not import " + imported + "; see the layers in wiring/architecture_test.go"
}

// fits reports whether a package of ours matches one of the patterns. Packages for tests match only by their names.
func fits(name string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		matched, _ := path.Match(pattern, name)
		return matched && (pattern == name || !forTests(name))
	})
}

func forTests(name string) bool { return strings.HasSuffix(name, "test") }

// below reports whether a package is one of those named or lies below one.
func below(imported string, named []string) bool {
	return slices.ContainsFunc(named, func(one string) bool {
		return imported == one || strings.HasPrefix(imported, one+"/")
	})
}
