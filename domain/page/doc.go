// Package page is keyset pagination: each page starts after the last row of the page before, so that rows which are
// added or removed meanwhile cause no row to be skipped or repeated.
package page
