package demo

// Dice are random numbers that follow from a seed. A copy goes on like the original.
type Dice struct{ state uint64 }

// NewDice returns dice for some seeds together.
func NewDice(seeds ...uint64) *Dice {
	d := &Dice{}
	for _, seed := range seeds {
		d.state ^= seed
		d.state = d.next()
	}
	return d
}

// next is splitmix64 (Steele, Lea and Flood, 2014).
func (d *Dice) next() uint64 {
	d.state += 0x9e3779b97f4a7c15
	z := d.state
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// Below returns a number from 0 to below n, which is 1 or more.
func (d *Dice) Below(n int) int { return int(d.next() % uint64(n)) } //nolint:gosec // n is small and not negative

// Between returns a number from least to most, both included.
func (d *Dice) Between(least, most int) int { return least + d.Below(most-least+1) }

// Percent reports true in so many of a hundred cases.
func (d *Dice) Percent(of int) bool { return d.Below(100) < of } //nolint:mnd // per cent

// One returns one of some items.
func One[T any](d *Dice, of []T) T { return of[d.Below(len(of))] }
