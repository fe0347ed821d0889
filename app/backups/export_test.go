package backups

import "time"

// AtPace makes the schedule renew its hold more often than usual.
func (s *Schedule) AtPace(pace time.Duration) *Schedule {
	s.pace = pace
	return s
}
