package check

import (
	"regexp"
	"strings"
)

// geminiFunction is what function names are made of (Gemini API reference, FunctionDeclaration).
var geminiFunction = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$`)

// geminiData are the members of which a part has exactly one, in both spellings that the API takes (Gemini API reference, Part).
func geminiData() []string {
	return []string{
		"text", "inlineData", "functionCall", "functionResponse", "fileData", "executableCode", "codeExecutionResult", "toolCall", "toolResponse",
	}
}

// snake writes a name with underscores.
func snake(camel string) string {
	var b strings.Builder
	for _, r := range camel {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// member returns a member by either of its spellings.
func member(n node, name string) node { return n.either(name, snake(name)) }

// geminiRequest judges a request of generateContent, bare or in the envelope of the Code Assist server, which names the model.
func geminiRequest(j *judge, n node, model string) {
	if inner := n.get("request"); inner.has() && inner.object() {
		if s, ok := n.get("model").text(); ok {
			model = s
		}
		n = inner.as("")
	}
	contents := n.get("contents").must()
	turns := contents.items()
	if contents.isList() && len(turns) == 0 {
		contents.fault("messages-empty", "* GenerateContentRequest.contents: contents is not specified\n")
	}
	for _, t := range turns {
		geminiContent(t)
	}
	if kept := member(n, "cachedContent"); kept.has() { // what it holds stands before all that is here
		kept.text()
		geminiBeside(n)
	} else {
		geminiOrder(turns)
		geminiPairs(turns)
		if signsCalls(model) {
			geminiSigned(turns)
		}
	}
	if system := member(n, "systemInstruction"); system.has() && system.object() {
		geminiParts(system)
	}
	geminiTools(n)
	config := member(n, "generationConfig")
	config.object()
	config.get("temperature").within(0, 2)
	member(config, "topP").within(0, 1)
	member(config, "maxOutputTokens").whole()
	for _, s := range member(config, "stopSequences").list() {
		s.text()
	}
}

// geminiBeside judges what a request has beside the resource that it names.
func geminiBeside(n node) {
	for _, name := range []string{"systemInstruction", "tools", "toolConfig"} {
		if m := member(n, name); m.has() {
			m.fault("cached-beside", "CachedContent can not be used with GenerateContent request setting system_instruction, tools or tool_config.\n\nProposed fix: move those values to CachedContent from GenerateContent request.")
			return
		}
	}
}

// geminiCount judges a request of countTokens: contents, or a whole request.
func geminiCount(j *judge, n node) {
	if whole := member(n, "generateContentRequest"); whole.has() && whole.object() {
		geminiRequest(j, whole, whole.get("model").say())
		return
	}
	geminiRequest(j, n, "")
}

// geminiContent judges one content.
func geminiContent(t node) {
	role := t.get("role")
	if s, ok := role.text(); ok && s != "user" && s != "model" && s != "function" {
		role.fault("role", "Please use a valid role: user, model.")
	}
	geminiParts(t)
}

// geminiParts judges the parts of a content.
func geminiParts(t node) {
	parts := t.get("parts")
	list := parts.items()
	if len(list) == 0 && (parts.isList() || !parts.has()) {
		t.fault("content-empty", "* GenerateContentRequest.%s.parts: contents.parts must not be empty.\n", t.at)
	}
	for _, p := range list {
		geminiPart(p)
		geminiFunctionName(member(p, "functionCall"))
	}
}

// geminiPart judges one part, but for the name of a call: the pieces of a streamed call go without.
func geminiPart(p node) {
	var data []string
	for _, name := range geminiData() {
		if p.states(name) || p.states(snake(name)) {
			data = append(data, name)
		}
	}
	switch {
	case len(data) > 1:
		p.fault("part-data", "Invalid value at '%s' (oneof), oneof field 'data' is already set. Cannot set '%s'", p.at, data[1])
	case len(data) == 0 && len(unknown(p)) == 0:
		p.fault("part-data", "* GenerateContentRequest.%s.data: required oneof field 'data' must have one initialized field\n", p.at)
	}
	p.get("text").text()
	p.get("thought").yes()
	member(p, "thoughtSignature").text()
	call := member(p, "functionCall")
	call.object()
	call.get("args").object()
	call.get("id").text()
	result := member(p, "functionResponse")
	result.object()
	geminiFunctionName(result)
	result.get("response").record()
	result.get("id").text()
	blob := member(p, "inlineData")
	blob.object()
	geminiMedia(member(blob, "mimeType").must())
	blob.get("data").must().inBase64(true)
	file := member(p, "fileData")
	file.object()
	member(file, "fileUri").must().text()
	geminiMedia(member(file, "mimeType"))
}

// geminiMedia judges a media type, of which only those of images are known.
func geminiMedia(n node) {
	if kind, ok := n.text(); ok && !takes(refusedOf(gemini, ""), kind) {
		n.fault("media-source", "Unsupported MIME type: %s", kind)
	}
}

// unknown lists the members of a part that are neither its data nor known to go with it: one of them may be data of a newer kind.
func unknown(p node) []string {
	known := map[string]bool{"thought": true}
	for _, name := range append(geminiData(), "thoughtSignature", "videoMetadata", "partMetadata", "mediaResolution") {
		known[name], known[snake(name)] = true, true
	}
	m, _ := p.v.(map[string]any)
	var names []string
	for name := range m {
		if !known[name] {
			names = append(names, name)
		}
	}
	return names
}

func geminiFunctionName(n node) {
	name, ok := n.get("name").must().text()
	if ok && !geminiFunction.MatchString(name) {
		n.get("name").fault("tool-name", "* GenerateContentRequest.%s.name: Invalid function name. Must start with a letter or an underscore. Must be alphameric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.\n", n.at)
	}
}

// geminiTools judges the declared functions.
func geminiTools(n node) {
	seen := map[string]bool{}
	for _, t := range n.get("tools").items() {
		for _, f := range member(t, "functionDeclarations").items() {
			geminiFunctionName(f)
			name := f.get("name").say()
			if seen[name] {
				f.fault("tool-name-unique", "Duplicate function declaration found: %s", name)
			}
			seen[name] = true
			f.get("description").text()
			f.get("parameters").object()
			if f.get("parameters").has() && member(f, "parametersJsonSchema").has() {
				f.fault("tool-schema", "%s: parameters and parameters_json_schema are mutually exclusive", f.at)
			}
		}
	}
	config := member(member(n, "toolConfig"), "functionCallingConfig")
	if !config.has() {
		return
	}
	config.get("mode").among("tool-choice", "MODE_UNSPECIFIED", "AUTO", "ANY", "NONE", "VALIDATED")
	for _, name := range member(config, "allowedFunctionNames").list() {
		if s, ok := name.text(); ok && !seen[s] {
			name.fault("tool-choice", "allowed_function_names: '%s' is not a declared function", s)
		}
	}
}
