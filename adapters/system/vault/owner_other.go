//go:build !unix

package vault

import (
	"io/fs"
	"os"
)

// own does nothing: the folder says who may read the files in it.
func own(*os.File, fs.FileInfo) error { return nil }
