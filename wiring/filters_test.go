package wiring_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"

	"holdco/adapters/http/rest/resttest"
)

// filtering is what the operations that read are asked with: the parameters of their paths, and values of their filters.
type filtering struct {
	*instance

	paths  map[string]string   // by the name of the parameter, and of the collection for {id}
	values map[string][]string // that the store has, by the name of the filter
}

func newFiltering(t *testing.T, s *instance) filtering {
	t.Helper()
	acme, sales, agents := s.workers(t, 1)
	ada := agents[0]
	aim := s.aims(t, acme, "Grow")
	project := s.plans(t, acme, inGoal(aim))
	flow := s.designs(t, acme, "", "none")
	s.file(t, acme, inProject(project)+`,"labels":["red"],"assignedAgentId":"`+ada.ID+`"`)
	lease := ada.claim(t, "")
	ada.state(t, lease, "costs", `"costs":[{"key":"1","kind":"tools","usd":0.7}]`)
	issue, run := ada.ends(t, lease, "complete", "")
	hook := resttest.Data[apiWebhook](t, s.Post("/v1/webhooks", `{"url":"https://example.com"}`))
	entry := resttest.Data[[]struct{ ID string }](t, s.Get(acme.path()+"/activity?limit=1"))[0].ID
	charge := resttest.Data[[]struct{ ID string }](t, s.Get(acme.path()+"/costs/entries"))[0].ID
	return filtering{s, map[string]string{
		"companies": acme.ID, "webhooks": hook.ID, "team": sales.ID, "agent": ada.ID, "goal": aim.ID, "project": project.ID,
		"issue": issue.ID,
		"run":   run.ID, "workflow": flow.ID, "entry": entry,
	}, map[string][]string{
		"company": {acme.ID}, "team": {sales.ID, sales.Slug}, "agent": {ada.ID}, "project": {project.ID}, "goal": {aim.ID},
		"issue": {issue.ID}, "run": {run.ID},
		"workflow": {flow.ID, flow.Slug}, "parent": {issue.ID, "null"}, "label": {"red"}, "q": {"grow", "ŞİŞLİ 100%_"}, "slug": {acme.Slug},
		"adapter": {"http"}, "action": {"issue.completed"}, "actor": {"agent:" + ada.ID, "agent:"}, "subject.type": {"issue"},
		"subject.id": {issue.ID}, "related.issueId": {issue.ID}, "related.agentId": {ada.ID}, "related.runId": {run.ID},
		"after": {entry, charge}, "since": {"7d", "this_month", "2026-04-11T00:00:00Z"}, "until": {"2100-04-11T00:00:00Z"},
	}}
}

// path is the path of an operation; false: it is about something that the store does not have.
func (f filtering) path(described string) (string, bool) {
	parts := strings.Split(described, "/")
	for n, part := range parts {
		if name, isParameter := strings.CutPrefix(part, "{"); isParameter {
			name = strings.TrimSuffix(name, "}")
			if name == "id" {
				name = parts[n-1]
			}
			if parts[n] = f.paths[name]; parts[n] == "" {
				return "", false
			}
		}
	}
	return strings.Join(parts, "/"), true
}

// apart are the operations whose answers do not end, or need a program that runs here.
var apart = []string{"/stream", "/log"}

func ends(path string) func(end string) bool {
	return func(end string) bool { return strings.HasSuffix(path, end) }
}

// Whatever a filter is sent, the answer is what the document says: its list, or an error that is the client's.
func TestEveryFilterBearsWhatItIsSent(t *testing.T) {
	t.Parallel()
	document, err := openapi3.NewLoader().LoadFromFile(filepath.Join(root, "testdata", "golden", "openapi.json"))
	must(t, err)
	eachStore(t, func(t *testing.T, s *instance) {
		f := newFiltering(t, s)
		filters := 0
		for _, described := range slices.Sorted(maps.Keys(document.Paths.Map())) {
			item := document.Paths.Value(described)
			path, there := f.path(described)
			if item.Get == nil || !there || item.Get.Security != nil || slices.ContainsFunc(apart, ends(described)) {
				continue
			}
			send(s.Client, "GET", path+"?unknown=1", "").Is(t, 400, "invalid_parameter")
			for _, parameter := range item.Get.Parameters {
				if parameter.Value.In == openapi3.ParameterInQuery {
					filters++
					f.probe(t, path, parameter.Value)
				}
			}
		}
		if filters < 100 {
			t.Errorf("only %d filters were found", filters)
		}
	})
}

// probe asks with values of a filter that it takes, and with others.
func (f filtering) probe(t *testing.T, path string, filter *openapi3.Parameter) {
	t.Helper()
	name, schema := filter.Name, filter.Schema.Value
	good, bad := f.samples(t, name, schema)
	ask := func(values ...string) resttest.Answer {
		return send(f.In(t), "GET", path+"?"+url.Values{name: values}.Encode(), "")
	}
	for _, value := range good {
		if answer := ask(value); answer.Status != 200 && (name != "after" || answer.Status != 400) {
			t.Errorf("GET %s?%s=%q: %d %s", path, name, value, answer.Status, answer.Body)
		}
	}
	twice := slices.Concat(good, []string{"x"})[0]
	free := schema.Type.Is("string") && schema.Enum == nil && schema.Format == ""
	refused := []resttest.Answer{
		ask(""), ask(twice, twice), send(f.In(t), "GET", path+"?"+name, ""),
		send(f.In(t), "GET", path+"?"+url.QueryEscape(name)+"=%FF", ""), send(f.In(t), "GET", path+"?"+url.QueryEscape(name)+"=%zz", ""),
	}
	for _, value := range slices.Concat(bad, []string{
		"unknown", strings.Repeat("x", 20_000), strings.Repeat("é,", 2_000), "\x00", "' OR ''='", "%", "-1", "{}", "\u202e", ",",
	}) {
		switch answer := ask(value); {
		case !free:
			refused = append(refused, answer)
		case answer.Status != 200 && answer.Status != 400 && answer.Status != 404:
			t.Errorf("GET %s?%s=%.40q: %d %.300s", path, name, value, answer.Status, answer.Body)
		}
	}
	for _, answer := range refused {
		if answer.Is(t, 400, "invalid_parameter"); answer.Error.Details.Parameter != name {
			t.Errorf("GET %s: blamed is %q, not %s", path, answer.Error.Details.Parameter, name)
		}
	}
}

// samples are values that a filter takes, and values beside these.
func (f filtering) samples(t *testing.T, name string, schema *openapi3.Schema) (good, bad []string) {
	t.Helper()
	switch {
	case schema.Type.Is("integer"):
		for _, bound := range []float64{*schema.Min, *schema.Max} {
			good = append(good, fmt.Sprintf("%.0f", bound))
		}
		return good, []string{
			fmt.Sprintf("%.0f", *schema.Min-1), fmt.Sprintf("%.0f", *schema.Max+1), "1.0", "01", "+1", "1e1", "99999999999999999999",
		}
	case schema.Type.Is("boolean"):
		return []string{"true", "false"}, []string{"1", "TRUE"}
	case schema.Type.Is("array"):
		all := enumerated(t, schema.Items.Value.Enum)
		return append(slices.Clone(all), strings.Join(all, ",")), []string{all[0] + ",", all[0] + "," + all[0], all[0] + ",unknown"}
	case schema.Enum != nil:
		all := enumerated(t, schema.Enum)
		return all, []string{strings.ToUpper(all[0]), all[0] + ",", " " + all[0]}
	case schema.Format == "date-time":
		return []string{"2026-04-11T00:00:00Z", "2026-04-11T02:00:00.123+02:00", "9999-12-31T23:59:59Z"}, []string{
			"2026-04-11", "2026-13-11T00:00:00Z", "2026-04-11T00:00:00", "2026-04-11T24:00:00Z",
		}
	case name == "cursor":
		return nil, nil // TestPagesOfEverySizeHoldTheWholeList has those that are right
	}
	if f.values[name] == nil {
		t.Errorf("no value of the filter %s is known", name)
		return nil, nil
	}
	return f.values[name], []string{strings.ToUpper(f.values[name][0]), f.values[name][0] + "0"}
}

func enumerated(t *testing.T, values []any) (texts []string) {
	t.Helper()
	for _, value := range values {
		text, err := json.Marshal(value)
		must(t, err)
		texts = append(texts, strings.Trim(string(text), `"`))
	}
	return texts
}
