package wiring

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"holdco/ports/outbound"
)

// newLogger writes to out: lines for people on a terminal, one JSON object per line otherwise, or as configured.
func newLogger(out io.Writer, level slog.Level, format string) *slog.Logger {
	file, isFile := out.(*os.File)
	terminal := isFile && term.IsTerminal(int(file.Fd()))
	if format == "" {
		format = "json"
		if terminal {
			format = "text"
		}
	}
	if format == "json" {
		return slog.New(slog.NewJSONHandler(out, &slog.HandlerOptions{Level: level}))
	}
	return slog.New(tint.NewTextHandler(out, &tint.Options{Level: level, NoColor: !terminal}))
}

// operatorLog is the application's outbound.Log.
type operatorLog struct{ *slog.Logger }

var _ outbound.Log = operatorLog{}

func (l operatorLog) Error(ctx context.Context, message string, cause error) {
	l.ErrorContext(ctx, message, "error", cause.Error())
}
