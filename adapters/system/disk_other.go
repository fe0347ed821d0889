//go:build !linux && !darwin

package system

import (
	"errors"

	"holdco/ports/outbound"
)

// Room implements outbound.Disk.
func (Disk) Room(string) (outbound.Room, error) { return outbound.Room{}, errors.ErrUnsupported }
