package demo

// FewestDays and MostDays bound how many days the past of the company has.
const (
	FewestDays = 1
	MostDays   = 366
)

// IsPast reports whether the past may have so many days.
func IsPast(days int) bool { return days >= FewestDays && days <= MostDays }
