// Package system supplies what the operating system has: the time, new ids, and bits that nobody can guess.
package system
