package wiring_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"holdco/adapters/http/rest/resttest"
)

func TestAPanicEndsItsRequestAlone(t *testing.T) {
	t.Parallel()
	const authentication, unitOfWork = 1, 2 // in which reading of the clock it happens
	eachStore(t, func(t *testing.T, s *instance) {
		asked, made := 0, 0
		for i := range 30 { // more than there are connections
			where := int64(authentication + i%unitOfWork)
			answer, others := s.panicking(t, where, func() resttest.Answer {
				asked++
				return s.Post("/v1/companies", named(fmt.Sprintf("c-%d", asked)))
			})
			made += others
			answer.Is(t, 500, "internal")
			if strings.Contains(string(answer.Body), "clock") || len(details(t, answer)) != 0 {
				t.Errorf("the answer reveals too much: %s", answer.Body)
			}
		}
		if log := s.log.String(); !strings.Contains(log, "the clock is broken") || !strings.Contains(log, "goroutine") {
			t.Error("the log does not report what happened, and where")
		}
		if got := slugs(t, s.Get("/v1/companies")); len(got) != made {
			t.Errorf("there is %v; %d were made without a panic", got, made)
		}
		s.create(t, draft(t, ""))
	})
}

// dial opens a connection and sends the beginning of a request.
func (s *instance) dial(t *testing.T, text string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = conn.Write([]byte(text))
	must(t, err)
	return conn.(*net.TCPConn)
}

// post is the head of a request that creates a company.
func post(length int) string {
	return fmt.Sprintf("POST /v1/companies HTTP/1.1\r\nHost: x\r\n"+
		"Authorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n",
		rootToken, length)
}

func TestSlowClientsHoldUpNobodyOnPostgres(t *testing.T) {
	t.Parallel()
	s := startOnPostgres(t) // whose connections are few
	var dribbling *net.TCPConn
	for range 100 {
		dribbling = s.dial(t, "GET /v1/companies HTTP/1.1\r\nHost: x\r\nX-Slow")
		s.dial(t, post(1000)+`{"name":`)
	}
	began := time.Now()
	for i := range 50 {
		s.create(t, named(fmt.Sprintf("s-%d", i)))
	}
	if took := time.Since(began); took > 5*time.Minute {
		t.Errorf("50 creations took %s", took)
	}

	short := s.dial(t, post(1000)+`{"name":`)
	must(t, short.CloseWrite())
	answer, err := http.ReadResponse(bufio.NewReader(short), nil)
	must(t, err)
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusBadRequest {
		t.Errorf("a body that breaks off is answered %d", answer.StatusCode)
	}

	go func() {
		for _, err := dribbling.Write([]byte("x")); err == nil; _, err = dribbling.Write([]byte("x")) {
			time.Sleep(100 * time.Millisecond)
		}
	}()
	must(t, dribbling.SetReadDeadline(time.Now().Add(15*time.Second)))
	if _, err := dribbling.Read(make([]byte, 1)); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("a client that never ends its header is borne")
	}
}

func TestAStoppingServerFinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		body := draft(t, "")
		conn := s.dial(t, strings.Replace(post(len(body)), "\r\n", "\r\nExpect: 100-continue\r\n", 1))
		answers := bufio.NewReader(conn)
		if line, err := answers.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") { // its handler reads
			t.Fatalf("%q, %v", line, err)
		}
		_, err := answers.ReadString('\n')
		must(t, err)
		_, err = conn.Write([]byte(body[:5]))
		must(t, err)
		stopped := make(chan error, 1)
		go func() { stopped <- s.stop() }()
		await(t, "the end of the listener", func() bool {
			refused, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
			if err == nil {
				_ = refused.Close()
			}
			return err != nil
		})
		_, err = conn.Write([]byte(body[5:]))
		must(t, err)
		answer, err := http.ReadResponse(answers, nil)
		must(t, err)
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusCreated {
			t.Errorf("answered %d", answer.StatusCode)
		}
		must(t, <-stopped)
		if got := slugs(t, start(t, s.clock, s.environ...).Get("/v1/companies")); len(got) != 1 {
			t.Errorf("acknowledged, but the list holds %v", got)
		}
	})
}

func TestSignalsEndTheProcessInOrder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, signal := range []os.Signal{syscall.SIGTERM, syscall.SIGINT} {
		server := startProcess(t, dataDir+folder)
		must(t, server.Process.Signal(signal))
		must(t, server.Wait())
	}
}

// A client that goes away takes its request along, or not: in no case is it half done.
func TestClientsThatDoNotWaitLeaveNothingHalfDone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const teams = `"startingTeams":[{"name":"A","headcount":200},{"name":"B","headcount":1}]`
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
		var clients sync.WaitGroup
		for i := range 40 {
			clients.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Millisecond)
				defer cancel()
				body := strings.NewReader(draft(t, fmt.Sprintf(`"slug":"s-%d",`, i)+teams))
				request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/v1/companies", body)
				if err != nil {
					t.Error(err)
					return
				}
				request.Header.Set("Authorization", "Bearer "+string(rootToken))
				request.Header.Set("Content-Type", "application/json")
				if response, err := client.Do(request); err == nil {
					_ = response.Body.Close()
				}
			})
		}
		clients.Wait()
		client.CloseIdleConnections()
		must(t, s.stop()) // and so every request is over
		s = start(t, s.clock, s.environ...)
		await(t, "the mending", func() bool {
			for _, c := range resttest.Data[[]company](t, s.Get("/v1/companies")) {
				if !exists(t, s.workspace(c)) {
					return false
				}
			}
			return true
		})
		for _, c := range resttest.Data[[]company](t, s.Get("/v1/companies")) {
			if n := len(resttest.Data[company](t, s.Get(c.path()+"?include=teams")).Teams); n != 2 || c.TeamCount != 2 ||
				len(s.events(t, c.ID)) != 1 {
				t.Errorf("%s has %d teams, a count of %d, and %d events", c.Slug, n, c.TeamCount, len(s.events(t, c.ID)))
			}
		}
	})
}
