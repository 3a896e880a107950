package verify

import (
	"slices"
	"strconv"
)

// Members of a part of the Gemini dialect, in either spelling.
var (
	geminiCall   = []string{"functionCall", "function_call"}
	geminiResult = []string{"functionResponse", "function_response"}
	geminiMedia  = []string{"inlineData", "inline_data", "fileData", "file_data"}
)

// geminiMessage reads one element of contents. Calls and results without ids are told
// apart by their names, and within one message by their order.
func geminiMessage(raw []byte) Message {
	ms := members(raw)
	m := Message{Role: text(ms, "role"), Raw: raw}
	if m.Role == "model" {
		m.Role = roleAssistant
	}
	seen := map[string]int{}
	for _, b := range elements(get(ms, "parts")) {
		p := geminiPart(b)
		if (p.Kind == Call || p.Kind == Result) && p.CallID == "" {
			key := string(p.Kind) + p.Name
			seen[key]++
			p.CallID = p.Name + "#" + strconv.Itoa(seen[key])
		}
		m.Parts = append(m.Parts, visible(p)...)
	}
	return m
}

// geminiPart reads one part.
func geminiPart(b []byte) Part {
	ms := members(b)
	p := Part{Kind: Opaque, Raw: b}
	if len(ms) > 0 {
		p.Name = ms[0].name
	}
	switch {
	case first(get(ms, "text")) == '"':
		p.Kind, p.Value = Text, get(ms, "text")
		if string(get(ms, "thought")) == "true" {
			p.Kind = Thinking
		}
		p.Text = unquote(p.Value)
	case either(ms, geminiCall) != nil:
		call := members(either(ms, geminiCall))
		p.Kind, p.CallID, p.Name, p.Value = Call, text(call, "id"), text(call, "name"), get(call, "args")
		p.Text = argsText(p.Value)
	case either(ms, geminiResult) != nil:
		result := members(either(ms, geminiResult))
		p.Kind, p.CallID, p.Name = Result, text(result, "id"), text(result, "name")
		p.Value = geminiOutput(get(result, "response"))
		p.Text = argsText(p.Value)
	case either(ms, geminiMedia) != nil:
		p.Kind = Media
	}
	return p
}

func either(ms []member, names []string) []byte {
	for _, n := range names {
		if v := get(ms, n); v != nil {
			return v
		}
	}
	return nil
}

// geminiOutput returns what a result says: the string of a response that has nothing
// else than an output, else the response itself.
func geminiOutput(response []byte) []byte {
	ms := members(response)
	if len(ms) == 1 && first(ms[0].value) == '"' && slices.Contains([]string{"output", "result", "error"}, ms[0].name) {
		return ms[0].value
	}
	return response
}

// sameGemini reports whether two results of the Gemini dialect differ in nothing but
// their response.
func sameGemini(a, b []member) bool {
	x, y := members(either(a, geminiResult)), members(either(b, geminiResult))
	drop := func(m member) bool { return m.name == "response" || m.name == "parts" }
	return x != nil && y != nil && sameMembers(slices.DeleteFunc(x, drop), slices.DeleteFunc(y, drop))
}
