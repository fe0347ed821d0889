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

	"holdco/domain/id"
)

// window is how many lines of an export are sorted at a time. Its entries are in the order in which they were made, and transactions
// that run side by side are chained in another, but not by much.
const window = 10_000

// exported is what a line of an export says of its entry.
type exported struct {
	ID        string     `json:"id"`
	CompanyID id.Company `json:"companyId"`
	Place     int64      `json:"place"`
	Hash      string     `json:"hash"`
}

// AddExport adds the lines of an export of all entries of a company, without filters, to a chain. If of is nil, it is the company of
// the first line. It fails with a Finding as Add does, and when a line is no entry of the company with its place and hash.
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
	for _, item := range waiting {
		if err := c.Add(item); err != nil {
			return err
		}
	}
	return nil
}

func parseExported(line []byte) (item Item, of id.Company, err error) {
	var found exported
	if err := json.Unmarshal(line, &found); err != nil {
		return item, of, fmt.Errorf("it is no JSON object: %w", err)
	}
	item = Item{ID: found.ID, Link: Link{Number: found.Place}}
	if item.Link.Hash, err = ParseHash(found.Hash); err != nil || item.Link.Number < 1 {
		return item, of, errors.New("it is no entry of an export, with its place and hash")
	}
	item.Canonical, err = Canonical(line)
	return item, found.CompanyID, err
}
