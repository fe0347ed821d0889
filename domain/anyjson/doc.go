// Package anyjson is JSON of any form, such as the results of agents and what programs report: it is checked, taken apart, kept as
// text, and shown as it was sent.
package anyjson
