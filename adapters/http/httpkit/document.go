package httpkit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"go.yaml.in/yaml/v3"
)

// Document is the OpenAPI document of an API. Assemble makes one.
type Document struct{ root *yaml.Node }

// Service is what it takes to serve an API. Everything is required but Pages and what Options says.
type Service struct {
	Options

	Limits Limits
	Ready  func(context.Context) error // fails while requests cannot be served
	Pages  map[string]http.Handler     // what else is served, to anybody, by its path: the API reference, say
}

// Serve makes the handler of all operations of the document: those of the routes, and the three that are in every one, health,
// ready and openapi. The gate is for the operations that are not public. It fails when the document is not fit to be served, or
// when its operations are not those that have handlers.
func (d *Document) Serve(s Service, gate func(t Table) gin.HandlerFunc, routes ...Routes) (http.Handler, error) {
	table, err := d.Table()
	if err != nil {
		return nil, err
	}
	show, err := d.Handler()
	if err != nil {
		return nil, err
	}
	router := New(s.Options)
	routes = append(slices.Clone(routes), Writers{
		"health":  Health,
		"ready":   func(c *gin.Context) { Ready(c, s.Ready) },
		"openapi": show,
	})
	if err := table.Serve(router.Group("", gate(table)), routes...); err != nil {
		return nil, err
	}
	AddPages(router, s.Pages)
	return Compressed(router), nil
}

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
	components, wanted := get(d.root, "components"), map[component]bool{}
	for _, item := range pairs(get(d.root, "paths")) {
		for _, op := range pairs(item) {
			markReferences(get(op, "requestBody"), components, wanted)
		}
	}
	schemas := object()
	for name, schema := range pairs(get(components, "schemas")) {
		if wanted[component{"schemas", name}] {
			set(schemas, name, schema)
		}
	}
	return yaml.Marshal(object("openapi", get(d.root, "openapi"), "info", get(d.root, "info"), "paths", object(),
		"components", object("schemas", schemas)))
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
		if node.ShortTag() == "!!timestamp" {
			node = scalar(node.Value) // a day is published as it is written
		}
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
