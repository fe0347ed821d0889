package posting_test

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"

	"holdco/adapters/posting"
	"holdco/domain/id"
	"holdco/domain/webhook"
)

// Nothing takes long, however slow the machine; what hangs is found out soon.
const long, soon = time.Minute, 500 * time.Millisecond

// newPoster makes a poster with a long Timeout unless it is given.
func newPoster(t *testing.T, options posting.Options) *posting.Poster {
	t.Helper()
	options.Version = "1.2.3"
	if options.Timeout == 0 {
		options.Timeout = long
	}
	poster := posting.New(options)
	t.Cleanup(poster.Close)
	return poster
}

var secret = webhook.NewSecret([32]byte{1, 2, 3})

func message(url string) webhook.Message {
	return webhook.Message{
		ID:      id.New[id.Entry]([16]byte{15: 7}),
		URL:     url,
		Body:    []byte(`{"type":"company.created","data":{"name":"Zoë"}}`),
		Secrets: []webhook.Secret{secret},
		At:      time.Now().UTC().Truncate(time.Millisecond),
	}
}

// receive starts a receiver that deals with each connection as it likes, and returns its URL.
func receive(t *testing.T, deal func(conn net.Conn)) string {
	t.Helper()
	return "http://" + receiveAt(t, "127.0.0.1:0", deal) + "/hooks"
}

// receiveAt is receive at an address; it returns that with its port.
func receiveAt(t *testing.T, address string, deal func(conn net.Conn)) string {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				deal(conn)
			}()
		}
	}()
	return listener.Addr().String()
}

// answers takes each request and answers it with the same text, over a connection that it keeps.
func answers(text string) func(conn net.Conn) {
	return func(conn net.Conn) {
		for requests := bufio.NewReader(conn); takeRequest(requests); {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// counts counts the connections that deal gets.
func counts(n *atomic.Int32, deal func(conn net.Conn)) func(conn net.Conn) {
	return func(conn net.Conn) {
		n.Add(1)
		deal(conn)
	}
}

// takeRequest reads a request to its end, and reports whether there was one.
func takeRequest(from *bufio.Reader) bool {
	request, err := http.ReadRequest(from)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

// afterRequest takes a request and continues.
func afterRequest(deal func(conn net.Conn)) func(conn net.Conn) {
	return func(conn net.Conn) {
		if takeRequest(bufio.NewReader(conn)) {
			deal(conn)
		}
	}
}

// untilClosed waits for the poster to close the connection.
func untilClosed(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

// names is a name server: for each name, the addresses that a look-up finds.
type names map[string]func() []string

// always finds the same addresses with every look-up.
func always(addresses ...string) func() []string { return func() []string { return addresses } }

// resolver asks no other name server.
func (n names) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go n.serve(server)
		return client, nil
	}}
}

// serve answers queries in the form that they have over TCP: each with its length before it.
func (n names) serve(conn net.Conn) {
	defer conn.Close()
	for {
		var length uint16
		if binary.Read(conn, binary.BigEndian, &length) != nil {
			return
		}
		query := make([]byte, length)
		if _, err := io.ReadFull(conn, query); err != nil {
			return
		}
		answer, err := n.answer(query)
		if err != nil {
			return
		}
		if _, err := conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(answer))), answer...)); err != nil {
			return
		}
	}
}

func (n names) answer(query []byte) ([]byte, error) {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		return nil, err
	}
	m.Response, m.Additionals = true, nil
	question := m.Questions[0]
	addresses, found := n[strings.TrimSuffix(question.Name.String(), ".")]
	switch {
	case !found:
		m.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeA: // once for each look-up, which asks for IPv6 too
		for _, address := range addresses() {
			m.Answers = append(m.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: question.Name, Type: question.Type, Class: question.Class},
				Body:   &dnsmessage.AResource{A: netip.MustParseAddr(address).As4()},
			})
		}
	}
	return m.Pack()
}
