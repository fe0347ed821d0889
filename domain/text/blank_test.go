package text_test

import (
	"testing"

	"holdco/domain/fault"
	"holdco/domain/text"
)

func TestNamesThatShowNothingAreBlank(t *testing.T) {
	t.Parallel()
	for _, blank := range []string{
		"", " ", "\u00a0\u3000", "\u200b", "\u200c\u200d", "\u2060", "\ufeff", "\u00ad", "\u200e", "\u3164", "\uffa0", "\u115f", "\u1160",
		"\u2800", " \u2800 \u200b", "\ufe0f", "\u180b", "\u180e", "\U000e0100", "\U000e0041", "\u0301", "\u0301\u20dd", "\u034f", "\u17b4",
		"\U0001d159", "\U0001d173", "\u2064",
	} {
		if !text.IsBlank(blank) {
			t.Errorf("%+q is not blank", blank)
		}
		if _, faults := text.Name("name", blank, 10); codeOf(t, faults) != fault.Required {
			t.Errorf("%+q is taken as a name: %v", blank, faults)
		}
	}
	for _, shown := range []string{
		"a", " a\u200b", "\u200fא", "e\u0301", "👩\u200d💻", "❤\ufe0f", "\u0600", "ཨ", "‑", "·", "_", "\ufffd", "\u2801", "가",
	} {
		if text.IsBlank(shown) {
			t.Errorf("%+q is blank", shown)
		}
		if _, faults := text.Name("name", shown, 10); faults != nil {
			t.Errorf("%+q is refused as a name: %v", shown, faults)
		}
	}
}
