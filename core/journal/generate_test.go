package journal_test

import (
	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Every generator below draws all fields of its type, with bytes that are no
// UTF-8, empty lists and missing ones among them.

func drawBytes(t *rapid.T, label string) []byte {
	switch rapid.IntRange(0, 4).Draw(t, label+" form") {
	case 0:
		return nil
	case 1:
		return []byte{}
	case 2:
		return []byte(rapid.StringN(0, 40, -1).Draw(t, label))
	}
	return rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(t, label)
}

func drawString(t *rapid.T, label string) string { return string(drawBytes(t, label)) }

func drawInt(t *rapid.T, label string) int { return rapid.Int().Draw(t, label) }

func drawRaw(t *rapid.T) llm.Raw {
	return llm.Raw{Data: drawBytes(t, "data"), Base: drawBytes(t, "base")}
}

func drawRef(t *rapid.T) llm.Ref { return llm.RefOf(drawBytes(t, "stored")) }

// drawList returns nil, an empty list or a short one.
func drawList[T any](t *rapid.T, label string, draw func(*rapid.T) T) []T {
	n := rapid.IntRange(-1, 3).Draw(t, label+" length")
	if n < 0 {
		return nil
	}
	list := make([]T, 0, n)
	for range n {
		list = append(list, draw(t))
	}
	return list
}

func drawPart(t *rapid.T, depth int) llm.Part {
	kinds := 6
	if depth == 0 {
		kinds = 5
	}
	raw := drawRaw(t)
	switch rapid.IntRange(0, kinds).Draw(t, "part") {
	case 0:
		return llm.Text{Text: drawString(t, "text"), Raw: raw}
	case 1:
		return llm.Thinking{Text: drawString(t, "text"), Signature: drawString(t, "signature"), Redacted: rapid.Bool().Draw(t, "redacted"), Raw: raw}
	case 2:
		return llm.ToolCall{
			CallID: drawString(t, "call id"), Name: drawString(t, "name"), Args: drawString(t, "args"),
			Custom: rapid.Bool().Draw(t, "custom"), Hosted: rapid.Bool().Draw(t, "hosted"), Raw: raw,
		}
	case 3:
		return llm.Media{
			Type: drawString(t, "type"), Size: drawInt(t, "size"), Width: drawInt(t, "width"),
			Height: drawInt(t, "height"), Tokens: drawInt(t, "tokens"), Detail: drawString(t, "detail"), Raw: raw,
		}
	case 4:
		return llm.Stub{Ref: llm.Ref(drawString(t, "ref")), Text: drawString(t, "text"), Size: drawInt(t, "size"), Lines: drawInt(t, "lines"), Tokens: drawInt(t, "tokens"), Raw: raw}
	case 5:
		return llm.Opaque{Kind: drawString(t, "kind"), Loads: drawLoads(t), Compacts: drawString(t, "compacts"), Raw: raw}
	}
	content := drawList(t, "content", func(t *rapid.T) llm.Part { return drawPart(t, depth-1) })
	return llm.ToolResult{CallID: drawString(t, "call id"), Content: content, IsError: rapid.Bool().Draw(t, "error"), Loads: drawLoads(t), Raw: raw}
}

// drawMessage returns a message whose parts may lie in its envelope, and whose
// spans may also lead nowhere.
func drawMessage(t *rapid.T) llm.Message {
	m := llm.Message{
		ID:      llm.MessageID(drawInt(t, "id")),
		Role:    llm.Role(rapid.IntRange(0, 4).Draw(t, "role")),
		Origin:  llm.Origin(rapid.IntRange(0, 4).Draw(t, "origin")),
		Flags:   llm.Flags(rapid.IntRange(0, 15).Draw(t, "flags")),
		Dialect: llm.Dialect(drawString(t, "dialect")),
	}
	m.Parts = drawList(t, "parts", func(t *rapid.T) llm.Part { return drawPart(t, 1) })
	switch rapid.IntRange(0, 2).Draw(t, "envelope") {
	case 0:
		m.Envelope.Raw = drawBytes(t, "raw")
		m.Envelope.Spans = drawList(t, "spans", func(t *rapid.T) llm.Span {
			return llm.Span{Start: rapid.IntRange(-2, 50).Draw(t, "start"), End: rapid.IntRange(-2, 50).Draw(t, "end")}
		})
	case 1:
		raw := []byte(`{"parts":[`)
		for _, p := range m.Parts {
			start := len(raw)
			raw = append(raw, p.Bytes()...)
			m.Envelope.Spans = append(m.Envelope.Spans, llm.Span{Start: start, End: len(raw)})
			raw = append(raw, ',')
		}
		m.Envelope.Raw = append(raw, "]}"...)
	}
	return m
}

func drawSection(t *rapid.T) llm.Section {
	return llm.Section{
		Name: drawString(t, "name"), Kind: llm.SectionKind(rapid.IntRange(0, 4).Draw(t, "kind")), Text: drawString(t, "text"),
		Cacheable: rapid.Bool().Draw(t, "cacheable"), Tokens: drawInt(t, "tokens"), Raw: drawRaw(t),
	}
}

// drawLoads draws names of tools.
func drawLoads(t *rapid.T) []string {
	return rapid.SampledFrom([][]string{nil, {"port__dock_1"}, {"port__dock_1", "a\xffb"}}).Draw(t, "loads")
}

func drawTool(t *rapid.T) llm.Tool {
	return llm.Tool{
		Name: drawString(t, "name"), Description: drawString(t, "description"), Schema: drawString(t, "schema"),
		Builtin: rapid.Bool().Draw(t, "builtin"), Kind: llm.ToolKind(rapid.IntRange(0, 2).Draw(t, "kind")), Raw: drawRaw(t),
		Custom: rapid.Bool().Draw(t, "custom"), Deferred: rapid.Bool().Draw(t, "deferred"), Finder: rapid.Bool().Draw(t, "finder"),
	}
}

func drawEdit(t *rapid.T) edit.Edit {
	e := edit.Edit{
		ID: edit.ID(drawInt(t, "id")), Op: edit.Op(drawString(t, "op")), Kind: edit.Kind(drawString(t, "kind")),
		Span:     edit.Span{From: llm.MessageID(drawInt(t, "from")), To: llm.MessageID(drawInt(t, "to"))},
		Part:     drawInt(t, "part"),
		Notes:    drawList(t, "notes", drawMessage),
		Sections: drawList(t, "sections", drawSection),
		Refs:     drawList(t, "refs", drawRef),
		Before:   drawInt(t, "before"), After: drawInt(t, "after"), Low: drawInt(t, "low"),
		Why: drawString(t, "why"), Rule: drawString(t, "rule"),
		Supersedes: drawList(t, "supersedes", func(t *rapid.T) edit.ID { return edit.ID(drawInt(t, "old")) }),
	}
	if rapid.Bool().Draw(t, "replacement") {
		e.Replacement = drawPart(t, 1)
	}
	return e
}

func drawRecord(t *rapid.T) journal.Record {
	r := journal.Record{Kind: rapid.SampledFrom([]journal.Kind{
		journal.KindMessage, journal.KindEdit, journal.KindUsage, journal.KindRejected, journal.KindSections, journal.KindTools,
		journal.KindOffer, journal.KindPolicy, journal.KindTurnEnd, journal.KindAsk, journal.KindAnswer, journal.KindFork,
	}).Draw(t, "kind")}
	switch r.Kind {
	case journal.KindMessage:
		r.Message = drawMessage(t)
	case journal.KindEdit:
		r.Edit = drawEdit(t)
		r.Within = rapid.Make[journal.Within]().Draw(t, "within")
		if rapid.Bool().Draw(t, "reckoned") {
			w := rapid.Make[journal.Worth]().Draw(t, "worth")
			r.Worth = &w
		}
	case journal.KindUsage:
		r.Usage = rapid.Make[journal.Usage]().Draw(t, "usage")
	case journal.KindRejected:
		r.Rejected = rapid.Make[journal.Rejected]().Draw(t, "rejected")
	case journal.KindSections:
		r.Sections = drawList(t, "sections", drawSection)
	case journal.KindTools:
		r.Tools = drawList(t, "tools", drawTool)
	case journal.KindOffer:
		r.Offer = drawList(t, "offer", func(t *rapid.T) int { return rapid.IntRange(0, 600).Draw(t, "place") })
		r.Declared = rapid.Bool().Draw(t, "declared")
	case journal.KindPolicy:
		p := rapid.Make[policy.Policy]().Draw(t, "policy")
		r.Policy = &p
	case journal.KindAsk:
		r.Ask = rapid.Make[journal.Ask]().Draw(t, "ask")
		r.Ask.Kind = drawString(t, "ask kind")
	case journal.KindAnswer:
		r.Answer = journal.Answer{Ask: drawInt(t, "ask"), Text: drawString(t, "text"), Err: drawString(t, "err"), Held: drawString(t, "held")}
		if rapid.Bool().Draw(t, "calls") {
			r.Answer.Calls = journal.Calls{Target: drawString(t, "target"), Model: drawString(t, "model"), N: drawInt(t, "calls"), Usage: rapid.Make[llm.Usage]().Draw(t, "usage")}
		}
	case journal.KindFork:
		r.Fork = journal.Fork{Parent: drawString(t, "parent"), At: llm.MessageID(drawInt(t, "at"))}
	}
	return r
}
