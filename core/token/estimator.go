package token

import (
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// unit is what an estimator counts in a text.
type unit uint8

const (
	utf16s unit = iota
	bytes
	runes
	pieces // in quarter tokens
	bpes
)

// An estimator is a counter as data. A text of n units has n*num/den tokens,
// rounded as it says, and those are then scaled.
type estimator struct {
	id       string
	kind     Kind
	unit     unit
	encoding *bpe.Encoding // of unit bpes
	num, den int
	up       bool // round up
	scale    int  // permille; rounded up

	added added
	image catalog.ImageRules
	// raw tokens in 1,000 bytes of a signature, after the first ones
	signature, signatureSkip int
}

// added is what a document's estimate adds to the text.
type added struct {
	block    int    // tokens a part or prompt
	message  int    // units a message, whose parts are then rounded together
	section  int    // units a system part
	tool     int    // units a tool; the list is then rounded as one
	toolFlat int    // tokens a tool, each of whose fields is rounded alone
	media    int    // tokens a media, in place of the image rule
	ids      bool   // call ids are part of the text
	callType string // so is the type of a call
}

var (
	_ Counter     = estimator{}
	_ Sizer       = estimator{}
	_ partCounter = estimator{}
)

// ID implements Counter.
func (e estimator) ID() string { return e.id }

// Kind implements Counter.
func (e estimator) Kind() Kind { return e.kind }

// Text implements Counter.
func (e estimator) Text(s string) int {
	if s == "" {
		return 0
	}
	return e.tokens(e.units(s)) + e.added.block
}

// Message implements Counter.
func (e estimator) Message(m llm.Message) int {
	tokens, media := e.message(m)
	return tokens + media
}

// Tools implements Counter.
func (e estimator) Tools(tools []llm.Tool) int {
	if e.added.tool > 0 {
		units := 0
		for _, t := range tools {
			units += e.toolUnits(t) + e.added.tool
		}
		return e.tokens(units)
	}
	n := 0
	for _, t := range tools {
		if e.added.toolFlat > 0 {
			n += e.tokens(e.units(t.Name)) + e.tokens(e.units(t.Description)) + e.tokens(e.units(t.Schema)) + e.added.toolFlat
			continue
		}
		n += e.tokens(e.toolUnits(t))
	}
	return n
}

// Size implements Sizer.
func (e estimator) Size(m llm.Message) Size {
	size := shape(m)
	size.Tokens, size.MediaTokens = e.message(m)
	return size
}

// SizePart implements Sizer.
func (e estimator) SizePart(p llm.Part) Size {
	var size Size
	size.countPart(p)
	size.Bytes, size.More = partBytes(p), partMore(p)
	size.Tokens, size.MediaTokens = e.partTokens(p)
	return size
}

func (e estimator) partTokens(p llm.Part) (tokens, media int) {
	units, media := e.part(p)
	if !isMedia(p) {
		tokens = e.tokens(units) + e.added.block
	}
	return tokens, media
}

// SizeSection implements Sizer.
func (e estimator) SizeSection(s llm.Section) Size {
	if s.Text == "" {
		return Size{Tokens: s.Tokens, Bytes: sectionBytes(s)}
	}
	return Size{Tokens: e.tokens(e.units(s.Text)+e.added.section) + e.added.block, Bytes: sectionBytes(s)}
}

// message returns the tokens of m's text and of its media.
func (e estimator) message(m llm.Message) (tokens, media int) {
	units := e.added.message
	for _, p := range m.Parts {
		u, t := e.part(p)
		media += t
		switch {
		case e.added.message > 0:
			units += u
		case !isMedia(p):
			tokens += e.tokens(u) + e.added.block
		}
	}
	if e.added.message > 0 {
		tokens = e.tokens(units)
	}
	return tokens, media
}

// part returns the units of p's text and the tokens of its media.
func (e estimator) part(p llm.Part) (units, media int) {
	switch p := p.(type) {
	case llm.Text:
		return e.units(p.Text), 0
	case llm.Stub:
		return e.units(p.Text), 0
	case llm.Thinking:
		return max(e.units(p.Text), e.hidden(p)), 0
	case llm.ToolCall:
		units = e.units(p.Name) + e.units(p.Args)
		if e.added.ids {
			units += e.units(p.CallID) + e.units(e.added.callType)
		}
		return units, 0
	case llm.ToolResult:
		if e.added.ids {
			units = e.units(p.CallID)
		}
		for _, c := range p.Content {
			u, t := e.part(c)
			units += u
			media += t
		}
		return units, media
	case llm.Media:
		return 0, e.media(p)
	case llm.Opaque:
		if e.unit == bpes {
			return e.encoding.CountBytes(p.Data), 0
		}
		return e.units(string(p.Data)), 0
	}
	return 0, 0
}

// hidden returns the units of thinking of which at most a summary can be read:
// its signature holds the whole, enciphered, and so tells how much there was.
func (e estimator) hidden(p llm.Thinking) int {
	seen := len(p.Signature) - e.signatureSkip
	if e.signature == 0 || seen <= 0 {
		return 0
	}
	return seen * e.signature / 1000 * e.den / e.num
}

// documentBytes is how many bytes on the wire are taken for one more page of a
// document, or one more piece of another media that is not an image. Not
// measured; a page of text and pictures is seldom smaller.
const documentBytes = 100_000

// media returns the tokens of m: what its reader knows, else by the estimator's
// own constant, else by the image rules. What is not an image costs a page for each
// started 100,000 bytes.
func (e estimator) media(m llm.Media) int {
	switch {
	case e.added.media > 0:
		return e.added.media
	case m.Tokens > 0:
		return m.Tokens
	case m.IsImage() || m.Width > 0 && m.Height > 0 || m.Size <= 0:
		return e.image.Tokens(m.Width, m.Height, m.Detail)
	}
	return started(m.Size, documentBytes) * e.image.Page()
}

// toolUnits returns the units of a tool's definition. A tool that is known by
// its bytes alone, such as one that a provider runs, is counted by them.
func (e estimator) toolUnits(t llm.Tool) int {
	if t.Description == "" && t.Schema == "" {
		if raw := t.Bytes(); raw != nil {
			return e.units(string(raw))
		}
	}
	return e.units(t.Name) + e.units(t.Description) + e.units(t.Schema)
}

func (e estimator) units(s string) int {
	switch e.unit {
	case utf16s:
		return utf16Units(s)
	case runes:
		return utf8.RuneCountInString(s)
	case pieces:
		return pieceUnits(s)
	case bpes:
		return e.encoding.Count(s)
	}
	return len(s)
}

func (e estimator) tokens(units int) int {
	n := units * e.num
	if e.up {
		n += e.den - 1
	}
	n /= e.den
	if e.scale != 1000 {
		n = started(n*e.scale, 1000)
	}
	return n
}

func isMedia(p llm.Part) bool {
	_, ok := p.(llm.Media)
	return ok
}

// larger is the counter max(a,b).
type larger struct{ a, b Counter }

var (
	_ Counter     = larger{}
	_ Sizer       = larger{}
	_ partCounter = larger{}
)

// Max returns a counter that counts each thing by a and by b and takes the
// larger count. Its id is max(A,B).
func Max(a, b Counter) Counter { return larger{a, b} }

// ID implements Counter.
func (l larger) ID() string { return "max(" + l.a.ID() + "," + l.b.ID() + ")" }

// Kind implements Counter. The larger of two counts is exact only if both are.
func (l larger) Kind() Kind { return max(l.a.Kind(), l.b.Kind()) }

// Text implements Counter.
func (l larger) Text(s string) int { return max(l.a.Text(s), l.b.Text(s)) }

// Message implements Counter.
func (l larger) Message(m llm.Message) int { return l.Size(m).All() }

// Tools implements Counter.
func (l larger) Tools(t []llm.Tool) int { return max(l.a.Tools(t), l.b.Tools(t)) }

// Size implements Sizer. Text and media are compared apart.
func (l larger) Size(m llm.Message) Size { return SizeOf(l.a, m).larger(SizeOf(l.b, m)) }

// SizePart implements Sizer.
func (l larger) SizePart(p llm.Part) Size { return SizeOfPart(l.a, p).larger(SizeOfPart(l.b, p)) }

func (l larger) partTokens(p llm.Part) (tokens, media int) {
	a, b := TokensOfPart(l.a, p), TokensOfPart(l.b, p)
	return max(a.Tokens, b.Tokens), max(a.MediaTokens, b.MediaTokens)
}

// SizeSection implements Sizer.
func (l larger) SizeSection(s llm.Section) Size {
	return SizeOfSection(l.a, s).larger(SizeOfSection(l.b, s))
}
