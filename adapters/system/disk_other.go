//go:build !linux && !darwin

package system

import "errors"

// Room implements outbound.Disk.
func (Disk) Room(string) (int64, error) { return 0, errors.ErrUnsupported }
