// Package issue is the work of a company: issues, which people file and agents work on, their states, what they wait for, and
// what is said about them.
package issue
