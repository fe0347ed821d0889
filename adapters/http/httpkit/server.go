package httpkit

import (
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/klauspost/compress/gzhttp"
)

// writeTimeout is how long an answer may take, from the end of the head of its request on.
const writeTimeout = 60 * time.Second

// NewServer makes a server with timeouts and limits against slow or greedy clients.
func NewServer(handler http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),

		DisableGeneralOptionsHandler: true, // "OPTIONS *" is an unknown path like others
	}
}

// EventStream is the media type of server-sent events.
const EventStream = "text/event-stream"

// Compressed answers with gzip or zstd when the client takes one of them and the answer is worth it. Server-sent events are not: a
// stream is open for hours, and its compressor would hold a megabyte.
func Compressed(handler http.Handler) http.Handler { return compressing(handler) }

var compressing = func() func(http.Handler) http.HandlerFunc {
	wrap, err := gzhttp.NewWrapper(gzhttp.ContentTypeFilter(func(mediaType string) bool {
		return mediaType != EventStream && gzhttp.DefaultContentTypeFilter(mediaType)
	}))
	if err != nil {
		panic(err) // its options are wrong
	}
	return wrap
}()

// AcceptsGzip reports whether the client names gzip among the codings that it takes.
func AcceptsGzip(r *http.Request) bool {
	for coding := range strings.SplitSeq(strings.Join(r.Header.Values("Accept-Encoding"), ","), ",") {
		name, weight, weighted := strings.Cut(strings.ReplaceAll(coding, " ", ""), ";q=")
		if strings.EqualFold(name, "gzip") {
			return !weighted || strings.Trim(weight, "0.") != ""
		}
	}
	return false
}
