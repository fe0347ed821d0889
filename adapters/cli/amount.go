package cli

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/spf13/pflag"
)

// none takes a limit or a person away where one can be given.
const none = "none"

// amount is a flag of US dollars, or of none: no limit. It keeps the text, so that amounts are exact.
type amount struct{ text string }

func (a *amount) String() string { return a.text }
func (a *amount) Type() string   { return "USD" }

func (a *amount) Set(text string) error {
	if text != none && (!json.Valid([]byte(text)) || strings.Trim(text[:1], "-0123456789") != "") {
		return errors.New("it must be US dollars such as 12.50, or none for no limit")
	}
	a.text = text
	return nil
}

// MarshalJSON spells the amount as the API wants it.
func (a *amount) MarshalJSON() ([]byte, error) {
	if a.text == none {
		return []byte("null"), nil
	}
	return []byte(a.text), nil
}

// valueOf is the value of a flag as JSON shows it.
func valueOf(flag *pflag.Flag) any {
	switch value := flag.Value.(type) {
	case json.Marshaler:
		return value
	case pflag.SliceValue:
		return trimmed(value.GetSlice())
	}
	switch flag.Value.Type() {
	case "int":
		return json.Number(flag.Value.String())
	case "bool":
		return flag.Value.String() == "true"
	}
	return flag.Value.String()
}

// dollars shows an amount of the API to people.
func dollars(number json.Number) string {
	if number == "" {
		return none
	}
	return string(number) + " USD"
}
