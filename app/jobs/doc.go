// Package jobs runs what no request waits for: the jobs that finish, mend and tidy.
package jobs
