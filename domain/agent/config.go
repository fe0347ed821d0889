package agent

import (
	"bytes"
	"encoding/json"

	jsonpatch "github.com/evanphx/json-patch/v5"

	"holdco/domain/fault"
)

// ConfigSize bounds the bytes of a Config.
const ConfigSize = 16 << 10

// Config is how an adapter runs an agent: a JSON object without insignificant space. What is in it is up to the adapter.
type Config string

// NoConfig is the configuration of an agent that has none.
const NoConfig Config = "{}"

// merge merges a patch, a valid JSON object, into the configuration (RFC 7396).
func (c Config) merge(patch []byte, problems *fault.Problems) Config {
	merged, err := jsonpatch.MergePatch([]byte(c), patch)
	var compact bytes.Buffer
	if err == nil {
		err = json.Compact(&compact, merged)
	}
	switch {
	case err != nil:
		problems.Add(fault.Fieldf(configPath, fault.WrongType, "%s must be an object", configPath))
	case compact.Len() > ConfigSize:
		problems.Add(fault.Fieldf(configPath, fault.TooLong, "%s must have at most %d bytes", configPath, ConfigSize))
	case hasReference(compact.Bytes()):
		problems.Add(fault.Fieldf(configPath, fault.UnknownValue,
			"%s refers to a secret; this version of Holdco has no secrets", configPath))
	default:
		return Config(compact.String())
	}
	return c
}

const configPath = "adapterConfig"

// hasReference reports whether a value has a reference to a secret in it: {"secret": NAME}.
func hasReference(value json.RawMessage) bool {
	switch value[0] {
	case '{':
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return false
		}
		if name, ok := object["secret"]; ok && len(object) == 1 && name[0] == '"' {
			return true
		}
		for _, member := range object {
			if hasReference(member) {
				return true
			}
		}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(value, &list) != nil {
			return false
		}
		for _, item := range list {
			if hasReference(item) {
				return true
			}
		}
	}
	return false
}
