package openai

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
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
// compaction items, else that which [wire.Said] finds.
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

// The members of an item that are looked at here; those with arguments in their order of
// precedence.
const (
	itemType = iota
	itemRole
	itemContent
	itemCallID
	itemName
	itemOutput
	itemArguments
	itemInput
	itemAction
	itemOperation
	itemMembers // how many there are
)

var itemNames = [itemMembers]string{
	"type", "role", "content", "call_id", "name", "output", "arguments", "input", "action", "operation",
}

// itemPlaces are where an item lies and the values of its members, of zero length for what
// is not there.
type itemPlaces struct {
	item llm.Span
	at   [itemMembers]llm.Span
}

func placesOf(c *raw.Cursor) itemPlaces {
	var p itemPlaces
	start := c.Pos()
	c.Object(func(name []byte) {
		for i, known := range itemNames {
			if string(name) == known {
				p.at[i] = c.Skip(c.Pos())
				return
			}
		}
	})
	p.item = c.Since(start)
	return p
}

// decodeItem reads the item at c and returns its place too.
func decodeItem(c *raw.Cursor) (llm.Message, llm.Span, error) {
	p := placesOf(c)
	b := c.Bytes(p.item)
	kind, callID := word(c.Bytes(p.at[itemType])), c.Bytes(p.at[itemCallID])
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: DialectResponses}
	here := llm.Raw{Data: b}
	switch {
	case string(kind) == "message" || len(kind) == 0 && raw.IsString(c.Bytes(p.at[itemRole])):
		m, err := decodeMessageItem(c, p)
		return m, p.item, err
	case string(kind) == "reasoning":
		m.Parts = []llm.Part{decodeReasoning(b)}
	case bytes.HasSuffix(kind, []byte("_call")) && raw.IsString(callID):
		m.Parts = []llm.Part{decodeCallItem(c, p)}
	case string(kind) == "web_search_call":
		args := string(c.Bytes(p.at[itemAction]))
		m.Parts = []llm.Part{llm.ToolCall{CallID: raw.Unquote(raw.Value(b, "id")), Name: "web_search", Args: args, Hosted: true, Raw: here}}
	case bytes.HasSuffix(kind, []byte("_output")) && raw.IsString(callID):
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
		m.Parts = []llm.Part{llm.ToolResult{CallID: raw.Unquote(callID), Content: outputContent(c, p), Raw: here}}
	default:
		m = opaqueItem(m, raw.Unquote(c.Bytes(p.at[itemType])), here)
	}
	return m, p.item, nil
}

// opaqueItem returns m with an item that is carried only.
func opaqueItem(m llm.Message, kind string, here llm.Raw) llm.Message {
	m.Parts = []llm.Part{llm.Opaque{Kind: kind, Compacts: compactsOf(kind, here.Data), Raw: here}}
	if standsAlone(kind) {
		m.Origin = llm.Note
	}
	if kind == "compaction" || kind == "compaction_summary" {
		m.Flags = llm.FlagSummary
	}
	return m
}

// maker is the provider of this format by name.
const maker = "openai"

// compactsOf returns who reads an item b that stands for all before it.
func compactsOf(kind string, b []byte) string {
	if (kind == "compaction" || kind == "compaction_summary") && raw.IsString(raw.Value(b, "encrypted_content")) {
		return maker
	}
	return ""
}

// standsAlone reports whether an item of this type is a message of its own and not one
// part of what the model wrote.
func standsAlone(kind string) bool {
	return strings.Contains(kind, "compaction") || kind == "mcp_approval_response"
}

// decodeMessageItem reads an item that is a message, which c has passed.
func decodeMessageItem(c *raw.Cursor, p itemPlaces) (llm.Message, error) {
	m := llm.Message{Dialect: DialectResponses}
	role, content := c.Bytes(p.at[itemRole]), c.Bytes(p.at[itemContent])
	switch string(word(role)) {
	case "assistant":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
		here := llm.Raw{Data: c.Bytes(p.item)}
		if text, ok := assistantText(content); ok {
			m.Parts = []llm.Part{llm.Text{Text: text, Raw: here}}
		} else {
			m.Parts = []llm.Part{llm.Opaque{Kind: raw.Unquote(c.Bytes(p.at[itemType])), Raw: here}}
		}
		return m, nil
	case "user":
		m.Role = llm.RoleUser
	case "system", "developer":
		m.Role, m.Origin = llm.RoleSystem, llm.Note
	default:
		what := "want user, assistant, system or developer, got " + strconv.Quote(raw.Unquote(role))
		return m, &raw.Fault{Path: "role", Offset: max(p.at[itemRole].Start, p.item.Start), What: what}
	}
	if raw.IsNone(content) {
		what := "want a string or an array, got " + raw.KindOf(content)
		return m, &raw.Fault{Path: "content", Offset: max(p.at[itemContent].Start, p.item.Start), What: what}
	}
	var found pieces
	if err := found.content(c.At(p.at[itemContent].Start)); err != nil {
		return m, raw.In(err, "content")
	}
	for i, s := range found.spans {
		found.spans[i] = raw.Shift(s, -p.item.Start)
	}
	m.Parts, m.Envelope = found.parts, llm.Envelope{Raw: c.Bytes(p.item), Spans: found.spans}
	if m.Role == llm.RoleUser {
		m = wire.Said(m)
	}
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
	var texts []string
	textOnly := true
	c := raw.NewCursor(content)
	c.Array(func(int) bool {
		var text, refusal []byte
		c.Object(func(name []byte) {
			switch string(name) {
			case "text":
				text = c.Value()
			case "refusal":
				refusal = c.Value()
			}
		})
		if !raw.IsString(text) {
			text = refusal
		}
		textOnly = raw.IsString(text)
		texts = append(texts, raw.Unquote(text))
		return textOnly
	})
	if !textOnly {
		return "", false
	}
	return strings.Join(texts, ""), true
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

// decodeCallItem reads a call, which c has passed.
func decodeCallItem(c *raw.Cursor, p itemPlaces) llm.ToolCall {
	kind := word(c.Bytes(p.at[itemType]))
	call := llm.ToolCall{
		CallID: raw.Unquote(c.Bytes(p.at[itemCallID])),
		Name:   raw.Unquote(c.Bytes(p.at[itemName])),
		Custom: string(kind) == "custom_tool_call",
		Raw:    llm.Raw{Data: c.Bytes(p.item)},
	}
	for _, at := range p.at[itemArguments:] {
		if at.Len() > 0 {
			call.Args = argsText(c.Bytes(at))
			break
		}
	}
	if call.Name == "" {
		call.Name = strings.TrimSuffix(string(kind), "_call")
	}
	return call
}

// outputContent returns the content of a result, which c has passed: text and media where
// it is a string or an array of elements, else one opaque part that holds it.
func outputContent(c *raw.Cursor, p itemPlaces) []llm.Part {
	at := p.at[itemOutput]
	data := c.Bytes(at)
	if raw.IsString(data) {
		return []llm.Part{stringPart(data)}
	}
	var found pieces
	if at.Len() == 0 {
		data = c.Bytes(p.item)
	} else if found.content(c.At(at.Start)) == nil {
		return found.parts
	}
	return []llm.Part{llm.Opaque{Kind: raw.Unquote(c.Bytes(p.at[itemType])), Raw: llm.Raw{Data: data}}}
}
