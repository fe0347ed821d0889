package gateway

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"holdco/adapters/http/httpkit"
)

// answers are the schemas of the answers of this API, as its OpenAPI document describes them.
type answers struct {
	paths   map[string]map[string]any // by path, with {} for each parameter, then by method in lower case
	schemas map[string]any
}

var parameters = regexp.MustCompile(`\{[^}]*\}`)

func answersOf(document *httpkit.Document) (answers, error) {
	text, err := document.JSON()
	if err != nil {
		return answers{}, err
	}
	var read struct {
		Paths      map[string]map[string]any
		Components struct{ Schemas map[string]any }
	}
	if err := json.Unmarshal(text, &read); err != nil {
		return answers{}, err
	}
	found := answers{map[string]map[string]any{}, read.Components.Schemas}
	for path, item := range read.Paths {
		found.paths[parameters.ReplaceAllString(path, "{}")] = item
	}
	return found, nil
}

// shownDepth is how deep output schemas describe what is in results. They are sent with every list of tools.
const shownDepth = 2

// output is the JSON schema of what a tool returns. It says which members there always are for reads alone: other operations repeat
// answers that were kept, by an earlier version perhaps.
func (a answers) output(t tool) (map[string]any, error) {
	data, err := a.data(t)
	if err != nil {
		return nil, err
	}
	outline := a.outline(data, shownDepth, t.method == http.MethodGet)
	properties := map[string]any{}
	var required []string
	if t.list != "" {
		if item, _ := outline["items"].(map[string]any); item != nil {
			if of, _ := item["properties"].(map[string]any); of != nil && of["leaseId"] != nil {
				of[leaseArgument] = typed("string")
			}
		}
		properties[t.list], required = outline, []string{t.list}
	} else {
		properties, _ = outline["properties"].(map[string]any)
		required, _ = outline["required"].([]string)
	}
	if t.takesLease() {
		if state, _ := properties[leaseArgument].(map[string]any); state != nil { // it is replaced by the text
			properties["expiresAt"] = typed("string")
		}
		properties[leaseArgument], required = typed("string"), append(required, leaseArgument)
	}
	if t.hint != nil {
		properties[leaseArgument], properties["hint"] = typed("string", "null"), typed("string")
		required = append(required, leaseArgument)
	}
	schema := map[string]any{"type": "object", "properties": properties}
	if required != nil {
		schema["required"] = required
	}
	return schema, nil
}

// data is the schema of the data that the operation of a tool answers with.
func (a answers) data(t tool) (map[string]any, error) {
	operation, _ := a.paths[parameters.ReplaceAllString(Root+"/v1"+t.path, "{}")][strings.ToLower(t.method)].(map[string]any)
	responses, _ := operation["responses"].(map[string]any)
	for _, status := range []string{"200", "201"} {
		node, _ := responses[status].(map[string]any)
		for _, name := range []string{"content", "application/json", "schema"} {
			node, _ = node[name].(map[string]any)
		}
		envelope, _ := a.resolved(node)["properties"].(map[string]any)
		if data, isThere := envelope["data"].(map[string]any); isThere {
			return data, nil
		}
	}
	return nil, fmt.Errorf("the OpenAPI document does not say what the operation of the tool %s answers with", t.name)
}

// resolved is a schema with what it refers to, and with the parts of allOf that say of which type it is.
func (a answers) resolved(schema map[string]any) map[string]any {
	if reference, isOne := schema["$ref"].(string); isOne {
		found, _ := a.schemas[reference[strings.LastIndexByte(reference, '/')+1:]].(map[string]any)
		return a.resolved(found)
	}
	parts, _ := schema["allOf"].([]any)
	if len(parts) == 0 {
		return schema
	}
	merged := map[string]any{}
	for _, part := range parts {
		described, _ := part.(map[string]any)
		for name, value := range a.resolved(described) {
			merged[name] = value
		}
	}
	for name, value := range schema {
		if name != "allOf" {
			merged[name] = value
		}
	}
	return merged
}

// outline is a schema without what only documents it, and without what is deeper.
func (a answers) outline(schema map[string]any, depth int, isComplete bool) map[string]any {
	schema = a.resolved(schema)
	kind, isTyped := schema["type"].(string)
	if !isTyped {
		return map[string]any{} // any JSON
	}
	kinds := []string{kind}
	if schema["nullable"] == true {
		kinds = append(kinds, "null")
	}
	outline := typed(kinds...)
	if items, has := schema["items"].(map[string]any); has {
		outline["items"] = a.outline(items, depth, isComplete)
	}
	properties, has := schema["properties"].(map[string]any)
	if !has || depth == 0 {
		return outline
	}
	shown := map[string]any{}
	for name, property := range properties {
		described, _ := property.(map[string]any)
		shown[name] = a.outline(described, depth-1, isComplete)
	}
	outline["properties"] = shown
	if required := names(schema["required"]); isComplete && required != nil {
		outline["required"] = required
	}
	return outline
}

// typed is the schema of values of some types.
func typed(kinds ...string) map[string]any {
	if len(kinds) == 1 {
		return map[string]any{"type": kinds[0]}
	}
	return map[string]any{"type": kinds}
}

func names(list any) (sorted []string) {
	items, _ := list.([]any)
	for _, item := range items {
		if name, isText := item.(string); isText {
			sorted = append(sorted, name)
		}
	}
	slices.Sort(sorted)
	return sorted
}
