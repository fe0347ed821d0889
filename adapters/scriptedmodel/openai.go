package scriptedmodel

import "net/http"

// answerResponses answers in the form of OpenAI Responses.
func answerResponses(w http.ResponseWriter, _ *http.Request, a answer) {
	var items []object
	if a.text != "" {
		items = append(items, object{
			"type": "message", "id": "msg_" + a.turn, "role": "assistant", "status": "completed",
			"content": []object{{"type": "output_text", "text": a.text, "annotations": []any{}}},
		})
	}
	for i, c := range a.calls {
		item := object{
			"type": "function_call", "id": a.callID("fc", i), "call_id": a.callID("call", i), "name": c.tool.name,
			"arguments": c.arguments, "status": "completed",
		}
		if c.code != "" {
			item = object{
				"type": "custom_tool_call", "id": a.callID("ctc", i), "call_id": a.callID("call", i), "name": c.tool.name, "input": c.code,
				"status": "completed",
			}
		}
		if c.tool.namespace != "" {
			item["namespace"] = c.tool.namespace
		}
		items = append(items, item)
	}
	response := object{"id": "resp_" + a.turn, "object": "response", "created_at": createdAt, "model": a.model}
	usage := object{
		"input_tokens": a.usage.Input, "input_tokens_details": object{"cached_tokens": a.usage.Cached},
		"output_tokens": a.usage.Output, "output_tokens_details": object{"reasoning_tokens": 0},
		"total_tokens": a.usage.Input + a.usage.Output,
	}
	complete := func() object {
		response["status"], response["output"], response["usage"] = "completed", items, usage
		return response
	}
	if !a.isStream {
		writeJSON(w, http.StatusOK, complete())
		return
	}
	stream := newEvents(w)
	number := 0
	send := func(name string, event object) {
		event["type"], event["sequence_number"] = name, number
		number++
		stream.send(name, event)
	}
	response["status"], response["output"] = "in_progress", []any{}
	send("response.created", object{"response": response})
	for i, item := range items {
		send("response.output_item.added", object{"output_index": i, "item": item})
		if item["type"] == "message" {
			send("response.output_text.delta", object{"item_id": item["id"], "output_index": i, "content_index": 0, "delta": a.text})
		}
		send("response.output_item.done", object{"output_index": i, "item": item})
	}
	send("response.completed", object{"response": complete()})
}

// createdAt is when every answer was made, in seconds.
const createdAt = 1_760_000_000

// answerChat answers in the form of Chat Completions.
func answerChat(w http.ResponseWriter, _ *http.Request, a answer) {
	message := object{"role": "assistant", "content": a.text}
	reason := "stop"
	if len(a.calls) > 0 {
		reason = "tool_calls"
		calls := make([]object, len(a.calls))
		for i, c := range a.calls {
			calls[i] = object{
				"index": i, "id": a.callID("call", i), "type": "function",
				"function": object{"name": c.tool.full(), "arguments": c.arguments},
			}
		}
		message["tool_calls"] = calls
	}
	usage := object{
		"prompt_tokens": a.usage.Input, "prompt_tokens_details": object{"cached_tokens": a.usage.Cached},
		"completion_tokens": a.usage.Output, "total_tokens": a.usage.Input + a.usage.Output,
	}
	head := func(kind string, choices []object) object {
		return object{"id": "chatcmpl-" + a.turn, "object": kind, "created": createdAt, "model": a.model, "choices": choices}
	}
	if !a.isStream {
		whole := head("chat.completion", []object{{"index": 0, "message": message, "finish_reason": reason}})
		whole["usage"] = usage
		writeJSON(w, http.StatusOK, whole)
		return
	}
	stream := newEvents(w)
	const kind = "chat.completion.chunk"
	stream.send("", head(kind, []object{{"index": 0, "delta": message, "finish_reason": nil}}))
	stream.send("", head(kind, []object{{"index": 0, "delta": object{}, "finish_reason": reason}}))
	last := head(kind, []object{})
	last["usage"] = usage
	stream.send("", last)
	stream.send("", "[DONE]")
}

func failOpenAI(w http.ResponseWriter, s Step) {
	writeJSON(w, s.Status, object{"error": object{"message": s.Text, "type": s.Problem, "code": s.Problem, "param": nil}})
}
