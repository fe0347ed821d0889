package usage

import (
	"strings"
)

// ModelInCommand returns the model that the arguments of a program name, as coding agents take it: -m NAME, --model NAME, --model=NAME,
// -c model=NAME, --config model="NAME". The last one counts. Empty: they name none.
func ModelInCommand(command []string) (model string) {
	for n, argument := range command {
		if argument == "--" {
			break
		}
		value, hasValue := "", false
		name, after, isJoined := strings.Cut(argument, "=")
		switch {
		case n == 0:
		case isJoined && strings.HasPrefix(name, "--"):
			value, hasValue = after, true
		case n+1 < len(command):
			name, value, hasValue = argument, command[n+1], true
		}
		if !hasValue {
			continue
		}
		switch name {
		case "-m", "--model":
			model = firstModel(value, model)
		case "-c", "--config":
			if key, set, isSet := strings.Cut(value, "="); isSet && strings.TrimSpace(key) == "model" {
				model = firstModel(strings.Trim(strings.TrimSpace(set), `"'`), model)
			}
		}
	}
	return model
}
