package partial

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Writeback has the kernel write a file to disk while it grows, until stop is called. Otherwise the kernel begins when a tenth of memory
// is dirty, and then delays whoever writes anything, or does all of it at a sync, for which the syncs of others wait. The file may not be
// there yet. What fails is passed over: the file is written all the same.
func Writeback(path string) (stop func()) {
	ended, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		var file *os.File
		next := time.NewTicker(writebackEvery)
		defer next.Stop()
		for {
			select {
			case <-ended:
				if file != nil {
					_ = file.Close()
				}
				return
			case <-next.C:
			}
			if file == nil {
				file, _ = os.Open(path)
			}
			if file != nil {
				_ = unix.SyncFileRange(int(file.Fd()), 0, 0, unix.SYNC_FILE_RANGE_WRITE) // it does not wait
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(ended)
		<-over
	})
}

// writebackEvery is short enough that a fast disk gets some megabytes at once.
const writebackEvery = 20 * time.Millisecond
