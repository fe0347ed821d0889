package docs

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"path"
	"time"

	"holdco/adapters/http/httpkit"
)

//go:embed page swagger-ui
var files embed.FS

// policy lets the page run its own scripts and styles and ask its own origin, nothing else. Swagger UI draws its icons
// from data URLs.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// Pages returns the page and all that it loads, each under its path, for the document at under + "/openapi.json". They
// answer GET and HEAD, to anybody.
func Pages(under string) map[string]http.Handler {
	return map[string]http.Handler{
		under + "/docs":                                  load("page/index.html", "text/html"),
		under + "/docs/page.css":                         load("page/page.css", "text/css"),
		under + "/docs/start.js":                         load("page/start.js", "text/javascript"),
		under + "/docs/swagger-ui.css":                   load("swagger-ui/swagger-ui.css.gz", "text/css"),
		under + "/docs/swagger-ui-bundle.js":             load("swagger-ui/swagger-ui-bundle.js.gz", "text/javascript"),
		under + "/docs/swagger-ui-bundle.js.LICENSE.txt": load("swagger-ui/swagger-ui-bundle.js.LICENSE.txt.gz", "text/plain"),
	}
}

// file is one embedded file, compressed or not.
type file struct {
	content    []byte
	compressed bool
	mediaType  string
	version    string
}

func load(name, mediaType string) file {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // it was there when the program was built
	}
	sum := sha256.Sum256(content)
	return file{
		content:    content,
		compressed: path.Ext(name) == ".gz",
		mediaType:  mediaType + "; charset=utf-8",
		version:    hex.EncodeToString(sum[:12]),
	}
}

// ServeHTTP answers with the file. Browsers keep it and ask each time whether it is still the same.
func (f file) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Security-Policy", policy)
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Referrer-Policy", "no-referrer")
	header.Set("Cache-Control", "no-cache")
	header.Set("Content-Type", f.mediaType)

	content, version := f.content, f.version
	if f.compressed {
		header.Add("Vary", "Accept-Encoding")
		if httpkit.AcceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			version += "-gzip"
		} else {
			content = decompressed(content)
		}
	}
	header.Set("ETag", `"`+version+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}

// decompressed undoes gzip, for the few clients that do not take it.
func decompressed(content []byte) []byte {
	reader, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		panic(err) // update.sh compressed the embedded files, and a test reads them
	}
	plain, err := io.ReadAll(reader)
	if err != nil {
		panic(err)
	}
	return plain
}
