package scriptedmodel

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// object is a JSON object.
type object = map[string]any

// answer is what a model says to one request.
type answer struct {
	model    string
	text     string
	calls    []call
	usage    Usage
	isStream bool
	turn     string // differs between the answers of a model
}

// callID names a call. Programs want ids that differ within a conversation.
func (a answer) callID(prefix string, index int) string {
	return fmt.Sprintf("%s_%s_%d", prefix, a.turn, index)
}

// call is a call of a tool, as the client knows it.
type call struct {
	tool      tool
	arguments string
	code      string // instead of arguments, for a tool that runs it
}

// api is one of the APIs.
type api struct {
	answer  func(w http.ResponseWriter, r *http.Request, a answer)
	fail    func(w http.ResponseWriter, s Step)
	count   func(w http.ResponseWriter) // of tokens
	isCount bool
}

// countedTokens is how many tokens every request is said to have.
const countedTokens = 1000

// apiOf returns the API that a request is for.
func apiOf(r *http.Request) (found api, ok bool) {
	if r.Method != http.MethodPost {
		return api{}, false
	}
	switch path := r.URL.Path; {
	case strings.HasSuffix(path, "/messages/count_tokens"):
		return api{fail: failMessages, isCount: true, count: func(w http.ResponseWriter) {
			writeJSON(w, http.StatusOK, object{"input_tokens": countedTokens})
		}}, true
	case strings.HasSuffix(path, "/messages"):
		return api{answer: answerMessages, fail: failMessages}, true
	case strings.HasSuffix(path, "/responses"):
		return api{answer: answerResponses, fail: failOpenAI}, true
	case strings.HasSuffix(path, "/chat/completions"):
		return api{answer: answerChat, fail: failOpenAI}, true
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return api{answer: answerGemini, fail: failGemini}, true
	case strings.HasSuffix(path, ":countTokens"):
		return api{fail: failGemini, isCount: true, count: func(w http.ResponseWriter) {
			writeJSON(w, http.StatusOK, object{"totalTokens": countedTokens})
		}}, true
	}
	return api{}, false
}

// writeJSON writes an answer. A client that is gone hears nothing, so errors do not matter.
func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// events writes server-sent events.
type events struct{ w http.ResponseWriter }

func newEvents(w http.ResponseWriter) events {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache")
	w.WriteHeader(http.StatusOK)
	return events{w}
}

// send sends an event. An empty name sends none.
func (e events) send(name string, data any) {
	text, isText := data.(string)
	if !isText {
		encoded, _ := json.Marshal(data)
		text = string(encoded)
	}
	if name != "" {
		_, _ = fmt.Fprintf(e.w, "event: %s\n", name)
	}
	_, _ = fmt.Fprintf(e.w, "data: %s\n\n", text)
	if flusher, ok := e.w.(http.Flusher); ok {
		flusher.Flush()
	}
}
