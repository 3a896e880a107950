package inspect

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// What an Item is.
const (
	ItemHidden  = "hidden"  // what the client sends and does not record
	ItemSection = "section" // of the system prompt
	ItemTool    = "tool"    // a tool's definition
	ItemMessage = "message"
)

// An Item is one thing that a request sends.
type Item struct {
	Index   int    `json:"index"` // in the request, from 1
	What    string `json:"what"`
	Message int    `json:"message,omitempty"` // number of a message, from 1
	Name    string `json:"name,omitempty"`    // of a section or a tool
	Role    string `json:"role,omitempty"`
	Origin  string `json:"origin,omitempty"` // who wrote it
	Rules   bool   `json:"rules,omitempty"`  // it carries standing instructions, as AGENTS.md and CLAUDE.md do
	Line    int    `json:"line,omitempty"`
	Time    int64  `json:"time_ms,omitempty"`
	Tokens  int    `json:"tokens"`
	Bytes   int    `json:"bytes"`
	Digest  string `json:"digest,omitempty"` // of what a message says to a model
	Parts   []Part `json:"parts"`
}

// A Part is one piece of an Item.
type Part struct {
	Kind    string         `json:"kind"` // "text", "thinking", "call", "result", "media", "stub", "opaque"
	Name    string         `json:"name,omitempty"`
	CallID  string         `json:"call_id,omitempty"`
	Error   bool           `json:"error,omitempty"`
	Tokens  int            `json:"tokens"`
	By      map[string]int `json:"by"` // the same by content
	Bytes   int            `json:"bytes"`
	Ref     string         `json:"ref,omitempty"` // names the content
	Preview string         `json:"preview"`       // one line, safe to print
	Text    string         `json:"text"`          // whole, as it is
}

// A Listing is the exact content of one request.
type Listing struct {
	Schema  int    `json:"schema"`
	Session string `json:"session"`
	StepRef
	Model  string         `json:"model"`
	Tokens int            `json:"tokens"`
	Kind   string         `json:"kind"`
	By     map[string]int `json:"by"`
	Hidden Overhead       `json:"hidden"`
	Items  []Item         `json:"items"`
}

// A NoStepError says that a session has no such Step.
type NoStepError struct {
	Ref      StepRef
	Segments int // of the session
	Steps    int // of that segment; 0 if it does not exist
}

// Error names what there is.
func (e *NoStepError) Error() string {
	if e.Ref.Segment < 1 || e.Ref.Segment > e.Segments {
		return fmt.Sprintf("inspect: step: segment, want 1 to %d, got %d", e.Segments, e.Ref.Segment)
	}
	if e.Steps == 0 {
		return fmt.Sprintf("inspect: step: segment %d has no steps", e.Ref.Segment)
	}
	return fmt.Sprintf("inspect: step: segment %d, want step 1 to %d, got %d", e.Ref.Segment, e.Steps, e.Ref.Step)
}

// StepAt returns the n-th Step of a session, counted from 1 through all segments.
// The error is a [*NoStepError].
func StepAt(s *sessionfile.Session, n int) (StepRef, error) {
	left := n
	for i, g := range s.Segments {
		steps := stepsOf(g)
		if left >= 1 && left <= steps {
			return StepRef{i + 1, left}, nil
		}
		left -= steps
	}
	return StepRef{}, &NoStepError{StepRef{1, n}, 1, max(n-left, 0)}
}

// Last returns the last Step of a session. It is false for one without Steps.
func Last(s *sessionfile.Session) (StepRef, bool) {
	for i := len(s.Segments); i >= 1; i-- {
		if n := stepsOf(s.Segments[i-1]); n > 0 {
			return StepRef{i, n}, true
		}
	}
	return StepRef{}, false
}

// Before returns the Step before ref, in the segment before where ref is its
// segment's first. It is false for the first Step of a session.
func Before(s *sessionfile.Session, ref StepRef) (StepRef, bool) {
	if ref.Step > 1 {
		return StepRef{ref.Segment, ref.Step - 1}, true
	}
	for i := ref.Segment - 1; i >= 1 && i <= len(s.Segments); i-- {
		if n := stepsOf(s.Segments[i-1]); n > 0 {
			return StepRef{i, n}, true
		}
	}
	return StepRef{}, false
}

// stepsOf returns how many requests a segment made, one without a reply included.
func stepsOf(g sessionfile.Segment) int {
	if g.Final {
		return g.Steps() + 1
	}
	return g.Steps()
}

// check returns a [*NoStepError] if s has no such Step.
func (r StepRef) check(s *sessionfile.Session) error {
	e := &NoStepError{Ref: r, Segments: len(s.Segments)}
	if r.Segment >= 1 && r.Segment <= len(s.Segments) {
		e.Steps = stepsOf(s.Segments[r.Segment-1])
		if r.Step >= 1 && r.Step <= e.Steps {
			return nil
		}
	}
	return e
}

// Contents lists what one request sent. The tokens of all items add up to the Step's,
// and those of each content to what its [Step].By says.
func Contents(s *sessionfile.Session, ref StepRef, o Options) (Listing, error) {
	if err := ref.check(s); err != nil {
		return Listing{}, err
	}
	g, err := measureOne(s, ref.Segment, o)
	if err != nil {
		return Listing{}, err
	}
	st := g.steps[ref.Step-1]
	return Listing{
		Schema: Schema, Session: s.Path, StepRef: ref, Model: g.model, Tokens: st.tokens, Kind: st.kind,
		By: named(st.contents), Hidden: g.hidden, Items: g.items(st),
	}, nil
}

// items lists what a Step was sent.
func (g *segment) items(st step) []Item {
	out, raw := g.frontItems()
	for i, e := range g.Entries[:st.entry] {
		m := e.Message
		it := Item{
			What: ItemMessage, Message: i + 1, Role: m.Role.String(), Origin: m.Origin.String(), Rules: m.Flags.Has(llm.FlagRules), Line: e.Line, Time: e.Time,
			Bytes: token.SizeOf(g.counter, m).Bytes, Digest: g.digests[i].String(), Parts: make([]Part, len(m.Parts)),
		}
		for k, p := range m.Parts {
			it.Parts[k] = g.part(place{i, k}, p)
			raw = append(raw, g.sizes[i][k].Contents)
		}
		out = append(out, it)
	}
	book(out, scale(raw, st.contents))
	if out[0].Tokens == 0 {
		out = out[1:] // nothing is hidden
	}
	for i := range out {
		out[i].Index = i + 1
	}
	return out
}

// frontItems lists what stands before the messages, with the weight of each part.
func (g *segment) frontItems() ([]Item, []token.Contents) {
	out := []Item{{What: ItemHidden, Parts: []Part{{Kind: ItemHidden, Preview: "what the client sends and does not record"}}}}
	raw := []token.Contents{{token.ContentHidden: g.hidden.all()}}
	for _, sec := range g.Sections {
		size := token.SizeOfSection(g.counter, sec)
		out = append(out, Item{What: ItemSection, Name: sec.Name, Bytes: size.Bytes, Parts: []Part{{
			Kind: "text", Bytes: size.Bytes, Ref: string(llm.RefOf([]byte(sec.Text))), Preview: preview(sec.Text), Text: sec.Text,
		}}})
		var c token.Contents
		c[token.ContentOfSection(sec)] = size.All()
		raw = append(raw, c)
	}
	for i, t := range g.Tools {
		size := token.SizeOfTools(g.counter, g.Tools[i:i+1])
		text := string(t.Bytes())
		if text == "" {
			text = t.Name + "\n" + t.Description + "\n" + t.Schema
		}
		out = append(out, Item{What: ItemTool, Name: t.Name, Bytes: size.Bytes, Parts: []Part{{
			Kind: ItemTool, Name: t.Name, Bytes: size.Bytes, Ref: string(llm.RefOf([]byte(text))), Preview: preview(t.Description), Text: text,
		}}})
		raw = append(raw, token.Contents{token.ContentTools: size.All()})
	}
	return out, raw
}

// scale divides each content of total among parts, in proportion to what they have
// of it.
func scale(raw []token.Contents, total token.Contents) []token.Contents {
	out := make([]token.Contents, len(raw))
	for c := range total {
		var who, shares []int
		for i, w := range raw {
			if w[c] > 0 || c == int(token.ContentHidden) && i == 0 {
				who, shares = append(who, i), append(shares, w[c])
			}
		}
		for k, tokens := range spread(total[c], shares) {
			out[who[k]][c] = tokens
		}
	}
	return out
}

// book writes the tokens of parts, in their order.
func book(items []Item, tokens []token.Contents) {
	n := 0
	for i := range items {
		for k := range items[i].Parts {
			p := &items[i].Parts[k]
			p.Tokens, p.By = tokens[n].Total(), named(tokens[n])
			items[i].Tokens += p.Tokens
			n++
		}
	}
}

// part describes a part.
func (g *segment) part(at place, p llm.Part) Part {
	out := Part{Bytes: token.SizeOfPart(g.counter, p).Bytes}
	stored := p.Bytes()
	switch p := p.(type) {
	case llm.Text:
		out.Kind, out.Text = "text", p.Text
		stored = []byte(p.Text)
	case llm.Thinking:
		out.Kind, out.Text = "thinking", p.Text
	case llm.ToolCall:
		out.Kind, out.Name, out.CallID, out.Text = "call", p.Name, p.CallID, p.Args
	case llm.ToolResult:
		out.Kind, out.CallID, out.Error, out.Text = "result", p.CallID, p.IsError, p.Text()
		out.Name = g.callOf(at).Name
		stored = edit.Stored(p)
	case llm.Media:
		out.Kind, out.Name = "media", p.Type
	case llm.Stub:
		out.Kind, out.Text, out.Ref = "stub", p.Text, string(p.Ref)
	case llm.Opaque:
		out.Kind, out.Name, out.Text = "opaque", p.Kind, string(p.Data)
	}
	if out.Ref == "" && len(stored) > 0 {
		out.Ref = string(llm.RefOf(stored))
	}
	out.Preview = preview(out.Text)
	return out
}
