package rest

import (
	"context"

	"holdco/adapters/http/httpkit"
	"holdco/domain/access"
	"holdco/domain/dashboard"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/page"
	"holdco/ports/inbound"
)

// Dashboard handles the operations that look at a company as a whole.
func Dashboard(port inbound.Dashboard) httpkit.Handlers {
	return httpkit.Handlers{
		"getDashboardOverview": seeing(port.Overview),
		"getDashboardInbox":    seeing(port.Inbox),
		"getDashboardHealth":   seeing(port.Health),
		"getDashboardCost":     seeing(port.Costs),
		"getDashboardOrg":      seeing(port.Org),
		"getDashboardActivity": seeing(port.Activity),
		"listInbox":            inboxes(port),
	}
}

// inboxes handles the list of what waits for a person, in one company or in all.
func inboxes(port inbound.Dashboard) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) {
		query := inbound.InboxQuery{}
		if sent, found := r.Query()["company"]; found {
			var known bool
			if query.Company, known = id.Parse[id.Company](sent); !known {
				return httpkit.Answer{}, httpkit.InvalidParameter("company", "must be the id of a company")
			}
		}
		return httpkit.List(r, "inbox of="+string(query.Company), func(after page.Position, size int) (page.Page[dashboard.Item], error) {
			query.After, query.Size = after, size
			return port.AllInboxes(r.Context(), r.Caller(), query)
		})
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
