package tracing

import (
	"fmt"
	"net/url"
	"strings"
)

// The variables of OpenTelemetry that say whether there are traces. All others are read by its SDK.
const (
	tracesEndpoint = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
	endpoint       = "OTEL_EXPORTER_OTLP_ENDPOINT"
	exporterKind   = "OTEL_TRACES_EXPORTER"
	disabled       = "OTEL_SDK_DISABLED"
)

// Configured reports whether an environment, in the form of os.Environ, asks for traces. It fails when an endpoint is
// named that cannot be one: the SDK would send to another place.
func Configured(environ []string) (bool, error) {
	variables := map[string]string{}
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		variables[name] = value
	}
	if strings.EqualFold(variables[disabled], "true") || variables[exporterKind] == "none" {
		return false, nil
	}
	named := false
	for _, name := range []string{endpoint, tracesEndpoint} {
		value := variables[name]
		if value == "" {
			continue
		}
		parsed, err := url.Parse(value)
		if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
			return false, fmt.Errorf(
				"%s must be the URL of a collector that takes OTLP over HTTP, such as http://127.0.0.1:4318; it is not", name)
		}
		named = true
	}
	return named, nil
}
