package leadjson

import (
	"iter"
	"slices"
	"strings"

	"holdco/domain/id"
	"holdco/domain/lead"
)

// Shape is what is shown of leads. The zero value shows all there is.
type Shape struct {
	View lead.View // contacts that it does not show are left out, and the list of them is empty; so are campaigns: lead.Names.ShowsCampaign
	Only lead.Shown
}

// Append is Append for what the shape shows.
func (s Shape) Append(to []byte, e lead.Exported, names lead.Names) []byte {
	if s.Only.IsAll() {
		return Append(to, s.viewed(e, names), names)
	}
	between := byte('{')
	for name, value := range s.Fields(e, names) {
		to = append(append(append(to, between, '"'), name...), `":`...)
		to = append(to, value...)
		between = ','
	}
	return append(to, '}')
}

// Fields are the fields that the shape shows, with their values as JSON spells them.
func (s Shape) Fields(e lead.Exported, names lead.Names) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		e = s.viewed(e, names)
		text := e.Document.Head[len("{"):]
		for at, one := range order {
			if at == taxonomyAt+2 {
				text = e.Document.Tail[:len(e.Document.Tail)-len("}")]
			}
			if s.Only.HasAt(at) {
				var value string
				switch at {
				case taxonomyAt:
					value = string(names.Industry(e.Industry))
				case taxonomyAt + 1:
					value = string(names.Vertical(e.Vertical))
				default:
					value, text = one.cut(text)
				}
				if !yield(one.name, value) {
					return
				}
			}
			if s.Only.Ends(at + 1) {
				return
			}
		}
	}
}

// member is a field of the document of a lead.
type member struct {
	name    string
	begins  string // before its value, after a comma unless it is the first
	follows string // after its value; empty: nothing does
}

// order is that in which Append spells the fields. Those at taxonomyAt and after it are the industry and the vertical, which are in
// neither half of a document.
var order, taxonomyAt = func() (all []member, taxonomy int) {
	names := lead.FieldNames()
	taxonomy = slices.Index(names, "industry")
	for at, name := range names {
		one := member{name: name, begins: `,"` + name + `":`}
		if at != taxonomy-1 && at != len(names)-1 {
			one.follows = `,"` + names[at+1] + `":`
		}
		all = append(all, one)
	}
	return all, taxonomy
}()

// cut finds the value of the field in its half of a document, and returns what comes after it. Between quotes there is no quote that is
// not escaped, so what begins and what follows the value is found nowhere else: contacts have a name and an e-mail too, but are in the
// other half.
func (m member) cut(text string) (value, rest string) {
	value, ok := strings.CutPrefix(text, m.begins[len(","):])
	if !ok {
		_, value, ok = strings.Cut(text, m.begins)
	}
	if ok && m.follows != "" {
		at := strings.Index(value, m.follows)
		if ok = at >= 0; ok {
			value, rest = value[:at], value[at:]
		}
	}
	if !ok {
		panic("the document of a lead has another form than Encode gives it")
	}
	return value, rest
}

// viewed is what the view shows.
func (s Shape) viewed(e lead.Exported, names lead.Names) lead.Exported {
	if !s.View.IsAll() && s.Only.Has("campaign_ids") {
		e.Document.Tail = withCampaigns(e.Document.Tail, func(one id.Campaign) bool { return names.ShowsCampaign(s.View, one) })
	}
	if s.View.NoContacts && s.Only.Has("contacts") {
		e.Document.Tail = withoutContacts(e.Document.Tail)
	}
	return e
}

// withoutContacts empties the list of contacts. Between quotes there is no quote that is not escaped, so what begins and what follows
// the list is found nowhere else.
func withoutContacts(tail string) string {
	const begins, follows = `"contacts":[`, `],"created_at":"`
	before, rest, found := strings.Cut(tail, begins)
	_, after, ends := strings.Cut(rest, follows)
	if !found || !ends {
		panic("the document of a lead has another form than Encode gives it")
	}
	return before + begins + follows + after
}

// withCampaigns leaves of the list of campaigns, with which a tail begins, those that are shown. Their ids have no quotes.
func withCampaigns(tail string, shows func(id.Campaign) bool) string {
	const begins, follows = `"campaign_ids":[`, `]`
	list, isOne := strings.CutPrefix(tail, begins)
	list, after, ends := strings.Cut(list, follows)
	if !isOne || !ends {
		panic("the document of a lead has another form than Encode gives it")
	}
	var kept []string
	for one := range strings.SplitSeq(list, ",") {
		if list != "" && shows(id.Campaign(strings.Trim(one, `"`))) {
			kept = append(kept, one)
		}
	}
	return begins + strings.Join(kept, ",") + follows + after
}
