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

// Published makes the handler that shows an OpenAPI document, given in YAML, as JSON. Clients may keep it and ask each
// time whether it is still the same.
func Published(text []byte) (gin.HandlerFunc, error) {
	published, err := publish(text)
	if err != nil {
		return nil, err
	}
	tag := DigestTag(published)
	return func(c *gin.Context) {
		c.Header("Content-Type", jsonAnswer)
		c.Header("Cache-Control", "no-cache")
		c.Header("ETag", tag)
		http.ServeContent(c.Writer, c.Request, "", time.Time{}, bytes.NewReader(published))
	}, nil
}

// publish spells an OpenAPI document as JSON, in its own order, without what is meant for the code generator alone.
func publish(text []byte) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := writeJSON(&out, document.Content[0]); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, node *yaml.Node) error {
	switch node.Kind {
	case yaml.MappingNode:
		return writeObject(out, node.Content)
	case yaml.SequenceNode:
		return writeArray(out, node.Content)
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
		if isForGenerator(name) {
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

func isForGenerator(name string) bool {
	return name == "x-order" || strings.HasPrefix(name, "x-go-") || strings.HasPrefix(name, "x-oapi-codegen-")
}
