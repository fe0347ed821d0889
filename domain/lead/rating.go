package lead

import (
	"strconv"
	"strings"
)

// ParseMinRating parses the minimum rating of a filter: a decimal number from 0 to 5 in digits, such as 4.25, and
// reports whether it is valid. It is rounded up to hundredths, because ratings have no more decimals.
func ParseMinRating(text string) (Rating, bool) {
	whole, fraction, dotted := strings.Cut(text, ".")
	if whole == "" || dotted && fraction == "" || strings.Trim(whole+fraction, "0123456789") != "" {
		return 0, false
	}
	const places = 2
	hundredths := (fraction + "00")[:places]
	rating, err := strconv.Atoi(whole + hundredths)
	if err == nil && len(fraction) > places && strings.Trim(fraction[places:], "0") != "" {
		rating++
	}
	if err != nil || rating > int(MostRating) {
		return 0, false
	}
	return Rating(rating), true
}
