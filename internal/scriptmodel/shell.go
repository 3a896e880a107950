package scriptmodel

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// shellNames are the names that coding agents give their shell tool, the commoner first.
func shellNames() []string {
	return []string{
		"bash", "Bash", "shell", "exec_command", "run_shell_command", "shell_command", "run_command", "run_commands",
		"execute_command", "execute_bash", "run_terminal_cmd", "run_terminal_command", "execute", "terminal",
	}
}

// commandNames are the names that the command has among a shell tool's arguments.
func commandNames() []string {
	return []string{"command", "cmd", "commands", "script", "input", "code"}
}

// shellCall returns a call of the first tool that is a known shell, with arguments as its
// schema wants them.
func shellCall(tools []llm.Tool, command string) (llm.ToolCall, bool) {
	for _, name := range shellNames() {
		i := slices.IndexFunc(tools, func(t llm.Tool) bool { return t.Name == name })
		if i < 0 {
			continue
		}
		if isFreeform(tools[i]) {
			return llm.ToolCall{Name: name, Args: command, Custom: true}, true
		}
		return llm.ToolCall{Name: name, Args: shellArgs(tools[i].Schema, command)}, true
	}
	return llm.ToolCall{}, false
}

// shellArgs fills what a schema demands: the command where it belongs, something harmless
// everywhere else.
func shellArgs(schema, command string) string {
	properties := gjson.Get(schema, "properties")
	args := map[string]any{}
	for _, name := range commandNames() {
		if p := properties.Get(name); p.Exists() {
			args[name] = commandAs(p, command)
			break
		}
	}
	if len(args) == 0 {
		args["command"] = command
	}
	for _, required := range gjson.Get(schema, "required").Array() {
		name := required.String()
		if _, there := args[name]; !there {
			args[name] = harmless(properties.Get(name))
		}
	}
	return string(value(args))
}

// commandAs returns the command in the form that its property has.
func commandAs(property gjson.Result, command string) any {
	if kind(property) != "array" {
		return command
	}
	if kind(property.Get("items")) == "object" {
		return []any{map[string]string{"command": command}}
	}
	return []string{command}
}

func harmless(property gjson.Result) any {
	if first := property.Get("enum.0"); first.Exists() {
		return first.Value()
	}
	switch kind(property) {
	case "array":
		return []string{}
	case "object":
		return map[string]string{}
	case "boolean":
		return false
	case "integer", "number":
		return 10_000 // of a time limit: ten seconds
	}
	return "run the command"
}

// kind returns the JSON type that a property has, the first of several, in lower case.
func kind(property gjson.Result) string {
	t := property.Get("type")
	if t.IsArray() {
		t = t.Get("0")
	}
	out := []byte(t.String())
	for i, c := range out {
		if 'A' <= c && c <= 'Z' {
			out[i] = c - 'A' + 'a'
		}
	}
	return string(out)
}

// isFreeform reports whether a tool takes free text in place of JSON (Responses and Chat:
// custom tools).
func isFreeform(t llm.Tool) bool { return gjson.GetBytes(t.Data, "type").String() == "custom" }
