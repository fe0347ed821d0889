package wiring_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
)

// pathParameter is a parameter in a path of an API document.
var pathParameter = regexp.MustCompile(`\{\w+\}`)

// What no resource can be called is not there, on either store and in every operation that reads.
func TestWhatCannotBeANameIsNotFound(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../testdata/golden/openapi.json")
	must(t, err)
	var document struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(text, &document))
	eachStore(t, func(t *testing.T, s *instance) {
		acme := s.create(t, draft(t, ""))
		asked := 0
		for path, operations := range document.Paths {
			if _, reads := operations["get"]; !reads {
				continue
			}
			path = strings.TrimPrefix(path, "/v1")
			for _, base := range []string{path, strings.Replace(path, "/companies/{id}/", "/companies/"+acme.ID+"/", 1)} {
				if !pathParameter.MatchString(base) {
					continue
				}
				for _, name := range []string{
					"foo", "%00", "%ff", "a%00b", "a%ffb", "%c3%28", "-1", strings.ToUpper(acme.ID), acme.Slug, "cst_",
				} {
					asked++
					at := "/v1" + pathParameter.ReplaceAllLiteralString(base, name)
					if answer := send(s.In(t), "GET", at, ""); answer.Status != 404 || answer.Error.Code != "not_found" {
						t.Errorf("%s: %d %s", at, answer.Status, answer.Body)
					}
				}
			}
		}
		if asked < 500 {
			t.Errorf("only %d paths were asked for", asked)
		}
	})
}
