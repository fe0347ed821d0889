package httpkit_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	"holdco/adapters/http/httpkit"
)

// endless makes the kit answer /endless with zeros until nobody takes them, and report why it ended.
func endless(k kit, writeTimeout time.Duration) <-chan error {
	ended := make(chan error, 1)
	k.router.GET("/endless", func(c *gin.Context) {
		out := httpkit.BeginStream(c, "application/x-ndjson", writeTimeout)
		var err error
		for portion := []byte(strings.Repeat("0", 1<<20)); err == nil; {
			err = out.Write(portion)
		}
		ended <- err
		out.End(err)
	})
	return ended
}

func TestAClientThatTakesNothingHoldsNoStream(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ended := endless(k, 200*time.Millisecond)
	server := serve(t, k)
	connection, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "GET /endless HTTP/1.1\r\nHost: kit\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the stream ended with: %v", err)
	}
	if log := k.log.String(); strings.Contains(log, "ERROR") {
		t.Error(log)
	}
}

func TestAClientThatTakesNothingHoldsNoServerThatStops(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ended := endless(k, time.Hour)
	connection, err := net.Dial("tcp", serve(t, k).Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer connection.Close()
	if _, err := io.WriteString(connection, "GET /endless HTTP/1.1\r\nHost: kit\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	if _, err := connection.Read(make([]byte, 1)); err != nil { // it has begun
		t.Fatal(err)
	}
	k.stopping.Begin()
	if err := <-ended; err == nil {
		t.Error("the stream went on")
	}
	if log := k.log.String(); strings.Contains(log, "ERROR") {
		t.Error(log)
	}
}

func TestNoStreamBeginsWhenTheServerStops(t *testing.T) {
	t.Parallel()
	k := newKit(t, func(httpkit.Request) (httpkit.Answer, error) {
		return httpkit.Answer{Feed: &httpkit.Feed{MediaType: "text/csv", Write: func(write func([]byte) error) error {
			return write([]byte("one"))
		}}}, nil
	})
	server := serve(t, k)
	for _, want := range []int{http.StatusOK, http.StatusServiceUnavailable} {
		// A connection of its own: that of the first stream may be cut off as this ends.
		got, err := fetch(t, server.URL+"/things", "Authorization", "Bearer all", "Connection", "close")
		if err != nil || got.status != want {
			t.Errorf("%d, %v; want %d", got.status, err, want)
		}
		k.stopping.Begin()
	}
}

func TestAHandlerThatWaitsIsNotCutOff(t *testing.T) {
	t.Parallel()
	const timeout = 50 * time.Millisecond
	k := newKit(t, func(r httpkit.Request) (httpkit.Answer, error) {
		r.Wait(time.Minute)
		select {
		case <-r.Context().Done():
			return httpkit.Answer{}, r.Context().Err()
		case <-time.After(10 * timeout): // by then the timeouts of the server are over
			return httpkit.Answer{Data: "waited"}, nil
		}
	})
	server := httptest.NewUnstartedServer(nil)
	server.Config = httpkit.NewServer(httpkit.Compressed(k.router), slog.New(slog.NewTextHandler(k.log, nil)))
	server.Config.ReadTimeout, server.Config.WriteTimeout = timeout, timeout
	server.Start()
	t.Cleanup(server.Close)
	got, err := fetch(t, server.URL+"/things", "Authorization", "Bearer all")
	if err != nil || got.status != http.StatusOK || !strings.Contains(got.text, "waited") {
		t.Errorf("%v %v", got, err)
	}
}

func TestAStreamEndsWhenItsClientGoesAway(t *testing.T) {
	t.Parallel()
	k := newKit(t)
	ended := endless(k, time.Minute)
	ctx, leave := context.WithCancel(t.Context())
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, serve(t, k).URL+"/endless", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	leave()
	_ = response.Body.Close()
	if err := <-ended; err == nil {
		t.Error("somebody took an endless stream")
	}
}
