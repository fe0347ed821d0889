// Package ratelimit is the rule of rate limits: a window is one minute long, starts with the first request in it, and
// never admits more than its limit. Where the counts are kept is behind a port.
package ratelimit
