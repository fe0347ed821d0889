package outbound

import "context"

// ProgramFinder looks for the programs of agents on this host.
type ProgramFinder interface {
	// Find looks for a program as Programs.Start does: in PATH, which variables may set, unless its name is a path. It fails with an error
	// that says why in a sentence.
	Find(name string, variables map[string]string) (path string, err error)

	// Version starts a program that was found with --version, and returns the first line of what it prints, at most 200 characters. It
	// fails, with an error that says why in a sentence, when the program fails, says nothing, or needs more than 20 seconds.
	Version(ctx context.Context, path string, variables map[string]string) (string, error)

	// IsRoot reports whether programs run as the user who may do everything.
	IsRoot() bool
}

// ReceiverFinder looks whether the URLs of agents can be reached.
type ReceiverFinder interface {
	// Reach connects to the host of a URL, as AgentPoster does, and sends nothing. It fails with an error whose text says why.
	Reach(ctx context.Context, url string) error
}
