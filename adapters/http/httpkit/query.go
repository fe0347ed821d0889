package httpkit

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"holdco/domain/fault"
	"holdco/domain/text"
)

// parameter is a parameter as the OpenAPI document describes it.
type parameter struct {
	Ref    string `yaml:"$ref"`
	Name   string `yaml:"name"`
	In     string `yaml:"in"`
	Schema schema `yaml:"schema"`
}

// schema is what the document says of a parameter's value. Arrays are lists separated by commas.
type schema struct {
	Type    string   `yaml:"type"`
	Enum    []string `yaml:"enum"`
	Minimum *int64   `yaml:"minimum"`
	Maximum *int64   `yaml:"maximum"`
	Items   *schema  `yaml:"items"`
}

// Query holds the values of the parameters that a request has, by their names: each has one, and it is not empty.
type Query map[string]string

// Filters spells all but where a page is, in an order that does not change: to bind cursors to them.
func (q Query) Filters() string {
	filters := url.Values{}
	for name, value := range q {
		if name != "limit" && name != "cursor" {
			filters.Set(name, value)
		}
	}
	return filters.Encode()
}

// readQuery refuses, with fault.InvalidParameter, the first parameter that is unknown, given twice, empty, malformed
// or not one of the values that the document allows.
func readQuery(raw string, allowed map[string]parameter) (Query, error) {
	query := Query{}
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		name, value, err := unescaped(pair)
		described, ok := allowed[name]
		_, seen := query[name]
		switch {
		case err != nil:
			return nil, InvalidParameter(name, "is malformed")
		case name == "":
			return nil, fault.New(fault.InvalidParameter, "A parameter in the query has no name.").With("parameter", name)
		case !ok:
			return nil, InvalidParameter(name, "is not a parameter of this operation")
		case seen:
			return nil, InvalidParameter(name, "is given twice")
		case value == "":
			return nil, InvalidParameter(name, "is empty")
		}
		if wrong := described.Schema.check(value); wrong != "" {
			return nil, InvalidParameter(name, wrong)
		}
		query[name] = value
	}
	return query, nil
}

// unescaped splits name=value. A semicolon must be escaped, because some take it for a separator. U+0000 is in no text that is kept,
// and Postgres does not even compare with it.
func unescaped(pair string) (name, value string, err error) {
	rawName, rawValue, _ := strings.Cut(pair, "=")
	if name, err = url.QueryUnescape(rawName); err != nil {
		return rawName, "", err
	}
	if value, err = url.QueryUnescape(rawValue); err != nil {
		return name, "", err
	}
	if strings.Contains(pair, ";") || !utf8.ValidString(name+value) || strings.Contains(name+value, "\x00") {
		return name, "", url.EscapeError(pair)
	}
	return name, value, nil
}

// check returns what is wrong with a value, or "".
func (s schema) check(value string) string {
	switch {
	case s.Type == "integer":
		return s.checkInteger(value)
	case s.Type == "array":
		return s.checkList(value)
	case s.Type == "boolean" && value != "true" && value != "false":
		return "must be true or false"
	case s.Enum != nil && !slices.Contains(s.Enum, value):
		return "must be one of " + strings.Join(s.Enum, ", ") + nearest(value, s.Enum)
	}
	return ""
}

// nearest names the value that may be meant by one that is not allowed.
func nearest(value string, allowed []string) string {
	if near, maybe := text.Nearest(value, allowed); maybe {
		return fmt.Sprintf("; the nearest to %q is %s", value, near)
	}
	return ""
}

func (s schema) checkInteger(value string) string {
	number, err := strconv.ParseInt(value, 10, 64)
	if err != nil || strconv.FormatInt(number, 10) != value || number < *s.Minimum || number > *s.Maximum {
		return "must be a whole number from " + strconv.FormatInt(*s.Minimum, 10) + " to " + strconv.FormatInt(*s.Maximum, 10)
	}
	return ""
}

func (s schema) checkList(value string) string {
	seen := map[string]bool{}
	for item := range strings.SplitSeq(value, ",") {
		if wrong := s.Items.check(item); wrong != "" {
			return "must hold items separated by commas, each of which " + wrong
		}
		if seen[item] {
			return "names an item twice"
		}
		seen[item] = true
	}
	return ""
}

// InvalidParameter refuses a parameter, or a header, with fault.InvalidParameter.
func InvalidParameter(name, wrong string) error {
	return fault.New(fault.InvalidParameter, "%s %s.", name, wrong).With("parameter", name)
}
