// Package posting posts signed messages to the endpoints of webhooks, and leases to agents behind a URL, by the rules of
// Standard Webhooks, https://www.standardwebhooks.com.
//
// A receiver is a stranger: whatever it answers costs at most the timeout and a few kilobytes, of an agent a megabyte, and
// no name or address leads a request into a private network. poster.go is one request, offer.go what agents answer,
// transport.go how a connection is made and which are refused, failure.go how a missing answer is explained to the owner.
package posting
