//go:build unix

package vault

import (
	"io/fs"
	"os"
	"syscall"
)

// own gives a file the owner and the group of another: who rotates the key may be another user than the server's.
func own(file *os.File, as fs.FileInfo) error {
	made, err := file.Stat()
	if err != nil {
		return err
	}
	is, isKnown := made.Sys().(*syscall.Stat_t)
	want, isKnownToo := as.Sys().(*syscall.Stat_t)
	if !isKnown || !isKnownToo || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}
