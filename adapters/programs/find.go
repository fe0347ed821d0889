package programs

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"holdco/ports/outbound"
)

var _ outbound.ProgramFinder = (*Programs)(nil)

// Bounds of what a program may do when it is asked for its version.
const (
	versionTimeout = 20 * time.Second
	mostVersion    = 4 << 10 // bytes of its output that are kept
	longestVersion = 200     // characters
)

// Find implements outbound.ProgramFinder.
func (p *Programs) Find(name string, variables map[string]string) (string, error) {
	return lookUp(name, with(variables)["PATH"], p.dataDir)
}

// with are the variables that every program has, and more.
func with(variables map[string]string) map[string]string {
	all := inheritedVariables()
	maps.Copy(all, variables)
	return all
}

// Version implements outbound.ProgramFinder.
func (p *Programs) Version(ctx context.Context, path string, variables map[string]string) (string, error) {
	name := filepath.Base(path)
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, path, "--version")
	command.Env, command.Dir = pairs(with(variables)), os.TempDir()
	command.WaitDelay = time.Second // for what it left running with its output open
	killedWhole(command)
	said := &beginning{}
	command.Stdout, command.Stderr = said, said
	err := command.Run()
	var exit *exec.ExitError
	line, _, _ := strings.Cut(strings.TrimSpace(said.String()), "\n")
	line = strings.ToValidUTF8(line, "\ufffd")
	if runes := []rune(line); len(runes) > longestVersion {
		line = string(runes[:longestVersion])
	}
	switch {
	case ctx.Err() != nil:
		return "", refuse(nil, "%s --version did not end within %s", name, versionTimeout)
	case errors.As(err, &exit) && line != "":
		return "", refuse(nil, "%s --version failed with exit code %d: %s", name, exit.ExitCode(), line)
	case err != nil:
		return "", refuse(err, "%s --version failed", name)
	case line == "":
		return "", refuse(nil, "%s --version printed nothing", name)
	}
	return line, nil
}

// IsRoot implements outbound.ProgramFinder.
func (p *Programs) IsRoot() bool { return os.Geteuid() == 0 }

// beginning keeps the beginning of what is written to it.
type beginning struct{ bytes.Buffer }

func (b *beginning) Write(written []byte) (int, error) {
	if room := mostVersion - b.Len(); room > 0 {
		_, _ = b.Buffer.Write(written[:min(room, len(written))])
	}
	return len(written), nil
}
