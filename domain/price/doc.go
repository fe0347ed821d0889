// Package price is what tokens of language models cost: the table of an instance, the files that it is read from, and the amount of a
// charge. Start reading at table.go.
package price
