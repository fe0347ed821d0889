package httpkit

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// suitGenerators writes a document so that the usual generators of clients take it with their default settings:
//
//   - Generators for Go and other typed languages make one type of each component, whatever its kind. A parameter with the
//     name of a schema is therefore published as <name>Parameter.
//   - openapi-typescript takes a property with a default for one that is always there, in requests too. A default therefore
//     stands one level down, in an allOf of one schema, which means the same: the property is as optional as any other. Its
//     description says the default too, because generators put only that into the comment of the property.
func suitGenerators(root *yaml.Node) error {
	components := get(root, "components")
	if err := separateNames(root, components); err != nil {
		return err
	}
	lowerDefaults(get(components, "schemas"))
	return nil
}

// typed are the kinds of components, other than schemas and parameters, of which generators make types.
var typed = []string{"responses", "requestBodies"}

// separateNames renames the parameters that have the name of a schema. It fails when two components of which generators make
// types still have the same name.
func separateNames(root, components *yaml.Node) error {
	schemas, parameters := get(components, "schemas"), get(components, "parameters")
	renamed := map[string]string{}
	for i := 0; i < len(content(parameters)); i += 2 {
		name := parameters.Content[i]
		if get(schemas, name.Value) != nil {
			target := "#/components/parameters/" + name.Value
			renamed[target] = target + "Parameter"
			name = scalar(name.Value + "Parameter")
			parameters.Content[i] = name
		}
	}
	renameReferences(root, renamed)

	kinds := map[string]string{}
	for _, kind := range append([]string{"schemas", "parameters"}, typed...) {
		for name := range pairs(get(components, kind)) {
			other, taken := kinds[strings.ToLower(name)]
			if taken {
				return fmt.Errorf("components.%s.%s: components.%s has this name too", kind, name, other)
			}
			kinds[strings.ToLower(name)] = kind
		}
	}
	return nil
}

func renameReferences(node *yaml.Node, renamed map[string]string) {
	if target := get(node, "$ref"); target != nil && renamed[target.Value] != "" {
		target.Value = renamed[target.Value]
	}
	for _, child := range content(node) {
		renameReferences(child, renamed)
	}
}

// lowerDefaults moves the defaults of properties one level down, in all schemas below a node.
func lowerDefaults(node *yaml.Node) {
	for _, child := range content(node) {
		lowerDefaults(child)
	}
	properties := get(node, "properties")
	for name, property := range pairs(properties) {
		if value := get(property, "default"); value != nil && get(property, "$ref") == nil {
			property = lowered(property)
			sayDefault(property, value)
			set(properties, name, property)
		}
	}
}

// lowered is a property whose default, with all that says which values it takes, is in an allOf. What is said of the property
// itself stays, for that is where generators look for it.
func lowered(property *yaml.Node) *yaml.Node {
	if all := get(property, "allOf"); all != nil {
		all.Content = append(all.Content, object("default", remove(property, "default")))
		return property
	}
	outer, inner := object(), object()
	for name, value := range pairs(property) {
		switch name {
		case "title", "description", "example", "deprecated", "readOnly", "writeOnly", "externalDocs":
			set(outer, name, value)
		default:
			if strings.HasPrefix(name, "x-") {
				set(outer, name, value)
			} else {
				set(inner, name, value)
			}
		}
	}
	set(outer, "allOf", list(inner))
	return outer
}

// sayDefault adds a default that is a plain value to the description of its property, unless that speaks of the default already.
func sayDefault(property, value *yaml.Node) {
	description, sentence := "", "Default: `"+value.Value+"`."
	if said := get(property, "description"); said != nil {
		description = strings.TrimSpace(said.Value) + " "
	}
	if value.Kind == yaml.ScalarNode && !strings.Contains(strings.ToLower(description), "default") {
		set(property, "description", scalar(description+sentence))
	}
}
