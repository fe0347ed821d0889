package client

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Operation is an operation of the API, with all that this program may send to it and reads from its answer.
type Operation struct {
	ID     string
	Method string
	Path   string   // such as /v1/companies/{id}
	Query  []string // names of parameters
	Fields []string // of the body, nested ones as budget.usd
	Shows  any      // a value of the type that the data is read into, of a list that of an item; nil: it is not read here

	takesNoKey bool // a POST without an idempotency key
}

// Operations are all of the REST API that were declared.
func Operations() []Operation { return slices.Clone(declared) }

// GatewayOperations are all of the gateway that were declared.
func GatewayOperations() []Operation { return slices.Clone(declaredOfGateway) }

var declared, declaredOfGateway []Operation

// declare keeps an operation for Operations.
func declare(o Operation) Operation {
	declared = append(declared, o)
	return o
}

// declareOfGateway keeps an operation for GatewayOperations.
func declareOfGateway(o Operation) Operation {
	declaredOfGateway = append(declaredOfGateway, o)
	return o
}

// Call is one use of an operation, made by In.
type Call struct {
	operation Operation
	values    []string // of the parameters in the path
	query     url.Values
	body      map[string]any // nil: none
	key       string         // the idempotency key; empty: a new one
	wait      time.Duration  // how much longer than others its answer may take
}

// In returns a call of the operation with the values of the parameters in its path, in their order.
func (o Operation) In(values ...string) Call { return Call{operation: o, values: values} }

// With returns the call with one more parameter.
func (c Call) With(name, value string) Call {
	query := url.Values{name: {value}}
	for other, values := range c.query {
		if other != name {
			query[other] = values
		}
	}
	c.query = query
	return c
}

// Sending returns the call with a body.
func (c Call) Sending(body map[string]any) Call {
	c.body = body
	return c
}

// under returns the call under an idempotency key.
func (c Call) under(key string) Call {
	c.key = key
	return c
}

// waiting returns the call with an answer that may take so much longer.
func (c Call) waiting(wait time.Duration) Call {
	c.wait = wait
	return c
}

// target is the path of the call, with its query.
func (c Call) target() string {
	parts, values := strings.Split(c.operation.Path, "/"), c.values
	for i, part := range parts {
		if strings.HasPrefix(part, "{") {
			parts[i], values = url.PathEscape(values[0]), values[1:]
		}
	}
	target := strings.Join(parts, "/")
	if len(c.query) > 0 {
		target += "?" + c.query.Encode()
	}
	return target
}

// Read reads data that was answered.
func Read[T any](data json.RawMessage) (item T, err error) {
	if err = json.Unmarshal(data, &item); err != nil {
		err = fmt.Errorf("the server answered with what this version of holdco cannot read: %w", err)
	}
	return item, err
}
