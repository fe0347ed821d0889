// Package compat holds the OpenAPI documents of today against those that were released: within a version of an API changes are
// additive, and what is deprecated stays until its sunset.
//
// It is a module of its own, so that the program does not depend on what compares documents.
package compat

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/oasdiff/checker"
	"github.com/oasdiff/oasdiff/diff"
	"github.com/oasdiff/oasdiff/flatten/allof"
	"github.com/oasdiff/oasdiff/flatten/commonparams"
	"github.com/oasdiff/oasdiff/load"
)

const optionalRemoved = checker.ResponseOptionalPropertyRemovedId

// levels are where this project judges a change otherwise than oasdiff does.
func levels() map[string]checker.Level {
	judged := map[string]checker.Level{
		// Every document says that clients pass over values which they do not know.
		checker.ResponsePropertyEnumValueAddedId:  checker.INFO,
		checker.ResponseMediaTypeEnumValueAddedId: checker.INFO,
	}
	for _, id := range []string{
		// What an answer could have was promised, though not in every answer.
		optionalRemoved, "optional-response-header-removed",
		// Generated clients name their functions by it.
		checker.APIOperationIdRemovedId,
		// What a request means that leaves something out.
		"request-body-default-value-changed", "request-body-default-value-removed",
		"request-parameter-default-value-changed", "request-parameter-default-value-removed",
		"request-property-default-value-changed", "request-property-default-value-removed",
		// Deprecated, but without a day from which it may be missing.
		checker.APIRemovedWithDeprecationId, checker.APIPathRemovedWithDeprecationId,
		"request-parameter-removed-with-deprecation", "request-property-removed-with-deprecation",
		"response-required-property-removed-with-deprecation",
	} {
		judged[id] = checker.ERR
	}
	return judged
}

// Breaks returns what of a released document the one of today no longer keeps, a line each: the operation, what has changed,
// and the name of the rule.
func Breaks(released, today []byte) ([]string, error) {
	base, err := read(released)
	if err != nil {
		return nil, fmt.Errorf("the released document: %w", err)
	}
	revision, err := read(today)
	if err != nil {
		return nil, fmt.Errorf("today's document: %w", err)
	}
	found, sources, err := diff.GetWithOperationsSourcesMap(diff.NewConfig(), &load.SpecInfo{Spec: base}, &load.SpecInfo{Spec: revision})
	if err != nil {
		return nil, err
	}
	config := checker.NewConfig(checker.GetAllChecks(), checker.WithSeverityLevels(levels()))
	spell := checker.NewDefaultLocalizer()
	var lines []string
	for _, change := range checker.CheckBackwardCompatibilityUntilLevel(config, found, sources, checker.WARN) {
		if change.GetId() == optionalRemoved && hasSunset(base, change) {
			continue
		}
		where := strings.TrimSpace(change.GetOperation() + " " + change.GetPath())
		lines = append(lines, fmt.Sprintf("%s: %s [%s]", cmp.Or(where, "the document"), change.GetUncolorizedText(spell), change.GetId()))
	}
	return lines, nil
}

func read(text []byte) (*openapi3.T, error) {
	document, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		return nil, err
	}
	// What is written in other words is the same: a parameter of a path is one of its operations, and a schema that is made of
	// others has what they have.
	commonparams.Move(document)
	if document, err = allof.MergeSpec(document); err != nil {
		return nil, err
	}
	for _, item := range document.Paths.Map() {
		for _, operation := range item.Operations() {
			for name, callback := range operation.Callbacks {
				showCallback(document, name, callback.Value)
			}
		}
	}
	return document, nil
}

// showCallback adds what a callback sends to the document as if it were the answer of an operation: oasdiff does not look at
// callbacks, and those who receive them rely on them as on answers.
func showCallback(document *openapi3.T, name string, callback *openapi3.Callback) {
	for _, item := range callback.Map() {
		for method, operation := range item.Operations() {
			if operation.RequestBody == nil {
				continue
			}
			sent := openapi3.NewResponse().WithDescription("what is sent").WithContent(operation.RequestBody.Value.Content)
			shown := &openapi3.Operation{Responses: openapi3.NewResponses(openapi3.WithStatus(200, &openapi3.ResponseRef{Value: sent}))}
			document.AddOperation("/callback/"+name, method, shown)
		}
	}
}

// hasSunset reports whether an optional field that answers no longer have was deprecated, and its sunset has come. What is not
// optional, and what requests have, oasdiff itself excuses then.
func hasSunset(released *openapi3.T, change checker.Change) bool {
	name, isText := change.GetArgs()[0].(string)
	status, isStatus := change.GetArgs()[1].(string)
	operation := released.Paths.Value(change.GetPath()).GetOperation(change.GetOperation())
	if !isText || !isStatus || operation.Responses.Value(status) == nil {
		return false
	}
	for _, media := range operation.Responses.Value(status).Value.Content {
		within := parts(media.Schema)
		for member := range strings.SplitSeq(strings.Trim(name, "/"), "/") {
			within = membersOf(within, member)
		}
		for _, field := range within {
			sunset, isText := field.Extensions[diff.SunsetExtension].(string)
			day, err := time.Parse(time.DateOnly, sunset)
			if isText && err == nil && field.Deprecated && !time.Now().Before(day) {
				return true
			}
		}
	}
	return false
}

// membersOf returns the schemas of a member of objects. The word items stands for those of a list, which parts has looked into.
func membersOf(objects []*openapi3.Schema, name string) (found []*openapi3.Schema) {
	for _, schema := range objects {
		if member := schema.Properties[name]; member != nil {
			found = append(found, parts(member)...)
		}
	}
	if found == nil && name == "items" {
		return objects
	}
	return found
}

// parts are a schema and those that it is made of.
func parts(schema *openapi3.SchemaRef) []*openapi3.Schema {
	all := []*openapi3.Schema{schema.Value}
	for _, part := range slices.Concat(schema.Value.AllOf, schema.Value.OneOf, schema.Value.AnyOf) {
		all = append(all, parts(part)...)
	}
	if items := schema.Value.Items; items != nil {
		all = append(all, parts(items)...)
	}
	return all
}
