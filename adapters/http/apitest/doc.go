// Package apitest holds requests to an API and its answers against the OpenAPI document that it publishes.
package apitest
