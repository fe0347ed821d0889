package agent

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"holdco/domain/event"
	"holdco/domain/fault"
	"holdco/domain/instant"
	"holdco/domain/usage"
)

// Finding is what one check of an agent found.
type Finding struct {
	Check   string // what was looked at, such as "program"
	OK      bool
	Message string // a sentence
	Fix     string // what to do; empty when all is well
}

// Fields are what the API and the command line show.
func (f Finding) Fields() event.Fields {
	return event.Fields{event.F("check", f.Check), event.F("ok", f.OK), event.F("message", f.Message), event.F("fix", f.Fix)}
}

// Surroundings are what is around an agent: what a check needs to know beside the agent itself.
type Surroundings struct {
	IsInstalled bool   // Holdco has the agent's adapter
	Programs    bool   // this server starts programs
	HasGateway  bool   // this server has a gateway
	GatewayURL  string // what the operator has set for how agents reach it; empty: nothing
	IsRoot      bool   // programs run as root

	Path     string   // of the program; empty: it was not found, or not looked for
	Missing  string   // why it was not found, as a sentence
	Version  string   // what it says when it is asked, if it is; one line
	NoAnswer string   // why it did not say its version, as a sentence; empty: it did
	Secrets  []string // of those that the configuration refers to, the names of those that the company has
	IsPriced bool     // the price table has the agent's model
	Refused  string   // why its URL cannot be reached, as words; empty: it can
}

// Check says for each thing that the agent needs to work whether it is there, and what to do if it is not. It goes by the
// configuration and the surroundings: it starts no work and calls no model.
func (a Agent) Check(around Surroundings) []Finding {
	c := checking{agent: a, around: around}
	c.standing()
	var problems fault.Problems
	duty, isRun := a.duty(&problems)
	for _, problem := range problems {
		c.add("config", false, problem.Message, "Change adapterConfig of the agent.")
	}
	switch {
	case len(problems) > 0:
	case !isRun:
		c.byItself()
	case duty.Program != nil:
		c.program(*duty.Program)
	default:
		c.receiver()
	}
	return c.found
}

// AsksVersion reports whether a check may start the program with --version: only of programs that are known to do nothing else then.
func (p Program) AsksVersion() bool { return p.known() != nil }

// KnownModel is the model that the costs of the agent are charged by where its program does not say which one it used: that of the agent,
// or the one that the command names. Empty: neither does.
func (a Agent) KnownModel() string {
	if duty, isRun := a.Duty(); a.Model == "" && isRun && duty.Program != nil {
		return usage.ModelInCommand(duty.Program.Command)
	}
	return a.Model
}

// checking is a check under way.
type checking struct {
	agent  Agent
	around Surroundings
	found  []Finding
}

func (c *checking) add(check string, ok bool, message, fix string) {
	if ok {
		fix = ""
	}
	c.found = append(c.found, Finding{Check: check, OK: ok, Message: message, Fix: fix})
}

// when adds one of two sentences.
func (c *checking) when(check string, ok bool, good, bad, fix string) {
	message := good
	if !ok {
		message = bad
	}
	c.add(check, ok, message, fix)
}

// standing looks at the agent itself.
func (c *checking) standing() {
	c.when("status", c.agent.Status == Active, "The agent is active.", fmt.Sprintf("The agent is %s.", c.agent.Status),
		"Resume it with \"holdco agent resume\", or hire another one if it is retired.")
	c.when("gateway", c.around.HasGateway, "The gateway is on.", "The gateway is off, so no agent can call it.",
		"Set HOLDCO_GATEWAY_ADDR and restart the server.")
}

// byItself looks at an agent that comes through the gateway.
func (c *checking) byItself() {
	if c.agent.Adapter == ProcessAdapter || c.agent.Adapter == HTTPAdapter {
		c.add("config", true, "Nothing in adapterConfig says what to run, so the agent comes through the gateway by itself.", "")
	}
	at := c.agent.Stats.LastActiveAt
	if at.IsZero() {
		c.add("calls", false, "The agent has never called the gateway.",
			"Start its program with the token of the agent: GATEWAY.md has a set-up for each coding agent. \"holdco agent rotate-token\" "+
				"makes a new token if the first is lost.")
		return
	}
	c.add("calls", true, "The agent called the gateway last at "+instant.Format(at)+".", "")
}

// receiver looks at an agent behind a URL.
func (c *checking) receiver() {
	c.installed()
	c.when("url", c.around.Refused == "", "A connection to the URL can be made.",
		"The URL cannot be reached: "+c.around.Refused+".",
		"Start the receiver, or correct the URL. A private address needs HOLDCO_WEBHOOK_ALLOW_PRIVATE=true.")
	message := "The receiver is told that the gateway is at " + c.around.GatewayURL + "."
	if c.around.GatewayURL == "" {
		message = "The receiver is told the address at which the gateway listens. On another machine it needs HOLDCO_GATEWAY_URL."
	}
	c.add("gateway-url", true, message, "")
}

func (c *checking) installed() {
	c.when("adapter", c.around.IsInstalled, "The adapter "+c.agent.Adapter+" is installed.",
		"The adapter "+c.agent.Adapter+" is not installed.", "Name it in HOLDCO_ADAPTERS and restart the server.")
}

// program looks at an agent whose program Holdco starts.
func (c *checking) program(p Program) {
	c.installed()
	c.when("processes", c.around.Programs, "This server starts programs.", "This server starts no programs.",
		"Set HOLDCO_MAX_PROCESSES above 0, or ask a server that starts them.")
	name := p.Command[0]
	switch {
	case strings.Contains(name, "/") && !path.IsAbs(name):
		c.add("program", true, fmt.Sprintf("The program %s is looked up in the workspace of each issue.", name), "")
	case c.around.Path == "":
		c.add("program", false, c.around.Missing,
			"Install it for the user that the server runs as, put its directory into the PATH of the server or of env, "+
				"or name its whole path.")
	default:
		c.add("program", true, fmt.Sprintf("The program is %s.", c.around.Path), "")
	}
	if c.around.Path != "" && p.AsksVersion() {
		c.when("version", c.around.NoAnswer == "", "It says that it is "+c.around.Version+".", c.around.NoAnswer,
			"Start it by hand as the user that the server runs as, and see what it says.")
	}
	for _, wanted := range slices.Compact(slices.Sorted(maps.Values(p.Secrets))) {
		c.when("secret", slices.Contains(c.around.Secrets, wanted), fmt.Sprintf("The company has the secret %s.", wanted),
			fmt.Sprintf("The company has no secret %s.", wanted),
			fmt.Sprintf("Set it on the server's machine: holdco secret set COMPANY %s.", wanted))
	}
	if known := p.known(); known != nil {
		known.check(c, p)
	} else {
		c.when("usage", p.Usage != usage.None, fmt.Sprintf("Its costs are read as %s.", p.Usage),
			"usage is none: what the program costs is not counted unless it reports it.",
			"Set usage if the program prints what it costs.")
	}
}
