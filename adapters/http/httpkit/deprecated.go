package httpkit

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"

	"holdco/domain/deprecation"
)

// What a document says of an operation, a parameter or a field that will go, beside deprecated: true.
const (
	sinceKey  = "x-deprecated-since"
	sunsetKey = "x-sunset"
)

// noticeOf reads what a part of a document says of itself; nil: it is not deprecated.
func noticeOf(part *yaml.Node) (*deprecation.Notice, error) {
	says, since, sunset := get(part, deprecated), get(part, sinceKey), get(part, sunsetKey)
	switch {
	case says == nil || says.Kind != yaml.ScalarNode || says.Value != "true":
		if since != nil || sunset != nil {
			return nil, fmt.Errorf("%s and %s need deprecated: true", sinceKey, sunsetKey)
		}
		return nil, nil
	case since == nil || sunset == nil:
		return nil, fmt.Errorf("deprecated: true needs %s and %s", sinceKey, sunsetKey)
	case get(part, "$ref") != nil:
		return nil, errors.New("what stands beside a $ref does not count; write allOf: [{$ref: ...}] instead")
	}
	notice, err := deprecation.Parse(since.Value, sunset.Value)
	return &notice, err
}

// checkNotices refuses a part of a document in which something is deprecated without a notice, or of which clients could not be told.
// Within are the names of all that the part is in.
func checkNotices(part *yaml.Node, within ...string) error {
	notice, err := noticeOf(part)
	if err == nil && notice != nil && !canBeDeprecated(within) {
		err = errors.New("only an operation, a parameter or a field can be deprecated")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.Join(within, "."), err)
	}
	for name, member := range pairs(part) {
		if name == "example" || name == "examples" || name == "default" {
			continue
		}
		if err := checkNotices(member, append(within, name)...); err != nil {
			return err
		}
	}
	if part.Kind == yaml.SequenceNode {
		for i, item := range part.Content {
			if err := checkNotices(item, append(within, strconv.Itoa(i))...); err != nil {
				return err
			}
		}
	}
	return nil
}

func canBeDeprecated(within []string) bool {
	if len(within) < 2 {
		return false
	}
	in, name := within[len(within)-2], within[len(within)-1]
	return in == "properties" || in == "parameters" || len(within) == 3 && within[0] == "paths" && isMethod(name)
}

// outdated is what of an operation is deprecated.
type outdated struct {
	whole   *deprecation.Notice // the operation itself; nil: it is not
	query   map[string]deprecation.Notice
	headers map[string]deprecation.Notice
	body    *field // nil: nothing in it
}

// outdatedIn finds what of an operation is deprecated; nil: nothing. The notices have been checked.
func outdatedIn(op, components *yaml.Node) *outdated {
	found := outdated{query: map[string]deprecation.Notice{}, headers: map[string]deprecation.Notice{}}
	found.whole, _ = noticeOf(op)
	for _, parameter := range content(get(op, "parameters")) {
		parameter = resolved(parameter, components)
		notice, _ := noticeOf(parameter)
		switch {
		case notice == nil:
		case get(parameter, "in").Value == "query":
			found.query[get(parameter, "name").Value] = *notice
		default:
			found.headers[get(parameter, "name").Value] = *notice
		}
	}
	if schema := get(get(get(get(op, "requestBody"), "content"), jsonType), "schema"); schema != nil {
		reader := fieldReader{components, map[string]*field{}}
		if body := reader.read(schema); body.hasNotice(map[*field]bool{}) {
			found.body = body
		}
	}
	if found.whole == nil && found.body == nil && len(found.query)+len(found.headers) == 0 {
		return nil
	}
	return &found
}

// resolved is the component that a node refers to, or the node itself.
func resolved(node, components *yaml.Node) *yaml.Node {
	for target := get(node, "$ref"); target != nil; target = get(node, "$ref") {
		one := targetOf(target)
		node = get(get(components, one.kind), one.name)
	}
	return node
}

// field is a value in a body, with the values in it.
type field struct {
	notice  *deprecation.Notice // nil: it is not deprecated
	members map[string]*field
	others  *field   // what members are that the document does not name; nil: they can be anything
	items   *field   // nil: it is no list
	parts   []*field // which say more of the same value: allOf, oneOf, anyOf
}

// fieldReader reads the fields of schemas. A schema can be in itself, so each component is read once.
type fieldReader struct {
	components *yaml.Node
	known      map[string]*field // by references
}

func (r fieldReader) read(schema *yaml.Node) *field {
	made := &field{members: map[string]*field{}}
	if target := get(schema, "$ref"); target != nil {
		if known := r.known[target.Value]; known != nil {
			return known
		}
		r.known[target.Value] = made
		schema = resolved(schema, r.components)
	}
	made.notice, _ = noticeOf(schema)
	for name, member := range pairs(get(schema, "properties")) {
		made.members[name] = r.read(member)
	}
	if others := get(schema, "additionalProperties"); others != nil && others.Kind == yaml.MappingNode {
		made.others = r.read(others)
	}
	if items := get(schema, "items"); items != nil {
		made.items = r.read(items)
	}
	for _, kind := range []string{"allOf", "oneOf", "anyOf"} {
		for _, part := range content(get(schema, kind)) {
			made.parts = append(made.parts, r.read(part))
		}
	}
	return made
}

// hasNotice reports whether a value or one in it is deprecated. It adds to those that were seen.
func (f *field) hasNotice(seen map[*field]bool) bool {
	if f == nil || seen[f] {
		return false
	}
	seen[f] = true
	within := slices.Concat(slices.Collect(maps.Values(f.members)), f.parts, []*field{f.others, f.items})
	return f.notice != nil || slices.ContainsFunc(within, func(one *field) bool { return one.hasNotice(seen) })
}

// sent reads a value, and returns the notices of it and of what is in it. It is all of the fields: one and its parts.
func sent(decoder *jsontext.Decoder, fields []*field) (notices []deprecation.Notice) {
	for i := 0; i < len(fields); i++ {
		fields = append(fields, fields[i].parts...)
		if fields[i].notice != nil {
			notices = append(notices, *fields[i].notice)
		}
	}
	end := jsontext.Kind('}')
	switch kind := decoder.PeekKind(); {
	case len(fields) == 0 || kind != '{' && kind != '[':
		checked(decoder.SkipValue())
		return notices
	case kind == '[':
		end = ']'
	}
	read(decoder)
	for decoder.PeekKind() != end {
		var within []*field
		if end == ']' {
			within = itemsOf(fields)
		} else {
			within = membersOf(fields, read(decoder).String())
		}
		notices = append(notices, sent(decoder, within)...)
	}
	read(decoder)
	return notices
}

func read(decoder *jsontext.Decoder) jsontext.Token {
	token, err := decoder.ReadToken()
	checked(err)
	return token
}

func membersOf(fields []*field, name string) (found []*field) {
	for _, f := range fields {
		member, isNamed := f.members[name]
		if !isNamed {
			member = f.others
		}
		if member != nil {
			found = append(found, member)
		}
	}
	return found
}

func itemsOf(fields []*field) (found []*field) {
	for _, f := range fields {
		if f.items != nil {
			found = append(found, f.items)
		}
	}
	return found
}

// announce tells a client by headers (RFC 9745, RFC 8594) that it uses what is deprecated, and the log.
func announce(c *gin.Context, used deprecation.Notice) {
	c.Header("Deprecation", "@"+strconv.FormatInt(used.Since.Unix(), 10))
	c.Header("Sunset", used.Sunset.Format(http.TimeFormat))
	of(c).deprecated = true
}

// announceUsed announces what of an operation a request uses that has passed the other checks.
func (d *outdated) announceUsed(c *gin.Context) {
	var used []deprecation.Notice
	if d.whole != nil {
		used = append(used, *d.whole)
	}
	for name := range of(c).query {
		if notice, ok := d.query[name]; ok {
			used = append(used, notice)
		}
	}
	for name, notice := range d.headers {
		if c.GetHeader(name) != "" {
			used = append(used, notice)
		}
	}
	if body := of(c).body; d.body != nil && body != nil {
		used = append(used, sent(jsontext.NewDecoder(bytes.NewReader(body)), []*field{d.body})...)
	}
	if len(used) > 0 {
		announce(c, deprecation.Earliest(used[0], used[1:]...))
	}
}
