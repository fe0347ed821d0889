package httpkit

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/gin-gonic/gin"

	"holdco/domain/event"
	"holdco/domain/page"
)

// Handler handles a request that has passed the gate. An error is answered as Fail does; the answer then does not count.
type Handler func(r Request) (Answer, error)

// Routes are handlers by the ids of their operations in the OpenAPI document: Handlers or Writers.
type Routes interface {
	byOperation() map[string]gin.HandlerFunc
}

// Handlers are the routes of one resource.
type Handlers map[string]Handler

func (h Handlers) byOperation() map[string]gin.HandlerFunc {
	all := make(map[string]gin.HandlerFunc, len(h))
	for operation, handle := range h {
		all[operation] = func(c *gin.Context) {
			answer, err := handle(Request{c})
			if err != nil {
				Fail(c, err)
				return
			}
			Write(c, answer)
		}
	}
	return all
}

// Writers are routes whose handlers write their answers themselves.
type Writers map[string]gin.HandlerFunc

func (w Writers) byOperation() map[string]gin.HandlerFunc { return w }

// Serve adds a route for each operation of the table; those of GET serve HEAD too. It fails when an operation has no
// handler, or a handler no operation, or an operation two handlers.
func (t Table) Serve(router gin.IRouter, routes ...Routes) error {
	handlers := map[string]gin.HandlerFunc{}
	var problems []error
	for _, some := range routes {
		for operation, handle := range some.byOperation() {
			if handlers[operation] != nil {
				problems = append(problems, fmt.Errorf("the operation %s has two handlers", operation))
			}
			handlers[operation] = handle
		}
	}
	for _, at := range t.routes() {
		op := t[at]
		handle := handlers[op.id]
		if handle == nil {
			problems = append(problems, fmt.Errorf("the operation %q of %s %s has no handler", op.id, at.method, at.path))
			continue
		}
		delete(handlers, op.id)
		addRoute(router, at.method, at.path, handle)
	}
	for operation := range handlers {
		problems = append(problems, fmt.Errorf("the OpenAPI document has no operation %s", operation))
	}
	return errors.Join(problems...)
}

// routes are in an order that does not change from start to start: that of the methods shows in the header Allow.
func (t Table) routes() []route {
	methods := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	return slices.SortedFunc(maps.Keys(t), func(a, b route) int {
		return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(slices.Index(methods, a.method), slices.Index(methods, b.method)))
	})
}

// List answers with a page of a list. The query names the list and its filters, to which cursors are bound; find looks
// the page up.
func List[T interface{ Fields() event.Fields }](
	r Request, query string, find func(after page.Position, size int) (page.Page[T], error),
) (Answer, error) {
	after, size, err := r.page(query)
	if err != nil {
		return Answer{}, err
	}
	found, err := find(after, size)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Data: Show(found.Items), Page: &Page{Size: size, Cursor: page.Cursor(query, found.Next)}}, nil
}

// Show returns the fields of each item. No items give an empty list, not nil.
func Show[T interface{ Fields() event.Fields }](items []T) []event.Fields {
	shown := make([]event.Fields, len(items))
	for i, item := range items {
		shown[i] = item.Fields()
	}
	return shown
}
