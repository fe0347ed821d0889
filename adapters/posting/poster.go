package posting

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"holdco/domain/webhook"
	"holdco/ports/outbound"
)

// Options are what a poster needs.
type Options struct {
	Version      string // of Holdco, for receivers to see
	AllowPrivate bool   // lets messages go to every address, not to public ones alone
	Parallel     int    // messages to one endpoint that may be in flight; their connections are kept

	// What follows is for tests. Left out, it is what the system has, none, and webhook.Timeout.
	Resolver *net.Resolver  // of host names
	Roots    *x509.CertPool // whose certificates are believed
	Exempt   []netip.Prefix // IPv4 addresses that are taken for public
	Timeout  time.Duration  // how long a receiver may take to answer
}

// Poster is outbound.WebhookPoster and outbound.AgentPoster over HTTP/1.1. Any number of requests may be made at the same time.
type Poster struct {
	transport *http.Transport
	timeout   time.Duration
	agent     string
}

var (
	_ outbound.WebhookPoster = (*Poster)(nil)
	_ outbound.AgentPoster   = (*Poster)(nil)
)

// New makes a poster.
func New(options Options) *Poster {
	options.Timeout = cmp.Or(options.Timeout, webhook.Timeout)
	return &Poster{transport: newTransport(options), timeout: options.Timeout, agent: "Holdco/" + options.Version}
}

// Close ends the connections that no attempt uses.
func (p *Poster) Close() { p.transport.CloseIdleConnections() }

// Post implements outbound.WebhookPoster.
func (p *Poster) Post(ctx context.Context, message webhook.Message) webhook.Attempt {
	attempt := webhook.Attempt{At: message.At}
	attempt.Latency, attempt.Error = p.send(ctx, signed{
		id: string(message.ID), url: message.URL, body: message.Body, secrets: message.Secrets, at: message.At,
	}, func(status int, body io.Reader) error {
		attempt.Status, attempt.Response = status, excerpt(body)
		return nil
	})
	return attempt
}

// signed is what is posted.
type signed struct {
	id      string
	url     string
	body    []byte
	secrets []webhook.Secret
	at      time.Time
}

// send posts a message and lets take read the answer, all within the timeout. It returns the time until the answer came, and, if
// none did or take failed to read it, why; otherwise "".
func (p *Poster) send(
	ctx context.Context, message signed, take func(status int, body io.Reader) error,
) (latency time.Duration, why string) {
	request, err := p.request(ctx, message)
	if err != nil {
		return 0, "the message cannot be sent: its URL or its secret is not valid"
	}
	var answered atomic.Bool
	limited, cancel := context.WithTimeout(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotFirstResponseByte: func() { answered.Store(true) },
	}), p.timeout)
	defer cancel()

	start := time.Now()
	answer, err := p.transport.RoundTrip(request.WithContext(limited)) // unlike a client it follows no redirects
	latency = time.Since(start).Truncate(time.Millisecond)
	if err != nil {
		return latency, p.explain(ctx, err, answered.Load())
	}
	defer answer.Body.Close()
	if answer.StatusCode == 0 { // 000 would look as if there were no answer
		return latency, notHTTP
	}
	if err := take(answer.StatusCode, answer.Body); err != nil {
		return latency, p.explain(ctx, err, true)
	}
	return latency, ""
}

func (p *Poster) request(ctx context.Context, message signed) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, message.url, bytes.NewReader(message.body))
	if err != nil {
		return nil, err
	}
	signature, err := sign(message)
	if err != nil {
		return nil, err
	}
	header := request.Header
	header.Set("Content-Type", "application/json")
	header.Set("User-Agent", p.agent)
	header.Set(standardwebhooks.HeaderWebhookID, message.id)
	header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(message.at.Unix(), 10))
	header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	// A receiver may close a kept connection just when a message comes. This key, which is not sent, lets the transport
	// retry on a new connection then: receivers recognize duplicates by the id.
	header["Idempotency-Key"] = nil
	return request, nil
}

// sign is one signature for each secret.
func sign(message signed) (string, error) {
	signatures := make([]string, len(message.secrets))
	for i, secret := range message.secrets {
		signer, err := standardwebhooks.NewWebhook(string(secret))
		if err != nil {
			return "", err
		}
		if signatures[i], err = signer.Sign(message.id, message.at, message.body); err != nil {
			return "", err
		}
	}
	return strings.Join(signatures, " "), nil
}

// excerpt is what is kept of an answer's body: text that is valid in every store and in JSON. The rest is not read, and an
// error, a timeout too, only makes it shorter.
func excerpt(body io.Reader) string {
	raw, _ := io.ReadAll(io.LimitReader(body, webhook.MostResponse+utf8.UTFMax)) // so that the last character is whole
	unknown := string(utf8.RuneError)
	text := strings.ToValidUTF8(strings.ReplaceAll(string(raw), "\x00", unknown), unknown)
	end := min(len(text), webhook.MostResponse)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}
