package lead

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/nyaruka/phonenumbers"
)

// Region is a country by its two letters, as ISO 3166 has them: telephone numbers without a country code are of it. Empty: there must be
// none.
type Region string

// ParseRegion parses a region, in any case.
func ParseRegion(text string) (Region, bool) {
	region := strings.ToUpper(text)
	return Region(region), text == "" || phonenumbers.GetSupportedRegions()[region]
}

// parsePhone spells a telephone number as E.164 does: +493012345. It reports whether a number can have that length in its country. What
// says which extension to dial is dropped.
func parsePhone(text string, region Region) (string, bool) {
	if plain, ok := plainPhone(text); ok {
		return plain, true
	}
	number, err := phonenumbers.Parse(text, string(region))
	if err != nil || phonenumbers.IsPossibleNumberWithReason(number) != phonenumbers.IS_POSSIBLE {
		return "", false
	}
	return phonenumbers.Format(number, phonenumbers.E164), true
}

// plainPhone reads a number that is spelled with its country code, as most are in large files: the library takes 30 microseconds for
// each, because it also looks for what this leaves to it. It reports false for whatever is not plain.
func plainPhone(text string) (string, bool) {
	const mostDigits = 15
	var spelled [1 + mostDigits]byte
	if text == "" || text[0] != '+' {
		return "", false
	}
	spelled[0] = '+'
	length := 1
	for i := 1; i < len(text); i++ {
		switch b := text[i]; {
		case b >= '0' && b <= '9':
			if length == len(spelled) {
				return "", false
			}
			spelled[length] = b
			length++
		case b != ' ' && b != '-':
			return "", false
		}
	}
	digits := string(spelled[1:length])
	const mostOfCode = 3
	for size := 1; size <= min(mostOfCode, len(digits)); size++ {
		plan, found := dialPlans()[digits[:size]]
		if !found {
			continue
		}
		national := digits[size:]
		isPrefixed := func(prefix string) bool { return strings.HasPrefix(national, prefix) }
		if len(national) >= len(plan.lengths) || !plan.lengths[len(national)] || slices.ContainsFunc(plan.prefixes, isPrefixed) {
			return "", false
		}
		return string(spelled[:length]), true
	}
	return "", false
}

// dialPlan is what plainPhone knows of the numbers of a country code.
type dialPlan struct {
	lengths  [18]bool // how many digits a national number can have
	prefixes []string // what is dialled before a national number within a country, which the library may have to take away
}

// dialPlans are the plans by their country codes.
var dialPlans = sync.OnceValue(func() map[string]dialPlan {
	plans := map[string]dialPlan{}
	for code := range phonenumbers.GetSupportedCallingCodes() {
		plan := dialPlan{prefixes: []string{"0"}}
		for _, region := range phonenumbers.GetRegionCodesForCountryCode(code) {
			if prefix := phonenumbers.GetNddPrefixForRegion(region, true); prefix != "" {
				plan.prefixes = append(plan.prefixes, prefix[:1])
			}
		}
		for length := range plan.lengths {
			if length == 0 {
				continue
			}
			national, _ := strconv.ParseUint(strings.Repeat("2", length), 10, 64)
			number := &phonenumbers.PhoneNumber{CountryCode: new(int32(code)), NationalNumber: &national}
			plan.lengths[length] = phonenumbers.IsPossibleNumberWithReason(number) == phonenumbers.IS_POSSIBLE
		}
		plans[strconv.Itoa(code)] = plan
	}
	return plans
})
