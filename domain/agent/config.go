package agent

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"holdco/domain/fault"
)

// ConfigSize bounds the bytes of a Config.
const ConfigSize = 16 << 10

// Config is how an adapter runs an agent: a JSON object without insignificant space. What is in it is up to the adapter.
type Config string

// NoConfig is the configuration of an agent that has none.
const NoConfig Config = "{}"

const configPath = "adapterConfig"

// merge merges a patch, a JSON object, into the configuration.
func (c Config) merge(patch []byte, problems *fault.Problems) Config {
	if sent := jsontext.Value(patch); sent.Kind() != '{' || !sent.IsValid() {
		problems.Add(fault.Fieldf(configPath, fault.WrongType, "%s must be an object", configPath))
		return c
	}
	merged := mergePatch(jsontext.Value(c), patch)
	if len(merged) > ConfigSize {
		problems.Add(fault.Fieldf(configPath, fault.TooLong, "%s must have at most %d bytes", configPath, ConfigSize))
		return c
	}
	return Config(merged)
}

// checkReferences refuses references to secrets where nobody resolves them.
func (a Agent) checkReferences(problems *fault.Problems) {
	config := jsontext.Value(a.AdapterConfig)
	if a.Adapter == ProcessAdapter {
		config = mergePatch(config.Clone(), jsontext.Value(`{"env":null}`))
	}
	if hasReference(config) {
		problems.Add(fault.Fieldf(configPath, fault.UnknownValue,
			"%s refers to a secret where none is given: only variables in env of the adapter %s are", configPath, ProcessAdapter))
	}
}

// hasReference reports whether a valid value has a reference to a secret in it: {"secret": NAME}, which is four tokens in a row.
func hasReference(value jsontext.Value) bool {
	decoder := jsontext.NewDecoder(bytes.NewReader(value))
	for matched := 0; ; {
		token, err := decoder.ReadToken()
		if err != nil {
			return false
		}
		switch kind := token.Kind(); {
		case kind == '{':
			matched = 1
		case matched == 1 && kind == '"' && token.String() == "secret", matched == 2 && kind == '"':
			matched++
		case matched == 3 && kind == '}':
			return true
		default:
			matched = 0
		}
	}
}
