//go:build unix

package system

import (
	"golang.org/x/sys/unix"

	"holdco/ports/outbound"
)

// Room is what the disk with a directory has for who is not root.
func Room(dir string) (outbound.Room, error) {
	var found unix.Statfs_t
	if err := unix.Statfs(dir, &found); err != nil {
		return outbound.Room{}, err
	}
	block := int64(found.Bsize) //nolint:unconvert,nolintlint // the types differ between systems
	return outbound.Room{Free: int64(found.Bavail) * block, Size: int64(found.Blocks) * block}, nil
}
