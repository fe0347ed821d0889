// Package text holds the rules that all texts of the API share: normalization, length, forbidden characters, slugs.
package text
