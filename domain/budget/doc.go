// Package budget is how much a company may spend in which period.
package budget
