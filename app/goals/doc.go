// Package goals is the use cases of goals: what the work of a company is for.
package goals
