// Package money holds exact decimal figures: US dollars in millionths and percentages in hundredths, never a binary float.
package money
