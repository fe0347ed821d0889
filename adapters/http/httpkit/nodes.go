package httpkit

import (
	"iter"

	"go.yaml.in/yaml/v3"
)

// The functions below read and change YAML objects. A nil object has no members.

func content(node *yaml.Node) []*yaml.Node {
	if node == nil {
		return nil
	}
	return node.Content
}

// pairs are the members that an object has when the loop begins.
func pairs(object *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		if object == nil || object.Kind != yaml.MappingNode {
			return
		}
		members := object.Content
		for i := 0; i < len(members); i += 2 {
			if !yield(members[i].Value, members[i+1]) {
				return
			}
		}
	}
}

func get(object *yaml.Node, name string) *yaml.Node {
	for member, value := range pairs(object) {
		if member == name {
			return value
		}
	}
	return nil
}

func set(object *yaml.Node, name string, value *yaml.Node) {
	for i := 0; i < len(object.Content); i += 2 {
		if object.Content[i].Value == name {
			object.Content[i+1] = value
			return
		}
	}
	object.Content = append(object.Content, scalar(name), value)
}

// remove takes a member out of an object and returns its value, or nil when there is none.
func remove(object *yaml.Node, name string) *yaml.Node {
	value := get(object, name)
	if value == nil {
		return nil
	}
	var rest []*yaml.Node
	for i := 0; i < len(object.Content); i += 2 {
		if object.Content[i].Value != name {
			rest = append(rest, object.Content[i], object.Content[i+1])
		}
	}
	object.Content = rest
	return value
}

func scalar(text string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
}

func list(items ...*yaml.Node) *yaml.Node { return &yaml.Node{Kind: yaml.SequenceNode, Content: items} }

// object makes an object of names and values, which alternate.
func object(members ...any) *yaml.Node {
	made := &yaml.Node{Kind: yaml.MappingNode}
	for i := 0; i < len(members); i += 2 {
		set(made, members[i].(string), members[i+1].(*yaml.Node))
	}
	return made
}

// reference points to a component of a document.
func reference(kind, name string) *yaml.Node {
	return object("$ref", scalar("#/components/"+kind+"/"+name))
}

func deepCopy(node *yaml.Node) *yaml.Node {
	made := *node
	made.Content = nil
	for _, child := range node.Content {
		made.Content = append(made.Content, deepCopy(child))
	}
	return &made
}
