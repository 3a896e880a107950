package check

import (
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// Limits of the Chat Completions API, as its own 400s state them.
const (
	chatCallID = 40  // characters of a call's id
	chatName   = 64  // characters of a tool's name
	chatTools  = 128 // tools of a request
	chatStops  = 4   // stop sequences
)

// openaiName is what tool names consist of.
var openaiName = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// chatRequest judges a request of Chat Completions.
func chatRequest(n node, model string) {
	if _, ok := n.get("model").text(); !ok && model == "" { // Azure has it in the URL
		n.get("model").must()
	}
	if name, ok := n.get("model").v.(string); ok {
		model = name
	}
	refused := refusedOf(chat, model)
	chatMessages(n.get("messages").must())
	chatParameters(n)
	openaiSettings(n, refused, n.get("reasoning_effort").say())
	tools := n.get("tools")
	if tools.isList() && len(tools.list()) == 0 {
		tools.fault("tools-empty", "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	names := openaiTools(tools, refused, func(t node) node { return t.get(t.get("type").say()) })
	if choice := n.get("tool_choice"); choice.has() && !tools.has() { // here, unlike in Responses, not even the words for what is so anyway
		choice.fault("tool-choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
		return
	}
	openaiChoice(n, names, func(c node) node { return c.get(c.get("type").say()).get("name") })
}

// chatParameters judges the members beside messages and tools.
func chatParameters(n node) {
	n.get("stream").yes()
	n.get("stream_options").object()
	n.get("parallel_tool_calls").yes()
	n.get("temperature").within(0, 2)
	n.get("top_p").within(0, 1)
	n.get("n").within(1, chatTools)
	n.get("max_tokens").whole()
	n.get("max_completion_tokens").whole()
	if older := n.get("max_tokens"); older.has() && n.get("max_completion_tokens").has() {
		older.fault("output-limit", "Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	if n.get("stream_options").has() && n.get("stream").v != true {
		n.get("stream_options").fault("stream-options", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	stop := n.get("stop")
	if stop.isText() {
		return
	}
	list := stop.list()
	if len(list) > chatStops {
		stop.fault("stop", "Invalid 'stop': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", chatStops, len(list))
	}
	for _, s := range list {
		s.text()
	}
}

// chatMessages judges the list of messages: each by itself, then the calls and their results.
func chatMessages(list node) {
	all := list.list()
	if list.isList() && len(all) == 0 {
		list.fault("messages-empty", "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.")
	}
	open := map[string]bool{} // calls without a result, of the assistant message before
	var at node               // that message
	for _, m := range all {
		m.record()
		role := m.get("role").must().among("role", "system", "developer", "assistant", "user", "function", "tool")
		if role == "tool" {
			chatResult(m, open, at)
			continue
		}
		chatUnanswered(open, at)
		open, at = map[string]bool{}, m
		chatContent(m, role)
		if role == "assistant" {
			for _, id := range chatCalls(m) {
				open[id] = true
			}
		}
	}
	chatUnanswered(open, at)
}

// chatResult judges a tool message against the calls that are open before it. A call that has its result is false there.
func chatResult(m node, open map[string]bool, before node) {
	chatContent(m, "tool")
	id, ok := m.get("tool_call_id").must().text()
	if !ok {
		return
	}
	waits, called := open[id]
	switch {
	case called && !waits:
		m.fault("result-duplicate", "Invalid parameter: Duplicate value for 'tool_call_id' of '%s' in %s", id, m.at)
	case !called && before.get("tool_calls").has():
		m.get("tool_call_id").fault("result-orphan", "Invalid parameter: 'tool_call_id' of '%s' not found in 'tool_calls' of previous message.", id)
	case !called:
		m.get("role").fault("result-orphan", "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.") //nolint:misspell // the provider's own spelling
	}
	if called {
		open[id] = false
	}
}

// chatUnanswered reports the calls of a message that have no result.
func chatUnanswered(open map[string]bool, at node) {
	var ids []string
	for id, waits := range open {
		if waits {
			ids = append(ids, id)
		}
	}
	if len(ids) > 0 {
		slices.Sort(ids)
		at.fault("call-unanswered", "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: %s", strings.Join(ids, ", "))
	}
}

// chatCalls judges the calls of an assistant message and returns their ids.
func chatCalls(m node) []string {
	calls := m.get("tool_calls")
	list := calls.items()
	if calls.isList() && len(list) == 0 {
		calls.fault("calls-empty", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", calls.at)
	}
	var ids []string
	for _, c := range list {
		id, ok := c.get("id").must().text()
		switch {
		case !ok:
		case slices.Contains(ids, id):
			c.get("id").fault("call-id-unique", "Invalid '%s.id': '%s'. The ids of the calls of one message must be unique.", c.at, id)
		case len(id) > chatCallID:
			tooLong(c.get("id"), "call-id", id, chatCallID)
		}
		ids = append(ids, id)
		kind := c.get("type").must().among("value", "function", "custom")
		f := c.get(kind)
		switch kind {
		case "function":
			f.record().get("name").must().text()
			f.get("arguments").must().text()
		case "custom":
			f.record().get("name").must().text()
			f.get("input").must().text()
		}
	}
	return ids
}

// tooLong reports a string above its limit.
func tooLong(n node, rule, s string, limit int) {
	n.fault(rule, "Invalid '%s': string too long. Expected a string with maximum length %d, but got a string with length %d instead.", n.at, limit, len(s))
}

// chatContent judges the content of a message. An assistant may say nothing if it calls, refuses, or speaks.
func chatContent(m node, role string) {
	content := m.get("content")
	if !content.has() {
		spoken := role == "assistant" && (m.get("tool_calls").has() || m.get("function_call").has() || m.get("refusal").has() || m.get("audio").has())
		if !spoken && role != "function" {
			content.fault("content-empty", "Invalid value for 'content': expected a string, got null.")
		}
		return
	}
	if content.isText() {
		return
	}
	list := content.items()
	if content.isList() && len(list) == 0 {
		content.fault("content-empty", "Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", content.at)
	}
	for _, p := range list {
		chatPart(m, p, role)
	}
}

// chatPart judges one part of a content. Kinds that are not known are left alone.
func chatPart(m, p node, role string) {
	kind, _ := p.get("type").must().text()
	switch kind {
	case "text":
		p.get("text").must().text()
	case "refusal":
		p.get("refusal").must().text()
	case "image_url":
		p.get("image_url").record().get("url").must().inDataURI()
	case "input_audio":
		p.get("input_audio").record().get("data").must().inBase64(false)
	case "file":
		p.get("file").record().get("file_data").inDataURI()
	}
	switch {
	case kind == "image_url" && role != "user":
		p.fault("part-role", "Invalid '%s'. Image URLs are only allowed for messages with role 'user', but this message with role '%s' contains an image URL.", m.at, role)
	case (kind == "input_audio" || kind == "file") && role != "user", kind == "refusal" && role != "assistant":
		p.fault("part-role", "Invalid '%s'. Parts of type '%s' are not allowed for messages with role '%s'.", p.at, kind, role)
	}
}

// openaiTools judges a list of tools and returns the names of those that the client runs. definition finds what names a tool: some dialects
// wrap it.
func openaiTools(list node, refused catalog.Refused, definition func(node) node) []string {
	all := list.items()
	if len(all) > chatTools {
		list.fault("tools-many", "Invalid 'tools': array too long. Expected an array with maximum length %d, but got an array with length %d instead.", chatTools, len(all))
	}
	var names []string
	for _, t := range all {
		kind, _ := t.get("type").must().text()
		if kind != "function" && kind != "custom" {
			continue
		}
		f := definition(t).record()
		if name, ok := f.get("name").must().text(); ok {
			openaiToolName(f.get("name"), name)
			names = append(names, name)
		}
		f.get("description").text()
		if kind == "function" {
			openaiSchema(f, refused)
		}
	}
	return names
}

func openaiToolName(at node, name string) {
	switch {
	case !openaiName.MatchString(name):
		at.fault("tool-name", "Invalid '%s': string does not match pattern. Expected a string that matches the pattern '%s'.", at.at, openaiName)
	case len(name) > chatName:
		tooLong(at, "tool-name", name, chatName)
	}
}

// openaiSchema judges the parameters of a function, which may be left out.
func openaiSchema(f node, refused catalog.Refused) {
	schema := f.get("parameters")
	if !schema.has() || !schema.object() {
		return
	}
	if m, _ := schema.v.(map[string]any); len(m) == 0 || schema.get("type").say() == "object" {
		if atRoot(schema, refused) != "" {
			schema.fault("tool-schema", "Invalid schema for function '%s': schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top level.", f.get("name").say())
		}
		return
	}
	got := "None"
	if s := schema.get("type").say(); s != "" {
		got = s
	}
	schema.fault("tool-schema", "Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"', got 'type: \"%s\"'.", f.get("name").say(), got)
}

// openaiChoice judges tool_choice: a word, or an object that names a tool or a set of them.
func openaiChoice(n node, names []string, named func(node) node) {
	choice := n.get("tool_choice")
	if !choice.has() {
		return
	}
	if !n.get("tools").has() && choice.say() != "none" && choice.say() != "auto" {
		choice.fault("tool-choice", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
		return
	}
	if choice.isText() {
		choice.among("tool-choice", "none", "auto", "required")
		return
	}
	if !choice.object() {
		return
	}
	kind, _ := choice.get("type").must().text()
	if kind != "function" && kind != "custom" {
		return
	}
	if name, ok := named(choice).must().text(); ok && !slices.Contains(names, name) {
		choice.fault("tool-choice", "Tool choice '%s' not found in 'tools' parameter.", name)
	}
}
