package processtest

import (
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const parentVariable = "HOLDCO_TEST_PARENT"

// Setup is for TestMain. The temporary files of this test binary are removed when it has ended, however it did, and so do
// the programs that it provides itself, when they call EndWithParent.
func Setup() {
	g, err := shared()
	if err != nil {
		panic(err)
	}
	for name, value := range map[string]string{"TMPDIR": g.folder, parentVariable: strconv.Itoa(os.Getpid())} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
}

// Environ returns the variable that EndWithParent needs, for a program that does not inherit the variables of this one.
func Environ() (name, value string) { return parentVariable, os.Getenv(parentVariable) }

// EndWithParent ends this program soon after the test binary that started it has ended.
func EndWithParent() {
	if parent, err := strconv.Atoi(os.Getenv(parentVariable)); err == nil {
		endWith(parent)
	}
}

// endWithGo ends this test binary soon after the go command that runs it, because a killed go command leaves it running. A
// test binary that a person starts has another parent, and may outlive it.
func endWithGo() {
	parent := os.Getppid()
	program, err := os.Readlink(filepath.Join("/proc", strconv.Itoa(parent), "exe"))
	if err == nil && filepath.Base(program) == "go" {
		endWith(parent)
	}
}

// endWith exits when this process gets another parent.
func endWith(parent int) {
	const interval = 50 * time.Millisecond
	go func() {
		for os.Getppid() == parent {
			time.Sleep(interval)
		}
		os.Exit(1)
	}()
}
