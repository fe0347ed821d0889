package client

import "net/http"

// Company is what is read of a company.
type Company struct {
	ID   string `json:"id"`
	Slug string `json:"slug"`
	Name string `json:"name"`
}

// ListCompanies is an operation on companies.
var ListCompanies = declare(Operation{
	ID: "listCompanies", Method: http.MethodGet, Path: "/v1/companies", Query: []string{"slug", "limit", "cursor"}, Shows: Company{},
})
