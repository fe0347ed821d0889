//go:build !unix

package system

import (
	"errors"

	"holdco/ports/outbound"
)

// Room fails: nothing tells what the disk with a directory has.
func Room(string) (outbound.Room, error) { return outbound.Room{}, errors.ErrUnsupported }
