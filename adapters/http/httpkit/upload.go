package httpkit

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/domain/fault"
)

// uploadPatience is how long a client may send nothing of a file, unless Options say otherwise.
const uploadPatience = 30 * time.Second

// inspectUpload refuses a file by how it is sent, before any of it is read.
func (op operation) inspectUpload(r *http.Request, most int64) error {
	if r.ContentLength > most {
		return fileTooLarge(most)
	}
	if r.ContentLength == 0 || r.Body == http.NoBody {
		return fault.EmptyFile()
	}
	// A file that is packed with gzip is taken as it is, so it is the same whether the coding says so.
	if coding := r.Header.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") &&
		!strings.EqualFold(coding, "gzip") {
		return fault.New(fault.UnsupportedMediaType, "The file may be packed with gzip, and not otherwise.")
	}
	return op.body.hasType(r.Header)
}

func fileTooLarge(most int64) error {
	return fault.New(fault.PayloadTooLarge, "The file has more than %d bytes.", most)
}

// MediaType is the media type of the body, without parameters.
func (r Request) MediaType() string { return r.c.ContentType() }

// Upload calls read with the file that a request sends. Instead of the timeout of the server, the client may be silent for a while
// again and again: see Options.UploadPatience. The reader fails with fault.PayloadTooLarge, with fault.InvalidFile when the file
// does not arrive in full, and with fault.Unavailable when the server stops.
func (r Request) Upload(read func(file io.Reader) error) error {
	state := of(r.c)
	controller := http.NewResponseController(r.c.Writer)
	most := state.options.MostUpload
	u := &upload{
		c: r.c, controller: controller, stopping: state.options.Stopping, patience: cmp.Or(state.options.UploadPatience, uploadPatience),
		most: most, left: most, hash: sha256.New(),
	}
	defer u.finish()
	defer u.stopping.whenBegun(func() { _ = controller.SetReadDeadline(time.Now()) })()
	err := read(u)
	state.upload = u.hash.Sum(nil)
	return err
}

// unreadPatience bounds how long the server reads on what is left of a file, which it does so that the client gets the answer.
const unreadPatience = time.Second

// finish sets the timeouts for the answer. What fails here fails because the connection is closed, which a write will report.
func (u *upload) finish() {
	if errors.Is(u.ended, io.EOF) {
		noReadDeadline(u.controller)
	} else {
		_ = u.controller.SetReadDeadline(time.Now().Add(unreadPatience))
	}
	_ = u.controller.SetWriteDeadline(time.Now().Add(writeTimeout))
}

// upload reads the body of a request.
type upload struct {
	c          *gin.Context
	controller *http.ResponseController
	stopping   *Stopping
	patience   time.Duration
	most, left int64
	hash       hash.Hash
	ended      error
}

func (u *upload) Read(into []byte) (n int, err error) {
	if u.ended != nil {
		return 0, u.ended
	}
	if err := u.controller.SetReadDeadline(time.Now().Add(u.patience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		u.ended = incomplete(err)
		return 0, u.ended
	}
	if u.stopping.hasBegun() { // perhaps before that
		u.ended = fault.Stopping("send the file again")
		return 0, u.ended
	}
	n, err = u.c.Request.Body.Read(into)
	_, _ = u.hash.Write(into[:n])
	switch u.left -= int64(n); {
	case u.left < 0:
		u.ended = fileTooLarge(u.most)
	case errors.Is(err, io.EOF):
		u.ended = err
	case err != nil && u.stopping.hasBegun():
		u.ended = fault.Stopping("send the file again").Because(err)
	case err != nil:
		u.ended = incomplete(err)
	}
	return n, u.ended
}

func incomplete(cause error) error {
	return fault.New(fault.InvalidFile, "The file did not arrive in full.").Because(cause)
}
