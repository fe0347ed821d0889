package agent

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"time"

	"holdco/domain/fault"
	"holdco/domain/secret"
	"holdco/domain/text"
	"holdco/domain/usage"
	"holdco/domain/webhook"
)

// The adapters that Holdco has. Agents of others come through the gateway by themselves.
const (
	ProcessAdapter = "process" // runs a program on the host
	HTTPAdapter    = "http"    // posts to a URL
)

// Program is how Holdco runs an agent of ProcessAdapter: for each issue it starts a program.
type Program struct {
	Command   []string          // the program and its arguments
	Directory string            // a path in the workspace of the issue; empty: the workspace itself
	Env       map[string]string // in addition to what every program has
	Secrets   map[string]string // variables that get the values of secrets: the names of these
	Stdin     Stdin
	Usage     usage.Kind
	Timeout   time.Duration // whole seconds
	Grace     time.Duration // between SIGTERM and SIGKILL; whole seconds

	// GraceAfterEnd is how long the program may run after its work is done: after it ended its lease itself, or printed that it
	// succeeded. Whole seconds.
	GraceAfterEnd time.Duration
}

// Stdin is what a program gets on its standard input.
type Stdin string

// What there is.
const (
	Prompt  Stdin = "prompt" // the issue and its context as text
	JSON    Stdin = "json"   // the lease as the gateway shows it
	Nothing Stdin = "none"
)

// Bounds and defaults of the configuration of adapters.
const (
	MostArguments     = 100
	ShortestTimeout   = 10     // seconds
	LongestTimeout    = 86_400 // seconds
	usualTimeout      = 3_600  // seconds
	LongestGrace      = 300    // seconds
	usualGrace        = 10     // seconds
	maxGraceAfterEnd  = 600    // seconds
	graceAfterEnd     = 60     // seconds
	MostConcurrent    = 50
	usualConcurrent   = 1
	directoryLength   = 1_000
	reservedVariables = "HOLDCO_"
)

// Duty is how Holdco runs an agent: one of Program and URL is set.
type Duty struct {
	Program    *Program
	URL        string // http or https: of HTTPAdapter
	Concurrent int    // how many leases the agent has at once, at most
}

// IsMetered reports whether what its program says that it costs is charged.
func (d Duty) IsMetered() bool { return d.Program != nil && d.Program.Usage != usage.None }

// Duty returns how Holdco runs the agent, or false when it does not: the agent comes through the gateway by itself.
func (a Agent) Duty() (Duty, bool) {
	var none fault.Problems
	return a.duty(&none)
}

// ParseDuty parses how an agent of an adapter is run. It fails with fault.ValidationFailed unless the configuration says so.
func ParseDuty(adapter string, config Config) (Duty, error) {
	var problems fault.Problems
	duty, isRun := Agent{Adapter: adapter, AdapterConfig: config}.duty(&problems)
	if len(problems) == 0 && !isRun {
		problems.Add(fault.Fieldf(configPath, fault.Required, "%s does not say what to run", configPath))
	}
	if len(problems) > 0 {
		return Duty{}, fault.Validation(problems)
	}
	return duty, nil
}

var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// duty parses the configuration for the adapter of the agent. Problems get what is wrong with it. Members that the adapter does
// not know are left to the agent.
func (a Agent) duty(problems *fault.Problems) (duty Duty, isRun bool) {
	a.checkReferences(problems)
	c := parsedConfig{problems: problems}
	if json.Unmarshal([]byte(a.AdapterConfig), &c.members) != nil {
		return duty, false
	}
	if a.Adapter != ProcessAdapter && a.Adapter != HTTPAdapter {
		return duty, false
	}
	duty.Concurrent = c.integer("maxConcurrent", 1, MostConcurrent, usualConcurrent)
	if a.Adapter == ProcessAdapter {
		duty.Program = &Program{
			Command:   c.command(),
			Directory: c.directory(),
			Stdin:     choice(c, "stdin", Prompt, JSON, Nothing),
			Usage:     choice(c, "usage", usage.Kinds...),
			Timeout:   time.Duration(c.integer("timeoutSeconds", ShortestTimeout, LongestTimeout, usualTimeout)) * time.Second,
			Grace:     time.Duration(c.integer("graceSeconds", 0, LongestGrace, usualGrace)) * time.Second,

			GraceAfterEnd: time.Duration(c.integer("graceAfterEnd", 0, maxGraceAfterEnd, graceAfterEnd)) * time.Second,
		}
		duty.Program.Env, duty.Program.Secrets = c.env()
		return duty, duty.Program.Command != nil
	}
	duty.URL = c.url()
	return duty, duty.URL != ""
}

// parsedConfig is a configuration, of which it reads one member after the other.
type parsedConfig struct {
	members  map[string]json.RawMessage
	problems *fault.Problems
}

func (c parsedConfig) wrong(name, code, format string, args ...any) {
	at := configPath + "." + name
	c.problems.Add(fault.Fieldf(at, code, "%s "+format, append([]any{at}, args...)...))
}

// read decodes a member, and reports whether it is there and of the type.
func (c parsedConfig) read(name string, into any, kind string) bool {
	sent, isThere := c.members[name]
	if !isThere {
		return false
	}
	if string(sent) == "null" || json.Unmarshal(sent, into) != nil {
		c.wrong(name, fault.WrongType, "must be %s", kind)
		return false
	}
	return true
}

func (c parsedConfig) integer(name string, least, most, usual int) int {
	n := usual
	if c.read(name, &n, "a whole number") && (n < least || n > most) {
		c.wrong(name, fault.OutOfRange, "must be from %d to %d", least, most)
	}
	return n
}

// choice reads one of some words, the first unless it is there.
func choice[S ~string](c parsedConfig, name string, words ...S) S {
	word := words[0]
	if !c.read(name, &word, "text") {
		return word
	}
	names := make([]string, len(words))
	for n, one := range words {
		if one == word {
			return word
		}
		names[n] = string(one)
	}
	c.wrong(name, fault.UnknownValue, "must be one of %s", strings.Join(names, ", "))
	return word
}

func (c parsedConfig) command() (command []string) {
	var sent []*string
	if !c.read("command", &sent, "a list of texts: the program and its arguments") {
		return nil
	}
	for _, word := range sent {
		if word == nil {
			c.wrong("command", fault.WrongType, "must be a list of texts: the program and its arguments")
			return nil
		}
		command = append(command, *word)
	}
	switch {
	case len(command) == 0 || text.IsBlank(command[0]):
		c.wrong("command", fault.Required, "must begin with a program")
		return nil
	case len(command) > MostArguments:
		c.wrong("command", fault.TooMany, "has %d items; at most %d are allowed", len(command), MostArguments)
	case strings.ContainsRune(strings.Join(command, ""), 0):
		c.wrong("command", fault.InvalidCharacters, "must not hold the character NUL")
	}
	return command
}

func (c parsedConfig) directory() string {
	var sent string
	if !c.read("cwd", &sent, "text") {
		return ""
	}
	clean := path.Clean(sent)
	switch {
	case len(sent) > directoryLength:
		c.wrong("cwd", fault.TooLong, "must have at most %d bytes", directoryLength)
	case strings.ContainsAny(sent, "\x00\\"):
		c.wrong("cwd", fault.InvalidCharacters, `must hold neither \ nor the character NUL`)
	case path.IsAbs(clean) || clean == ".." || strings.HasPrefix(clean, "../"):
		c.wrong("cwd", fault.InvalidFormat, "must be a path in the workspace of the issue, such as src")
	}
	if clean == "." {
		return ""
	}
	return clean
}

// env reads variables: texts, and references to secrets.
func (c parsedConfig) env() (texts, secrets map[string]string) {
	const kind = `an object of texts and references to secrets, {"secret": NAME}`
	var sent map[string]json.RawMessage
	if !c.read("env", &sent, kind) {
		return nil, nil
	}
	texts = make(map[string]string, len(sent))
	for name, value := range sent {
		var literal *string
		isText := json.Unmarshal(value, &literal) == nil && literal != nil
		reference, isReference := parseReference(value)
		switch {
		case !isText && !isReference:
			c.wrong("env", fault.WrongType, "must be %s", kind)
		case !variableName.MatchString(name) || strings.HasPrefix(name, reservedVariables):
			c.wrong("env", fault.InvalidFormat,
				"must name variables of letters, digits and _, which do not begin with %s", reservedVariables)
		case isReference && !secret.IsName(reference):
			c.problems.Add(secret.CheckName(configPath+".env."+name+".secret", reference)...)
		case isReference:
			if secrets == nil {
				secrets = map[string]string{}
			}
			secrets[name] = reference
		case strings.ContainsRune(*literal, 0):
			c.wrong("env", fault.InvalidCharacters, "must not hold the character NUL")
		default:
			texts[name] = *literal
		}
	}
	return texts, secrets
}

// parseReference parses a reference to a secret.
func parseReference(sent json.RawMessage) (name string, is bool) {
	var members map[string]*string
	if json.Unmarshal(sent, &members) != nil || len(members) != 1 || members["secret"] == nil {
		return "", false
	}
	return *members["secret"], true
}

func (c parsedConfig) url() (url string) {
	if c.read("url", &url, "text") {
		c.problems.Add(webhook.CheckURL(configPath+".url", url)...)
	}
	return url
}
