//go:build packages

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// "make packages-check" packs for this machine and runs these tests, which need root: what reads a package is asked about it.

const top = "../.."

// made returns the one file in dist whose name has a suffix, with its whole path.
func made(t *testing.T, suffix string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(top, "dist", "*"+suffix))
	if err != nil || len(found) != 1 {
		t.Fatalf("%v end with %s in dist, %v", found, suffix, err)
	}
	path, err := filepath.Abs(found[0])
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// run runs a program, which must succeed, in a folder, and returns what it writes.
func run(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = folder
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

// unpacked is the archive in a new folder.
func unpacked(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	run(t, folder, "tar", "-xzf", made(t, ".tar.gz"))
	return filepath.Join(folder, strings.TrimSuffix(filepath.Base(made(t, ".tar.gz")), ".tar.gz"))
}

func TestPackedAgainItIsTheSame(t *testing.T) {
	t.Parallel()
	here, again := filepath.Join(top, "dist"), t.TempDir()
	run(t, top, "make", "packs", "DIST="+again, "BIN="+t.TempDir(), "PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH)
	files := 0
	err := filepath.WalkDir(here, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(here, path)
		if err != nil {
			return err
		}
		files++
		first, err := os.ReadFile(path)
		second, errOfSecond := os.ReadFile(filepath.Join(again, name))
		if !bytes.Equal(first, second) {
			t.Errorf("%s differs: %x and %x", name, sha256.Sum256(first), sha256.Sum256(second))
		}
		return errors.Join(err, errOfSecond)
	})
	if err != nil || files < 8 {
		t.Errorf("%d files, %v", files, err)
	}
	run(t, again, "sha256sum", "--check", "--strict", "SHA256SUMS")
}

// What was unpacked runs in an empty folder, and knows by itself when it is ready.
func TestTheArchiveRuns(t *testing.T) {
	t.Parallel()
	folder := unpacked(t)
	empty := t.TempDir()
	serves(t, func(args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), filepath.Join(folder, "holdco"), args...)
		command.Dir = empty
		return command
	}, "HOLDCO_DATA_DIR="+filepath.Join(empty, "data"))
}

// serves starts a server by a command, asks whether it is ready, and stops it.
func serves(t *testing.T, holdco func(args ...string) *exec.Cmd, environ ...string) {
	t.Helper()
	environ = append(environ, "HOLDCO_API_ADDR=0.0.0.0:"+freePort(t),
		"HOLDCO_DASHBOARD_ADDR=", "HOLDCO_PARTNER_ADDR=", "HOLDCO_GATEWAY_ADDR=")
	var said bytes.Buffer
	server := holdco("serve")
	server.Env, server.Stdout, server.Stderr = environ, &said, &said
	server.SysProcAttr = dieWithTest(server.SysProcAttr)
	server.WaitDelay = time.Minute
	check := func() (string, error) {
		command := holdco("healthcheck")
		command.Env = environ
		out, err := command.CombinedOutput()
		return string(out), err
	}
	before, errBefore := check()
	if exit, ok := errors.AsType[*exec.ExitError](errBefore); !ok || exit.ExitCode() != 1 ||
		!strings.Contains(before, "no server answers") {
		t.Errorf("without a server: %v, %s", errBefore, before)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	var out string
	err := errors.New("never asked")
	for deadline := time.Now().Add(time.Minute); err != nil && time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		out, err = check()
	}
	if err != nil || out != "The server is ready.\n" {
		t.Errorf("%v, %s", err, out)
	}
	if err := errors.Join(server.Process.Signal(syscall.SIGTERM), server.Wait()); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if t.Failed() {
		t.Log(said.String())
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
}

func dieWithTest(attributes *syscall.SysProcAttr) *syscall.SysProcAttr {
	if attributes == nil {
		attributes = &syscall.SysProcAttr{}
	}
	attributes.Pdeathsig = syscall.SIGKILL
	return attributes
}

func TestTheBillNamesWhatTheBinaryHas(t *testing.T) {
	t.Parallel()
	folder := unpacked(t)
	text, err := os.ReadFile(made(t, ".cdx.json"))
	if err != nil {
		t.Fatal(err)
	}
	var bill struct {
		SpecVersion string
		Components  []struct{ Name, Version, Purl string }
	}
	if err := json.Unmarshal(text, &bill); err != nil {
		t.Fatal(err)
	}
	var named []string
	scripts := 0
	for _, c := range bill.Components {
		if want := c.Name + "@" + c.Version; c.Name == "std" || strings.HasPrefix(c.Purl, "pkg:npm/") {
			scripts++
		} else {
			named = append(named, want)
		}
	}
	var linked []string
	licences, err := os.ReadFile(filepath.Join(folder, "THIRD_PARTY_LICENSES"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(run(t, folder, "go", "version", "-m", "holdco")) {
		if words := strings.Fields(line); words[0] == "dep" {
			linked = append(linked, words[1]+"@"+words[2])
			if !bytes.Contains(licences, []byte("\n"+words[1]+" "+words[2]+"\n=")) {
				t.Errorf("there is no licence of %s", words[1])
			}
		}
	}
	slices.Sort(named)
	slices.Sort(linked)
	if !slices.Equal(named, linked) || len(linked) < 50 || scripts < 10 {
		t.Errorf("the bill names %v and %d scripts, the binary has %v", named, scripts, linked)
	}
}

var flagOfHelp = regexp.MustCompile(`(?m)^ +(?:-\w, |    )(--[a-z-]+)`)

func TestTheManualHasEveryCommandAndFlag(t *testing.T) {
	t.Parallel()
	folder := unpacked(t)
	pages := 0
	var visit func(path []string)
	visit = func(path []string) {
		pages++
		page := filepath.Join(folder, "man/man1", strings.Join(append([]string{"holdco"}, path...), "-")+".1")
		complaints := run(t, folder, "sh", "-c", `MANWIDTH=100 LC_ALL=C.UTF-8 man --warnings -l "$1" 2>&1 >"$1.text"`, "sh", page)
		shown, err := os.ReadFile(page + ".text")
		if err != nil || complaints != "" {
			t.Errorf("%s: %v, %s", page, err, complaints)
		}
		help := run(t, folder, "./holdco", append(path, "--help")...)
		own, _, _ := strings.Cut(help, "Global Flags:")
		for _, flag := range flagOfHelp.FindAllStringSubmatch(own, -1) {
			if !strings.Contains(string(shown), flag[1]) {
				t.Errorf("the page of %v has no %s", path, flag[1])
			}
		}
		if strings.Contains(help, "<data dir>/key") && !strings.Contains(string(shown), "<data dir>/key") {
			t.Errorf("the page of %v lacks what the help has in angle brackets", path)
		}
		_, commands, _ := strings.Cut(help, "Available Commands:\n")
		commands, _, _ = strings.Cut(commands, "\n\n")
		for line := range strings.Lines(commands) {
			if name, _, _ := strings.Cut(strings.TrimSpace(line), " "); name != "help" {
				visit(append(slices.Clone(path), name))
			}
		}
	}
	visit(nil)
	if pages < 50 {
		t.Errorf("there are %d commands", pages)
	}
	run(t, folder, "bash", "-n", "completions/holdco.bash")
}

// installed is the package in a new root, and a function that asks dpkg about it.
func installed(t *testing.T) (root string, dpkg func(args ...string) string) {
	t.Helper()
	root = t.TempDir()
	for _, folder := range []string{"var/lib/dpkg/info", "var/lib/dpkg/updates", "var/lib/holdco"} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"var/lib/dpkg/status", "var/lib/holdco/holdco.db"} {
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dpkg = func(args ...string) string {
		t.Helper()
		return run(t, root, "dpkg", append([]string{"--force-script-chrootless", "--root=" + root}, args...)...)
	}
	dpkg("--install", made(t, ".deb"))
	return root, dpkg
}

func TestThePackageIsInstalledAndRemoved(t *testing.T) {
	t.Parallel()
	listed := run(t, top, "dpkg-deb", "-c", made(t, ".deb"))
	for _, line := range []string{
		`-rwxr-xr-x root/root .* \./usr/bin/holdco`, `-rw------- root/root .* \./etc/holdco.env`,
		`-rw-r--r-- root/root .* \./usr/lib/systemd/system/holdco.service`, `-rw-r--r-- root/root .* \./usr/share/man/man1/holdco.1.gz`,
	} {
		if !regexp.MustCompile("(?m)^" + line + "$").MatchString(listed) {
			t.Errorf("there is no %s in\n%s", line, listed)
		}
	}
	root, dpkg := installed(t)
	if text := dpkg("--verify", "holdco"); text != "" {
		t.Errorf("dpkg --verify: %s", text)
	}
	holds := func(name string, want bool) {
		t.Helper()
		if _, err := os.Lstat(filepath.Join(root, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	const settings = "etc/holdco.env"
	if err := os.WriteFile(filepath.Join(root, settings), []byte("HOLDCO_LOG_LEVEL=warn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	dpkg("--install", made(t, ".deb")) // an update keeps what was changed
	if text, err := os.ReadFile(filepath.Join(root, settings)); err != nil || string(text) != "HOLDCO_LOG_LEVEL=warn\n" {
		t.Errorf("%q, %v", text, err)
	}
	dpkg("--remove", "holdco")
	holds("usr/bin/holdco", false)
	holds(settings, true)
	dpkg("--purge", "holdco")
	holds(settings, false)
	holds("var/lib/holdco/holdco.db", true)
}

func TestTheUnitIsInOrderAndShutIn(t *testing.T) {
	t.Parallel()
	root, _ := installed(t)
	const units = "usr/lib/systemd/system"
	for _, withPrograms := range []bool{true, false} {
		if !withPrograms {
			if err := os.RemoveAll(filepath.Join(root, units, "holdco.service.d")); err != nil {
				t.Fatal(err)
			}
		}
		out := run(t, root, "systemd-analyze", "security", "--offline=yes", "--threshold=20", "--no-pager",
			"--root="+root, "holdco.service")
		if _, level, _ := strings.Cut(out, "exposure level"); !strings.Contains(out, "holdco.service") {
			t.Error(out)
		} else {
			t.Logf("with programs of agents %t: exposure%s", withPrograms, strings.TrimSpace(level))
		}
	}
	// It looks for the program on this machine.
	unit := filepath.Join(root, units, "holdco.service")
	text, err := os.ReadFile(unit)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(root, "usr/bin/holdco")
	text = bytes.Replace(text, []byte("ExecStart=holdco "), []byte("ExecStart="+program+" "), 1)
	if err := os.WriteFile(unit, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if out := run(t, root, "systemd-analyze", "verify", "--man=no", unit); out != "" {
		t.Error(out)
	}
}

func TestTheAlertsFire(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(top, filepath.Dir(alerts))
	rules, err := os.ReadFile(filepath.Join(top, alerts))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := os.ReadFile(filepath.Join(folder, "alerts_test.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, alert := range regexp.MustCompile(`- alert: (\w+)`).FindAllSubmatch(rules, -1) {
		fires := fmt.Sprintf(`alertname: %s\n +exp_alerts:\n +- exp_labels`, alert[1])
		if !regexp.MustCompile(fires).Match(tests) {
			t.Errorf("alerts_test.yaml never lets %s fire", alert[1])
		}
	}
	run(t, folder, "promtool", "check", "rules", "alerts.yaml")
	run(t, folder, "promtool", "test", "rules", "alerts_test.yaml")
}

// The image is built, and what is in it serves with nothing else around it.
func TestTheImageServes(t *testing.T) {
	t.Parallel()
	storage := t.TempDir()
	buildah := func(args ...string) string {
		t.Helper()
		options := []string{"--root", storage + "/root", "--runroot", storage + "/run", "--storage-driver", "vfs"}
		return strings.TrimSpace(run(t, top, "buildah", append(options, args...)...))
	}
	buildah("build", "--isolation", "chroot", "--format", "docker", "--build-arg", "TARGETARCH="+runtime.GOARCH, "-f", "Containerfile",
		"-t", "holdco:test", ".")
	var image struct {
		Docker struct {
			Config struct {
				User        string
				Env         []string
				Healthcheck struct{ Test []string }
				Volumes     map[string]struct{}
			} `json:"config"`
		}
	}
	if err := json.Unmarshal([]byte(buildah("inspect", "--type", "image", "holdco:test")), &image); err != nil {
		t.Fatal(err)
	}
	config := image.Docker.Config
	if _, keeps := config.Volumes["/data"]; config.User != "65532:65532" || !keeps ||
		!slices.Equal(config.Healthcheck.Test, []string{"CMD", "/usr/bin/holdco", "healthcheck"}) {
		t.Errorf("%+v", config)
	}
	container := buildah("from", "--quiet", "holdco:test")
	root := buildah("mount", container)
	defer buildah("rm", container)
	serves(t, func(args ...string) *exec.Cmd {
		command := exec.CommandContext(t.Context(), "/usr/bin/holdco", args...)
		command.Dir = "/"
		command.SysProcAttr = &syscall.SysProcAttr{Chroot: root, Credential: &syscall.Credential{Uid: 65532, Gid: 65532}}
		return command
	}, config.Env...)
	if info, err := os.Stat(filepath.Join(root, "data/holdco.db")); err != nil || info.Sys().(*syscall.Stat_t).Uid != 65532 {
		t.Errorf("the store: %+v, %v", info, err)
	}
	if info, err := os.Stat(filepath.Join(root, "etc/ssl/certs/ca-certificates.crt")); err != nil || info.Size() < 10_000 {
		t.Errorf("the certificates: %+v, %v", info, err)
	}
}
