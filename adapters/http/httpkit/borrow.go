package httpkit

import (
	"io/fs"
	"strings"

	"go.yaml.in/yaml/v3"
)

// component is one of the components of a document, such as schemas and Agent.
type component struct{ kind, name string }

// borrowed are the components of a document that stand in the files of another one.
type borrowed []component

// borrow adds the components and the envelopes of other files to a document, except those that it has itself.
func borrow(root *yaml.Node, from fs.FS) (borrowed, error) {
	other, err := readParts(from)
	if err != nil {
		return nil, err
	}
	if envelopes := get(other, "x-envelopes"); envelopes != nil && get(root, "x-envelopes") == nil {
		set(root, "x-envelopes", envelopes)
	}
	if get(root, "components") == nil {
		set(root, "components", object())
	}
	var added borrowed
	own := get(root, "components")
	for kind, all := range pairs(get(other, "components")) {
		if get(own, kind) == nil {
			set(own, kind, object())
		}
		for name, definition := range pairs(all) {
			if get(get(own, kind), name) == nil {
				set(get(own, kind), name, definition)
				added = append(added, component{kind, name})
			}
		}
	}
	return added, nil
}

// targetOf is the component that a $ref names.
func targetOf(ref *yaml.Node) component {
	kind, name, _ := strings.Cut(strings.TrimPrefix(ref.Value, "#/components/"), "/")
	return component{kind, name}
}

// giveBack takes away those to which nothing in the document refers.
func (b borrowed) giveBack(a assembly) {
	isBorrowed, wanted := map[component]bool{}, map[component]bool{}
	for _, one := range b {
		isBorrowed[one] = true
	}
	components := get(a.root, "components")
	markReferences(get(a.root, "paths"), components, wanted)
	for kind, all := range pairs(components) {
		for name, definition := range pairs(all) {
			if !isBorrowed[component{kind, name}] {
				markReferences(definition, components, wanted)
			}
		}
	}
	for _, rule := range pairs(a.shared) { // some are for no operation: see unrouted
		for _, name := range pairs(get(rule, "responses")) {
			markReferences(reference("responses", name.Value), components, wanted)
		}
	}
	for _, one := range b {
		if !wanted[one] {
			remove(get(components, one.kind), one.name)
		}
	}
	for kind, all := range pairs(components) {
		if len(content(all)) == 0 {
			remove(components, kind)
		}
	}
}

// markReferences marks the components that a node refers to, with those that these refer to.
func markReferences(node, components *yaml.Node, marked map[component]bool) {
	if target := get(node, "$ref"); target != nil {
		if one := targetOf(target); !marked[one] {
			marked[one] = true
			markReferences(get(get(components, one.kind), one.name), components, marked)
		}
		return
	}
	for _, child := range content(node) {
		markReferences(child, components, marked)
	}
}
