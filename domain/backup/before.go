package backup

// First says whether a store that has a schema is backed up before it is migrated.
type First int

// It is, unless the store is on PostgreSQL and no folder of backups is set; or it must be, wherever it is; or it is not.
const (
	FirstIfThereIsAFolder First = iota
	FirstAlways
	FirstNever
)
