package postgrestest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// asServerUser makes a program run as another user when this process is root, because PostgreSQL refuses to run as root.
func asServerUser() *syscall.SysProcAttr {
	attributes := &syscall.SysProcAttr{}
	if uid, gid, ok := serverUser(); ok {
		attributes.Credential = &syscall.Credential{Uid: uid, Gid: gid}
	}
	return attributes
}

// giveAway makes files belong to the user that the server runs as.
func giveAway(paths ...string) error {
	uid, gid, ok := serverUser()
	for _, path := range paths {
		if !ok {
			break
		}
		if err := os.Chown(path, int(uid), int(gid)); err != nil {
			return err
		}
	}
	return nil
}

// serverUser returns the user to run as instead of root; ok is false if this process does not run as root.
func serverUser() (uid, gid uint32, ok bool) {
	if os.Getuid() != 0 {
		return 0, 0, false
	}
	for _, name := range []string{"postgres", "nobody"} {
		found, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.ParseUint(found.Uid, 10, 32)
		gid, gidErr := strconv.ParseUint(found.Gid, 10, 32)
		if uidErr == nil && gidErr == nil {
			return uint32(uid), uint32(gid), true
		}
	}
	return 0, 0, false
}
