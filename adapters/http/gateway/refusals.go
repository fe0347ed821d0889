package gateway

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
)

// unknownMethod begins the library's text for a method that the protocol does not have. It has no other sign of that.
const unknownMethod = "JSON RPC not handled"

// refusals answers with an error of JSON-RPC where the library refuses a message with a plain text.
type refusals struct {
	http.ResponseWriter

	message io.Reader
	code    int64 // of the error; 0: there is none
}

func (r *refusals) WriteHeader(status int) {
	if strings.HasPrefix(r.Header().Get("Content-Type"), "text/plain") {
		r.Header().Set("Content-Type", "application/json")
		r.code = jsonrpc.CodeInvalidRequest
		if status >= httpkit.Failed {
			r.code = jsonrpc.CodeInternalError
		}
	}
	r.ResponseWriter.WriteHeader(status)
}

func (r *refusals) Write(part []byte) (int, error) {
	if r.code == 0 {
		return r.ResponseWriter.Write(part)
	}
	var refused map[string]json.RawMessage
	if err := json.NewDecoder(r.message).Decode(&refused); err != nil {
		return 0, err
	}
	code := r.code
	if bytes.HasPrefix(part, []byte(unknownMethod)) {
		code = jsonrpc.CodeMethodNotFound
	}
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": messageID(refused), "error": jsonrpc.Error{Code: code, Message: strings.TrimSpace(string(part))},
	})
	if err == nil {
		_, err = r.ResponseWriter.Write(text)
	}
	return len(part), err
}

// messageID is the id of a message as it was sent, digit by digit; null unless it is a text or a number.
func messageID(message map[string]json.RawMessage) json.RawMessage {
	sent := message["id"]
	if len(sent) == 0 || !strings.ContainsRune(`"-0123456789`, rune(sent[0])) {
		return nil
	}
	return sent
}

// refusedCode is the code of JSON-RPC errors for what only the server can say more of.
const refusedCode = -32000

// refuseMessage answers what is refused before it reaches the protocol, because of its token, say, with an error of JSON-RPC. It reports
// false if the request was not for the protocol.
func refuseMessage(c *gin.Context, status int, refused httpkit.Failure) bool {
	if c.Request.URL.Path != mcpPath {
		return false
	}
	message := httpkit.SentTo(c)
	var read map[string]json.RawMessage
	_ = json.Unmarshal(message, &read) // what is no object has no id
	code := int64(refusedCode)
	switch {
	case status >= httpkit.Failed:
		code = jsonrpc.CodeInternalError
	case refused.Code == fault.InvalidJSON && !json.Valid(message):
		code = jsonrpc.CodeParseError
	case refused.Code == fault.InvalidJSON:
		code = jsonrpc.CodeInvalidRequest
	}
	text, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": messageID(read), "error": map[string]any{
			"code": code, "message": refused.Message, "data": map[string]any{"code": refused.Code, "details": refused.Details},
		},
	})
	if err != nil {
		return false
	}
	c.Header("Content-Type", "application/json")
	c.Header("Cache-Control", "no-store")
	c.Status(status)
	_, _ = c.Writer.Write(text) // fails when the client is gone
	return true
}
