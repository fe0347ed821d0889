package text_test

import (
	"testing"

	"holdco/domain/fault"
	"holdco/domain/text"
)

func TestAFieldIsSetToWhatWasSent(t *testing.T) {
	t.Parallel()
	name := func(field *string, sent *string, problems *fault.Problems) {
		text.SetName(field, "x", sent, 5, problems)
	}
	prose := func(field *string, sent *string, problems *fault.Problems) {
		text.SetProse(field, "x", sent, 5, problems)
	}
	slug := func(field *string, sent *string, problems *fault.Problems) { text.SetSlug(field, "x", sent, problems) }
	for what, c := range map[string]struct {
		set  func(field *string, sent *string, problems *fault.Problems)
		sent *string
		want string
		code string
	}{
		"no name":        {name, nil, "kept", ""},
		"a name":         {name, new(" Ada "), "Ada", ""},
		"a long name":    {name, new("Augusta"), "Augusta", fault.TooLong},
		"no prose":       {prose, nil, "kept", ""},
		"empty prose":    {prose, new(""), "", ""},
		"forbidden text": {prose, new("\x00"), "\x00", fault.InvalidCharacters},
		"no slug":        {slug, nil, "kept", ""},
		"a slug":         {slug, new("a-1"), "a-1", ""},
		"a bad slug":     {slug, new("A"), "A", fault.InvalidFormat},
	} {
		field, problems := "kept", fault.Problems{}
		c.set(&field, c.sent, &problems)
		if len(problems) > 1 || len(problems) == 1 != (c.code != "") || field != c.want {
			t.Errorf("%s: %q, %v", what, field, problems)
		} else if c.code != "" && (problems[0].Code != c.code || problems[0].Path != "x") {
			t.Errorf("%s: %v", what, problems)
		}
	}
}
