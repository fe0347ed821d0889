package cost

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/id"
	"holdco/domain/money"
	"holdco/domain/text"
)

// Tokens are how many tokens a language model read and wrote. Input is without those that were cached.
type Tokens struct{ Input, Output, CacheRead, CacheWrite int64 }

// Plus returns the sum.
func (t Tokens) Plus(more Tokens) Tokens {
	return Tokens{t.Input + more.Input, t.Output + more.Output, t.CacheRead + more.CacheRead, t.CacheWrite + more.CacheWrite}
}

// Fields returns the tokens as the API shows them.
func (t Tokens) Fields() event.Fields {
	return event.Fields{
		event.F("input", t.Input), event.F("output", t.Output), event.F("cacheRead", t.CacheRead), event.F("cacheWrite", t.CacheWrite),
	}
}

// Kind is what was paid for.
type Kind string

// The kinds.
const (
	LLM             Kind = "llm"
	Tools           Kind = "tools"
	RuntimeServices Kind = "runtimeServices"
)

// Entry is a charge as it is kept, or the correction of one. It never changes.
type Entry struct {
	ID       id.Cost
	Company  id.Company
	Issue    id.Issue
	Run      id.Run
	Agent    id.Agent
	Team     id.Team    // of the agent
	Project  id.Project // of the issue; empty: none
	Key      string     // 1 to KeyLength visible ASCII characters; no other charge of the run has it
	Kind     Kind
	USD      money.USD // 0 to Most; of a correction also less than 0
	Model    string    // at most ModelLength characters; empty: none was named
	Tokens   Tokens
	Calls    int64
	Billing  string // such as subscription; empty: not named
	Unpriced bool   // no price of the model was known: the fallback price was used
	Revision int64  // of the prices, if the amount is that of the tokens; 0: the amount was sent
	Late     bool   // the lease had ended
	Session  string // of the program, such as a thread of Codex, that it is of; at most SessionLength characters; empty: none was named

	// IsReported says that it is what a model said, in a run whose program says itself what it costs: it is kept and not counted, so
	// that nothing is charged twice. USD and Tokens are 0, and ReportedUSD is what the model said.
	IsReported  bool
	ReportedUSD money.USD

	At time.Time

	// Of a correction:

	Adjusts    id.Cost   // the entry that it corrects
	Reason     string    // 1 to ReasonLength characters
	AdjustedAt time.Time // when it was made; At is the instant of the corrected entry
}

// Bounds of a charge.
const (
	KeyLength     = 200
	ModelLength   = 200
	BillingLength = 50
	SessionLength = 200
	Most          = 1_000_000 * money.Dollar
	MostTokens    = 1_000_000_000
	MostInCall    = 100
)

// Draft is what was sent of a charge; nil fields were absent.
type Draft struct {
	Key, Kind, Model, Billing, Session *string
	USD                                *money.Number
	Tokens                             *TokensDraft
	Calls                              *int64
	Reported                           *bool // a model said so
}

// TokensDraft is what was sent of tokens; nil fields were absent.
type TokensDraft struct{ Input, Output, CacheRead, CacheWrite *int64 }

// Prices are what tokens cost.
type Prices interface {
	// Price returns what tokens of a model cost that were used in so many calls, at least 1, and whether its price is known. If not,
	// this is a price that is used instead.
	Price(model string, tokens Tokens, calls int64) (amount money.USD, isKnown bool)

	// Revision counts the changes of the prices, from 1.
	Revision() int64
}

// ParseReport is Parse for a call that is about charges alone: there must be one.
func ParseReport(drafts []Draft, prices Prices, problems *fault.Problems) []Entry {
	if len(drafts) == 0 {
		problems.Add(fault.Fieldf("costs", fault.Required, "costs is required, and must have at least one item"))
	}
	return Parse(drafts, prices, problems)
}

// Parse makes entries of the charges of one call, without ids. Problems get what is wrong with them. Without prices, for who looks at
// the form alone, tokens cost 0, and are unpriced.
func Parse(drafts []Draft, prices Prices, problems *fault.Problems) []Entry {
	if len(drafts) > MostInCall {
		problems.Add(tooMany("costs", len(drafts)))
		return nil
	}
	entries := make([]Entry, len(drafts))
	for n, draft := range drafts {
		entries[n] = draft.parse(fmt.Sprintf("costs.%d", n), prices, problems)
	}
	return entries
}

func tooMany(path string, charges int) fault.Field {
	return fault.Fieldf(path, fault.TooMany, "%s has %d items; at most %d are allowed", path, charges, MostInCall)
}

// Keys are the keys of charges that can be those of entries.
func Keys(of []Draft) (keys []string) {
	for _, draft := range of {
		if draft.Key != nil && isKey(*draft.Key) {
			keys = append(keys, *draft.Key)
		}
	}
	return keys
}

func isKey(sent string) bool {
	return sent != "" && len(sent) <= KeyLength && !strings.ContainsFunc(sent, func(r rune) bool { return r < '!' || r > '~' })
}

func (d Draft) parse(path string, prices Prices, problems *fault.Problems) Entry {
	e := Entry{Calls: 1}
	at := func(field string) string { return path + "." + field }
	switch {
	case d.Key == nil:
		problems.Add(fault.Fieldf(at("key"), fault.Required, "%s is required", at("key")))
	case !isKey(*d.Key):
		problems.Add(fault.Fieldf(at("key"), fault.InvalidFormat, "%s must be 1 to %d visible ASCII characters", at("key"), KeyLength))
	default:
		e.Key = *d.Key
	}
	switch {
	case d.Kind == nil:
		problems.Add(fault.Fieldf(at("kind"), fault.Required, "%s is required", at("kind")))
	case !slices.Contains([]Kind{LLM, Tools, RuntimeServices}, Kind(*d.Kind)):
		problems.Add(fault.Fieldf(at("kind"), fault.UnknownValue, "%s must be one of llm, tools, runtimeServices", at("kind")))
	default:
		e.Kind = Kind(*d.Kind)
	}
	text.SetName(&e.Model, at("model"), d.Model, ModelLength, problems)
	text.SetName(&e.Billing, at("billing"), d.Billing, BillingLength, problems)
	text.SetName(&e.Session, at("session"), d.Session, SessionLength, problems)
	e.IsReported = d.Reported != nil && *d.Reported
	if d.Calls != nil {
		e.Calls = inRange(at("calls"), *d.Calls, 1, MostTokens, problems)
	}
	if d.Tokens != nil {
		e.Tokens = d.Tokens.parse(at("tokens"), problems)
	}
	d.price(&e, at, prices, problems)
	return e
}

// price sets the amount: the one that was sent, or that of the tokens.
func (d Draft) price(e *Entry, at func(string) string, prices Prices, problems *fault.Problems) {
	switch {
	case d.USD != nil:
		amount, wrong := money.ParseCharge(at("usd"), *d.USD, 0, Most)
		problems.Add(wrong...)
		e.USD = amount
	case d.Tokens != nil && d.Model != nil && (e.Kind == LLM || e.Kind == ""): // one problem for a kind that there is not
		e.Unpriced = true
		if prices != nil {
			amount, isKnown := prices.Price(e.Model, e.Tokens, max(e.Calls, 1))
			e.USD, e.Unpriced, e.Revision = amount, !isKnown, prices.Revision()
		}
		if e.USD > Most {
			problems.Add(fault.Fieldf(at("tokens"), fault.OutOfRange,
				"%s must not cost more than %s USD, and cost %s", at("tokens"), Most, e.USD))
		}
	default:
		problems.Add(fault.Fieldf(at("usd"), fault.Required, "%s is required, or, of the kind llm, model and tokens", at("usd")))
	}
}

func (d TokensDraft) parse(path string, problems *fault.Problems) (t Tokens) {
	for _, field := range []struct {
		name string
		sent *int64
		to   *int64
	}{
		{"input", d.Input, &t.Input}, {"output", d.Output, &t.Output},
		{"cacheRead", d.CacheRead, &t.CacheRead}, {"cacheWrite", d.CacheWrite, &t.CacheWrite},
	} {
		if field.sent != nil {
			*field.to = inRange(path+"."+field.name, *field.sent, 0, MostTokens, problems)
		}
	}
	return t
}

func inRange(path string, sent, least, most int64, problems *fault.Problems) int64 {
	if sent < least || sent > most {
		problems.Add(fault.Fieldf(path, fault.OutOfRange, "%s must be from %d to %d", path, least, most))
		return 0
	}
	return sent
}

// IsSame reports whether an entry was made from the same charge as another one of its run under the same key. What was priced by
// its tokens is the same at another price too.
func (e Entry) IsSame(as Entry) bool {
	return e.Kind == as.Kind && e.Model == as.Model && e.Tokens == as.Tokens && e.Calls == as.Calls && e.Billing == as.Billing &&
		e.Session == as.Session && e.IsReported == as.IsReported && e.ReportedUSD == as.ReportedUSD &&
		e.IsOfTokens() == as.IsOfTokens() && (e.IsOfTokens() || e.USD == as.USD)
}

// Uncounted returns the entry as one that is kept and not counted. See IsReported.
func (e Entry) Uncounted() Entry {
	e.ReportedUSD, e.USD, e.Tokens, e.Unpriced, e.Revision = e.USD, 0, Tokens{}, false, 0
	return e
}

// reportedUSD is what a model said; nil: it was charged.
func (e Entry) reportedUSD() any {
	if !e.IsReported {
		return nil
	}
	return e.ReportedUSD
}

// IsOfTokens reports whether the amount is that of the tokens, and was not sent. Entries from before there were revisions are unpriced
// then.
func (e Entry) IsOfTokens() bool { return e.Unpriced || e.Revision > 0 }
