// Package sessions holds the use cases of people who are signed in at the dashboard.
package sessions
