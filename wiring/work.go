package wiring

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"

	"holdco/adapters/cli"
	"holdco/adapters/client"
	"holdco/adapters/programs"
	"holdco/adapters/system"
	"holdco/app/runner"
	"holdco/domain/access"
	"holdco/domain/id"
)

// workRemotely works for an agent through the gateway of a server, with programs that run here.
func workRemotely(ctx context.Context, work cli.Work) error {
	gateway := client.NewGateway(work.URL, work.Token)
	made := programs.New(programs.Options{DataDir: work.Directory})
	loop := runner.Remote{
		Who: func(ctx context.Context) (string, error) {
			me, err := gateway.Me(ctx)
			return fmt.Sprintf("%s (%s) of %s works.", me.Agent.Name, me.Agent.ID, me.Company.Name), err
		},
		Key: rand.Text,
		Claim: func(ctx context.Context, key string, wait int) ([]byte, error) {
			return gateway.Claim(ctx, key, wait, work.LeaseSeconds, work.Duty.IsMetered())
		},
		Ended: func(ctx context.Context, runToken access.Value, which id.Lease) (string, bool, error) {
			return gateway.Of(runToken).Ended(ctx, which)
		},
		Gateway:    func(runToken access.Value) runner.Gateway { return gateway.Of(runToken) },
		Programs:   made,
		Clock:      system.Clock{},
		GatewayURL: work.URL,
		Duty:       work.Duty,
		Model:      work.Model,
		IsOnce:     work.IsOnce,
		Say:        work.Say,
		Warn:       work.Warn,
	}
	return errors.Join(loop.Run(ctx), made.Forget(made.Holder()), made.Close())
}
