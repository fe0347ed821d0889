// Package goal is what the work of a company is for: goals, and the projects that pursue them.
package goal
