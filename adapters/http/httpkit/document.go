package httpkit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"
)

// Document is the OpenAPI document of an API. Assemble makes one.
type Document struct{ root *yaml.Node }

// Handler shows the document as JSON. Clients may keep it and ask each time whether it is still the same.
func (d *Document) Handler() (gin.HandlerFunc, error) {
	text, err := d.JSON()
	if err != nil {
		return nil, err
	}
	tag := DigestTag(text)
	return func(c *gin.Context) {
		c.Header("Content-Type", jsonAnswer)
		c.Header("Cache-Control", "no-cache")
		c.Header("ETag", tag)
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(text))
	}, nil
}

// JSON is the document in its own order, without what is meant for the code generator and the assembly alone.
func (d *Document) JSON() ([]byte, error) {
	var out bytes.Buffer
	if err := writeJSON(&out, d.root); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// RequestModels is a document in YAML of the schemas of request bodies alone, with what is meant for the code generator.
func (d *Document) RequestModels() ([]byte, error) {
	all, wanted := get(get(d.root, "components"), "schemas"), map[string]bool{}
	for _, item := range pairs(get(d.root, "paths")) {
		for _, op := range pairs(item) {
			markSchemas(get(op, "requestBody"), all, wanted)
		}
	}
	schemas := object()
	for name, schema := range pairs(all) {
		if wanted[name] {
			set(schemas, name, schema)
		}
	}
	return yaml.Marshal(object("openapi", get(d.root, "openapi"), "info", get(d.root, "info"), "paths", object(),
		"components", object("schemas", schemas)))
}

// markSchemas marks the schemas that a node refers to, with those that these refer to.
func markSchemas(node, all *yaml.Node, marked map[string]bool) {
	if target := get(node, "$ref"); target != nil {
		name := target.Value[strings.LastIndexByte(target.Value, '/')+1:]
		if !marked[name] {
			marked[name] = true
			markSchemas(get(all, name), all, marked)
		}
		return
	}
	for _, child := range content(node) {
		markSchemas(child, all, marked)
	}
}

func writeJSON(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		return writeObject(out, node.Content)
	case yaml.SequenceNode:
		return writeArray(out, node.Content)
	case yaml.AliasNode:
		return writeJSON(out, node.Alias)
	case yaml.ScalarNode:
		var value any
		if err := node.Decode(&value); err != nil {
			return err
		}
		text, err := json.Marshal(value)
		out.Write(text)
		return err
	}
	return fmt.Errorf("line %d of the OpenAPI document: only objects, arrays and plain values can be published", node.Line)
}

func writeObject(out *bytes.Buffer, content []*yaml.Node) error {
	out.WriteByte('{')
	separator := ""
	for i := 0; i < len(content); i += 2 {
		name, value := content[i].Value, content[i+1]
		if isHidden(name) {
			continue
		}
		spelled, err := json.Marshal(name)
		if err != nil {
			return err
		}
		out.WriteString(separator + string(spelled) + ":")
		if err := writeJSON(out, value); err != nil {
			return err
		}
		separator = ","
	}
	out.WriteByte('}')
	return nil
}

func writeArray(out *bytes.Buffer, content []*yaml.Node) error {
	out.WriteByte('[')
	for i, item := range content {
		if i > 0 {
			out.WriteByte(',')
		}
		if err := writeJSON(out, item); err != nil {
			return err
		}
	}
	out.WriteByte(']')
	return nil
}

// isHidden reports whether a member is for the code generator or the assembly.
func isHidden(name string) bool {
	return name == "x-versioned" || strings.HasPrefix(name, "x-go-") || strings.HasPrefix(name, "x-oapi-codegen-")
}
