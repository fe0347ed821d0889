package httpkit

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"holdco/domain/access"
	"holdco/domain/ratelimit"
)

// Table says what each operation of an API asks of requests. It is read from the API's OpenAPI document, so that what
// is checked is what is documented.
type Table map[route]operation

// route is a method and a path in Gin's spelling.
type route struct{ method, path string }

// operation is what one operation asks of requests.
type operation struct {
	id           string
	public       bool              // needs no token
	scope        access.Permission // empty: any valid token will do
	instanceWide bool              // the scope must not be limited to one company
	class        ratelimit.Class   // what limits it
	body         bodyRule
	streamed     bool // the body is a file, which the handler reads: see Request.Upload
	writes       bool // it changes what is stored
	query        map[string]parameter
	headers      []string  // those that the document describes
	outdated     *outdated // nil: nothing of it
}

// bodyRule is what an operation takes as its body.
type bodyRule struct {
	mediaTypes []string // none: the operation takes no body
	required   bool
}

// anyScope is how the document spells that any valid token will do.
const anyScope = "any"

var classes = []ratelimit.Class{ratelimit.Read, ratelimit.Write, ratelimit.Costly, ratelimit.Partner, ratelimit.Gateway}

// Table reads what operations ask of requests. It fails when an operation that needs a token does not say which scope
// (x-scope), or which of the rate limits holds for it (x-class).
func (d *Document) Table() (Table, error) {
	var doc document
	if err := d.root.Decode(&doc); err != nil {
		return nil, fmt.Errorf("the OpenAPI document is not as expected: %w", err)
	}
	table := Table{}
	for path, item := range doc.Paths {
		for method, described := range item.operations() {
			op, err := described.operation(doc.Components.Parameters)
			if err != nil {
				return nil, fmt.Errorf("%s %s: %w", method, path, err)
			}
			op.writes = method != http.MethodGet
			if described.Writes != nil {
				op.writes = *described.Writes
			}
			node := get(get(get(d.root, "paths"), path), strings.ToLower(method))
			op.outdated = outdatedIn(node, get(d.root, "components"))
			table[route{method, ginPath(path)}] = op
		}
	}
	return table, nil
}

// ginPath spells /v1/companies/{id} as /v1/companies/:id.
func ginPath(path string) string {
	return strings.NewReplacer("{", ":", "}", "").Replace(path)
}

// document is the part of an OpenAPI document that the gate needs.
type document struct {
	Paths      map[string]pathItem `yaml:"paths"`
	Components struct {
		Parameters map[string]parameter `yaml:"parameters"`
	} `yaml:"components"`
}

type pathItem struct {
	Get    *described `yaml:"get"`
	Post   *described `yaml:"post"`
	Put    *described `yaml:"put"`
	Patch  *described `yaml:"patch"`
	Delete *described `yaml:"delete"`
}

func (p pathItem) operations() map[string]*described {
	all := map[string]*described{
		http.MethodGet: p.Get, http.MethodPost: p.Post, http.MethodPut: p.Put, http.MethodPatch: p.Patch, http.MethodDelete: p.Delete,
	}
	maps.DeleteFunc(all, func(_ string, op *described) bool { return op == nil })
	return all
}

type described struct {
	ID           string          `yaml:"operationId"`
	Scope        string          `yaml:"x-scope"`
	InstanceWide bool            `yaml:"x-instance-wide"`
	Class        ratelimit.Class `yaml:"x-class"`
	Security     *[]any          `yaml:"security"`
	Parameters   []parameter     `yaml:"parameters"`
	RequestBody  *describedBody  `yaml:"requestBody"`
	Streamed     bool            `yaml:"x-streamed"`
	Writes       *bool           `yaml:"x-writes"` // nil: by the method
}

type describedBody struct {
	Required bool                `yaml:"required"`
	Content  map[string]struct{} `yaml:"content"`
}

func (d described) operation(shared map[string]parameter) (operation, error) {
	op := operation{
		id:           d.ID,
		public:       d.Security != nil && len(*d.Security) == 0,
		instanceWide: d.InstanceWide,
		class:        d.Class,
		streamed:     d.Streamed,
		query:        map[string]parameter{},
	}
	switch scope := access.Permission(d.Scope); {
	case scope == access.Read || scope == access.Write || scope == access.Admin:
		op.scope = scope
	case d.Scope != anyScope && !op.public:
		return op, fmt.Errorf("x-scope must be read, write, admin or any; it is %q", d.Scope)
	}
	if !op.public && !slices.Contains(classes, d.Class) {
		return op, fmt.Errorf("x-class must be one of %v; it is %q", classes, d.Class)
	}
	if d.RequestBody != nil {
		op.body = bodyRule{mediaTypes: slices.Sorted(maps.Keys(d.RequestBody.Content)), required: d.RequestBody.Required}
	}
	for _, p := range d.Parameters {
		if p.Ref != "" {
			p = shared[p.Ref[strings.LastIndexByte(p.Ref, '/')+1:]]
		}
		switch {
		case p.In == "header":
			op.headers = append(op.headers, p.Name)
		case p.In == "query" && p.Schema.Type == "integer" && (p.Schema.Minimum == nil || p.Schema.Maximum == nil):
			return op, fmt.Errorf("the parameter %s has no bounds", p.Name)
		case p.In == "query":
			op.query[p.Name] = p
		}
	}
	return op, nil
}
