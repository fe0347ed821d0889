package imports

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// lineIDs finds the lines of a file that a later line with the same id supersedes. It takes 24 bytes for each line
// whatever the length of the id, because it stores 96 bits of a hash. The probability of a collision within ten million
// ids is 1 in 10^15.
type lineIDs struct {
	seeds [2]maphash.Seed
	lines []lineID
	count uint32
}

type lineID struct {
	hash    uint64
	more    uint32 // of the hash
	line    uint32 // from 0 on; rejected ones count
	number  uint32 // of the line in the file
	content uint32 // a hash: of two lines of one id that differ, 1 in 4 billion is taken for the same
}

// seed makes the seeds, and returns that of the content of lines. It is called before add.
func (l *lineIDs) seed() maphash.Seed {
	l.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	return l.seeds[0]
}

// add adds the next line, with an empty id if it does not count.
func (l *lineIDs) add(which string, number int64, content uint32) {
	if which != "" {
		l.lines = append(l.lines, lineID{
			maphash.String(l.seeds[0], which), uint32(maphash.String(l.seeds[1], which)), l.count, uint32(number), content,
		})
	}
	l.count++
}

// superseded is a line instead of which a later one counts.
type superseded struct {
	line     uint32 // from 0 on
	by       uint32 // the one that counts
	byNumber uint32
	differs  bool // in what it says
}

// superseded returns the superseded lines in ascending order, and how many of them differ. Nothing can be added afterwards.
func (l *lineIDs) superseded() (found []superseded, differ int64) {
	slices.SortFunc(l.lines, func(a, b lineID) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.more, b.more), cmp.Compare(a.line, b.line))
	})
	last := len(l.lines) - 1
	for i := last - 1; i >= 0; i-- {
		one, by := l.lines[i], l.lines[last]
		if one.hash != by.hash || one.more != by.more {
			last = i
			continue
		}
		found = append(found, superseded{one.line, by.line, by.number, one.content != by.content})
		if one.content != by.content {
			differ++
		}
	}
	l.lines = nil
	slices.SortFunc(found, func(a, b superseded) int { return cmp.Compare(a.line, b.line) })
	return found, differ
}
