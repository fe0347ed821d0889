package client

import (
	"encoding/json"
	"net/http"
)

// Company is what is read of a company.
type Company struct {
	ID          string `json:"id"`
	Slug        string `json:"slug"`
	Name        string `json:"name"`
	Description string `json:"description"`
	Status      string `json:"status"`
}

// Envelope is what is read of a budget.
type Envelope struct {
	Level    string      `json:"level"`
	LimitUSD json.Number `json:"limitUsd"` // empty: no limit
}

const companies, oneCompany = "/v1/companies", "/v1/companies/{id}"

// The operations on companies.
var (
	ListCompanies = declare(Operation{
		ID: "listCompanies", Method: http.MethodGet, Path: companies, Query: []string{"slug", "limit", "cursor"}, Shows: Company{},
	})
	CreateCompany = declare(Operation{
		ID: "createCompany", Method: http.MethodPost, Path: companies, Shows: Company{},
		Fields: []string{"slug", "name", "description", "budget.usd"},
	})
	UpdateCompany = declare(Operation{
		ID: "updateCompany", Method: http.MethodPatch, Path: oneCompany, Fields: []string{"budget.usd"}, Shows: Company{},
	})
	DeleteCompany = declare(Operation{ID: "deleteCompany", Method: http.MethodDelete, Path: oneCompany, Shows: Company{}})

	ListBudgets = declare(Operation{
		ID: "listBudgets", Method: http.MethodGet, Path: oneCompany + "/budgets", Query: []string{"scope", "limit", "cursor"},
		Shows: Envelope{},
	})
)
