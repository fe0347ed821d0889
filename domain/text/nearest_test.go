package text_test

import (
	"testing"

	"holdco/domain/text"
)

func TestTheNearestNameIsThatWhichIsSpelledMostAlike(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sent, want string
		maybe      bool
	}{
		{"emial", "email", true},
		{"EMAIL", "email", true},
		{"social", "social_media", true},
		{"wibsite", "website", true},
		{"colour", "email", false},
		{"", "email", false},
	} {
		got, maybe := text.Nearest(c.sent, []string{"email", "website", "social_media"})
		if maybe != c.maybe || maybe && got != c.want {
			t.Errorf("%q: %q, %v", c.sent, got, maybe)
		}
	}
	if got, maybe := text.Nearest("email", nil); got != "" || maybe {
		t.Errorf("%q, %v", got, maybe)
	}
}
