// Package projects is the use cases of projects: parts of the work of a company, which may pursue a goal.
package projects
