package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"holdco/domain/fault"
)

// answer is the envelope of every answer: with data, or with an error.
type answer struct {
	Data  json.RawMessage `json:"data"`
	Error *struct {
		Code    fault.Code      `json:"code"`
		Message string          `json:"message"`
		Details json.RawMessage `json:"details"`
	} `json:"error"`
	Meta struct {
		RequestID string `json:"requestId"`
		Page      struct {
			Cursor string `json:"cursor"`
		} `json:"page"`
	} `json:"meta"`
}

// noContent is the status of an answer without a body.
const noContent = 204

// read reads the body of an answer.
func (c *Client) read(response *http.Response, text []byte) (answer, error) {
	if len(text) == 0 && response.StatusCode == noContent {
		return answer{}, nil
	}
	var got answer
	var details struct {
		Fields []struct{ Field, Code, Message string } `json:"fields"`
	}
	err := json.Unmarshal(text, &got)
	if err != nil || (got.Data == nil) == (got.Error == nil) {
		return answer{}, fmt.Errorf("%s answered %s, and not as the API of Holdco does", c.URL, response.Status)
	}
	if got.Error == nil {
		return got, nil
	}
	refused := &fault.Error{Code: got.Error.Code, Message: got.Error.Message}
	if seconds, err := strconv.Atoi(response.Header.Get("Retry-After")); err == nil {
		refused.RetryAfter = time.Duration(seconds) * time.Second
	}
	// Details of another form are of a later version: the message says enough.
	if json.Unmarshal(got.Error.Details, &refused.Details) == nil && json.Unmarshal(got.Error.Details, &details) == nil {
		for _, field := range details.Fields {
			refused.Fields = append(refused.Fields, fault.Field{Path: field.Field, Code: field.Code, Message: field.Message})
		}
	}
	return answer{}, &Refusal{refused, got.Meta.RequestID}
}
