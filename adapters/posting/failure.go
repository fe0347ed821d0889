package posting

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"
)

// notHTTP is said of an answer that is none.
const notHTTP = "the answer is not valid HTTP, or its headers are too long"

// alert is the operation in errors that the other side of TLS sent: crypto/tls exports no type for them.
const alert = "remote error"

// explain says why there was no answer, in words for the owner of the endpoint and not in those of libraries. ctx is that
// of the caller, without the timeout.
func (p *Poster) explain(ctx context.Context, err error, answered bool) string {
	var refused private
	var name *net.DNSError
	var handshake handshakeError
	switch {
	case ctx.Err() != nil:
		return "the attempt was broken off"
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &name) && name.IsNotFound:
		return "the host name does not resolve"
	case errors.As(err, &name):
		return "the host name cannot be looked up: no name server answers"
	case operation(err) == "dial":
		return p.explainDial(err)
	case isTimeout(err):
		return "no answer within " + seconds(p.timeout)
	case errors.As(err, &handshake), operation(err) == alert: // some alerts come after the handshake
		return explainTLS(err)
	case !answered || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET):
		return "the connection was closed before an answer came"
	}
	return notHTTP
}

func (p *Poster) explainDial(err error) string {
	switch {
	case isTimeout(err):
		return "no connection within " + seconds(connecting(p.timeout))
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	}
	return "the host cannot be reached"
}

func explainTLS(err error) string {
	var refusal *net.OpError
	var record tls.RecordHeaderError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var certificate x509.CertificateInvalidError
	var other *tls.CertificateVerificationError
	switch {
	case errors.As(err, &authority):
		return "TLS: the certificate is not signed by a known authority"
	case errors.As(err, &host):
		return "TLS: the certificate is for another host name"
	case errors.As(err, &certificate) && certificate.Reason == x509.Expired:
		return "TLS: the certificate has expired, or is not valid yet"
	case errors.As(err, &other):
		return "TLS: the certificate is not valid"
	case errors.As(err, &record):
		return "TLS: the server does not speak it at this port"
	case errors.As(err, &refusal) && refusal.Op == alert:
		return fmt.Sprintf("TLS: the server refuses (%s)", strings.TrimPrefix(refusal.Err.Error(), "tls: "))
	}
	return "TLS: the handshake failed; version 1.2 or newer is needed"
}

// operation is what the network was to do when it failed.
func operation(err error) string {
	var failed *net.OpError
	if errors.As(err, &failed) {
		return failed.Op
	}
	return ""
}

func isTimeout(err error) bool {
	var failed net.Error
	return errors.As(err, &failed) && failed.Timeout() // a context's deadline is one too
}

func seconds(d time.Duration) string { return fmt.Sprintf("%g s", d.Seconds()) }
