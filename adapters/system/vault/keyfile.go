package vault

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A key file is one line: a prefix that names the format, and 32 random bytes in base64.
const (
	keyPrefix  = "holdco-key-v1:"
	keySize    = 32
	mostOfFile = 1024 // bytes; a file that is longer is something else
)

// readFile reads the key in the file at a path. Errors name the path and what to do, and never show the key; one for a
// missing file wraps fs.ErrNotExist.
func readFile(path string) (key []byte, err error) {
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && isExposed(info.Mode()) {
		return nil, fmt.Errorf("the key file %s is open to strangers (mode %04o); run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	return readExposed(path)
}

// readExposed is readFile for a file that strangers may be able to read: its key is not to be used.
func readExposed(path string) (key []byte, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	if err := check(path, info); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	key, ok := parse(string(content))
	if !ok {
		return nil, malformed(path)
	}
	return key, nil
}

// unreadable says why a file cannot be read, and what to do where that is known.
func unreadable(path string, err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("read the key file: %w; let the user that runs holdco read %s and its folders, as root: chown USER %s",
			err, path, path)
	}
	return fmt.Errorf("read the key file: %w", err)
}

// fingerprintIn is the fingerprint of the key in the file at a path, "" if there is no file.
func fingerprintIn(path string) (string, error) {
	key, err := readFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fingerprintOf(key), nil
}

// makeAndRead makes a key file at a path, and its folder. Of several processes that do so at once one makes it, and all
// have its key.
func makeAndRead(path string) (key []byte, err error) {
	if err := makeFile(path, newKey(), nil); err != nil {
		return nil, fmt.Errorf("make the key file %s: %w", path, err)
	}
	return readFile(path)
}

// check refuses what cannot be a key file before it is opened: some things never stop being read.
func check(path string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return fmt.Errorf("%s is a folder; the key needs the name of a file, such as %s", path, filepath.Join(path, "key"))
	case !mode.IsRegular():
		return fmt.Errorf("the key file %s is not a regular file", path)
	case info.Size() > mostOfFile:
		return malformed(path)
	}
	return nil
}

// isExposed reports whether others than the owner of a file can use it. Its group may read it, as containers have it. Windows has no such
// modes.
func isExposed(mode fs.FileMode) bool {
	const strangers = 0o027
	return runtime.GOOS != "windows" && mode.Perm()&strangers != 0
}

// parse reads the one line, however it ends.
func parse(content string) ([]byte, bool) {
	line := strings.TrimSpace(content)
	text, ok := strings.CutPrefix(line, keyPrefix)
	if !ok || strings.ContainsAny(text, "\r\n") { // which base64 would pass over
		return nil, false
	}
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	return key, err == nil && len(key) == keySize
}

func malformed(path string) error {
	return fmt.Errorf("the key file %s is damaged or is none: it must be one line, %s and %d bytes in base64; restore it from a backup",
		path, keyPrefix, keySize)
}

// makeFile makes a key file that is whole from its first moment, unless there is one by then. It is for whom another one is for, if
// that is not nil, and else for the user of this process.
func makeFile(path string, key []byte, as fs.FileInfo) error {
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	draft, err := os.CreateTemp(folder, draftPrefix(path)+"*") // with mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(draft.Name()) }()
	if err := fill(draft, key, as); err != nil {
		return err
	}
	// A link, unlike a move, replaces nothing.
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(folder)
}

// draftPrefix is what the names of drafts of a key file begin with, before a number.
func draftPrefix(path string) string { return "." + filepath.Base(path) + "-" }

func newKey() []byte {
	key := make([]byte, keySize)
	_, _ = rand.Read(key) // it never fails: crypto/rand ends the process instead
	return key
}

// fill writes a key to the disk, and gives the file the mode and the owner of another.
func fill(file *os.File, key []byte, as fs.FileInfo) error {
	_, err := file.WriteString(keyPrefix + base64.StdEncoding.EncodeToString(key) + "\n")
	if err == nil && as != nil {
		if err = own(file, as); err == nil {
			err = file.Chmod(as.Mode().Perm())
		}
	}
	return errors.Join(err, file.Sync(), file.Close())
}

// syncFolder makes the name of a new file outlive the loss of power. Windows does so by itself, and refuses the call.
func syncFolder(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
