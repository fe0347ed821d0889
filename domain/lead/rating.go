package lead

import (
	"strconv"
	"strings"
)

// ParseMinRating parses the least rating of a filter: a decimal number from 0 to 5 in digits, such as 4.25, and reports
// whether it is valid. It is rounded up to hundredths, because ratings have no more decimals.
func ParseMinRating(text string) (Rating, bool) {
	rating, rest, ok := parseRating(text)
	if ok && rest {
		rating++
	}
	return rating, ok
}

// ParseMaxRating parses the most rating of a filter likewise. It is rounded down.
func ParseMaxRating(text string) (Rating, bool) {
	rating, _, ok := parseRating(text)
	return rating, ok
}

// parseRating returns the whole hundredths of a decimal number, and whether there is a rest.
func parseRating(text string) (rating Rating, rest, ok bool) {
	whole, fraction, dotted := strings.Cut(text, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false, false
	}
	const places = 2
	hundredths, err := strconv.Atoi(whole + (fraction + "00")[:places])
	rest = len(fraction) > places && strings.Trim(fraction[places:], "0") != ""
	if err != nil || hundredths > int(MostRating) || hundredths == int(MostRating) && rest {
		return 0, false, false
	}
	return Rating(hundredths), rest, true
}
