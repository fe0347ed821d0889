package imports

import (
	"cmp"
	"hash/maphash"
	"slices"
)

// lineIDs finds the lines of a file that a later line with the same id supersedes. It takes 16 bytes for each line
// whatever the length of the id, because it stores 96 bits of a hash. The probability of a collision within ten million
// ids is 1 in 10^15.
type lineIDs struct {
	seeds [2]maphash.Seed
	lines []lineID
	count uint32
}

type lineID struct {
	hash uint64
	more uint32 // of the hash
	line uint32 // from 0 on
}

// add adds the id of the next line, or "" for a rejected line.
func (l *lineIDs) add(which string) {
	if l.count == 0 {
		l.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	if which != "" {
		l.lines = append(l.lines, lineID{maphash.String(l.seeds[0], which), uint32(maphash.String(l.seeds[1], which)), l.count})
	}
	l.count++
}

// superseded returns the superseded lines in ascending order. Nothing can be added afterwards.
func (l *lineIDs) superseded() []uint32 {
	slices.SortFunc(l.lines, func(a, b lineID) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.more, b.more), cmp.Compare(a.line, b.line))
	})
	var found []uint32
	for i := range len(l.lines) - 1 {
		if one, next := l.lines[i], l.lines[i+1]; one.hash == next.hash && one.more == next.more {
			found = append(found, one.line)
		}
	}
	l.lines = nil
	slices.Sort(found)
	return found
}
