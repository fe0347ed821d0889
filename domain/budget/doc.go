// Package budget is how much a company may spend in which period, and the limits of what its teams and agents may spend.
package budget
