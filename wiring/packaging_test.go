package wiring_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	yamlfile "go.yaml.in/yaml/v3"
)

// What is shipped beside the program sets variables that it knows, to values that it takes.
func TestTheFilesOfPackagesSetWhatThereIs(t *testing.T) {
	t.Parallel()
	assignment := regexp.MustCompile(`(?m)(?:^#?|^Environment=|^ENV |^ +)(HOLDCO_[A-Z_]+=[^\s\\]+)`)
	for file, least := range map[string]int{"Containerfile": 5, ".packaging/holdco.env": 5, ".packaging/holdco.service": 1} {
		text, err := os.ReadFile(root + "/" + file)
		must(t, err)
		var environ []string
		for _, found := range assignment.FindAllSubmatch(text, -1) {
			environ = append(environ, string(found[1]))
		}
		if _, warnings, err := load(t, nil, "", environ...); err != nil || warnings != nil || len(environ) < least ||
			len(environ) < strings.Count(string(text), "HOLDCO_") {
			t.Errorf("%s sets %q: %v, %v", file, environ, warnings, err)
		}
	}
}

func TestTheFileOfComposeIsInOrder(t *testing.T) {
	t.Parallel()
	type service struct {
		Image, Restart string
		StopGrace      string                       `yaml:"stop_grace_period"`
		DependsOn      map[string]map[string]string `yaml:"depends_on"`
		Health         struct{ Test []string }      `yaml:"healthcheck"`
		Environment    map[string]string            `yaml:"environment"`
		Volumes, Ports []string
		Rest           map[string]any `yaml:",inline"`
	}
	text, err := os.ReadFile(root + "/compose.yaml")
	must(t, err)
	var file struct {
		Services map[string]service
		Volumes  map[string]any
		Rest     map[string]any `yaml:",inline"`
	}
	must(t, yamlfile.Unmarshal(text, &file))
	if len(file.Services) != 2 || len(file.Rest) != 0 {
		t.Errorf("%+v", file)
	}
	for name, s := range file.Services {
		if s.Restart != "unless-stopped" || s.StopGrace != "40s" || s.Image == "" {
			t.Errorf("%s: %+v", name, s)
		}
		volume, _, _ := strings.Cut(strings.Join(s.Volumes, " "), ":")
		if _, isNamed := file.Volumes[volume]; !isNamed || len(s.Rest) > 0 {
			t.Errorf("%s: %s is no volume, or %v is not known", name, volume, s.Rest)
		}
	}
	var environ []string
	const password = "${POSTGRES_PASSWORD:?is not set}"
	for name, value := range file.Services["holdco"].Environment {
		environ = append(environ, name+"="+strings.ReplaceAll(value, password, "s3cret"))
	}
	config, warnings, err := load(t, nil, "", environ...)
	if err != nil || warnings != nil || config.Database.Postgres != "postgres://holdco:s3cret@postgres/holdco" {
		t.Errorf("%+v, %v, %v", config.Database, warnings, err)
	}
	database := file.Services["postgres"]
	if file.Services["holdco"].DependsOn["postgres"]["condition"] != "service_healthy" || len(database.Health.Test) == 0 ||
		database.Environment["POSTGRES_USER"] != "holdco" || database.Environment["POSTGRES_PASSWORD"] != password {
		t.Errorf("%+v", database)
	}
}

func TestTheHealthCheckAsksWhetherTheServerIsReady(t *testing.T) {
	t.Parallel()
	s := startOnSQLite(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	must(t, closed.Close())
	answering := func(body string) string {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(server.Close)
		return hostPort(server.URL)
	}
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = silent.Close() })
	_, port, err := net.SplitHostPort(hostPort(s.url))
	must(t, err)
	for _, c := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"ready", []string{"--api-addr", hostPort(s.url)}, 0, "The server is ready.\n"},
		{"on every address", []string{"--api-addr", ":" + port}, 0, "The server is ready.\n"},
		{"on every address of IPv4", []string{"--api-addr", "0.0.0.0:" + port}, 0, "The server is ready.\n"},
		{
			"the gateway alone", []string{"--api-addr=", "--dashboard-addr=", "--gateway-addr", hostPort(s.gatewayURL)}, 0,
			"The server is ready.\n",
		},
		{"nothing listens", []string{"--api-addr", closed.Addr().String()}, 1, "holdco: no server answers at " + closed.Addr().String()},
		{"nothing answers", []string{"--api-addr", silent.Addr().String()}, 1, "holdco: no server answers at " + silent.Addr().String()},
		{
			"not ready", []string{"--api-addr", answering(`{"error":{"code":"unavailable","message":"The store does not answer."}}`)}, 1,
			"is not ready: The store does not answer.",
		},
		{"a full disk", []string{"--api-addr", answering(`{"status":"disk_low"}`)}, 1, "is not ready: disk_low"},
		{"another server", []string{"--api-addr", answering("<html>")}, 1, "is no server of Holdco: 503"},
		{"no listener", []string{"--api-addr=", "--dashboard-addr=", "--gateway-addr=", "--partner-addr="}, 1, "has no listener to ask"},
		{"a bad value", []string{"--api-addr", "here"}, 2, "--api-addr must be HOST:PORT"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), "holdco", append([]string{"healthcheck"}, c.args...)...)
			command.Env = slices.Concat(os.Environ(), []string{"HTTP_PROXY=http://127.0.0.1:1"})
			command.WaitDelay = time.Minute
			out, _ := command.CombinedOutput()
			if command.ProcessState.ExitCode() != c.code || !strings.Contains(string(out), c.says) {
				t.Errorf("%d: %s", command.ProcessState.ExitCode(), out)
			}
		})
	}
}

func hostPort(url string) string { return strings.TrimPrefix(url, "http://") }
