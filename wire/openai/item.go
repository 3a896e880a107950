package openai

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeItem reads one item of the Responses format and says whose it is. A user, system
// or developer message gives one part for each piece of its content (data: the string
// or the element); every other item gives one part whose data is the whole item:
//
//	message of the assistant                [llm.Text], its texts joined
//	reasoning                               [llm.Thinking]: summary (else content), encrypted_content as its signature
//	function_call, custom_tool_call, *_call with a call_id    [llm.ToolCall]
//	*_output with a call_id                 [llm.ToolResult], role tool
//	web_search_call                         [llm.ToolCall], hosted, named web_search
//	anything else (compaction, …)           [llm.Opaque] whose Kind is the type
//
// The parts share the bytes of item. The error says that item is not one JSON object or
// that a message has no known role or content.
func DecodeItem(item []byte) ([]llm.Part, llm.Role, error) {
	m, err := DecodeItemMessage(item)
	return m.Parts, m.Role, err
}

// DecodeItemMessage is [DecodeItem] for an item that is a message of its own: a user,
// system or developer message comes with its envelope. The origin is Model for what the
// model wrote, ToolRun for results, Note for system and developer messages and for
// compaction items, else Human: who really wrote it only the reader of a session can know.
func DecodeItemMessage(item []byte) (llm.Message, error) {
	obj, err := raw.CheckObject(item)
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode item: %w", err)
	}
	m, _, err := decodeItem(raw.NewCursor(obj))
	if err != nil {
		return llm.Message{}, fmt.Errorf("openai: decode item: %w", err)
	}
	return m, nil
}

// itemPlaces are where the members of an item lie that say what it is.
type itemPlaces struct{ item, kind, role, callID, content llm.Span }

func placesOf(c *raw.Cursor) itemPlaces {
	var p itemPlaces
	start := c.Pos()
	c.Object(func(name []byte) {
		at := c.Pos()
		switch string(name) {
		case "type":
			p.kind = c.Skip(at)
		case "role":
			p.role = c.Skip(at)
		case "call_id":
			p.callID = c.Skip(at)
		case "content":
			p.content = c.Skip(at)
		}
	})
	p.item = c.Since(start)
	return p
}

// decodeItem reads the item at c and returns its place too.
func decodeItem(c *raw.Cursor) (llm.Message, llm.Span, error) {
	at := placesOf(c)
	b := c.Bytes(at.item)
	kind, callID := raw.Unquote(c.Bytes(at.kind)), c.Bytes(at.callID)
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: DialectResponses}
	here := llm.Raw{Data: b}
	switch {
	case kind == "message" || kind == "" && raw.IsString(c.Bytes(at.role)):
		m, err := decodeMessageItem(c, at)
		return m, at.item, err
	case kind == "reasoning":
		m.Parts = []llm.Part{decodeReasoning(b)}
	case strings.HasSuffix(kind, "_call") && raw.IsString(callID):
		m.Parts = []llm.Part{decodeCallItem(b, kind, raw.Unquote(callID))}
	case kind == "web_search_call":
		args := string(raw.Value(b, "action"))
		m.Parts = []llm.Part{llm.ToolCall{CallID: raw.Unquote(raw.Value(b, "id")), Name: "web_search", Args: args, Hosted: true, Raw: here}}
	case strings.HasSuffix(kind, "_output") && raw.IsString(callID):
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		m.Parts = []llm.Part{llm.ToolResult{CallID: raw.Unquote(callID), Content: outputContent(b), Raw: here}}
	default:
		m.Parts = []llm.Part{llm.Opaque{Kind: kind, Raw: here}}
		if standsAlone(kind) {
			m.Origin = llm.Note
		}
		if kind == "compaction" || kind == "compaction_summary" {
			m.Flags = llm.FlagSummary
		}
	}
	return m, at.item, nil
}

// standsAlone reports whether an item of this type is a message of its own and not one
// part of what the model wrote.
func standsAlone(kind string) bool {
	return strings.Contains(kind, "compaction") || kind == "mcp_approval_response"
}

// decodeMessageItem reads an item that is a message, which c has passed.
func decodeMessageItem(c *raw.Cursor, at itemPlaces) (llm.Message, error) {
	m := llm.Message{Dialect: DialectResponses}
	switch role := raw.Unquote(c.Bytes(at.role)); role {
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
		here := llm.Raw{Data: c.Bytes(at.item)}
		if text, ok := assistantText(c.Bytes(at.content)); ok {
			m.Parts = []llm.Part{llm.Text{Text: text, Raw: here}}
		} else {
			m.Parts = []llm.Part{llm.Opaque{Kind: raw.Unquote(c.Bytes(at.kind)), Raw: here}}
		}
		return m, nil
	case "user":
		m.Role, m.Origin = llm.RoleUser, llm.Human
	case "system", "developer":
		m.Role, m.Origin = llm.RoleSystem, llm.Note
	default:
		what := "want user, assistant, system or developer, got " + strconv.Quote(role)
		return m, &raw.Fault{Path: "role", Offset: max(at.role.Start, at.item.Start), What: what}
	}
	if raw.IsNone(c.Bytes(at.content)) {
		what := "want a string or an array, got " + raw.KindOf(c.Bytes(at.content))
		return m, &raw.Fault{Path: "content", Offset: max(at.content.Start, at.item.Start), What: what}
	}
	parts, spans, err := decodeContent(c.At(at.content.Start))
	if err != nil {
		return m, raw.In(err, "content")
	}
	for i, s := range spans {
		spans[i] = raw.Shift(s, -at.item.Start)
	}
	m.Parts, m.Envelope = parts, llm.Envelope{Raw: c.Bytes(at.item), Spans: spans}
	return m, nil
}

// assistantText returns the texts in the content of an assistant message; false if
// there is anything else in it.
func assistantText(content []byte) (string, bool) {
	if raw.IsString(content) {
		return raw.Unquote(content), true
	}
	if !raw.IsArray(content) {
		return "", false
	}
	var text strings.Builder
	for _, s := range raw.Elements(content) {
		v := raw.Values(content[s.Start:s.End], "text", "refusal")
		switch {
		case raw.IsString(v[0]):
			text.WriteString(raw.Unquote(v[0]))
		case raw.IsString(v[1]):
			text.WriteString(raw.Unquote(v[1]))
		default:
			return "", false
		}
	}
	return text.String(), true
}

func decodeReasoning(b []byte) llm.Thinking {
	v := raw.Values(b, "summary", "content", "encrypted_content")
	t := llm.Thinking{Text: reasoningText(v[0]), Signature: raw.Unquote(v[2]), Raw: llm.Raw{Data: b}}
	if t.Text == "" {
		t.Text = reasoningText(v[1])
	}
	t.Redacted = t.Text == "" && t.Signature != ""
	return t
}

func reasoningText(array []byte) string {
	var texts []string
	for _, s := range raw.Elements(array) {
		if text := raw.Unquote(raw.Value(array[s.Start:s.End], "text")); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// argsMember returns the name and value of the member that holds what a call is made
// with: arguments of a function, input of a custom tool, action or operation of the
// tools that the API defines.
func argsMember(b []byte) (string, []byte) {
	names := []string{"arguments", "input", "action", "operation"}
	for i, v := range raw.Values(b, names...) {
		if v != nil {
			return names[i], v
		}
	}
	return names[0], nil
}

func decodeCallItem(b []byte, kind, callID string) llm.ToolCall {
	_, args := argsMember(b)
	c := llm.ToolCall{CallID: callID, Args: argsText(args), Custom: kind == "custom_tool_call", Raw: llm.Raw{Data: b}}
	if c.Name = raw.Unquote(raw.Value(b, "name")); c.Name == "" {
		c.Name = strings.TrimSuffix(kind, "_call")
	}
	return c
}

// outputContent returns the content of a result: text and media where it is a string or
// an array of elements, else one opaque part that holds it.
func outputContent(b []byte) []llm.Part {
	output := raw.Value(b, "output")
	if output != nil {
		if parts, _, err := decodeContent(raw.NewCursor(output)); err == nil {
			return parts
		}
	}
	kind := raw.Unquote(raw.Value(b, "type"))
	if output == nil {
		output = b
	}
	return []llm.Part{llm.Opaque{Kind: kind, Raw: llm.Raw{Data: output}}}
}
