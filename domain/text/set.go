package text

import "holdco/domain/fault"

// SetName sets a field to the name that was sent, as Name parses it; nil: nothing was sent, and the field stays. It adds what is wrong
// with the name to problems.
func SetName(field *string, path string, sent *string, most int, problems *fault.Problems) {
	set(field, path, sent, most, problems, Name)
}

// SetProse is SetName for what Prose parses.
func SetProse(field *string, path string, sent *string, most int, problems *fault.Problems) {
	set(field, path, sent, most, problems, Prose)
}

func set(
	field *string, path string, sent *string, most int, problems *fault.Problems, parse func(string, string, int) (string, []fault.Field),
) {
	if sent != nil {
		parsed, wrong := parse(path, *sent, most)
		problems.Add(wrong...)
		*field = parsed
	}
}

// SetSlug is SetName for a slug: see IsSlug.
func SetSlug(field *string, path string, sent *string, problems *fault.Problems) {
	if sent == nil {
		return
	}
	if *field = *sent; !IsSlug(*sent) {
		problems.Add(fault.Fieldf(path, fault.InvalidFormat,
			"%s must be lower-case letters and digits in groups joined by single hyphens, at most %d characters", path, SlugLength))
	}
}
