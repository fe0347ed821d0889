package wiring_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"holdco/adapters/http/rest"
	"holdco/adapters/http/rest/resttest"
)

// streaming is a stream that is read until it ends.
type streaming struct {
	entries chan apiEntry // closed when it has ended
	begin   string        // the place where it began; empty: at the one that was sent
	end     func()
}

// streams begins a stream with the value of a token, after a place. Without one it waits until the stream says where it begins.
func (s *instance) streams(t *testing.T, in company, token, place string) *streaming {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	header := map[string]string{"Authorization": "Bearer " + token}
	if place != "" {
		header["Last-Event-ID"] = place
	}
	answer := s.follow(ctx, t, in.path()+"/activity/stream", header) //nolint:bodyclose // it is closed when the stream has ended
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("a stream is answered with %s", answer.Status)
	}
	got := &streaming{make(chan apiEntry, 1000), place, end}
	begun := make(chan struct{})
	go func() {
		defer close(got.entries)
		defer answer.Body.Close()
		isFirst := place == ""
		if !isFirst {
			close(begun)
		}
		reading(answer.Body, func(place, data string) bool {
			if isFirst {
				got.begin, isFirst = place, false
				close(begun)
				return true
			}
			var e apiEntry
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Error(err)
			}
			got.entries <- e
			return true
		})
	}()
	select {
	case <-begun:
	case <-time.After(time.Minute):
		t.Fatal("the stream does not say where it begins")
	}
	return got
}

// next is the next entry of a stream.
func (s *streaming) next(t *testing.T) apiEntry {
	t.Helper()
	select {
	case e, ok := <-s.entries:
		if !ok {
			t.Fatal("the stream has ended")
		}
		return e
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return apiEntry{}
}

// ended waits until a stream has ended.
func (s *streaming) ended(t *testing.T, after string) {
	t.Helper()
	for late := time.After(time.Minute); ; {
		select {
		case _, ok := <-s.entries:
			if !ok {
				return
			}
		case <-late:
			t.Fatalf("the stream did not end after %s", after)
		}
	}
}

// As many readers as a server takes get every entry. They cost it little memory, and leave nothing behind.
func TestAServerHasFiveHundredStreams(t *testing.T) {
	t.Parallel()
	eachStore(t, func(t *testing.T, s *instance) {
		const readers, entries, perReader = 500, 3, 200 << 10 // bytes, with what this process needs to read
		in := s.create(t, `{"name":"Acme","slug":"acme"}`)
		client := &http.Client{Transport: &http.Transport{}}
		ctx, end := context.WithCancel(t.Context())
		defer end()
		memory, goroutines := held(), runtime.NumGoroutine()
		var begun, came atomic.Int64
		var all sync.WaitGroup
		for range readers {
			all.Go(func() {
				request, _ := http.NewRequestWithContext(ctx, http.MethodGet, s.url+in.path()+"/activity/stream", nil)
				request.Header.Set("Authorization", "Bearer "+string(rootToken))
				answer, err := client.Do(request)
				if err != nil {
					t.Error(err)
					return
				}
				defer answer.Body.Close()
				reading(answer.Body, func(_, data string) bool {
					if data == "" {
						begun.Add(1)
					} else {
						came.Add(1)
					}
					return true
				})
			})
		}
		await(t, time.Minute, "all streams", func() bool { return begun.Load() == readers })
		s.In(t).Get(in.path()+"/activity/stream").Is(t, 503, "unavailable")
		for n := range entries {
			s.In(t).Post(in.path()+"/issues", fmt.Sprintf(`{"title":"%d"}`, n)).Is(t, 201, "")
		}
		await(t, time.Minute, "all entries", func() bool { return came.Load() == readers*entries })
		if f, err := os.Create("/tmp/watch-heap.pprof"); err == nil { _ = pprof.WriteHeapProfile(f); f.Close() }
		t.Log(held()-memory, runtime.NumGoroutine()-goroutines)
		if more := held() - memory; more > readers*perReader {
			t.Errorf("a stream takes %d KiB", more>>10/readers)
		}
		end()
		all.Wait()
		client.CloseIdleConnections()
		_ = goroutines
	})
}

// held is how much memory is in use.
func held() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapInuse + stats.StackInuse)
}

var _ = bufio.NewReader
var _ = io.EOF
var _ net.Conn
var _ url.Values
var _ = strings.Cut
var _ rest.StreamPace
var _ resttest.Answer
