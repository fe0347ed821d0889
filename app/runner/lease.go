package runner

import (
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	"holdco/domain/access"
	"holdco/domain/agent"
	"holdco/domain/approval"
	"holdco/domain/cost"
	"holdco/domain/id"
	"holdco/domain/redact"
	"holdco/ports/inbound"
)

// Lease is what is needed of a lease to work on its issue.
type Lease struct {
	ID       id.Lease     `json:"leaseId"`
	Token    int64        `json:"fencingToken"`
	Seconds  int64        `json:"leaseSeconds"`
	RunToken access.Value `json:"runToken"`
	Issue    struct {
		ID             id.Issue   `json:"id"`
		Company        id.Company `json:"companyId"`
		Number         int64      `json:"number"`
		Title          string     `json:"title"`
		Description    string     `json:"description"`
		Attempt        int        `json:"attempt"`
		MaxAttempts    int        `json:"maxAttempts"`
		RequiresReview bool       `json:"requiresReview"`
	} `json:"issue"`
	Run struct {
		ID    id.Run   `json:"id"`
		Agent id.Agent `json:"agentId"`
	} `json:"run"`
	Sessions []session `json:"sessions"`
	Budget   struct {
		Remaining *json.Number `json:"remainingUsd"` // nil: nothing limits it
	} `json:"budget"`
	Context workContext `json:"context"`

	shown []byte // all of it as JSON, but for the token
}

// session is one of the program in earlier runs on the issue, with what was charged for it.
type session struct {
	Session string `json:"session"`
	Tokens  struct {
		Input      int64 `json:"input"`
		Output     int64 `json:"output"`
		CacheRead  int64 `json:"cacheRead"`
		CacheWrite int64 `json:"cacheWrite"`
	} `json:"tokens"`
}

// workContext is what a program is told of the context of a lease. What a gateway of an earlier release does not show is empty.
type workContext struct {
	Agent struct {
		colleague
		Instructions string `json:"instructions"`
	} `json:"agent"`
	Team *struct {
		Name string `json:"name"`
	} `json:"team"`
	Manager *colleague `json:"manager"`
	Company struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"company"`
	Requires        []string          `json:"requires"`
	ApprovedActions []string          `json:"approvedActions"`
	Goal            *purpose          `json:"goal"`
	Project         *purpose          `json:"project"`
	Parents         []related         `json:"parents"`
	Blockers        []related         `json:"blockers"`
	Children        []related         `json:"children"`
	Comments        []comment         `json:"comments"`
	Checkpoints     []checkpoint      `json:"checkpoints"`
	Approvals       []asked           `json:"approvals"`
	Rejection       *rejection        `json:"rejection"`
	FormerResult    json.RawMessage   `json:"formerResult"`
	FormerResultCut bool              `json:"formerResultCut"`
	LastError       *failure          `json:"lastError"`
	Names           map[string]string `json:"names"`

	Instructions string `json:"instructions"` // of the step of a workflow
}

// colleague is an agent of the company.
type colleague struct {
	ID   id.Agent `json:"id"`
	Name string   `json:"name"`
	Role string   `json:"role"`
}

// purpose is what an issue is for: a goal or a project.
type purpose struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	TargetDate  string `json:"targetDate"` // empty: none
}

type related struct {
	ID     id.Issue        `json:"id"`
	Number int64           `json:"number"`
	Title  string          `json:"title"`
	Status string          `json:"status"`
	Result json.RawMessage `json:"result"`
	IsCut  bool            `json:"resultCut"`
}

type comment struct {
	Author string `json:"author"`
	Body   string `json:"body"`
	At     string `json:"createdAt"`
}

type checkpoint struct {
	At   string          `json:"at"`
	Note string          `json:"note"`
	Data json.RawMessage `json:"data"`
}

// asked is an approval that was asked for.
type asked struct {
	ID         id.Approval     `json:"id"`
	Agent      id.Agent        `json:"agentId"`
	ActionName string          `json:"actionName"`
	Action     string          `json:"action"`
	Status     approval.Status `json:"status"`
	Edits      json.RawMessage `json:"edits"`
	Note       string          `json:"note"`
	Comments   int             `json:"commentCount"`
	DecidedBy  string          `json:"decidedBy"` // empty: nobody
}

type rejection struct {
	Note   string `json:"note"`
	Author string `json:"author"`
}

type failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// ParseLease parses a new lease as the gateway shows it.
func ParseLease(shown []byte) (lease Lease, err error) {
	if err := json.Unmarshal(shown, &lease); err != nil {
		return lease, fmt.Errorf("this is no lease: %w", err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(shown, &members); err != nil {
		return lease, err
	}
	delete(members, "runToken") // which is not written to files
	lease.shown, err = json.Marshal(members)
	return lease, err
}

// threads are the sessions of the program as its usage is read.
func (l Lease) threads() map[string]cost.Tokens {
	threads := map[string]cost.Tokens{}
	for _, one := range l.Sessions {
		threads[one.Session] = cost.Tokens(one.Tokens)
	}
	return threads
}

// caller is the agent of the lease, on whose behalf Holdco calls.
func (l Lease) caller() agent.Caller { return agent.Caller{ID: l.Run.Agent, Company: l.Issue.Company} }

func (l Lease) call() inbound.LeaseCall { return inbound.LeaseCall{Lease: l.ID, Token: &l.Token} }

// Handle is the lease as the tools of the Model Context Protocol take it.
func (l Lease) Handle() string { return fmt.Sprintf("%s#%d", l.ID, l.Token) }

// env is the environment of a program: what the configuration says, and how the program finds Holdco and its lease.
func (l Lease) env(configured map[string]string, gatewayURL string) map[string]string {
	env := maps.Clone(configured)
	if env == nil {
		env = map[string]string{}
	}
	maps.Copy(env, map[string]string{
		"HOLDCO_AGENT_TOKEN":   string(l.RunToken),
		"HOLDCO_COMPANY_ID":    string(l.Issue.Company),
		"HOLDCO_AGENT_ID":      string(l.Run.Agent),
		"HOLDCO_ISSUE_ID":      string(l.Issue.ID),
		"HOLDCO_ISSUE_NUMBER":  strconv.FormatInt(l.Issue.Number, 10),
		"HOLDCO_LEASE_ID":      string(l.ID),
		"HOLDCO_FENCING_TOKEN": strconv.FormatInt(l.Token, 10),
		"HOLDCO_ATTEMPT":       strconv.Itoa(l.Issue.Attempt),
	})
	if gatewayURL != "" {
		env["HOLDCO_GATEWAY_URL"], env["HOLDCO_MCP_URL"] = gatewayURL, mcpURL(gatewayURL)
	}
	return env
}

// hidden hides the token of the run, and other texts.
func (l Lease) hidden(others map[string]string) redact.Hidden {
	texts := map[string]string{string(l.RunToken): hiddenToken}
	maps.Copy(texts, others)
	return redact.New(texts)
}

// hiddenToken stands for the token of a run.
const hiddenToken = "[run token]"

func mcpURL(gatewayURL string) string { return gatewayURL + "/gateway/mcp" }

// mcpFile is the configuration of a client of the Model Context Protocol. The token is not in it but in the environment.
func mcpFile(gatewayURL string) []byte {
	type server struct {
		Type    string            `json:"type"`
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
	}
	servers := map[string]server{}
	if gatewayURL != "" {
		servers["holdco"] = server{"http", mcpURL(gatewayURL), map[string]string{"Authorization": "Bearer ${HOLDCO_AGENT_TOKEN}"}}
	}
	file, err := json.Marshal(map[string]any{"mcpServers": servers})
	if err != nil {
		panic(err) // text alone cannot fail
	}
	return file
}

// stdin is what a program gets on its standard input.
func (l Lease) stdin(program agent.Program) []byte {
	switch program.Stdin {
	case agent.JSON:
		return l.shown
	case agent.Nothing:
		return nil
	}
	return l.prompt(program.Usage)
}

// jsonText is a text as JSON.
func jsonText(text string) []byte {
	encoded, err := json.Marshal(text)
	if err != nil {
		panic(err) // text alone cannot fail
	}
	return encoded
}
