// Command holdco is the whole of Holdco: the server, and the commands of its operator.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"holdco/adapters/cli"
	"holdco/wiring"
)

// Set by the linker.
var version, commit string

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(cli.Run(ctx, wiring.Program(cli.BuiltVersion(version, commit)), os.Args[1:], os.Stdout, os.Stderr))
}
