package inbound

import (
	"context"

	"holdco/domain/access"
	"holdco/domain/instance"
)

// Instance shows the server that answers, and its store.
type Instance interface {
	// Get needs a token, of any scopes. How many leads there are is shown to who has Admin everywhere, as it was at most a minute ago.
	Get(ctx context.Context, caller access.Caller) (instance.Instance, error)
}
