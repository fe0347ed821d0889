package httpkit

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// The kinds of operations that x-shared of a document can name, in addition to their methods.
const (
	everyOperation = "every"
	authenticated  = "authenticated" // needs a token or a key
	scoped         = "scoped"        // needs a scope of the token
	addressed      = "addressed"     // has a parameter in its path
	bodied         = "body"          // takes a body
	paged          = "page"          // answers with a page of a list
	created        = "created"       // answers 201
	tagged         = "tagged"        // answers with an ETag
	cached         = "cached"        // GET of what has an ETag
	matched        = "matched"       // changes what has a version
	deprecated     = "deprecated"    // will go, or takes something that will
	unrouted       = "unrouted"      // none: for answers to unknown paths and methods
)

func isMethod(name string) bool {
	return slices.Contains([]string{"get", "post", "put", "patch", "delete"}, name)
}

// operation writes out the abbreviations of an operation and adds what its kinds share. Its own words win.
func (a assembly) operation(path, method string, op *yaml.Node) {
	kinds := a.kindsOf(path, method, op)
	expandParameters(get(op, "parameters"))
	if body := get(op, "requestBody"); body != nil {
		expandBody(body, method)
	}
	for _, response := range pairs(get(op, "responses")) {
		a.response(response)
	}
	if outdatedIn(op, get(a.root, "components")) != nil {
		kinds = append(kinds, deprecated)
	}
	for kind, rule := range pairs(a.shared) {
		if slices.Contains(kinds, kind) {
			share(op, rule)
		}
	}
	sortByName(get(op, "responses"))
}

// kindsOf returns the kinds of an operation: by its own x-shares, by its method unless it is public, by what it takes,
// and by what it answers with. An answer has an ETag when its schema has a version (x-versioned), or when it is of the
// path of the resource itself.
func (a assembly) kindsOf(path, method string, op *yaml.Node) []string {
	kinds := []string{everyOperation}
	for _, kind := range content(remove(op, "x-shares")) {
		kinds = append(kinds, kind.Value)
	}
	add := func(kind string, holds bool) {
		if holds {
			kinds = append(kinds, kind)
		}
	}
	security := get(op, "security")
	isPublic := security != nil && len(security.Content) == 0
	scope := get(op, "x-scope")
	add(authenticated, !isPublic)
	add(method, !isPublic)
	add(scoped, scope != nil && scope.Value != anyScope)
	add(addressed, strings.Contains(path, "{"))
	add(bodied, get(op, "requestBody") != nil)
	for status, response := range pairs(get(op, "responses")) {
		data := get(response, "data")
		hasVersion := data != nil && get(get(get(get(a.root, "components"), "schemas"), data.Value), "x-versioned") != nil
		add(paged, get(response, "page") != nil)
		add(created, status == "201")
		add(tagged, hasVersion || data != nil && strings.HasSuffix(path, "}"))
		add(matched, hasVersion && (method == "patch" || method == "delete"))
	}
	add(cached, method == "get" && slices.Contains(kinds, tagged))
	return kinds
}

// share adds what a rule says to an operation: parameters, responses, headers of its successes, and other keys.
func share(op, rule *yaml.Node) {
	for name, value := range pairs(rule) {
		switch name {
		case "parameters":
			if get(op, name) == nil {
				set(op, name, list())
			}
			own := get(op, name)
			for _, shared := range value.Content {
				own.Content = append(own.Content, reference("parameters", shared.Value))
			}
		case "responses":
			for status, response := range pairs(value) {
				if own := get(op, name); get(own, status) == nil {
					set(own, status, reference(name, response.Value))
				}
			}
		case "headers":
			for status, response := range pairs(get(op, "responses")) {
				if strings.HasPrefix(status, "2") && get(response, "$ref") == nil {
					addReferences(response, name, value)
				}
			}
		default:
			if get(op, name) == nil {
				set(op, name, value)
			}
		}
	}
}

// response writes out the abbreviations of a response.
func (a assembly) response(response *yaml.Node) {
	if response.Kind == yaml.ScalarNode {
		*response = *reference("responses", response.Value)
		return
	}
	var schema *yaml.Node
	if data := remove(response, "data"); data != nil {
		schema = a.envelope("data", data.Value+"Answer", reference("schemas", data.Value))
	}
	if data := remove(response, "seen"); data != nil {
		schema = a.envelope("seen", data.Value+"Answer", reference("schemas", data.Value))
	}
	if item := remove(response, "page"); item != nil {
		items := object("type", scalar("array"), "items", reference("schemas", item.Value))
		schema = a.envelope("page", item.Value+"List", items)
	}
	if plain := remove(response, "schema"); plain != nil {
		schema = reference("schemas", plain.Value)
	}
	if schema == nil {
		return
	}
	body := object("schema", schema)
	if example := remove(response, "example"); example != nil {
		set(body, "example", example)
	}
	if get(response, "content") == nil {
		set(response, "content", object())
	}
	content := get(response, "content")
	content.Content = append([]*yaml.Node{scalar(jsonType), body}, content.Content...)
}

// envelope makes the schema of an envelope a component, unless it is one, and returns a reference to it.
func (a assembly) envelope(kind, name string, data *yaml.Node) *yaml.Node {
	schemas := get(get(a.root, "components"), "schemas")
	if get(schemas, name) == nil {
		envelope := object("type", scalar("object"))
		if template := get(a.envelopes, kind); template != nil {
			envelope = deepCopy(template)
		}
		if get(envelope, "properties") == nil {
			set(envelope, "properties", object())
		}
		properties := get(envelope, "properties")
		properties.Content = append([]*yaml.Node{scalar("data"), data}, properties.Content...)
		set(schemas, name, envelope)
	}
	return reference("schemas", name)
}

func expandParameters(parameters *yaml.Node) {
	for _, parameter := range content(parameters) {
		if parameter.Kind == yaml.ScalarNode {
			*parameter = *reference("parameters", parameter.Value)
		}
	}
}

func expandBody(body *yaml.Node, method string) {
	required, schema := "true", body
	if body.Kind == yaml.MappingNode {
		if schema = get(body, "schema"); schema == nil {
			return
		}
		required = get(body, "required").Value
	}
	media := object("schema", reference("schemas", schema.Value))
	types := object(jsonType, media)
	if method == "patch" {
		set(types, mergePatchType, deepCopy(media))
	}
	*body = *object("required", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: required}, "content", types)
}

// addReferences adds references to components, given by their names, to an object within a node.
func addReferences(node *yaml.Node, kind string, names *yaml.Node) {
	for name, component := range pairs(names) {
		if get(node, kind) == nil {
			set(node, kind, object())
		}
		if own := get(node, kind); get(own, name) == nil {
			set(own, name, reference(kind, component.Value))
		}
	}
}

func sortByName(object *yaml.Node) {
	type pair struct{ name, value *yaml.Node }
	var all []pair
	for i := 0; i < len(content(object)); i += 2 {
		all = append(all, pair{object.Content[i], object.Content[i+1]})
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.name.Value, b.name.Value) })
	for i, p := range all {
		object.Content[2*i], object.Content[2*i+1] = p.name, p.value
	}
}
