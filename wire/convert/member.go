package convert

import (
	"slices"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// carriedMembers are the members of parts, of all formats, whose content the neutral part
// has, or that only name and number it.
var carriedMembers = []string{
	"type", "text", "id", "call_id", "tool_use_id", "tool_call_id", "name", "input", "arguments", "content", "is_error", "output", "status",
	"index", "role", "function", "custom", "source", "image_url", "input_audio", "file", "file_data", "file_url", "file_id", "filename",
	"functionCall", "function_call", "functionResponse", "function_response", "inlineData", "inline_data", "fileData", "file_data",
	"phase", "logprobs", "annotations",
}

// aroundMembers are the members of messages, of all formats, that are parts of them or
// say who speaks.
var aroundMembers = []string{
	"type", "id", "role", "content", "parts", "tool_calls", "tool_call_id", "tool_name", "images", "thinking", "reasoning", "reasoning_content",
	"reasoning_details", "refusal", "function_call", "status", "annotations", "audio",
}

// toolMembers are the members of tool definitions, of all formats, that the neutral tool
// has.
var toolMembers = []string{
	"type", "name", "description", "input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema", "format", "function", "custom",
}

// around notes what a message says beside its parts.
func (c *converter) around(m llm.Message) {
	c.members(m.Envelope.Raw, "", aroundMembers)
}

// within notes what a part says beside what the neutral part has.
func (c *converter) within(data []byte) {
	c.members(data, "", carriedMembers)
	if url := raw.Value(data, "image_url"); raw.IsObject(url) {
		c.members(url, "image_url.", []string{"url"})
	}
}

// members notes the members of an object that are not carried, but for those that say
// nothing.
func (c *converter) members(obj []byte, path string, carried []string) {
	for name, at := range raw.Members(obj) {
		field := string(raw.Name(obj[name.Start:name.End]))
		if !slices.Contains(carried, field) && !isEmpty(raw.Slice(obj, at)) {
			c.lose(catalog.Drop, "field", path+field)
		}
	}
}

// isEmpty reports whether a value says nothing.
func isEmpty(value []byte) bool {
	switch {
	case raw.IsNone(value) || string(value) == `""` || string(value) == "false":
		return true
	case raw.IsArray(value):
		return len(raw.Elements(value)) == 0
	}
	for range raw.Members(value) {
		return false
	}
	return raw.IsObject(value)
}

// spelling notes bytes that no codec can carry into new text.
func (c *converter) spelling(body []byte) {
	if !utf8.Valid(body) {
		c.lose(catalog.Note, "bytes that are not UTF-8", "")
	}
}
