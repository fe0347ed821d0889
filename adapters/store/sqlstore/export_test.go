package sqlstore

// OwnedTables are the tables that are emptied with a company, in this order.
func OwnedTables() []string {
	tables := make([]string, len(owned))
	for i, of := range owned {
		tables[i] = of.table
	}
	return tables
}
