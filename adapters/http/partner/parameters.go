package partner

import (
	"strconv"
	"strings"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/lead"
)

// parameters reads the parameters of a request as what they mean. The gate has checked what the document says of them;
// the first that is wrong nevertheless is kept in err.
type parameters struct {
	httpkit.Query
	err error
}

func (p *parameters) refuse(name, wrong string) {
	if p.err == nil {
		p.err = httpkit.InvalidParameter(name, wrong)
	}
}

// without refuses parameters that do not go with what was asked otherwise.
func (p *parameters) without(wrong string, names ...string) {
	for _, name := range names {
		if _, sent := p.Query[name]; sent {
			p.refuse(name, wrong)
		}
	}
}

func (p *parameters) number(name string, fallback int64) int64 {
	sent, found := p.Query[name]
	if !found {
		return fallback
	}
	number, err := strconv.ParseInt(sent, 10, 64)
	if err != nil {
		p.refuse(name, "must be a whole number")
	}
	return number
}

func (p *parameters) flag(name string) *bool {
	sent, found := p.Query[name]
	if !found {
		return nil
	}
	return new(sent == "true")
}

func (p *parameters) rating(name string, parse func(text string) (lead.Rating, bool)) *lead.Rating {
	sent, found := p.Query[name]
	if !found {
		return nil
	}
	rating, ok := parse(sent)
	if !ok {
		p.refuse(name, "must be a decimal number from 0 to 5, such as 4.5")
	}
	return &rating
}

func (p *parameters) domain(name string) string {
	sent, found := p.Query[name]
	domain, ok := lead.ParseDomain(sent)
	if found && !ok {
		p.refuse(name, lead.MustBeDomain)
	}
	return domain
}

func (p *parameters) address(name string) string {
	sent, found := p.Query[name]
	address, ok := lead.ParseEmail(sent)
	if found && !ok {
		p.refuse(name, lead.MustBeEmail+"; in a URL a + stands for a space, so spell it as %2B")
	}
	return address
}

// list reads values that are separated by commas.
func (p *parameters) list(name string, take func(item string)) {
	sent, found := p.Query[name]
	if !found {
		return
	}
	items := strings.Split(sent, ",")
	if wrong := lead.WrongList(items); wrong != "" {
		p.refuse(name, wrong)
		return
	}
	for _, item := range items {
		take(item)
	}
}

func (p *parameters) enrichments(name string) (all []lead.Enrichment) {
	p.list(name, func(item string) {
		level, ok := lead.ParseEnrichment(item)
		if !ok {
			p.refuse(name, lead.MustBeEnrichments)
		}
		all = append(all, level)
	})
	return all
}

func foreignList[I id.ID](p *parameters, name string) (all []I) {
	p.list(name, func(item string) {
		which, ok := id.ParseForeign[I](item)
		if !ok {
			p.refuse(name, "must be an id that begins with "+id.Prefix[I]()+", or some of these separated by commas")
		}
		all = append(all, which)
	})
	return all
}

// before reads the instant that something is to be before. No lead is from the year 0.
func (p *parameters) before(name string) time.Time {
	read := p.instant(name)
	if _, sent := p.Query[name]; sent && read.IsZero() {
		return read.Add(time.Millisecond)
	}
	return read
}

// instant reads a timestamp or a date. Leads are kept to the millisecond, so what is finer is rounded up to the next.
func (p *parameters) instant(name string) time.Time {
	sent, found := p.Query[name]
	if !found {
		return time.Time{}
	}
	if strings.Contains(sent, " ") {
		p.refuse(name, "holds a space; in a URL a + stands for one, so spell an offset as %2B02:00")
		return time.Time{}
	}
	read, ok := parseInstant(sent)
	read = read.Add(time.Millisecond - time.Nanosecond).UTC().Truncate(time.Millisecond)
	switch {
	case !ok:
		p.refuse(name, "must be an RFC 3339 timestamp such as 2026-04-11T10:42:17Z, or a date such as 2026-04-11")
	case read.Year() > 9999:
		p.refuse(name, "must not be after 9999-12-31T23:59:59.999Z")
	}
	if read.Year() < 1 {
		return time.Time{} // before all leads too
	}
	return read
}

// parseInstant reads a date or a timestamp, whose letters may be small ones too (RFC 3339, section 5.6).
func parseInstant(sent string) (time.Time, bool) {
	sent = strings.ToUpper(sent)
	if date, err := time.Parse(time.DateOnly, sent); err == nil {
		return date, true
	}
	return instant.Parse(sent)
}

func foreign[I id.ID](p *parameters, name string) I {
	sent, found := p.Query[name]
	if !found {
		return ""
	}
	which, ok := id.ParseForeign[I](sent)
	if !ok {
		p.refuse(name, "must be an id that begins with "+id.Prefix[I]())
	}
	return which
}
