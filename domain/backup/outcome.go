package backup

import (
	"fmt"
	"time"

	"holdco/domain/event"
	"holdco/domain/instant"
)

// Written is a backup that was written.
type Written struct {
	Manifest
	File     string           // empty: it went to a stream
	Size     int64            // of the file, in bytes
	Rows     map[string]int64 // by table
	Took     time.Duration
	Verified bool // it was read back
}

// Fields returns the backup as JSON shows it.
func (w Written) Fields() event.Fields {
	return event.Fields{
		event.F("file", w.File),
		event.F("bytes", w.Size),
		event.F("schema", w.Schema),
		event.F("rows", w.Rows),
		event.F("took", seconds(w.Took)),
		event.F("keyFingerprint", w.Key),
		event.F("verified", w.Verified),
	}
}

// Summary says in a few words what is in it, such as "212 MB, schema 4, 500000 leads, 12 companies, 8.1s".
func (w Written) Summary() string {
	return fmt.Sprintf("%s, schema %d, %d leads, %d companies, %s", Size(w.Size), w.Schema, w.Rows["leads"], w.Rows["companies"],
		seconds(w.Took))
}

// KeyNote says which key is needed to read the secrets in a backup; empty: none.
func (m Manifest) KeyNote() string {
	switch {
	case m.Key == "":
		return ""
	case m.FormerKey != "":
		return fmt.Sprintf("It needs the keys %s and %s.", m.Key, m.FormerKey)
	}
	return fmt.Sprintf("It needs the key %s.", m.Key)
}

// Size spells a number of bytes for people.
func Size(bytes int64) string {
	const kilo = 1000
	switch {
	case bytes < kilo*kilo:
		return fmt.Sprintf("%d kB", (bytes+kilo-1)/kilo)
	case bytes < 10*kilo*kilo*kilo:
		return fmt.Sprintf("%d MB", (bytes+kilo*kilo-1)/(kilo*kilo))
	}
	return fmt.Sprintf("%d GB", (bytes+kilo*kilo*kilo-1)/(kilo*kilo*kilo))
}

func seconds(took time.Duration) string { return fmt.Sprintf("%.1fs", took.Seconds()) }

// Room is how many bytes have to be free for a copy of so many: a tenth more.
func Room(bytes int64) int64 { return bytes + bytes/10 }

// RoomForBoth is how many bytes have to be free for a backup of a store of so many that is copied first: the archive lies beside the copy,
// and is as large if nothing in it can be compressed.
func RoomForBoth(bytes int64) int64 { return bytes + Room(bytes) }

// Aftermath is what was done to a store after it was restored, so that an older state does not act on the world twice.
type Aftermath struct {
	Leases   int // that were ended
	Webhooks int // that are held
}

// Unsettled is a restoration after which all that is in Aftermath is still to be done, because the store was not migrated. Nothing works on
// the store until that.
type Unsettled struct {
	Of    Manifest // with At, Version and Schema
	Actor event.Actor
}

// Restored is a backup that was restored.
type Restored struct {
	Manifest
	Aftermath
	File     string // empty: it came from a stream
	MadeOf   int64  // the schema that the store has now
	Settled  bool   // what is in Aftermath was done; false: it is done when the store is migrated
	Rows     map[string]int64
	Kept     string // where the former store is; empty: there was none
	Spaces   string // where the former workspaces are; empty: there were none, or they stay
	Newer    int64  // entries of the activity log of the former store that are younger than the backup
	Took     time.Duration
	Lacks    string // which of the keys that it needs is missing; empty: none
	Problems []string
}

// Fields returns it as JSON shows it.
func (r Restored) Fields() event.Fields {
	return event.Fields{
		event.F("file", r.File),
		event.F("at", instant.Format(r.At)),
		event.F("schema", r.Schema),
		event.F("migratedTo", r.MadeOf),
		event.F("settled", r.Settled),
		event.F("rows", r.Rows),
		event.F("took", seconds(r.Took)),
		event.F("keyFingerprint", r.Key),
		event.F("formerKeyFingerprint", r.FormerKey),
		event.F("hasKey", r.Lacks == ""),
		event.F("kept", r.Kept),
		event.F("keptWorkspaces", r.Spaces),
		event.F("entriesSince", r.Newer),
		event.F("leasesEnded", r.Leases),
		event.F("webhooksHeld", r.Webhooks),
	}
}

// Summary says in a few words what was restored.
func (r Restored) Summary() string {
	return fmt.Sprintf("schema %d, %d leads, %d companies, as of %s, %s", r.MadeOf, r.Rows["leads"], r.Rows["companies"],
		instant.Format(r.At), seconds(r.Took))
}

// subject is what events of backups are about.
var subject = event.Subject{Type: "store", ID: "store"}

// Event is that of a store that was restored from the backup.
func (m Manifest) Event(after Aftermath) event.Event {
	return event.Event{Type: event.StoreRestored, Subject: subject, Data: event.Fields{
		event.F("backupAt", instant.Format(m.At)), event.F("version", m.Version), event.F("schema", m.Schema),
		event.F("leasesEnded", after.Leases), event.F("webhooksHeld", after.Webhooks),
	}}
}

// Completed is the event of a scheduled backup that was written.
func (w Written) Completed() event.Event {
	return event.Event{Type: event.BackupCompleted, Subject: subject, Data: event.Fields{
		event.F("file", w.File), event.F("bytes", w.Size), event.F("schema", w.Schema), event.F("took", seconds(w.Took)),
		event.F("verified", w.Verified),
	}}
}

// Failure is the event of a scheduled backup that has failed.
func Failure(reason string) event.Event {
	return event.Event{Type: event.BackupFailed, Subject: subject, Data: event.Fields{event.F("error", reason)}}
}
