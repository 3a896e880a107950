package anthropic

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/sse"
)

// grown says which deltas continue a block.
type grown uint8

const (
	grownText grown = iota + 1
	grownThinking
	grownCall
	grownOther // any: a block that is carried and not understood
)

// String returns the delta that a block of kind g has.
func (g grown) String() string {
	switch g {
	case grownText:
		return "text_delta or citations_delta"
	case grownThinking:
		return "thinking_delta or signature_delta"
	case grownCall:
		return "input_json_delta"
	}
	return "any delta"
}

// A growing is a block that has begun and not ended.
type growing struct {
	kind      grown
	index     int      // of the part
	start     []byte   // the block as it began
	begun     llm.Part // as the block says it
	text      []byte   // so far: the text, the visible thinking or the arguments
	signature []byte
	half      []byte // the first half of a surrogate pair, until the second one comes
	citations []byte // elements of an array
	folds     []fold
	size      sse.Size
}

// A fold is a member of a block that deltas not known here continue: a string literal
// without its last quote, or a value.
type fold struct {
	name  string
	value []byte
}

// maxFolds is how many members of a block deltas that are not known here may continue. The
// API has two at most; what is beyond it is told and not kept.
const maxFolds = 8

// begin returns the block that starts as block, which it keeps, and the part to tell of.
func begin(block []byte) (*growing, llm.Part) {
	block = withText(block)
	part, _ := decodeBlock(raw.NewCursor(block))
	g := &growing{start: block, begun: part, kind: grownOther}
	here := llm.Raw{Data: block}
	switch p := part.(type) {
	case llm.Text:
		g.kind, g.text = grownText, []byte(p.Text)
		return g, llm.Text{Raw: here}
	case llm.Thinking:
		if p.Redacted {
			return g, p
		}
		g.kind, g.text, g.signature = grownThinking, []byte(p.Text), []byte(p.Signature)
		return g, llm.Thinking{Raw: here}
	case llm.ToolCall:
		g.kind = grownCall
		p.Args = ""
		return g, p
	}
	return g, part
}

// withText returns block with the empty text that some gateways leave out.
func withText(block []byte) []byte {
	v := raw.Values(block, "type", "text", "thinking")
	switch {
	case raw.Named(v[0], "text") && raw.IsNone(v[1]):
		return raw.Set(block, "text", []byte(`""`))
	case raw.Named(v[0], "thinking") && raw.IsNone(v[2]):
		return raw.Set(block, "thinking", []byte(`""`))
	}
	return block
}

// accepts returns what d continues: the kind to tell of and the string literal with the
// text. The error says that d is none of this block's.
func (g *growing) accepts(d *wireDelta) (kind llm.DeltaKind, lit []byte, err error) {
	of := g.kind
	switch string(d.kind) {
	case "text_delta":
		kind, lit, of = llm.DeltaText, d.text, grownText
	case "thinking_delta":
		kind, lit, of = llm.DeltaText, d.thinking, grownThinking
	case "signature_delta":
		kind, lit, of = llm.DeltaSignature, d.signature, grownThinking
	case "input_json_delta":
		kind, lit, of = llm.DeltaArgs, d.args, grownCall
	default:
		kind = llm.DeltaOther
	}
	switch {
	case !raw.IsObject(d.whole):
		return 0, nil, raw.In(raw.Wrong("an object", d.whole), "delta")
	case g.kind == grownOther:
		return llm.DeltaOther, nil, nil
	case of != g.kind:
		return 0, nil, fmt.Errorf("content_block_delta of part %d, want %v, got %s", g.index, g.kind, d.kind)
	case kind != llm.DeltaOther && !raw.IsString(lit) && !raw.IsNone(lit):
		return 0, nil, raw.In(raw.Wrong("a string", lit), "delta")
	}
	return kind, lit, nil
}

// grow adds the text of lit and returns it. Some gateways cut between the two escapes of
// a surrogate pair; the first waits for the second.
func (g *growing) grow(kind llm.DeltaKind, lit []byte) string {
	if kind == llm.DeltaSignature {
		s := raw.Unquote(lit)
		g.signature = append(g.signature, s...)
		return s
	}
	if len(lit) < 2 {
		return ""
	}
	if len(g.half) > 0 {
		lit = bytes.Join([][]byte{{'"'}, g.half, lit[1:]}, nil)
		g.half = g.half[:0]
	}
	if cut := len(lit) - 1 - len(`\ud83d`); halfPair(lit, cut) {
		g.half = append(g.half, lit[cut:len(lit)-1]...)
		lit = append(bytes.Clone(lit[:cut]), '"')
	}
	s := raw.Unquote(lit)
	g.text = append(g.text, s...)
	return s
}

// halfPair reports whether the escape of a pair's first half stands at place at of lit.
func halfPair(lit []byte, at int) bool {
	if at < 1 || lit[at] != '\\' || lit[at+1] != 'u' || lit[at+2]|0x20 != 'd' {
		return false
	}
	switch lit[at+3] {
	case '8', '9', 'a', 'b', 'A', 'B':
	default:
		return false
	}
	before := 0
	for i := at - 1; i > 0 && lit[i] == '\\'; i-- {
		before++
	}
	return before%2 == 0
}

// fold keeps what a delta that has no form among the neutral ones says: a citation, or
// members that continue the block's members of the same name, as all deltas of the
// format but input_json_delta do.
func (g *growing) fold(d *wireDelta) {
	switch {
	case string(d.kind) == "citations_delta" && len(d.citation) > 0:
		if len(g.citations) > 0 {
			g.citations = append(g.citations, ',')
		}
		g.citations = append(g.citations, d.citation...)
		return
	case string(d.kind) == "input_json_delta":
		g.text = append(g.text, raw.Unquote(d.args)...)
		return
	}
	for k, v := range raw.Members(d.whole) {
		name, value := string(raw.Name(d.whole[k.Start:k.End])), d.whole[v.Start:v.End]
		if name != "type" && !raw.IsNone(value) {
			g.foldMember(name, value)
		}
	}
}

func (g *growing) foldMember(name string, value []byte) {
	at := 0
	for at < len(g.folds) && g.folds[at].name != name {
		at++
	}
	if at == len(g.folds) {
		if at == maxFolds {
			return
		}
		old := bytes.Clone(raw.Value(g.start, name))
		g.folds = append(g.folds, fold{name: name, value: bytes.TrimSuffix(old, []byte(`"`))})
	}
	f := &g.folds[at]
	if raw.IsString(f.value) && raw.IsString(value) {
		f.value = append(f.value, value[1:len(value)-1]...)
		return
	}
	f.value = bytes.TrimSuffix(bytes.Clone(value), []byte(`"`))
}

// rest returns what the end of the block tells that no delta has: the half of a pair
// that stays alone, and the arguments of a call that has no delta, {} if it takes none
// (bifrost-3443).
func (g *growing) rest() (llm.DeltaKind, string) {
	if len(g.half) > 0 {
		g.text = utf8.AppendRune(g.text, utf8.RuneError)
		if g.kind == grownCall {
			return llm.DeltaArgs, string(utf8.RuneError)
		}
		return llm.DeltaText, string(utf8.RuneError)
	}
	if c, ok := g.begun.(llm.ToolCall); ok && len(g.text) == 0 {
		g.text = append(g.text, c.Args...)
		if len(g.text) == 0 {
			g.text = append(g.text, "{}"...)
		}
		return llm.DeltaArgs, string(g.text)
	}
	return 0, ""
}

// part returns the block as a reply that was not streamed would have it.
func (g *growing) part() llm.Part {
	data := g.start
	for _, f := range g.folds {
		value := f.value
		if raw.IsString(value) {
			value = append(value, '"')
		}
		data = raw.Set(data, f.name, value)
	}
	if len(g.citations) > 0 {
		data = raw.Set(data, "citations", g.allCitations())
	}
	switch g.kind {
	case grownText:
		data = set(data, "text", g.text)
		return llm.Text{Text: string(g.text), Raw: llm.Raw{Data: data}}
	case grownThinking:
		data = set(set(data, "thinking", g.text), "signature", g.signature)
		return llm.Thinking{Text: string(g.text), Signature: string(g.signature), Raw: llm.Raw{Data: data}}
	case grownCall:
		c, _ := g.begun.(llm.ToolCall)
		if args := string(g.text); args != c.Args {
			c.Args, data = args, raw.Set(data, "input", raw.Arguments(args))
		}
		c.Data = data
		return c
	}
	if len(g.text) > 0 {
		data = raw.Set(data, "input", raw.Arguments(string(g.text)))
	}
	if o, ok := g.begun.(llm.Opaque); ok {
		o.Data = data // whatever the deltas made of it, it is what it began as
		o.Compacts = compactsOf(o.Kind, data)
		return o
	}
	part, _ := decodeBlock(raw.NewCursor(data))
	return part
}

func (g *growing) allCitations() []byte {
	all := []byte{'['}
	if old := raw.Trim(raw.Value(g.start, "citations")); raw.IsArray(old) && len(raw.Elements(old)) > 0 {
		all = append(append(all, raw.Trim(old[1:len(old)-1])...), ',')
	}
	return append(append(all, g.citations...), ']')
}

// set returns data with a text in one member; a member that is not there and would be
// empty is not added.
func set(data []byte, name string, text []byte) []byte {
	if len(text) == 0 {
		return data
	}
	return raw.Set(data, name, raw.Quote(string(text)))
}
