package rest

import (
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/ports/inbound"
)

// copying is how long a copy of the store may take before its first byte, so that an error still finds its client.
const copying = 10 * time.Minute

// Backups handles the operation that copies the store, for a version of the program.
func Backups(port inbound.Backups, version string) httpkit.Handlers {
	return httpkit.Handlers{"getBackup": func(r httpkit.Request) (httpkit.Answer, error) {
		r.Wait(copying)
		return httpkit.Answer{Feed: &httpkit.Feed{
			MediaType: "application/zstd",
			Write: func(write func(portion []byte) error) error {
				_, err := port.Stream(r.Context(), r.Caller(), writer(write), inbound.BackupWanted{Version: version})
				return err
			},
		}}, nil
	}}
}

// writer is a function as an io.Writer.
type writer func(portion []byte) error

func (w writer) Write(portion []byte) (int, error) {
	if err := w(portion); err != nil {
		return 0, err
	}
	return len(portion), nil
}
