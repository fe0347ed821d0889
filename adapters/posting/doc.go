// Package posting posts signed messages to the endpoints of webhooks, by the rules of Standard Webhooks,
// https://www.standardwebhooks.com.
//
// A receiver is a stranger: whatever it answers costs at most the timeout and a few kilobytes, and no name or address
// leads a request into a private network. poster.go is one attempt, transport.go how a connection is made and which
// are refused, failure.go how a missing answer is explained to the owner.
package posting
