//go:build !race

package programs_test

const isSlow = false
