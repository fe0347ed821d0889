package doctor_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"holdco/domain/doctor"
)

const gibibyte = 1 << 30

func TestAStoreNeedsRoomForABackup(t *testing.T) {
	t.Parallel()
	const mebibyte = 1 << 20
	for _, c := range []struct {
		of       doctor.Space
		rule     string
		severity doctor.Severity
	}{
		{of: doctor.Space{Store: 10 * gibibyte, Room: 21 * gibibyte}},
		{of: doctor.Space{Store: 10 * gibibyte, Room: 11 * gibibyte, Backups: "x", BackupRoom: 21 * gibibyte}},
		{of: doctor.Space{Store: 10 * gibibyte, Room: 11 * gibibyte, Backups: "x", BackupRoom: -1}},
		{
			doctor.Space{Store: 10 * gibibyte, Room: 11 * gibibyte, Backups: "x", BackupRoom: 21*gibibyte - 1},
			"disk.backup_room", doctor.Warning,
		},
		{doctor.Space{Store: 10 * gibibyte, Room: 11*gibibyte - 1, Backups: "x", BackupRoom: -1}, "disk.room", doctor.Warning},
		{of: doctor.Space{Backups: "x", Room: gibibyte}},
		{of: doctor.Space{Store: 10 * gibibyte, Room: -1}},
		{doctor.Space{Store: 10 * gibibyte, Room: 21*gibibyte - 1}, "disk.room", doctor.Warning},
		{of: doctor.Space{Room: 200 * mebibyte}},
		{doctor.Space{Room: 200*mebibyte - 1}, "disk.room", doctor.Error},
		{of: doctor.Space{Log: gibibyte, Room: gibibyte}},
		{doctor.Space{Log: gibibyte + 1, Room: gibibyte}, "disk.log", doctor.Warning},
		{of: doctor.Space{Store: gibibyte, Free: gibibyte / 2, Room: 3 * gibibyte}},
		{doctor.Space{Store: gibibyte, Free: gibibyte/2 + 1, Room: 3 * gibibyte}, "disk.free_pages", doctor.Warning},
		{of: doctor.Space{Store: 16 * mebibyte, Free: 16 * mebibyte, Room: gibibyte}}, // not worth it
		{doctor.Space{Store: gibibyte, Room: 3 * gibibyte, KeepsFree: true}, doctor.KeepsFree, doctor.Note},
	} {
		found := c.of.Findings()
		isIt := len(found) == 1 && found[0].Rule == c.rule && found[0].Severity == c.severity
		if !isIt && (c.rule != "" || len(found) > 0) {
			t.Errorf("%+v: %+v", c.of, found)
		}
	}
}

func TestSizesAreSpelledForPeople(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		0: "a: 1 rows, 0 B", 1023: "a: 1 rows, 1023 B", 1536: "a: 1 rows, 1.5 KiB", 3 * gibibyte: "a: 1 rows, 3.0 GiB",
	} {
		if diff := cmp.Diff(want, doctor.TableSize{Name: "a", Rows: 1, Bytes: bytes}.Finding().String()); diff != "" {
			t.Error(diff)
		}
	}
}
