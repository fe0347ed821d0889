package dashboard

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
)

//go:embed all:dist
var dist embed.FS

// mediaTypes are those of the files, by the ends of their names.
var mediaTypes = map[string]string{
	".html":        "text/html; charset=utf-8",
	".js":          "text/javascript; charset=utf-8",
	".css":         "text/css; charset=utf-8",
	".svg":         "image/svg+xml",
	".png":         "image/png",
	".txt":         "text/plain; charset=utf-8",
	".webmanifest": "application/manifest+json",
}

const (
	indexPage = "/index.html"
	sumsFile  = "/sources.sum" // what the files were built from; it is not served
)

// builtFiles are the files of the page, by their paths.
type builtFiles map[string]builtFile

type builtFile struct {
	plain, compressed []byte // the latter is nil where it saves nothing
	mediaType, tag    string
	lasting           bool // its name changes with what it holds
}

// files reads and compresses the files once in a process.
var files = sync.OnceValues(func() (builtFiles, error) {
	all := builtFiles{}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		at := strings.TrimPrefix(name, "dist")
		if err != nil || entry.IsDir() || at == sumsFile {
			return err
		}
		content, err := dist.ReadFile(name)
		if err == nil {
			all[at], err = newFile(at, content)
		}
		return err
	})
	if err == nil && all[indexPage].plain == nil {
		err = fmt.Errorf("the dashboard was not built: there is no dist%s; run \"make ui\"", indexPage)
	}
	return all, err
})

func newFile(at string, content []byte) (builtFile, error) {
	mediaType, known := mediaTypes[path.Ext(at)]
	if !known {
		return builtFile{}, fmt.Errorf("the dashboard has a file of an unknown kind, dist%s", at)
	}
	sum := sha256.Sum256(content)
	made := builtFile{
		plain: content, mediaType: mediaType, tag: hex.EncodeToString(sum[:12]), lasting: strings.HasPrefix(at, "/assets/"),
	}
	var smaller bytes.Buffer
	writer, err := gzip.NewWriterLevel(&smaller, gzip.BestCompression)
	if err != nil {
		return builtFile{}, err
	}
	if _, err := writer.Write(content); err != nil {
		return builtFile{}, err
	}
	if err := writer.Close(); err != nil {
		return builtFile{}, err
	}
	if smaller.Len() < len(content) {
		made.compressed = smaller.Bytes()
	}
	return made, nil
}

// serve answers with a file, or with the page, which shows what the path names.
func (f builtFiles) serve(c *gin.Context) {
	at := c.Request.URL.Path
	found, isFile := f[at]
	isPage := !isFile && !strings.Contains(at, ".") && at != "/v1"
	if method := c.Request.Method; !isFile && !isPage || method != http.MethodGet && method != http.MethodHead {
		httpkit.Fail(c, fault.New(fault.NotFound, "There is no such path."))
		return
	}
	if isPage {
		found = f[indexPage]
	}
	c.Status(httpkit.OK) // Gin has begun with 404
	found.serve(c.Writer, c.Request)
}

func (f builtFile) serve(w http.ResponseWriter, r *http.Request) {
	header := w.Header()
	header.Set("Content-Type", f.mediaType)
	header.Set("Cache-Control", "no-cache")
	if f.lasting {
		header.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	content, tag := f.plain, f.tag
	if f.compressed != nil {
		header.Set("Vary", "Accept-Encoding")
		if httpkit.AcceptsGzip(r) {
			header.Set("Content-Encoding", "gzip")
			content, tag = f.compressed, tag+"-gzip"
		}
	}
	header.Set("ETag", `"`+tag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(content))
}
