//go:build linux || darwin

package system

import (
	"fmt"
	"syscall"

	"holdco/ports/outbound"
)

// Room implements outbound.Disk. What only root may write is not free.
func (Disk) Room(folder string) (outbound.Room, error) {
	var found syscall.Statfs_t
	if err := syscall.Statfs(folder, &found); err != nil {
		return outbound.Room{}, fmt.Errorf("look at the disk of %s: %w", folder, err)
	}
	block := int64(found.Bsize) //nolint:unconvert // the types are those of the system
	return outbound.Room{Free: int64(found.Bavail) * block, Size: int64(found.Blocks) * block}, nil
}
