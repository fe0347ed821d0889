package gateway

import (
	"bytes"
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"holdco/adapters/http/httpkit"
	"holdco/domain/fault"
	"holdco/ports/inbound"
)

// What a model is told that connects with the token of an agent, and of a run.
var (
	//go:embed instructions/agent.md
	agentInstructions string
	//go:embed instructions/run.md
	runInstructions string
)

// mcpServer serves the operations of this API as tools of the Model Context Protocol. A call of a tool is a request to the operation,
// within the process: so both check and answer alike.
type mcpServer struct {
	operations http.Handler
	self       inbound.AgentSelf
	log        *slog.Logger
}

// newMCP makes the handler of the protocol. Operations serves requests whose context says which agent calls.
func newMCP(operations http.Handler, document *httpkit.Document, options Options) (gin.HandlerFunc, error) {
	described, err := answersOf(document)
	if err != nil {
		return nil, err
	}
	s := mcpServer{operations, options.Self, options.Log}
	ofAgent, ofRun := newServer(agentInstructions, options.Version), newServer(runInstructions, options.Version)
	for _, t := range tools {
		output, err := described.output(t)
		if err != nil {
			return nil, err
		}
		ofAgent.AddTool(t.described(output), s.handle(t))
		if !t.loop {
			ofRun.AddTool(t.described(output), s.handle(t))
		}
	}
	serverFor := func(r *http.Request) *mcp.Server {
		if caller, _ := httpkit.AgentIn(r.Context()); caller.Lease != "" {
			return ofRun
		}
		return ofAgent
	}
	// Each request stands alone, so that any replica can serve it. The gate has checked token and origin, whatever the host.
	handler := mcp.NewStreamableHTTPHandler(serverFor, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, DisableLocalhostProtection: true,
	})
	return func(c *gin.Context) {
		ctx := httpkit.Within(c)
		request := c.Request.WithContext(context.WithValue(ctx, requestKey{}, ctx))
		request.Body = httpkit.BodyOf(c)
		handler.ServeHTTP(&refusals{ResponseWriter: c.Writer, message: httpkit.BodyOf(c)}, request)
		if err := ctx.Err(); err != nil && !c.Writer.Written() {
			httpkit.Fail(c, err)
		}
	}, nil
}

// newServer makes a server that has tools alone. The list of them never changes.
func newServer(instructions, version string) *mcp.Server {
	return mcp.NewServer(&mcp.Implementation{Name: "holdco", Title: "Holdco", Version: version}, &mcp.ServerOptions{
		Instructions: instructions, Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}},
	})
}

// requestKey is under what the context of a request holds itself: the library calls tools with a context that has its values, but does
// not end when the client is gone.
type requestKey struct{}

// body is the body of a request, or a part of it.
type body map[string]any

// query is what there is as the query of a request that has no body.
func (b body) query() string {
	values := url.Values{}
	for name, value := range b {
		values.Set(name, fmt.Sprint(value))
	}
	return values.Encode()
}

func (s mcpServer) handle(t tool) mcp.ToolHandler {
	return func(ctx context.Context, call *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if request, isThere := ctx.Value(requestKey{}).(context.Context); isThere {
			ctx = request
		}
		var result *mcp.CallToolResult
		err := fault.Contain(func() (err error) { // a panic would end the process: the library calls this in a goroutine of its own
			result, err = s.call(ctx, t, call.Params.Arguments)
			return err
		})
		switch {
		case ctx.Err() != nil: // nobody reads the result
			return nil, ctx.Err()
		case err != nil:
			result = s.refusal(ctx, t, err)
		}
		return result, nil
	}
}

// refusal is what a model reads instead of a result.
func (s mcpServer) refusal(ctx context.Context, t tool, err error) *mcp.CallToolResult {
	if refusal := fault.Of(err); refusal != nil {
		return failed(string(refusal.Code), refusal.Message)
	}
	s.log.ErrorContext(ctx, "the call of a tool failed", "tool", t.name, "error", err.Error())
	return failed(string(fault.Internal), "Internal error; the server's log has the details.")
}

// read reads the arguments of a call.
func (t tool) read(arguments json.RawMessage) (body, error) {
	var sent any
	if len(arguments) > 0 {
		var err error
		if sent, err = parse(arguments); err != nil {
			return nil, fault.New(fault.InvalidJSON, "The arguments must be one JSON object.")
		}
	}
	if sent == nil {
		return body{}, nil
	}
	args, isObject := read(t.schema(), sent).(map[string]any)
	if !isObject {
		return nil, fault.New(fault.InvalidJSON, "The arguments must be one JSON object.")
	}
	known := t.known()
	for name := range args {
		if _, isKnown := known[name]; !isKnown {
			return nil, fault.New(fault.ValidationFailed, "%s has no argument %q. It has: %s.", t.name, name,
				strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		}
	}
	return args, nil
}

// call calls the operation of a tool.
func (s mcpServer) call(ctx context.Context, t tool, arguments json.RawMessage) (*mcp.CallToolResult, error) {
	args, err := t.read(arguments)
	if err != nil {
		return nil, err
	}
	lease, _ := args[leaseArgument].(string)
	path, err := t.address(args)
	if err != nil {
		return nil, err
	}
	header := http.Header{}
	if sent, isSent := args[keyArgument]; isSent {
		key, isText := sent.(string)
		if !isText {
			return nil, fault.New(fault.ValidationFailed, "%s must be a text.", keyArgument)
		}
		header.Set("Idempotency-Key", key)
		delete(args, keyArgument)
	}
	if t.body != nil {
		t.body(args)
	}
	answer, err := s.request(ctx, t.method, path, header, args)
	if err != nil {
		return nil, err
	}
	if answer.status == httpkit.NoContent {
		return shown(map[string]any{leaseArgument: nil, "hint": t.hint(s, ctx)})
	}
	return t.result(answer, lease)
}

// address is the path of the operation. It takes the arguments that are in it, and puts the lease where the operation wants it.
func (t tool) address(args body) (string, error) {
	path := Root + "/v1" + t.path
	if t.takesLease() {
		lease, _ := args[leaseArgument].(string)
		which, token, found := strings.Cut(lease, "#")
		number, err := strconv.ParseInt(token, 10, 64)
		if !found || err != nil || strconv.FormatInt(number, 10) != token {
			return "", fault.New(fault.ValidationFailed, "lease must be what claim returned as lease, such as lse_...#7.")
		}
		delete(args, leaseArgument)
		if t.method != http.MethodGet {
			args["fencingToken"] = number
		}
		if !strings.Contains(path, "{lease}") {
			args["leaseId"] = which
		}
		path = strings.ReplaceAll(path, "{lease}", url.PathEscape(which))
	}
	if wait, sent := args["wait"]; sent {
		number, _ := wait.(json.Number)
		if seconds, err := number.Int64(); err != nil || seconds < 0 || seconds > longestWait {
			return "", fault.New(fault.ValidationFailed, "wait must be a whole number from 0 to %d.", longestWait)
		}
	}
	for name, value := range args {
		if which, isText := value.(string); isText && strings.Contains(path, "{"+name+"}") {
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(which))
			delete(args, name)
		}
	}
	if strings.Contains(path, "{") {
		return "", fault.New(fault.ValidationFailed, "%s needs %s.", t.name, strings.Join(t.required, ", "))
	}
	if t.method == http.MethodGet && len(args) > 0 {
		path += "?" + args.query()
	}
	return path, nil
}

func (s mcpServer) request(ctx context.Context, method, path string, header http.Header, args body) (*recorder, error) {
	var sent []byte
	if method != http.MethodGet {
		var err error
		if sent, err = json.Marshal(args); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequestWithContext(ctx, method, path, bytes.NewReader(sent))
	if err != nil {
		return nil, err
	}
	request.Header = header
	if sent != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	answer := &recorder{status: httpkit.OK, header: http.Header{}}
	s.operations.ServeHTTP(answer, request)
	return answer, nil
}

// result is what the model gets: the data of the answer, with the lease that it is about.
func (t tool) result(answer *recorder, lease string) (*mcp.CallToolResult, error) {
	var envelope struct {
		Data  json.RawMessage
		Error *struct{ Code, Message string }
	}
	if err := json.Unmarshal(answer.body.Bytes(), &envelope); err != nil {
		return nil, fmt.Errorf("%s answered %d: %w", t.name, answer.status, err)
	}
	if refused := envelope.Error; refused != nil {
		return failed(refused.Code, refused.Message+details(answer.body.Bytes())), nil
	}
	data := map[string]any{}
	if t.list != "" {
		list, err := withLeases(envelope.Data)
		if err != nil {
			return nil, err
		}
		data[t.list] = list
		return shown(data)
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(envelope.Data, &members); err != nil {
		return nil, err
	}
	for name, value := range members {
		data[name] = value
	}
	lease = cmp.Or(textOf(envelope.Data), lease)
	if lease == "" {
		return shown(data)
	}
	var state struct {
		Lease struct{ ExpiresAt json.RawMessage }
	}
	if _ = json.Unmarshal(envelope.Data, &state); state.Lease.ExpiresAt != nil {
		data["expiresAt"] = state.Lease.ExpiresAt // of the object that the text replaces
	}
	data[leaseArgument] = lease
	return shown(data)
}

// textOf is the text for the lease that an answer shows, or nothing.
func textOf(data json.RawMessage) string {
	var granted struct {
		LeaseID      string
		FencingToken int64
	}
	if _ = json.Unmarshal(data, &granted); granted.LeaseID == "" {
		return ""
	}
	return fmt.Sprintf("%s#%d", granted.LeaseID, granted.FencingToken)
}

// withLeases is a list whose items that are leases have the text for them too.
func withLeases(list json.RawMessage) ([]map[string]json.RawMessage, error) {
	var items []json.RawMessage
	if err := json.Unmarshal(list, &items); err != nil {
		return nil, err
	}
	shown := make([]map[string]json.RawMessage, len(items))
	for n, item := range items {
		if err := json.Unmarshal(item, &shown[n]); err != nil {
			return nil, err
		}
		if lease := textOf(item); lease != "" {
			shown[n][leaseArgument] = json.RawMessage(strconv.Quote(lease))
		}
	}
	return shown, nil
}

// details are what a refusal says besides its code and message, for a model to read.
func details(envelope []byte) string {
	var refused struct {
		Error struct {
			Details map[string]json.RawMessage
		}
	}
	if err := json.Unmarshal(envelope, &refused); err != nil || len(refused.Error.Details) == 0 {
		return ""
	}
	text, err := json.Marshal(refused.Error.Details)
	if err != nil {
		return ""
	}
	return " " + string(text)
}

func shown(data map[string]any) (*mcp.CallToolResult, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(text)}}, StructuredContent: json.RawMessage(text),
	}, nil
}

// failed is a refusal, which a model reads.
func failed(code, message string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: code + ": " + message}}, IsError: true}
}

// recorder keeps the answer to a request within the process.
type recorder struct {
	status int
	header http.Header
	body   bytes.Buffer
}

func (r *recorder) Header() http.Header            { return r.header }
func (r *recorder) Write(part []byte) (int, error) { return r.body.Write(part) }
func (r *recorder) WriteHeader(status int)         { r.status = status }
