// Package approval has the rules of approvals, by which agents ask people before they act, and of the rules that answer for people.
package approval
