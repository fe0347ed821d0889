// Package instance is what a running Holdco is, as it shows itself to whoever has a token.
package instance

import (
	"time"

	"holdco/domain/event"
	"holdco/domain/instant"
	"holdco/domain/ratelimit"
)

// Setup is how the server that answers was built and set up.
type Setup struct {
	Version   string // of the program
	Store     string // sqlite or postgres
	Adapters  []string
	Limits    ratelimit.Limits
	Retention time.Duration // how long an archived company can be restored
	MaxImport int64         // how large a file may be that is sent to be imported, in bytes
	Listeners Listeners
}

// Listeners are the addresses that the server was told to listen at, host:port; empty: there is no such listener.
type Listeners struct{ API, Dashboard, Gateway, Partner, Metrics string }

// Leads counts what the export API serves.
type Leads struct{ Leads, Campaigns, Industries, Verticals int64 }

// Instance is the server that answers, and its store.
type Instance struct {
	Setup
	Schema    int64 // the newest migration of the store
	Now       time.Time
	PublicKey string // with which heads of the audit are checked, in base64
	Leads     *Leads // nil: the caller may not see it
}

// Fields are the instance as the API shows it.
func (i Instance) Fields() event.Fields {
	limit := func(name string, of ratelimit.Limit) event.Field {
		if of == ratelimit.Off {
			return event.F(name, (*int64)(nil))
		}
		return event.F(name, new(int64(of)))
	}
	fields := event.Fields{
		event.F("version", i.Version),
		event.F("time", instant.Format(i.Now)),
		event.F("store", event.Fields{event.F("kind", i.Store), event.F("schema", i.Schema)}),
		event.F("adapters", i.Adapters),
		event.F("requestsPerMinute", event.Fields{
			limit("read", i.Limits.Read), limit("write", i.Limits.Write), limit("costly", i.Limits.Costly),
			limit("partner", i.Limits.Partner), limit("gateway", i.Limits.Gateway),
		}),
		event.F("archiveRetentionHours", int64(i.Retention/time.Hour)),
		event.F("maxImportBytes", i.MaxImport),
		event.F("listeners", event.Fields{
			event.Optional("api", i.Listeners.API), event.Optional("dashboard", i.Listeners.Dashboard),
			event.Optional("gateway", i.Listeners.Gateway),
			event.Optional("partner", i.Listeners.Partner), event.Optional("metrics", i.Listeners.Metrics),
		}),
		event.F("publicKey", i.PublicKey),
	}
	if i.Leads == nil {
		return append(fields, event.F("leads", (*int64)(nil)))
	}
	return append(fields, event.F("leads", event.Fields{
		event.F("leads", i.Leads.Leads), event.F("campaigns", i.Leads.Campaigns),
		event.F("industries", i.Leads.Industries), event.F("verticals", i.Leads.Verticals),
	}))
}
