package convert

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// carriedFields are the members of request bodies, of all formats, whose content the
// neutral request has or that only say how a reply is sent.
var carriedFields = []string{
	"model", "messages", "input", "contents", "system", "instructions", "systemInstruction", "system_instruction", "tools",
	"tool_choice", "toolConfig", "tool_config", "max_tokens", "max_completion_tokens", "max_output_tokens", "stream", "stream_options",
	"temperature", "top_p", "stop", "stop_sequences", "generationConfig", "generation_config", "options", "request", "project",
}

// nestedFields are those of them that hold more than the neutral request has, with what
// it has.
var nestedFields = map[string][]string{
	"generationConfig":  {"maxOutputTokens", "temperature", "topP", "stopSequences"},
	"generation_config": {"max_output_tokens", "temperature", "top_p", "stop_sequences"},
	"options":           {"num_predict", "temperature", "top_p", "stop"},
	"tool_choice":       {"type", "name", "function", "mode", "tools", "custom", "allowed_tools"},
	"stream_options":    {"include_usage"},
}

// fields notes the members of the body of r that are nowhere but in its bytes.
func (c *converter) fields(r llm.Request) {
	body := raw.Trim(r.Frame.Raw)
	for name, value := range raw.Members(body) {
		field := string(raw.Name(body[name.Start:name.End]))
		if !slices.Contains(carriedFields, field) {
			c.lose(catalog.Drop, "field", field)
			continue
		}
		kept, nested := nestedFields[field]
		if !nested {
			continue
		}
		inner := raw.Slice(body, value)
		for name := range raw.Members(inner) {
			if f := string(raw.Name(inner[name.Start:name.End])); !slices.Contains(kept, f) {
				c.lose(catalog.Drop, "field", field+"."+f)
			}
		}
	}
}
