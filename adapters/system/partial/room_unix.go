//go:build darwin || freebsd || linux

package partial

import "golang.org/x/sys/unix"

// Free returns how many bytes this user can write in a folder, and reports whether that is known.
func Free(folder string) (bytes int64, isKnown bool, err error) {
	var found unix.Statfs_t
	if err := unix.Statfs(folder, &found); err != nil {
		return 0, false, err
	}
	return int64(found.Bavail) * int64(found.Bsize), true, nil //nolint:unconvert // the types differ between systems
}
