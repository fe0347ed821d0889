package audit

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"holdco/domain/event"
	"holdco/domain/id"
)

// window is how many lines of an export are sorted at a time. Its entries are in the order in which they were made, and transactions
// that run side by side are chained in another, but not by much.
const window = 10_000

// exported is a line of an export.
type exported struct {
	ID        string         `json:"id"`
	CompanyID id.Company     `json:"companyId"`
	Category  string         `json:"category"`
	Action    event.Type     `json:"action"`
	Actor     event.Actor    `json:"actor"`
	Subject   event.Subject  `json:"subject"`
	Related   exportedIDs    `json:"related"`
	Payload   map[string]any `json:"payload"`
	At        string         `json:"at"`
	Place     int64          `json:"place"`
	Hash      string         `json:"hash"`
}

type exportedIDs struct {
	Issue string `json:"issueId"`
	Agent string `json:"agentId"`
	Run   string `json:"runId"`
}

// isDerived reports whether the members that are not hashed are those that follow from the others.
func (e exported) isDerived() bool {
	of := event.Event{Type: e.Action, Actor: e.Actor, Subject: e.Subject}
	for name, value := range e.Payload {
		of.Data = append(of.Data, event.F(name, value))
	}
	return e.Category == e.Action.Category() && event.Related(e.Related) == of.Related()
}

// AddExport adds the lines of an export of all entries of a company, without filters, to a chain. If of is nil, it is the company of
// the first line. It fails with a Finding as Add does, when a line is no entry of the company with its place and hash, and when there is
// no line and no stub that stands for all of them.
func (c *Chain) AddExport(from io.Reader, of *id.Company) error {
	lines := bufio.NewReader(from)
	var waiting []Item // sorted
	for number, isEnd := 1, false; !isEnd; number++ {
		line, err := lines.ReadBytes('\n')
		if isEnd = errors.Is(err, io.EOF); err != nil && !isEnd {
			return err
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		item, whose, err := parseExported(line)
		switch {
		case err != nil:
			return fmt.Errorf("line %d: %w", number, err)
		case of == nil:
			of = &whose
		case whose != *of:
			return fmt.Errorf("line %d is an entry of another chain, that of %q and not of %q", number, whose, *of)
		}
		at, _ := slices.BinarySearchFunc(waiting, item, func(a, b Item) int { return cmp.Compare(a.Link.Number, b.Link.Number) })
		if waiting = slices.Insert(waiting, at, item); len(waiting) > window {
			if err := c.Add(waiting[0]); err != nil {
				return err
			}
			waiting = waiting[1:]
		}
	}
	if c.at.Number == 0 && len(waiting) == 0 && c.stub.Count == 0 {
		return errors.New("there are no entries: an export has at least that of its company's founding")
	}
	for _, item := range waiting {
		if err := c.Add(item); err != nil {
			return err
		}
	}
	return nil
}

func parseExported(line []byte) (item Item, of id.Company, err error) {
	var found exported
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.UseNumber()
	decoder.DisallowUnknownFields() // nothing would tell whether these are true
	if err := decoder.Decode(&found); err != nil {
		return item, of, fmt.Errorf("it is no entry of an export: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return item, of, errors.New("it is more than an entry of an export")
	}
	item = Item{ID: found.ID, Link: Link{Number: found.Place}}
	if item.Link.Hash, err = ParseHash(found.Hash); err != nil || item.Link.Number < 1 {
		return item, of, errors.New("it is no entry of an export, with its place and hash")
	}
	if !found.isDerived() {
		return item, of, Finding{Changed, found.Place, found.ID}
	}
	item.Canonical, err = Canonical(line)
	return item, found.CompanyID, err
}
