package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// answerGemini answers in the form of Gemini's generateContent.
func answerGemini(w http.ResponseWriter, r *http.Request, a answer) {
	var parts []object
	if a.text != "" {
		parts = append(parts, object{"text": a.text})
	}
	for i, c := range a.calls {
		parts = append(parts, object{"functionCall": object{
			"id": a.callID("call", i), "name": c.tool.full(), "args": json.RawMessage(c.arguments),
		}})
	}
	whole := object{
		"candidates": []object{{"index": 0, "content": object{"role": "model", "parts": parts}, "finishReason": "STOP"}},
		"usageMetadata": object{
			"promptTokenCount": a.usage.Input, "cachedContentTokenCount": a.usage.Cached, "candidatesTokenCount": a.usage.Output,
			"totalTokenCount": a.usage.Input + a.usage.Output,
		},
		"modelVersion": a.model, "responseId": "resp_" + a.turn,
	}
	switch {
	case !strings.HasSuffix(r.URL.Path, ":streamGenerateContent"):
		writeJSON(w, http.StatusOK, whole)
	case r.URL.Query().Get("alt") == "sse":
		newEvents(w).send("", whole)
	default:
		writeJSON(w, http.StatusOK, []object{whole})
	}
}

func failGemini(w http.ResponseWriter, s Step) {
	writeJSON(w, s.Status, object{"error": object{"code": s.Status, "message": s.Text, "status": s.Problem}})
}
