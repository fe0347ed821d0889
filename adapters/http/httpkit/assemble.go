package httpkit

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"holdco/domain/fault"
)

// commonFile is the file of a document that holds what its resources have in common.
const commonFile = "common.yaml"

// Assemble makes an OpenAPI document of the YAML files in a folder: common.yaml first, then the others by name, usually
// one for each resource. Objects of the same name are merged and lists concatenated; any other value stands in one file.
//
// The files are OpenAPI with these abbreviations, which the document that is served does not show:
//
//   - A name in place of a parameter, a header or a response is a reference to that component.
//   - requestBody: X is a required JSON body of the schema X, for PATCH a JSON merge patch too;
//     requestBody: {required: false, schema: X} one that may be left out.
//   - data: X in a response is the envelope x-envelopes.data of common.yaml around the schema X, page: X the envelope
//     x-envelopes.page around a list of it, seen: X the envelope x-envelopes.seen of what may be somewhat old
//     around X, schema: X is X itself.
//   - An operation has the tag of its file: the first one, or x-tag.
//   - x-codes describes error codes, wherever they belong by their status: in the response and in the schema Error.
//   - x-events describes events: they are listed in the schema EventName, and a table of them stands where the description
//     of an operation says {events}.
//   - x-shared of common.yaml adds to every operation of a kind what all of its kind have; see kindsOf.
//
// What generators of clients take amiss is written in another way that means the same; see suitGenerators.
//
// From the files of other documents the document takes the components that it refers to, and envelopes, unless it has its own.
func Assemble(files fs.FS, others ...fs.FS) (*Document, error) {
	root, err := readParts(files)
	if err != nil {
		return nil, err
	}
	var lent borrowed
	for _, other := range others {
		more, err := borrow(root, other)
		if err != nil {
			return nil, err
		}
		lent = append(lent, more...)
	}
	a := assembly{root: root, shared: remove(root, "x-shared"), envelopes: remove(root, "x-envelopes")}
	if err := a.document(); err != nil {
		return nil, err
	}
	lent.giveBack(a)
	if err := checkNotices(root); err != nil {
		return nil, err
	}
	if err := suitGenerators(root); err != nil {
		return nil, err
	}
	return &Document{root}, nil
}

// readParts reads the files in a folder, and merges them.
func readParts(files fs.FS) (*yaml.Node, error) {
	names, err := fs.Glob(files, "*.yaml")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(first(a), first(b)) })
	root := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range names {
		part, err := readPart(files, name)
		if err == nil {
			err = merge(root, part, "")
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return root, nil
}

// first sorts common.yaml before the other files.
func first(name string) string { return strings.TrimSuffix(name, commonFile) }

func readPart(files fs.FS, name string) (*yaml.Node, error) {
	text, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, err
	}
	var part yaml.Node
	if err := yaml.Unmarshal(text, &part); err != nil {
		return nil, err
	}
	if len(part.Content) != 1 || part.Content[0].Kind != yaml.MappingNode {
		return nil, errors.New("it must be one YAML object")
	}
	object := part.Content[0]
	tag := remove(object, "x-tag")
	if tags := get(object, "tags"); tag == nil && tags != nil && len(tags.Content) > 0 {
		tag = get(tags.Content[0], "name")
	}
	for _, item := range pairs(get(object, "paths")) {
		for method, op := range pairs(item) {
			if isMethod(method) && tag != nil {
				set(op, "tags", list(tag))
			}
		}
	}
	return object, nil
}

// merge adds a part to a whole. At is the path of both within the document.
func merge(whole, part *yaml.Node, at string) error {
	for name, value := range pairs(part) {
		there := get(whole, name)
		switch {
		case there == nil:
			set(whole, name, value)
		case there.Kind == yaml.MappingNode && value.Kind == yaml.MappingNode:
			if err := merge(there, value, at+"."+name); err != nil {
				return err
			}
		case there.Kind == yaml.SequenceNode && value.Kind == yaml.SequenceNode:
			there.Content = append(there.Content, value.Content...)
		default:
			return fmt.Errorf("%s.%s is in another file already", at, name)
		}
	}
	return nil
}

// assembly is a document in the making.
type assembly struct {
	root, shared, envelopes *yaml.Node
}

func (a assembly) document() error {
	if err := a.codes(); err != nil {
		return err
	}
	if err := a.events(); err != nil {
		return err
	}
	limited := a.limitedResponses()
	for name, response := range pairs(get(get(a.root, "components"), "responses")) {
		a.response(response)
		addReferences(response, "headers", get(get(a.shared, everyOperation), "headers"))
		if slices.Contains(limited, name) {
			addReferences(response, "headers", get(get(a.shared, authenticated), "headers"))
		}
	}
	for path, item := range pairs(get(a.root, "paths")) {
		expandParameters(get(item, "parameters"))
		for method, op := range pairs(item) {
			if isMethod(method) {
				a.operation(path, method, op)
			}
		}
	}
	return nil
}

// codes describes the error codes of x-codes in the responses of their statuses, and lists them in the schema Error.
func (a assembly) codes() error {
	byStatus := map[string][]string{}
	for code, text := range pairs(remove(a.root, "x-codes")) {
		status, ok := statuses[fault.Code(code)]
		if fault.Code(code) == fault.Internal {
			status, ok = Failed, true
		}
		if !ok {
			return fmt.Errorf("x-codes.%s: no error has this code", code)
		}
		at := strconv.Itoa(status)
		byStatus[at] = append(byStatus[at], "`"+code+"`: "+strings.TrimSpace(text.Value))
		if err := a.enumerate(code, "Error", "properties", "code", "enum"); err != nil {
			return fmt.Errorf("x-codes: %w", err)
		}
	}
	for status, descriptions := range byStatus {
		response := a.sharedResponse(status)
		if response == nil {
			return fmt.Errorf("x-codes: x-shared has no response with the status %s", status)
		}
		description := descriptions[0]
		if len(descriptions) > 1 {
			description = "- " + strings.Join(descriptions, "\n- ")
		}
		set(response, "description", scalar(description+"\n"))
	}
	return nil
}

// events lists the events of x-events in the schema EventName, and puts a table of them where descriptions want it.
func (a assembly) events() error {
	table := "| Event | What happened |\n|---|---|"
	for name, text := range pairs(remove(a.root, "x-events")) {
		table += "\n| `" + name + "` | " + text.Value + " |"
		if err := a.enumerate(name, "EventName", "enum"); err != nil {
			return fmt.Errorf("x-events: %w", err)
		}
	}
	for _, item := range pairs(get(a.root, "paths")) {
		for _, op := range pairs(item) {
			if description := get(op, "description"); description != nil {
				description.Value = strings.ReplaceAll(description.Value, "{events}", table)
			}
		}
	}
	return nil
}

// enumerate adds a value to the list at a path below the schemas.
func (a assembly) enumerate(value string, path ...string) error {
	values := get(get(a.root, "components"), "schemas")
	for _, name := range path {
		values = get(values, name)
	}
	if values == nil || values.Kind != yaml.SequenceNode {
		return fmt.Errorf("components.schemas.%s must be a list", strings.Join(path, "."))
	}
	values.Content = append(values.Content, scalar(value))
	return nil
}

// sharedResponse is the component that operations share for a status.
func (a assembly) sharedResponse(status string) *yaml.Node {
	for _, rule := range pairs(a.shared) {
		if name := get(get(rule, "responses"), status); name != nil {
			return get(get(get(a.root, "components"), "responses"), name.Value)
		}
	}
	return nil
}

// limitedResponses are the components of answers with the rate limit of the caller: all that are sent after the caller
// was authenticated.
func (a assembly) limitedResponses() (names []string) {
	for kind, rule := range pairs(a.shared) {
		for status, name := range pairs(get(rule, "responses")) {
			if status != "401" && kind != unrouted {
				names = append(names, name.Value)
			}
		}
	}
	return names
}
