package cli

import "testing"

func TestListsOfAHelpAreParagraphsOfAPageOfTheManual(t *testing.T) {
	t.Parallel()
	const help = "Look at it.\n\nThe checks:\n\n  config\n      every setting has\n      a value\n\n  disk\n      there is room\n"
	const want = "Look at it.\n\nThe checks:\n\n**config**: every setting has a value\n\n**disk**: there is room\n"
	if got := unfold(help); got != want {
		t.Errorf("%q", got)
	}
	for _, same := range []string{"One line.", "Two\nlines.\n\n  an example\n  and another\n", ""} {
		if got := unfold(same); got != same {
			t.Errorf("%q becomes %q", same, got)
		}
	}
}
