//go:build race

package programs_test

// The race detector makes every byte dear.
const isSlow = true
