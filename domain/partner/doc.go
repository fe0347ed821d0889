// Package partner holds the rules of partners: companies outside that read what is exported to them, each with a key of
// its own (Partner) and from pages of its own (Origin).
package partner
