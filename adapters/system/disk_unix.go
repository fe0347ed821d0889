//go:build linux || darwin

package system

import (
	"fmt"
	"syscall"
)

// Room implements outbound.Disk: what a user without privileges may write.
func (Disk) Room(folder string) (int64, error) {
	var found syscall.Statfs_t
	if err := syscall.Statfs(folder, &found); err != nil {
		return 0, fmt.Errorf("look at the disk of %s: %w", folder, err)
	}
	return int64(found.Bavail) * int64(found.Bsize), nil //nolint:unconvert // the types are those of the system
}
