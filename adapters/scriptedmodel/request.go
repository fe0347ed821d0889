package scriptedmodel

import (
	"encoding/json"
	"net/http"
	"strings"
)

// request has the members of requests that matter here, of all APIs.
type request struct {
	Model  string          `json:"model"`
	Stream bool            `json:"stream"`
	Tools  []offeredTool   `json:"tools"`
	Input  json.RawMessage `json:"input"` // Responses: a text, or items, of which some bring tools
}

// offeredTool is an entry of the tools of a request: one tool, or several below a name.
type offeredTool struct {
	Type                 string        `json:"type"`
	Name                 string        `json:"name"`
	Function             offeredName   `json:"function"`             // Chat Completions
	FunctionDeclarations []offeredName `json:"functionDeclarations"` // Gemini
	Tools                []offeredName `json:"tools"`                // Responses, of the type namespace
}

type offeredName struct {
	Type string `json:"type"`
	Name string `json:"name"`
}

// tool is one that a client offers.
type tool struct {
	namespace string // of the API Responses; usually empty
	name      string
	isCode    bool // it runs JavaScript, in which the other tools are functions
}

// full is the name with that of the namespace.
func (t tool) full() string {
	if t.namespace == "" {
		return t.name
	}
	return t.namespace + "." + t.name
}

func (r request) tools() (tools []tool) {
	all := r.Tools
	var items []struct {
		Tools []offeredTool `json:"tools"`
	}
	if json.Unmarshal(r.Input, &items) == nil { // a text has no tools
		for _, item := range items {
			all = append(all, item.Tools...)
		}
	}
	for _, entry := range all {
		for _, inside := range entry.Tools {
			tools = append(tools, tool{namespace: entry.Name, name: inside.Name, isCode: inside.Type == "custom" && inside.Name == "exec"})
		}
		for _, declared := range entry.FunctionDeclarations {
			tools = append(tools, tool{name: declared.Name})
		}
		switch {
		case len(entry.Tools)+len(entry.FunctionDeclarations) > 0:
		case entry.Function.Name != "":
			tools = append(tools, tool{name: entry.Function.Name})
		case entry.Name != "":
			tools = append(tools, tool{name: entry.Name})
		}
	}
	return tools
}

// modelOf is the model that a request names: Gemini's do it in the path.
func (r request) modelOf(sent *http.Request) string {
	if r.Model != "" {
		return r.Model
	}
	_, name, _ := strings.Cut(sent.URL.Path, "/models/")
	name, _, _ = strings.Cut(name, ":")
	return name
}

// find returns the tool that a client offers under a name of its server, and whether there is one. Tools of the server holdco win over
// others of the same name.
func find(tools []tool, name string) (tool, bool) {
	for _, fits := range []func(tool) bool{
		func(t tool) bool { return strings.Contains(t.full(), "holdco") && hasSuffix(t.full(), name) },
		func(t tool) bool { return t.full() == name },
		func(t tool) bool { return hasSuffix(t.full(), name) },
	} {
		for _, offered := range tools {
			if fits(offered) {
				return offered, true
			}
		}
	}
	return tool{}, false
}

// callOf is a call of a tool as the client knows it. Where a tool is not offered but one that runs code is, it is called by code. Else
// it keeps its name, as a model would have it that makes one up.
func callOf(tools []tool, name, arguments string) call {
	if found, ok := find(tools, name); ok {
		return call{tool: found, arguments: arguments}
	}
	for _, offered := range tools {
		if offered.isCode {
			return call{tool: offered, code: "text(await tools.mcp__holdco__" + name + "(" + arguments + "));"}
		}
	}
	return call{tool: tool{name: name}, arguments: arguments}
}

// hasSuffix reports whether a name ends with another one, as a word of its own.
func hasSuffix(name, end string) bool {
	before, found := strings.CutSuffix(name, end)
	return found && before != "" && strings.ContainsAny(before[len(before)-1:], "_.-:/")
}
