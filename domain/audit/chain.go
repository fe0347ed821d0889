package audit

import "fmt"

// Chain follows a chain, item after item, from its start. The zero value expects every entry to be there.
type Chain struct {
	at     Link
	isOpen bool // the hash of at is not known, because what stood there is gone
	known  []Link
	stub   Stub
	gone   int64 // entries that are not there, of those that the stub allows
}

// Expect makes Add compare the links that are known from elsewhere, such as a head that was kept. The zero Link is none.
func (c *Chain) Expect(known ...Link) {
	for _, one := range known {
		if one.Number > 0 {
			c.known = append(c.known, one)
		}
	}
}

// Allow lets entries be missing that a stub stands for.
func (c *Chain) Allow(stub Stub) {
	c.stub = stub
	c.Expect(stub.Last)
}

// Verified is what was followed of a chain.
type Verified struct {
	Link       // of the last entry
	Gone int64 // entries that a stub stands for
}

// String says how many entries there are of a chain that is whole.
func (v Verified) String() string {
	text := fmt.Sprintf("%d entries, none changed, removed or inserted", v.Number-v.Gone)
	if v.Gone > 0 {
		text += fmt.Sprintf(", beside %d that were removed because they were old enough", v.Gone)
	}
	return text
}

// Verified is what was followed.
func (c *Chain) Verified() Verified { return Verified{c.at, c.gone} }

// Add goes on to the next item, by its number. It returns a Finding if that does not follow.
func (c *Chain) Add(item Item) error {
	number := item.Link.Number
	if number <= c.at.Number { // two with one number, or none
		return Finding{Inserted, number, item.ID}
	}
	if err := c.skipTo(number - 1); err != nil {
		return err
	}
	next := item.Link
	switch {
	case item.Canonical != nil:
		if !c.isOpen {
			next = c.at.Next(item.Canonical)
		}
	case c.stub.covers(number):
		c.gone++
	default:
		return Finding{Removed, number, item.ID}
	}
	if next != item.Link {
		return Finding{Changed, number, item.ID}
	}
	return c.reach(next, item.ID)
}

// skipTo goes on to a number, past entries that are not there.
func (c *Chain) skipTo(number int64) error {
	for c.at.Number < number {
		next := c.at.Number + 1
		if !c.stub.covers(next) {
			return Finding{Removed, next, ""}
		}
		last := min(number, c.stub.Last.Number)
		c.gone += last - c.at.Number
		c.at, c.isOpen = Link{Number: last}, true
		if last == c.stub.Last.Number {
			c.at, c.isOpen = c.stub.Last, false
		}
	}
	return nil
}

// reach goes on to a link, if it is what is known of that number.
func (c *Chain) reach(next Link, entry string) error {
	for _, one := range c.known {
		if one.Number == next.Number && one != next {
			return Finding{Changed, next.Number, entry}
		}
	}
	c.at, c.isOpen = next, false
	return nil
}

// End checks that all that is known was reached.
func (c *Chain) End() error {
	if err := c.skipTo(c.stub.Last.Number); err != nil {
		return err
	}
	for _, one := range c.known {
		if one.Number > c.at.Number {
			return Finding{Removed, c.at.Number + 1, ""}
		}
	}
	if c.gone > c.stub.Count {
		return Finding{Removed, c.stub.First, ""}
	}
	return nil
}

// EndAt checks as End does, and that the chain ends at its head. That of an empty chain is the zero Link.
func (c *Chain) EndAt(head Link) error {
	c.Expect(head)
	if err := c.End(); err != nil {
		return err
	}
	switch {
	case head.Number == 0 && c.at.Number > 0:
		return fmt.Errorf("the head of the chain was removed; there are %d entries", c.at.Number)
	case c.at.Number > head.Number:
		return Finding{Inserted, head.Number + 1, ""}
	case c.at.Hash != head.Hash:
		return Finding{Changed, head.Number, ""}
	}
	return nil
}
