package budget

import "time"

// Always is the period of what does not begin anew.
const Always Period = "always"

// Start returns when the period that contains an instant began, in UTC; zero for Always.
func (p Period) Start(of time.Time) time.Time {
	year, month, day := of.UTC().Date()
	switch p {
	case Daily:
	case Weekly:
		day -= (int(of.UTC().Weekday()) + 6) % 7 // days since Monday
	case Monthly:
		day = 1
	case Quarterly:
		month, day = month-(month-1)%3, 1
	default:
		return time.Time{}
	}
	return time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
}

// End returns when the period that began at start is over, and the next begins; zero for Always.
func (p Period) End(start time.Time) time.Time {
	switch p {
	case Daily:
		return start.AddDate(0, 0, 1)
	case Weekly:
		return start.AddDate(0, 0, 7)
	case Monthly:
		return start.AddDate(0, 1, 0)
	case Quarterly:
		return start.AddDate(0, 3, 0)
	}
	return time.Time{}
}

// Days is how many calendar days the period has that contains an instant; 0 for Always.
func (p Period) Days(of time.Time) int64 {
	start := p.Start(of)
	return int64(p.End(start).Sub(start) / (24 * time.Hour))
}
