package journal

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The kinds of part, as they are written.
const (
	partText     = "text"
	partThinking = "thinking"
	partCall     = "tool_call"
	partResult   = "tool_result"
	partMedia    = "media"
	partStub     = "stub"
	partOpaque   = "opaque"
)

// partKinds lists them.
var partKinds = []string{partText, partThinking, partCall, partResult, partMedia, partStub, partOpaque}

// part is any part of a message as it is written.
type part struct {
	Kind      string  `json:"kind"`
	CallID    string  `json:"call_id,omitempty"`
	Name      string  `json:"name,omitempty"`
	Args      string  `json:"args,omitempty"`
	Custom    bool    `json:"custom,omitempty"`
	Hosted    bool    `json:"hosted,omitempty"`
	IsError   bool    `json:"is_error,omitempty"`
	Type      string  `json:"type,omitempty"` // of media; the Kind of an opaque part
	Ref       string  `json:"ref,omitempty"`
	Text      string  `json:"text,omitempty"`
	Signature string  `json:"signature,omitempty"`
	Redacted  bool    `json:"redacted,omitempty"`
	Size      int     `json:"size,omitempty"`
	Width     int     `json:"width,omitempty"`
	Height    int     `json:"height,omitempty"`
	Tokens    int     `json:"tokens,omitempty"`
	Detail    string  `json:"detail,omitempty"`
	Lines     int     `json:"lines,omitempty"`
	Loads     string  `json:"loads,omitempty"` // names, one a line
	Compacts  string  `json:"compacts,omitempty"`
	Content   []part  `json:"content,omitzero"`
	Data      *string `json:"data,omitempty"`
	In        *place  `json:"in,omitempty"`
	Base      *string `json:"base,omitempty"`
	B64       odd     `json:"b64,omitempty"`
}

// A place is a half-open range, written as [start,end].
type place [2]int

// leastPlaced is the length in bytes from which a place is shorter than what
// lies there.
const leastPlaced = 16

// partOf writes p. hint is where in the enclosing bytes p's own bytes are
// expected to lie.
func partOf(p llm.Part, enclosing []byte, hint llm.Span) (part, error) {
	var w part
	var raw llm.Raw
	switch p := p.(type) {
	case llm.Text:
		w, raw = part{Kind: partText}, p.Raw
		w.Text = w.B64.put("text", p.Text)
	case llm.Thinking:
		w, raw = part{Kind: partThinking, Redacted: p.Redacted}, p.Raw
		w.Text, w.Signature = w.B64.put("text", p.Text), w.B64.put("signature", p.Signature)
	case llm.ToolCall:
		w, raw = part{Kind: partCall, Custom: p.Custom, Hosted: p.Hosted}, p.Raw
		w.CallID, w.Name, w.Args = w.B64.put("call_id", p.CallID), w.B64.put("name", p.Name), w.B64.put("args", p.Args)
	case llm.ToolResult:
		w, raw = part{Kind: partResult, IsError: p.IsError}, p.Raw
		w.CallID, w.Loads = w.B64.put("call_id", p.CallID), w.B64.put("loads", strings.Join(p.Loads, "\n"))
		content, err := contentOf(p)
		if err != nil {
			return part{}, err
		}
		w.Content = content
	case llm.Media:
		w, raw = part{Kind: partMedia, Size: p.Size, Width: p.Width, Height: p.Height, Tokens: p.Tokens}, p.Raw
		w.Type, w.Detail = w.B64.put("type", p.Type), w.B64.put("detail", p.Detail)
	case llm.Stub:
		w, raw = part{Kind: partStub, Size: p.Size, Lines: p.Lines, Tokens: p.Tokens}, p.Raw
		w.Ref, w.Text = w.B64.put("ref", string(p.Ref)), w.B64.put("text", p.Text)
	case llm.Opaque:
		w, raw = part{Kind: partOpaque}, p.Raw
		w.Type, w.Loads = w.B64.put("type", p.Kind), w.B64.put("loads", strings.Join(p.Loads, "\n"))
		w.Compacts = w.B64.put("compacts", p.Compacts)
	default:
		return part{}, fmt.Errorf("part, want one of package llm, got %T", p)
	}
	if at, ok := find(raw.Data, enclosing, hint); ok {
		w.In = &at
	} else {
		w.Data = w.B64.putBytes("data", raw.Data)
	}
	w.Base = w.B64.putBytes("base", raw.Base)
	return w, nil
}

// contentOf writes the contents of r, whose bytes usually lie in r's own, in order.
func contentOf(r llm.ToolResult) ([]part, error) {
	if r.Content == nil {
		return nil, nil
	}
	out := make([]part, 0, len(r.Content))
	from := 0
	for i, c := range r.Content {
		data := bytesOf(c)
		var hint llm.Span
		if n := bytes.Index(r.Data[from:], data); n >= 0 && len(data) >= leastPlaced {
			hint = llm.Span{Start: from + n, End: from + n + len(data)}
			from = hint.End
		}
		w, err := partOf(c, r.Data, hint)
		if err != nil {
			return nil, fmt.Errorf("content %d: %w", i, err)
		}
		out = append(out, w)
	}
	return out, nil
}

// bytesOf is p.Bytes for a part that may be missing.
func bytesOf(p llm.Part) []byte {
	if p == nil {
		return nil
	}
	return p.Bytes()
}

// find returns the place of data in enclosing, if it is the one expected.
func find(data, enclosing []byte, hint llm.Span) (place, bool) {
	if len(data) < leastPlaced || hint.Start < 0 || hint.End > len(enclosing) || hint.Start > hint.End {
		return place{}, false
	}
	if !bytes.Equal(enclosing[hint.Start:hint.End], data) {
		return place{}, false
	}
	return place{hint.Start, hint.End}, true
}

// part reads w, whose bytes may lie in the enclosing ones.
func (w part) part(enclosing []byte) (llm.Part, error) {
	raw, err := w.raw(enclosing)
	if err != nil {
		return nil, err
	}
	text, typ, callID := w.B64.get("text", w.Text), w.B64.get("type", w.Type), w.B64.get("call_id", w.CallID)
	switch w.Kind {
	case partText:
		return llm.Text{Text: text, Raw: raw}, nil
	case partThinking:
		return llm.Thinking{Text: text, Signature: w.B64.get("signature", w.Signature), Redacted: w.Redacted, Raw: raw}, nil
	case partCall:
		return llm.ToolCall{
			CallID: callID, Name: w.B64.get("name", w.Name), Args: w.B64.get("args", w.Args),
			Custom: w.Custom, Hosted: w.Hosted, Raw: raw,
		}, nil
	case partResult:
		content, err := readParts(w.Content, raw.Data)
		if err != nil {
			return nil, fmt.Errorf("content %w", err)
		}
		return llm.ToolResult{CallID: callID, Content: content, IsError: w.IsError, Loads: w.loads(), Raw: raw}, nil
	case partMedia:
		return llm.Media{
			Type: typ, Size: w.Size, Width: w.Width, Height: w.Height, Tokens: w.Tokens, Detail: w.B64.get("detail", w.Detail), Raw: raw,
		}, nil
	case partStub:
		return llm.Stub{Ref: llm.Ref(w.B64.get("ref", w.Ref)), Text: text, Size: w.Size, Lines: w.Lines, Tokens: w.Tokens, Raw: raw}, nil
	case partOpaque:
		return llm.Opaque{Kind: typ, Loads: w.loads(), Compacts: w.B64.get("compacts", w.Compacts), Raw: raw}, nil
	}
	return nil, fmt.Errorf("part, want a known kind, got %.40q", w.Kind)
}

// loads returns the names of the tools that w loads.
func (w part) loads() []string {
	names := w.B64.get("loads", w.Loads)
	if names == "" {
		return nil
	}
	return strings.Split(names, "\n")
}

func (w part) raw(enclosing []byte) (llm.Raw, error) {
	raw := llm.Raw{Data: w.B64.getBytes("data", w.Data), Base: w.B64.getBytes("base", w.Base)}
	if w.In == nil {
		return raw, nil
	}
	start, end := w.In[0], w.In[1]
	if start < 0 || start > end || end > len(enclosing) {
		return llm.Raw{}, fmt.Errorf("place, want one within %d bytes, got [%d,%d]", len(enclosing), start, end)
	}
	raw.Data = enclosing[start:end:end]
	return raw, nil
}

// readParts reads ws. Its errors start with the number of the part.
func readParts(ws []part, enclosing []byte) ([]llm.Part, error) {
	if ws == nil {
		return nil, nil
	}
	out := make([]llm.Part, 0, len(ws))
	for i, w := range ws {
		p, err := w.part(enclosing)
		if err != nil {
			return nil, fmt.Errorf("%d: %w", i, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func isThinking(p llm.Part) bool {
	_, ok := p.(llm.Thinking)
	return ok
}
