package rest

import (
	"strings"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
	"holdco/domain/instant"
)

const instantForm = "must be an instant of RFC 3339, such as 2027-04-11T00:00:00Z"

// instantOf reads an instant from a field, if it was sent, and notes what is wrong with its form.
func instantOf(field string, sent *string, problems *fault.Problems) *time.Time {
	if sent == nil {
		return nil
	}
	read, ok := instant.Parse(*sent)
	if !ok {
		problems.Add(fault.Fieldf(field, fault.InvalidFormat, "%s %s", field, instantForm))
		return nil
	}
	return &read
}

// instantOrNull is instantOf for a field that can be null.
func instantOrNull(field string, sent **string, problems *fault.Problems) **time.Time {
	if sent == nil {
		return nil
	}
	return new(instantOf(field, *sent, problems))
}

// instantIn reads an instant from a query parameter. What is absent is the zero time. Nothing in the store is as old as 1970, so what
// is before it is taken for its beginning, which differs from the zero time.
func instantIn(query httpkit.Query, name string) (time.Time, error) {
	sent, found := query[name]
	if !found {
		return time.Time{}, nil
	}
	read, ok := instant.Parse(sent)
	switch {
	case !ok && strings.Contains(sent, " "):
		return read, httpkit.InvalidParameter(name, "holds a space; in a URL a + stands for one, so spell an offset as %2B02:00")
	case !ok:
		return read, httpkit.InvalidParameter(name, instantForm)
	case read.Before(time.Unix(0, 0)):
		read = time.Unix(0, 0)
	}
	return read, nil
}
