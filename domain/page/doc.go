// Package page walks long lists by keyset: each page starts behind the last row of the one before, so that rows which
// come or go in between make it neither skip nor repeat.
package page
