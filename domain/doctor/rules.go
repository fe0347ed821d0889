package doctor

import (
	"fmt"
	"time"

	"holdco/domain/backup"
	"holdco/domain/retention"
)

// Ahead is how far the clocks of a store and of those who write to it may differ: what happened may be dated so much later than now.
const Ahead = 5 * time.Second

// LongestDeletion is how long the removal of a company may take: it is done in small units, of which there are many.
const LongestDeletion = time.Hour

// LapsedFor is for how long a lease may have lapsed. A server takes over what another one left as soon as it has lapsed.
const LapsedFor = 5 * time.Minute

// UnusedFor is how long a token may live without being used before it is worth asking what it is for.
const UnusedFor = 180 * 24 * time.Hour

// SettlesIn is how long a server may take to make the directory of a company, or to remove that of one that is deleted.
const SettlesIn = time.Minute

// SampledLeads is how many leads are looked at unless all are wanted.
const SampledLeads = 10_000

const mebibyte = 1 << 20

// What the files of a store may take, in bytes.
const (
	leastRoom = retention.LeastRoom // below it a server refuses writes
	mostLog   = 1024 * mebibyte     // a reader holds what is older, or nothing has copied it
	fewPages  = 16 * mebibyte       // free pages that are no more than this are not worth giving back
)

// KeepsFree is the rule that a store breaks which never gives free pages back.
const KeepsFree = "disk.keeps_free"

// CanRewrite reports whether there is room to write the store anew.
func (s Space) CanRewrite() bool { return s.Room < 0 || s.Room >= backup.Room(s.Store) }

// Space is what the files of a store take and have, in bytes.
type Space struct {
	Store int64 // all that it takes
	Log   int64 // the write-ahead log beside it
	Free  int64 // of Store: pages that hold nothing
	Room  int64 // that is left on its disk; less than 0: not known

	KeepsFree bool // it never gives free pages back to the disk

	Where string // the disk

	Backups    string // the folder of backups; empty: they go beside the store
	BackupRoom int64  // that is left there; less than 0: not known
}

// Findings says what is wrong with it.
func (s Space) Findings() (found []Finding) {
	add := func(rule string, severity Severity, kept, should, text string) {
		found = append(found, Finding{Severity: severity, Rule: rule, About: s.Where, Kept: kept, Should: should, Text: text})
	}
	wanted, what := backup.Room(s.Store), "a copy of the store needs"
	if s.Backups == "" {
		wanted, what = backup.RoomForBoth(s.Store), "a backup of the store needs up to"
	}
	if s.Room >= 0 {
		switch {
		case s.Room < leastRoom:
			add("disk.room", Error, size(s.Room), size(leastRoom), fmt.Sprintf(
				"only %s are left at %s; make room now, the server takes no writes until there is", size(s.Room), s.Where))
		case s.Room < wanted:
			add("disk.room", Warning, size(s.Room), size(wanted), fmt.Sprintf(
				"%s are left at %s, and %s %s; make room", size(s.Room), s.Where, what, size(wanted)))
		}
	}
	if wanted := backup.RoomForBoth(s.Store); s.Backups != "" && s.BackupRoom >= 0 && s.BackupRoom < wanted {
		add("disk.backup_room", Warning, size(s.BackupRoom), size(wanted), fmt.Sprintf(
			"%s are left at %s, and a backup of the store needs up to %s; make room", size(s.BackupRoom), s.Backups, size(wanted)))
	}
	if s.Log > mostLog {
		add("disk.log", Warning, size(s.Log), size(mostLog), "")
	}
	if s.Free > fewPages && s.Free > s.Store/2 {
		add("disk.free_pages", Warning, size(s.Free), size(s.Store/2), fmt.Sprintf(
			"%s of the %s of the store hold nothing; new rows use them first, and a server gives them back, unless the store keeps them",
			size(s.Free), size(s.Store)))
	}
	if s.KeepsFree {
		add(KeepsFree, Note, "kept", "given back", fmt.Sprintf("the store keeps what becomes free of its file; stop the server, and run: "+
			"holdco doctor --fix --only disk, which needs %s of room", size(backup.Room(s.Store))))
	}
	return found
}

// String says it in a few words.
func (s Space) String() string {
	text := "store: " + size(s.Store)
	if s.Log > 0 {
		text += ", log: " + size(s.Log)
	}
	if s.Room >= 0 {
		text += ", room: " + size(s.Room)
	}
	return text
}

// size spells a number of bytes for people.
func size(bytes int64) string {
	const step = 1024
	value, unit := float64(bytes), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for value >= step && unit < len(units)-1 {
		value, unit = value/step, unit+1
	}
	if unit == 0 {
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// TableSize is how large a table of the store is, with its indexes.
type TableSize struct {
	Name        string
	Rows, Bytes int64
}

// Finding says it: it is no more than a note.
func (t TableSize) Finding() Finding {
	rows := fmt.Sprintf("%d rows", t.Rows)
	return Finding{
		Severity: Note, Rule: "growth.table", About: t.Name, Where: rows, Kept: size(t.Bytes),
		Text: fmt.Sprintf("%s: %s, %s", t.Name, rows, size(t.Bytes)),
	}
}
