package rest

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"holdco/adapters/http/httpkit"
	"holdco/domain/event"
	"holdco/domain/id"
	"holdco/domain/instant"
	"holdco/domain/page"
	"holdco/domain/text"
	"holdco/ports/inbound"
)

type activity struct {
	port inbound.Activity
	pace StreamPace
}

// StreamPace is how streams are paced.
type StreamPace struct {
	Quiet    time.Duration // how long nothing is sent, before a comment is
	Patience time.Duration // how long a client may take for what is sent at once
}

// UsualPace is the pace that the API document promises.
var UsualPace = StreamPace{Quiet: 15 * time.Second, Patience: time.Minute}

// Activity handles the operations on the activity log.
func Activity(port inbound.Activity, pace StreamPace) httpkit.Handlers {
	h := activity{port, pace}
	ofCompany := func(r httpkit.Request) *id.Company { return new(companyOf(r)) }
	ofAll := func(httpkit.Request) *id.Company { return nil }
	return httpkit.Handlers{
		"listActivity":         h.list(ofCompany, nil),
		"listAudit":            h.list(ofCompany, event.Audited),
		"listAllActivity":      h.list(ofAll, nil),
		"listAllAudit":         h.list(ofAll, event.Audited),
		"getActivity":          h.get,
		"exportActivity":       h.export,
		"getAuditHead":         h.head(ofCompany),
		"getInstanceAuditHead": h.head(ofAll),
		"streamActivity":       h.stream,
	}
}

// list handles the lists of what happened in one company or in all, in some categories; nil: in all.
func (h activity) list(scope func(r httpkit.Request) *id.Company, within []string) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) {
		filter, err := activityFilter(r, scope(r), within)
		if err != nil {
			return httpkit.Answer{}, err
		}
		bound := "activity " + r.Query().Filters()
		if filter.Company != nil {
			bound = "activity of=" + string(*filter.Company) + " " + r.Query().Filters()
		}
		if within != nil {
			bound = "audit of " + bound
		}
		return httpkit.List(r, bound, func(after page.Position, size int) (page.Page[event.Entry], error) {
			return h.port.List(r.Context(), r.Caller(), filter, after, size)
		})
	}
}

func activityFilter(r httpkit.Request, of *id.Company, within []string) (filter event.Filter, err error) {
	query := r.Query()
	filter = event.Filter{
		Company: of, Categories: within, Actor: query["actor"],
		Subject: event.Subject{Type: query["subject.type"], ID: query["subject.id"]},
		Related: event.Related{Issue: query["related.issueId"], Agent: query["related.agentId"], Run: query["related.runId"]},
	}
	if sent, found := query["category"]; found {
		filter.Categories = strings.Split(sent, ",")
		if within != nil {
			filter.Categories = slices.DeleteFunc(filter.Categories, func(c string) bool { return !slices.Contains(within, c) })
		}
	}
	if sent, found := query["action"]; found {
		if filter.Type, err = event.ParseType(sent); err != nil {
			return filter, err
		}
	}
	if filter.Words, err = wordsIn(query); err != nil {
		return filter, err
	}
	if filter.Since, err = instantIn(query, "since"); err != nil {
		return filter, err
	}
	filter.Until, err = instantIn(query, "until")
	return filter, err
}

// wordsIn reads the words to search for from the query parameter q; nil: it was not sent.
func wordsIn(query httpkit.Query) (text.Words, error) {
	sent, found := query["q"]
	if !found {
		return nil, nil
	}
	words, ok := text.ParseWords(sent)
	if !ok {
		return nil, httpkit.InvalidParameter("q", fmt.Sprintf("must have %d to %d characters", text.ShortestSearch, text.LongestSearch))
	}
	return words, nil
}

func (h activity) get(r httpkit.Request) (httpkit.Answer, error) {
	found, err := h.port.Get(r.Context(), r.Caller(), companyOf(r), httpkit.PathID[id.Entry](r, "entry"))
	if err != nil {
		return httpkit.Answer{}, err
	}
	shown := found.Fields()
	return httpkit.Answer{Data: shown, ETag: httpkit.DigestTag(shown.Append(nil))}, nil
}

// head handles the heads of the chains of companies, and of the instance.
func (h activity) head(of func(r httpkit.Request) *id.Company) httpkit.Handler {
	return func(r httpkit.Request) (httpkit.Answer, error) {
		found, err := h.port.Head(r.Context(), r.Caller(), of(r))
		if err != nil {
			return httpkit.Answer{}, err
		}
		return httpkit.Answer{Data: found.Fields()}, nil
	}
}

func (h activity) export(r httpkit.Request) (httpkit.Answer, error) {
	filter, err := activityFilter(r, new(companyOf(r)), nil)
	if err != nil {
		return httpkit.Answer{}, err
	}
	after := r.Query()["after"]
	export, err := h.port.Export(r.Context(), r.Caller(), filter, after)
	if err != nil {
		return httpkit.Answer{}, err
	}
	feed := &httpkit.Feed{MediaType: "application/x-ndjson"}
	spell := activityLines
	if r.Query()["format"] == "csv" {
		feed.MediaType, spell = "text/csv; charset=utf-8", activityRows
		if after == "" {
			feed.Head = activityHead
		}
	}
	feed.Write = func(write func(portion []byte) error) error {
		var text []byte
		return export(func(entries []inbound.ChainedEntry) error {
			text = spell(text[:0], entries)
			return write(text)
		})
	}
	return httpkit.Answer{Feed: feed}, nil
}

// activityLines appends entries to text, a JSON object in each line.
func activityLines(text []byte, entries []inbound.ChainedEntry) []byte {
	for _, e := range entries {
		fields := append(e.Fields(), event.F("place", e.Number), event.F("hash", e.Hash.String()))
		text = append(fields.Append(text), '\n')
	}
	return text
}

var activityHead = []byte("id,at,companyId,category,action,actor,subjectType,subjectId,issueId,agentId,runId,payload,place,hash\n")

// activityRows appends entries to text as rows of CSV.
func activityRows(to []byte, entries []inbound.ChainedEntry) []byte {
	buffer := bytes.NewBuffer(to)
	rows := csv.NewWriter(buffer)
	for _, e := range entries {
		related := e.Related()
		row := []string{
			string(e.ID), instant.Format(e.At), string(e.Company), e.Type.Category(), string(e.Type), string(e.Actor), e.Subject.Type,
			e.Subject.ID, related.Issue, related.Agent, related.Run, string(e.Payload().Append(nil)),
			strconv.FormatInt(e.Number, 10), e.Hash.String(),
		}
		for n, cell := range row {
			row[n] = text.Cell(cell)
		}
		_ = rows.Write(row) // into memory
	}
	rows.Flush()
	return buffer.Bytes()
}

// How long a client that was cut off waits before it comes again, and how often it is looked whether its token is still good.
const (
	streamHead   = "retry: 1000\n"
	authInterval = time.Second
)

// errEnded ends a stream whose token is no good any more.
var errEnded = errors.New("the token of the stream was refused")

func (h activity) stream(r httpkit.Request) (httpkit.Answer, error) {
	place := r.Header("Last-Event-ID")
	if place == "" {
		place = r.Query()["lastEventId"]
	}
	follow, err := h.port.Follow(r.Context(), r.Caller(), companyOf(r), place)
	if err != nil {
		return httpkit.Answer{}, err
	}
	return httpkit.Answer{Feed: &httpkit.Feed{
		MediaType: httpkit.EventStream, Head: []byte(streamHead + "\n"), Patience: h.pace.Patience,
		Write: func(write func(portion []byte) error) error {
			checked, wrote := time.Now(), time.Now()
			var buffer []byte
			err := follow(r.Context(), func(portions []inbound.StreamedPortion) error {
				if time.Since(checked) >= authInterval {
					if checked = time.Now(); r.IsRefused() {
						return errEnded
					}
				}
				text := quiet
				switch {
				case len(portions) == 1:
					text = portions[0].Spelled(serverSent) // as it is: each stream would copy it else
				case len(portions) > 1:
					buffer = buffer[:0]
					for _, one := range portions {
						buffer = append(buffer, one.Spelled(serverSent)...)
					}
					text = buffer
				case time.Since(wrote) < h.pace.Quiet:
					return nil
				}
				wrote = time.Now()
				return write(text)
			})
			if errors.Is(err, errEnded) {
				return nil
			}
			return err
		},
	}}, nil
}

// quiet is the comment that is sent when nothing else was for long.
var quiet = []byte(":\n\n")

// serverSent spells entries as server-sent events. A place alone is one without data, which clients only note.
func serverSent(entries []inbound.StreamedEntry) (text []byte) {
	for _, e := range entries {
		text = append(append(append(text, "id: "...), e.Place...), '\n')
		if e.Entry != nil {
			text = append(e.Entry.Fields().Append(append(text, "data: "...)), '\n')
		}
		text = append(text, '\n')
	}
	return text
}
