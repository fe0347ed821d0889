package vault

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

func (v *Vault) oldPath() string { return v.path + ".old" }

func (v *Vault) newPath() string { return v.path + ".new" }

// Lock implements outbound.KeyFiles.
func (v *Vault) Lock() (unlock func() error, isFree bool, err error) {
	lock := flock.New(v.path+".lock", flock.SetPermissions(privateFile))
	if isFree, err = lock.TryLock(); err != nil || !isFree {
		return nil, false, err
	}
	return lock.Unlock, true, nil
}

const privateFile = 0o600

// IsRotating implements outbound.KeyFiles.
func (v *Vault) IsRotating() (bool, error) {
	for _, path := range []string{v.newPath(), v.oldPath()} {
		_, err := os.Lstat(path)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	return false, nil
}

// Prepare implements outbound.KeyFiles.
func (v *Vault) Prepare() error {
	present, err := os.Stat(v.path)
	if err == nil {
		err = makeFile(v.newPath(), newKey(), present)
	}
	if err != nil {
		return fmt.Errorf("make the next key beside %s: %w", v.path, err)
	}
	return nil
}

// Promote implements outbound.KeyFiles. The key is copied before another takes its place, which happens at once.
func (v *Vault) Promote(bound string) (fingerprint string, err error) {
	next, err := fingerprintIn(v.newPath())
	if err != nil {
		return "", err
	}
	if next != "" {
		if err := v.replace(bound); err != nil {
			return "", err
		}
	}
	if fingerprint, err = fingerprintIn(v.path); err != nil || fingerprint == bound {
		return fingerprint, err
	}
	// The file may be a copy that an earlier rotation, on another host, did not reach.
	former, err := fingerprintIn(v.oldPath())
	if err != nil {
		return "", err
	}
	if fingerprint == "" || former != bound {
		return "", fmt.Errorf("the key file %s has the fingerprint %q, and the store wants %s; put the right file in its place",
			v.path, fingerprint, bound)
	}
	v.look()
	return fingerprint, nil
}

// replace puts the next key in the place of the present one, which has the fingerprint bound and is kept as the former.
func (v *Vault) replace(bound string) error {
	key, err := readFile(v.path)
	if err != nil {
		return err
	}
	if found := fingerprintOf(key); found != bound {
		return fmt.Errorf("the key file %s has the fingerprint %s, and the store wants %s; put the right file in its place, or remove %s",
			v.path, found, bound, v.newPath())
	}
	info, err := os.Stat(v.path)
	if err != nil {
		return err
	}
	if err := makeFile(v.oldPath(), key, info); err != nil {
		return fmt.Errorf("keep the former key as %s: %w", v.oldPath(), err)
	}
	kept, err := fingerprintIn(v.oldPath())
	if err != nil {
		return err
	}
	if kept != bound {
		return fmt.Errorf("%s holds another key than %s, with the fingerprint %s; move it away", v.oldPath(), v.path, kept)
	}
	if err := os.Rename(v.newPath(), v.path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(v.path))
}

// EndFormer implements outbound.KeyFiles. Drafts that a killed process has left go too: they may hold the former key. First of all they
// do, so that whoever goes on with a rotation which is killed here tries again.
func (v *Vault) EndFormer() error {
	drafts, err := v.drafts()
	if err != nil {
		return fmt.Errorf("look for drafts of keys: %w", err)
	}
	for _, path := range append(drafts, v.oldPath()) {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the former key: %w", err)
		}
	}
	return syncFolder(filepath.Dir(v.path))
}

// drafts are the paths of drafts that makeFile has begun, and not removed.
func (v *Vault) drafts() (found []string, err error) {
	folder := filepath.Dir(v.path)
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		for _, of := range []string{v.path, v.oldPath(), v.newPath()} {
			number, isDraft := strings.CutPrefix(entry.Name(), draftPrefix(of))
			if isDraft && number != "" && strings.Trim(number, "0123456789") == "" {
				found = append(found, filepath.Join(folder, entry.Name()))
			}
		}
	}
	return found, err
}

// Exposed implements outbound.KeyFiles.
func (v *Vault) Exposed() (files []string, err error) {
	for _, path := range v.paths() {
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		case info.Mode().IsRegular() && isExposed(info.Mode()):
			files = append(files, fmt.Sprintf("%s (mode %04o)", path, info.Mode().Perm()))
		}
	}
	return files, nil
}

// Protect implements outbound.KeyFiles.
func (v *Vault) Protect() error {
	for _, path := range v.paths() {
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() && isExposed(info.Mode()) {
			err = os.Chmod(path, privateFile)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Fingerprints implements outbound.KeyFiles.
func (v *Vault) Fingerprints() (all []string, err error) {
	for _, path := range []string{v.path, v.oldPath()} {
		key, err := readExposed(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		all = append(all, fingerprintOf(key))
	}
	return all, nil
}

func (v *Vault) paths() []string { return []string{v.path, v.oldPath(), v.newPath()} }
