// Package scriptedmodel plays a language model: an HTTP handler that answers the requests of real coding programs as a script says.
// It speaks Anthropic Messages, OpenAI Responses and Chat Completions, and Gemini's generateContent, streamed and not, so that
// programs can be tried without an account, a cost or a surprise. It calls nobody and keeps nothing but the requests.
package scriptedmodel
