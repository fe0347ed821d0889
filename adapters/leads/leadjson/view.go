package leadjson

import (
	"strings"

	"holdco/domain/lead"
)

// AppendFor is Append for whoever has a view: contacts that it does not show are left out, and the list of them is empty.
func AppendFor(to []byte, view lead.View, e lead.Exported, names lead.Names) []byte {
	if view.NoContacts {
		e.Document.Tail = withoutContacts(e.Document.Tail)
	}
	return Append(to, e, names)
}

// withoutContacts empties the list of contacts. Between quotes there is no quote that is not escaped, so what begins and what follows
// the list is found nowhere else.
func withoutContacts(tail string) string {
	const begins, follows = `"contacts":[`, `],"created_at":"`
	before, rest, found := strings.Cut(tail, begins)
	_, after, ends := strings.Cut(rest, follows)
	if !found || !ends {
		panic("the document of a lead has another form than Encode gives it")
	}
	return before + begins + follows + after
}
