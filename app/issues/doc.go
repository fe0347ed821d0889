// Package issues is the use cases of issues: what people do with the work of a company.
package issues
