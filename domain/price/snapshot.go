package price

import (
	"bytes"
	_ "embed"
)

// SnapshotDate is the day of the public list prices in snapshot.json, which are used until prices are imported or set.
const SnapshotDate = "2026-07-24"

//go:embed snapshot.json
var snapshotFile []byte

// snapshot are the models of snapshot.json.
var snapshot = func() []Model {
	file, err := Read(bytes.NewReader(snapshotFile))
	if err != nil {
		panic(err)
	}
	return file.Models
}()
