package wiring_test

import (
	"bufio"
	"context"
	"io"
	"log"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"holdco/adapters/cli"
	"holdco/adapters/system/processtest"
	"holdco/wiring"
)

// TestMain lets the test binary be the program too: commands that scripts and tests start as "holdco" run holdco.
func TestMain(m *testing.M) {
	if commands[filepath.Base(os.Args[0])] == nil {
		processtest.Setup()
	}
	testscript.Main(m, commands)
}

// commands are the programs that the test binary can be, by the names under which it is started.
var commands = map[string]func(){"holdco": holdco, "ask": askGateway}

// askGateway sends a request to the gateway as the program of an agent does: METHOD PATH [BODY]. It fails unless the answer is a success.
func askGateway() {
	body := ""
	if len(os.Args) > 3 {
		body = os.Args[3]
	}
	url := os.Getenv("HOLDCO_GATEWAY_URL") + os.Args[2]
	request, err := http.NewRequestWithContext(context.Background(), os.Args[1], url, strings.NewReader(body))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+os.Getenv("HOLDCO_AGENT_TOKEN"))
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode >= http.StatusBadRequest {
		log.Fatal(answer.Status)
	}
}

func holdco() {
	processtest.EndWithParent()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	program := wiring.Program(version)
	os.Exit(cli.Run(ctx, program, os.Args[1:], os.Stdout, os.Stderr))
}

// process is holdco as a process of its own, which can be killed.
type process struct {
	*exec.Cmd
	url, exportURL, gatewayURL string

	log record
}

// unlimited lets tests make as many requests as they like.
var unlimited = []string{"HOLDCO_RATE_READ=off", "HOLDCO_RATE_WRITE=off", "HOLDCO_RATE_COSTLY=off", "HOLDCO_RATE_PARTNER=off",
	"HOLDCO_RATE_GATEWAY=off"}

// anyPorts are addresses that nobody else has.
var anyPorts = []string{"HOLDCO_API_ADDR=127.0.0.1:0", "HOLDCO_DASHBOARD_ADDR=127.0.0.1:0", "HOLDCO_PARTNER_ADDR=127.0.0.1:0",
	"HOLDCO_GATEWAY_ADDR=127.0.0.1:0"}

// startProcess starts a server and waits until it accepts connections. It is killed at the end of the test.
func startProcess(t *testing.T, environ ...string) *process {
	t.Helper()
	p := &process{}
	p.start(t, io.MultiWriter(t.Output(), &p.log), environ...)
	return p
}

// start is startProcess for a server that logs elsewhere.
func (p *process) start(t *testing.T, log io.Writer, environ ...string) {
	t.Helper()
	command := exec.Command("holdco", "serve")
	command.Env = slices.Concat(os.Environ(), unlimited, []string{"HOLDCO_LOG_LEVEL=error"}, environ,
		anyPorts, []string{"HOLDCO_ADMIN_TOKEN=" + string(rootToken)})
	p.Cmd, command.Stderr = command, log
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.kill)

	const announcement, exports = "The API listens on ", "The export API for partners listens on "
	const agents = "The gateway for agents listens on "
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		if rest, found := strings.CutPrefix(lines.Text(), announcement); found {
			p.url, _, _ = strings.Cut(rest, " ")
			return
		}
		if rest, found := strings.CutPrefix(lines.Text(), exports); found {
			p.exportURL, _, _ = strings.Cut(rest, " ")
		}
		if rest, found := strings.CutPrefix(lines.Text(), agents); found {
			p.gatewayURL, _, _ = strings.Cut(rest, " ")
		}
	}
	t.Fatal("the server ended before it accepted connections")
}

// kill ends the process the hard way.
func (p *process) kill() {
	if p.ProcessState == nil {
		_ = p.Process.Kill()
		_ = p.Wait()
	}
}
