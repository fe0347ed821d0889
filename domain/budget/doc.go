// Package budget holds what may be spent, in which period.
package budget
