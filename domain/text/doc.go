// Package text has the rules of all texts of the API: normalization, length, forbidden characters, slugs.
package text
