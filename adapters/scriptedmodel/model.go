package scriptedmodel

import (
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Model answers requests with the steps of a script, one after the other, whoever asks. It is safe for concurrent use.
//
// A request that offers no tools, as programs send for titles and the like, takes no step: it is answered with SideText and without
// usage. After the last step every request is answered with AfterText.
type Model struct {
	// Script are the steps. It must not change once requests arrive.
	Script []Step

	// Values are what stands for ${NAME} in arguments: the last match in the request, or its first group if it has one.
	Values map[string]*regexp.Regexp

	// Key is what requests must carry: as a bearer token, or in the header of their API. Empty: requests need none.
	Key string

	mutex    sync.Mutex
	next     int
	requests []Request
}

// Step is one answer of the model.
type Step struct {
	Text  string // what it says; with Status the message of the error
	Calls []Call // the tools that it calls

	Usage *Usage // nil: StandardUsage

	Status  int         // of HTTP, from 400: the step is an error; 0: it is none
	Problem string      // the type of the error, as the API names it, such as "rate_limit_error"
	Header  http.Header // of the error

	Delay time.Duration   // before the answer
	Until <-chan struct{} // the answer waits until it is closed, or the client is gone; nil: it does not wait
}

// Call is the call of a tool.
type Call struct {
	Tool      string // as the tool's server names it; the client may have put something before it
	Arguments string // a JSON object; in it ${NAME} stands for one of the model's Values; empty: none
}

// Usage is what a step reports to have used, in tokens.
type Usage struct {
	Input  int64 // with Cached
	Cached int64 // of Input, read from a cache
	Output int64
}

// StandardUsage is that of steps which say nothing else.
var StandardUsage = Usage{Input: 1000, Cached: 600, Output: 50}

// What is said where the script says nothing.
const (
	SideText  = "A task"
	AfterText = "The script is over."
)

// NoStep is the step of a request that took none.
const NoStep = -1

// Request is what a client sent.
type Request struct {
	Path   string
	Header http.Header
	Body   string
	Model  string
	Tools  []string // the names of those that it offers, in the client's own form
	Step   int      // the index of its answer in the script; NoStep: a side request, or one after the end
}

// maxBody is how much of a request is read, in bytes.
const maxBody = 32 << 20

// Requests returns what was asked of the model so far, in order, without requests that it refused for their key or their path.
func (m *Model) Requests() []Request {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return slices.Clone(m.requests)
}

// Left returns how many steps nobody has taken yet.
func (m *Model) Left() int {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	return len(m.Script) - m.next
}

// ServeHTTP answers one request.
func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	api, found := apiOf(r)
	if !found {
		writeJSON(w, http.StatusNotFound, object{"error": object{"message": "The scripted model has no such path: " + r.URL.Path}})
		return
	}
	if !m.isLetIn(r) {
		api.fail(w, Step{Status: http.StatusUnauthorized, Problem: "authentication_error", Text: "The key is not valid."})
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var sent request
	if err == nil {
		err = json.Unmarshal(body, &sent)
	}
	if err != nil {
		api.fail(w, Step{Status: http.StatusBadRequest, Problem: "invalid_request_error", Text: err.Error()})
		return
	}
	if api.isCount {
		api.count(w)
		return
	}
	step, tools, number := m.take(r, body, sent)
	if !step.wait(r) {
		return
	}
	for name, values := range step.Header {
		w.Header()[name] = values
	}
	if step.Status != 0 {
		api.fail(w, step)
		return
	}
	api.answer(w, r, answer{
		model: sent.modelOf(r), text: step.Text, calls: m.calls(step, tools, string(body)), usage: *step.Usage, isStream: sent.Stream,
		turn: strconv.Itoa(number),
	})
}

// isLetIn reports whether a request carries the key.
func (m *Model) isLetIn(r *http.Request) bool {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	shown := []string{bearer, r.Header.Get("X-Api-Key"), r.Header.Get("X-Goog-Api-Key"), r.URL.Query().Get("key")}
	return m.Key == "" || slices.Contains(shown, m.Key)
}

// take records a request, and returns its step.
func (m *Model) take(r *http.Request, body []byte, sent request) (step Step, tools []tool, number int) {
	tools = sent.tools()
	names := make([]string, len(tools))
	for i, offered := range tools {
		names[i] = offered.full()
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	taken := NoStep
	step.Text = AfterText
	switch {
	case len(tools) == 0:
		step = Step{Text: SideText, Usage: &Usage{}}
	case m.next < len(m.Script):
		step, taken = m.Script[m.next], m.next
		m.next++
	}
	if step.Usage == nil {
		step.Usage = &StandardUsage
	}
	m.requests = append(m.requests, Request{
		Path: r.URL.Path, Header: r.Header.Clone(), Body: string(body), Model: sent.modelOf(r), Tools: names, Step: taken,
	})
	return step, tools, len(m.requests)
}

// wait waits as a step says, and reports whether the client is still there.
func (s Step) wait(r *http.Request) bool {
	if s.Delay > 0 {
		timer := time.NewTimer(s.Delay)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-r.Context().Done():
			return false
		}
	}
	if s.Until != nil {
		select {
		case <-s.Until:
		case <-r.Context().Done():
			return false
		}
	}
	return true
}

// calls are the calls of a step as the client knows them.
func (m *Model) calls(s Step, tools []tool, body string) []call {
	calls := make([]call, len(s.Calls))
	for i, planned := range s.Calls {
		arguments := planned.Arguments
		if arguments == "" {
			arguments = "{}"
		}
		for name, pattern := range m.Values {
			arguments = strings.ReplaceAll(arguments, "${"+name+"}", lastMatch(pattern, body))
		}
		calls[i] = callOf(tools, planned.Tool, arguments)
	}
	return calls
}

// lastMatch returns the last match of a pattern in a text, or its first group; "" if there is none.
func lastMatch(pattern *regexp.Regexp, text string) string {
	all := pattern.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	last := all[len(all)-1]
	return last[min(1, len(last)-1)]
}
