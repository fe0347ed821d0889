package backup

// BeforeMigration says whether a store that has a schema is backed up before it is migrated.
type BeforeMigration int

// What is done before a migration.
const (
	IfPossible BeforeMigration = iota // a backup, unless the store is on PostgreSQL and no folder of backups is set
	Required                          // a backup; without a folder for it nothing is migrated
	Never                             // no backup
)
