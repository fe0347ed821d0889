//go:build unix

package partial

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Own gives a file, or a folder with all that is in it, the owner and the group of another, if root made it: else the server, which is
// another user, could not read it. Links are not followed.
func Own(path, as string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	model, err := os.Stat(as)
	if err != nil {
		return err
	}
	owner, isKnown := model.Sys().(*syscall.Stat_t)
	if !isKnown {
		return nil
	}
	return filepath.WalkDir(path, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(name, int(owner.Uid), int(owner.Gid))
	})
}
