package wiring_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"

	"holdco/adapters/http/rest/resttest"
)

// company is a company as the API shows it. Numbers keep their spelling.
type company struct {
	ID, Slug, Name, Description, DefaultAdapter, FiscalPeriod, Status string

	Budget                struct{ USD, ReservePercent, Period json.RawMessage }
	TeamCount, AgentCount int
	WorkPaused            bool
	CreatedAt, UpdatedAt  string

	ArchivedAt, RestorableUntil *string

	Teams      []team
	AgentSlots []slot
}

type team struct {
	ID, CompanyID, Name, Slug, Description, CreatedAt, UpdatedAt string
	Headcount, AgentCount                                        int
	ManagerAgentID                                               *string
	Budget                                                       *struct{ USD json.Number }
}

func (t team) path() string { return "/v1/companies/" + t.CompanyID + "/teams/" + t.ID }

type slot struct {
	ID, CompanyID, TeamID, Status string
	AgentID                       *string
}

func (c company) path() string { return "/v1/companies/" + c.ID }

// apiToken is a token as the API shows it.
type apiToken struct {
	ID, Name, Hint, Token string
	Scopes                []string
	CreatedAt             string

	ExpiresAt, LastUsedAt, RevokedAt *string
}

func (t apiToken) path() string { return "/v1/tokens/" + t.ID }

// apiPartner is a partner as the API shows it.
type apiPartner struct {
	ID, Name, Hint, Key string
	Origins, Unknown    []string
	Test                bool
	CreatedAt           string

	ExpiresAt, LastUsedAt, RevokedAt *string
}

func (p apiPartner) path() string { return "/v1/partners/" + p.ID }

// draft is the body that creates a company: {"name":"Acme","slug":"acme"}, with members that are put in or in the place
// of these.
func draft(t *testing.T, members string) string {
	t.Helper()
	body := map[string]json.RawMessage{"name": []byte(`"Acme"`), "slug": []byte(`"acme"`), "budget": []byte(rich)}
	var given map[string]json.RawMessage
	must(t, json.Unmarshal([]byte("{"+members+"}"), &given))
	maps.Copy(body, given)
	text, err := json.Marshal(body)
	must(t, err)
	return string(text)
}

// named is the body that creates a company with a slug.
func named(slug string) string { return fmt.Sprintf(`{"name":"A","slug":%q,"budget":%s}`, slug, rich) }

// rich is a budget that nothing uses up.
const rich = `{"usd":1000000000}`

// wrong lists the fields at fault of an answer as "path code", sorted.
func wrong(answer resttest.Answer) []string {
	fields := []string{}
	for _, field := range answer.Error.Details.Fields {
		fields = append(fields, field.Field+" "+field.Code)
	}
	return slices.Sorted(slices.Values(fields))
}

// details are the details of an error, all of them.
func details(t *testing.T, answer resttest.Answer) map[string]any {
	t.Helper()
	var body struct {
		Error struct{ Details map[string]any }
	}
	must(t, json.Unmarshal(answer.Body, &body))
	return body.Error.Details
}

// object reads any JSON object. Numbers keep their spelling.
func object(t *testing.T, text []byte) map[string]any {
	t.Helper()
	var members map[string]json.RawMessage
	must(t, json.Unmarshal(text, &members))
	read := map[string]any{}
	for name, value := range members {
		if value[0] == '{' {
			read[name] = object(t, value)
		} else {
			read[name] = string(value)
		}
	}
	return read
}
