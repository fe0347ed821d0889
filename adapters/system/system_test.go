package system_test

import (
	"bytes"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"holdco/adapters/system"
)

func TestTheClockReturnsUTCInWholeMilliseconds(t *testing.T) {
	t.Parallel()
	before := time.Now().Add(-time.Millisecond)
	now := system.Clock{}.Now()
	if now.Location() != time.UTC || now != now.Truncate(time.Millisecond) {
		t.Errorf("Now() = %v", now)
	}
	if now.Before(before) || now.After(time.Now()) {
		t.Errorf("Now() = %v, called after %v", now, before)
	}
}

func TestIDsAreUUIDv7sThatGrow(t *testing.T) {
	t.Parallel()
	var last [16]byte
	for range 10_000 {
		next := system.IDs{}.UUIDv7()
		if version, variant := next[6]>>4, next[8]>>6; version != 7 || variant != 2 {
			t.Fatalf("%x has version %d and variant %b", next, version, variant)
		}
		if bytes.Compare(last[:], next[:]) >= 0 {
			t.Fatalf("%x came after %x", next, last)
		}
		last = next
	}
}

func TestIDsMadeSideBySideDiffer(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	var makers sync.WaitGroup
	for range 8 {
		makers.Go(func() {
			for range 1_000 {
				if _, twice := seen.LoadOrStore(system.IDs{}.UUIDv7(), true); twice {
					t.Error("an id was made twice")
				}
			}
		})
	}
	makers.Wait()
}

func TestEntropyDiffersEachTime(t *testing.T) {
	t.Parallel()
	first, second := system.Entropy{}.Bits256(), system.Entropy{}.Bits256()
	if first == second || first == [32]byte{} {
		t.Errorf("%x, then %x", first, second)
	}
}

func TestADiskHasRoom(t *testing.T) {
	t.Parallel()
	if room, err := (system.Disk{}).Room(t.TempDir()); err != nil || room.Free <= 0 || room.Size < room.Free {
		t.Errorf("%d, %v", room, err)
	}
	if _, err := (system.Disk{}).Room(filepath.Join(t.TempDir(), "none")); err == nil {
		t.Error("there is a disk of a folder that is not there")
	}
}
