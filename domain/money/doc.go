// Package money has exact decimal numbers: US dollars in millionths and percentages in hundredths, never a binary
// float.
package money
