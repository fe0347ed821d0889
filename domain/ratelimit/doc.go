// Package ratelimit is the rule of rate limits: a window is one minute long, starts with its first request, and never
// admits more than its limit. An outbound.Limiter stores the counts.
package ratelimit
