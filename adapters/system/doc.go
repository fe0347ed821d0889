// Package system supplies what the operating system has: the time, new ids, and random bits.
package system
