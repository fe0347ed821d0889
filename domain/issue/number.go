package issue

import "strconv"

// ParseNumber reads the number of an issue as people write it, in decimal digits without leading zeros. It reports false for anything
// else, such as an id.
func ParseNumber(text string) (number int64, ok bool) {
	number, err := strconv.ParseInt(text, 10, 64)
	return number, err == nil && number > 0 && strconv.FormatInt(number, 10) == text
}
