// Package retention removes what is old enough, and gives its space back to the disk.
package retention
