package openai

import (
	"bytes"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// replyItem reads an item of an output as the one part that it is.
func replyItem(b []byte) (llm.Part, error) {
	if !raw.IsObject(b) {
		return nil, raw.Wrong("an object", b)
	}
	m, _, err := decodeItem(raw.NewCursor(b))
	if err != nil {
		return nil, err
	}
	if len(m.Parts) != 1 || m.Envelope.Raw != nil {
		return llm.Opaque{Kind: raw.Unquote(raw.Value(b, "type")), Raw: llm.Raw{Data: b}}, nil
	}
	c, ok := m.Parts[0].(llm.ToolCall)
	if !ok || c.Custom || c.Args != "" {
		return m.Parts[0], nil
	}
	if name, value := argsMember(b); raw.IsString(value) { // a call without arguments
		c.Args, c.Data = "{}", raw.Set(b, name, []byte(`"{}"`))
	}
	return c, nil
}

// refuses reports whether p is a message in which the model refuses in so many words.
func refuses(p llm.Part) bool {
	t, ok := p.(llm.Text)
	if !ok || !bytes.Contains(t.Data, []byte(`"refusal"`)) {
		return false
	}
	content := raw.Value(t.Data, "content")
	for _, s := range raw.Elements(content) {
		if raw.Named(raw.Value(raw.Slice(content, s), "type"), "refusal") {
			return true
		}
	}
	return false
}

// waits are the calls of a reply that wait for a result.
type waits []string

// add takes the next part: a call, or the result that the provider itself gives it.
func (w *waits) add(p llm.Part) {
	switch p := p.(type) {
	case llm.ToolCall:
		if !p.Hosted {
			*w = append(*w, p.CallID)
		}
	case llm.ToolResult:
		for i, id := range *w {
			if id == p.CallID {
				*w = append((*w)[:i], (*w)[i+1:]...)
				return
			}
		}
	}
}

// ending reads how a response object ended: its stop and its own word for it.
func ending(response []byte, calls waits, refused bool) (llm.Stop, string) {
	v := raw.Values(response, "status", "incomplete_details", "object")
	reason := raw.Unquote(v[0])
	why := raw.Unquote(raw.Value(v[1], "reason"))
	switch {
	case raw.IsString(v[2]) && raw.Named(v[2], "response.compaction"):
		return llm.StopCompaction, reason
	case reason == "incomplete" && why != "":
		switch why {
		case "max_output_tokens":
			return llm.StopLength, why
		case "content_filter":
			return llm.StopRefusal, why
		}
		return llm.StopUnknown, why
	case reason == "completed" || reason == "":
		return refined(llm.StopEnd, len(calls) > 0, refused), reason
	}
	return llm.StopUnknown, reason
}

// ownItems are the types of the items that the Responses format has and no other; what
// is one of them is written as it came.
var ownItems = []string{
	"message", "reasoning", "function_call", "custom_tool_call", "web_search_call", "file_search_call", "code_interpreter_call",
	"image_generation_call", "computer_call", "computer_call_output", "local_shell_call", "local_shell_call_output", "shell_call",
	"shell_call_output", "apply_patch_call", "apply_patch_call_output", "mcp_call", "mcp_list_tools", "mcp_approval_request",
	"mcp_approval_response", "tool_search_call", "tool_search_output", "program", "program_output", "function_call_output",
	"custom_tool_call_output",
}

// ownItem returns the item that p came as; nil if p was edited or is of another dialect.
func ownItem(p llm.Part) []byte {
	b := p.Bytes()
	if !raw.IsObject(b) {
		return nil
	}
	v := raw.Values(b, "type", "encrypted_content")
	if raw.Named(v[0], "compaction") || raw.Named(v[0], "compaction_summary") { // another dialect has one too
		if raw.IsString(v[1]) {
			return b
		}
		return nil
	}
	for _, kind := range ownItems {
		if raw.Named(v[0], kind) {
			return b
		}
	}
	return nil
}

// newItem returns p as an item of a reply, with an id that ends with id; nil if this format
// has none. An item of this format stays as it is.
func newItem(p llm.Part, id string) []byte {
	if b := ownItem(p); b != nil {
		return b
	}
	text := ""
	switch p := p.(type) {
	case llm.Text:
		text = p.Text
	case llm.Stub:
		text = p.Text
	case llm.Media:
		element := writer{dialect: DialectResponses, textType: "output_text", noMedia: true}.media(p)
		text = raw.Unquote(raw.Value(element, "text"))
	case llm.Thinking:
		return newReasoning(p, id)
	case llm.ToolCall:
		if p.Hosted {
			return nil
		}
		return newCallItem(p, id, "completed")
	default:
		return nil
	}
	return newMessage(id, "completed", raw.Array([][]byte{outputText(text)}))
}

func newMessage(id, status string, content []byte) []byte {
	o := new(raw.Object).Text("id", "msg_"+id).Text("type", "message").Text("status", status)
	return o.Text("role", "assistant").Raw("content", content).Bytes()
}

func outputText(text string) []byte {
	o := new(raw.Object).Text("type", "output_text").Text("text", text)
	return o.Raw("annotations", []byte("[]")).Raw("logprobs", []byte("[]")).Bytes()
}

// newReasoning returns thinking as an item; the signature of any dialect is kept in
// encrypted_content, so that what the client sends back has it.
func newReasoning(p llm.Thinking, id string) []byte {
	summary := []byte("[]")
	if p.Text != "" {
		summary = raw.Array([][]byte{summaryText(p.Text)})
	}
	o := new(raw.Object).Text("id", "rs_"+id).Text("type", "reasoning").Raw("summary", summary)
	if p.Signature != "" {
		o.Text("encrypted_content", p.Signature)
	}
	return o.Bytes()
}

func summaryText(text string) []byte {
	return new(raw.Object).Text("type", "summary_text").Text("text", text).Bytes()
}

func newCallItem(p llm.ToolCall, id, status string) []byte {
	kind, prefix, field, args := "function_call", "fc_", "arguments", p.Args
	if p.Custom {
		kind, prefix, field = "custom_tool_call", "ctc_", "input"
	}
	if status == "completed" {
		args = argsOrEmpty(p)
	}
	o := new(raw.Object).Text("id", prefix+id).Text("type", kind).Text("status", status)
	return o.Text(field, args).Text("call_id", p.CallID).Text("name", p.Name).Bytes()
}
