package rest

import (
	"context"

	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/ports/inbound"
)

// Dashboard handles the operations that look at a company as a whole.
func Dashboard(port inbound.Dashboard) httpkit.Handlers {
	return httpkit.Handlers{
		"getDashboardCost": seeing(port.Costs),
		"getDashboardOrg":  seeing(port.Org),
	}
}

// seeing handles an operation that looks at a company.
func seeing[T interface{ Fields() event.Fields }](
	see func(ctx context.Context, caller access.Caller, of id.Company) (inbound.Seen[T], error),
) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) {
		seen, err := see(r.Context(), r.Caller(), companyOf(r))
		if err != nil {
			return httpkit.Answer{}, err
		}
		return httpkit.Answer{Data: seen.It.Fields(), GeneratedAt: seen.At}, nil
	}
}
