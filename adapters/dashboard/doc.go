// Package dashboard serves the dashboard: a page for people, which asks the same API as programs do, on a listener of its
// own.
//
// The page is in the folder ui, in TypeScript; "make ui" builds it into the folder dist, which is committed and becomes a part of
// the program. Requests below /v1 go to the handler of the API itself, with the session of the person in the place of a token.
package dashboard
