package scriptedmodel

import (
	"encoding/json"
	"net/http"
)

// answerMessages answers in the form of Anthropic Messages.
func answerMessages(w http.ResponseWriter, _ *http.Request, a answer) {
	usage := object{
		"input_tokens": a.usage.Input - a.usage.Cached, "cache_read_input_tokens": a.usage.Cached, "cache_creation_input_tokens": 0,
		"output_tokens": a.usage.Output,
	}
	message := object{
		"id": "msg_" + a.turn, "type": "message", "role": "assistant", "model": a.model, "content": []object{}, "stop_reason": nil,
		"stop_sequence": nil, "usage": usage,
	}
	var content, deltas []object
	if a.text != "" {
		content = append(content, object{"type": "text", "text": a.text})
		deltas = append(deltas, object{"type": "text_delta", "text": a.text})
	}
	reason := "end_turn"
	for i, c := range a.calls {
		reason = "tool_use"
		content = append(content, object{
			"type": "tool_use", "id": a.callID("toolu", i), "name": c.tool.full(), "input": json.RawMessage(c.arguments),
		})
		deltas = append(deltas, object{"type": "input_json_delta", "partial_json": c.arguments})
	}
	if !a.isStream {
		message["content"], message["stop_reason"] = content, reason
		writeJSON(w, http.StatusOK, message)
		return
	}
	stream := newEvents(w)
	send := func(name string, event object) {
		event["type"] = name
		stream.send(name, event)
	}
	send("message_start", object{"message": message})
	for i, block := range content {
		switch block["type"] {
		case "text":
			block["text"] = ""
		default:
			block["input"] = object{}
		}
		send("content_block_start", object{"index": i, "content_block": block})
		send("content_block_delta", object{"index": i, "delta": deltas[i]})
		send("content_block_stop", object{"index": i})
	}
	send("message_delta", object{"delta": object{"stop_reason": reason, "stop_sequence": nil}, "usage": usage})
	send("message_stop", object{})
}

func failMessages(w http.ResponseWriter, s Step) {
	writeJSON(w, s.Status, object{"type": "error", "error": object{"type": s.Problem, "message": s.Text}})
}
