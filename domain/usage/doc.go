// Package usage reads what programs say on their standard output that their runs cost.
package usage
