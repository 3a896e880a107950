package ground

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Kind says what a span is.
type Kind uint8

// The kinds.
const (
	Path   Kind = iota // of a file or folder
	Ident              // an identifier that looks like one
	Line               // of text that an edit replaces or puts its change beside
	Quoted             // a string in quotes
	Number             // of four digits and more, not a round one
	Hash               // seven hexadecimal digits and more, or a UUID
	URL                // with its scheme
)

// Kinds returns all kinds in their order.
func Kinds() []Kind { return []Kind{Path, Ident, Line, Quoted, Number, Hash, URL} }

// String returns the kind's name in reports.
func (k Kind) String() string {
	names := [...]string{"path", "ident", "line", "quoted", "number", "hash", "url"}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// A Span is a text in a call's arguments that can only be right if it was known.
type Span struct {
	Kind  Kind
	Text  string
	words []uint32 // of Text, sorted; a text that says it has all of them
}

// SpanOf returns a text as a span, to be searched for.
func SpanOf(k Kind, text string) Span {
	return Span{Kind: k, Text: text, words: slices.Clip(wordsOf(nil, text))}
}

// Spans returns the spans in the arguments of a call, each once, in the order in which
// they stand there.
func Spans(c llm.ToolCall) []Span {
	var e extractor
	for _, a := range leaves(c.Args) {
		e.argument(a)
	}
	return e.spans
}

// Names returns the names in a text, each once, in the order in which they stand there:
// spans of all kinds but lines and quoted strings.
func Names(text string) []Span {
	var e extractor
	e.names(text)
	return e.spans
}

// An extractor gathers spans.
type extractor struct {
	spans []Span
	seen  map[string]bool // texts of spans
}

func (e *extractor) add(k Kind, text string) {
	if !e.seen[text] {
		if e.seen == nil {
			e.seen = map[string]bool{}
		}
		e.seen[text] = true
		e.spans = append(e.spans, SpanOf(k, text))
	}
}

// argument looks at one value of a call's arguments.
func (e *extractor) argument(a leaf) {
	switch name := squeezed(a.name); {
	case isWritten(name):
	case isOldText(name):
		for l := range strings.Lines(a.text) {
			e.line(l)
		}
	case strings.Contains(a.text, patchBegin):
		before, patch, _ := strings.Cut(a.text, patchBegin)
		e.text(before)
		e.patch(patch)
	default:
		e.text(a.text)
	}
}

// text looks at a command, a pattern, a path, or what is written.
func (e *extractor) text(text string) {
	e.names(text)
	e.quoted(text)
}

// The bounds of a line: shorter ones, or of one word, stand in any file.
const (
	leastLine      = 12
	leastLineWords = 2
)

// line looks at a line of a file.
func (e *extractor) line(l string) {
	if l = strings.TrimSpace(l); len(l) >= leastLine && len(strings.Fields(l)) >= leastLineWords {
		e.add(Line, l)
	}
}

// The form of the patch tools.
const patchBegin = "*** Begin Patch"

// patch looks at the lines of a patch: those around a change and those that it takes out
// are lines of the file, what it adds is written.
func (e *extractor) patch(patch string) {
	for l := range strings.Lines(patch) {
		switch {
		case strings.HasPrefix(l, "*** "):
			e.names(l)
		case strings.HasPrefix(l, "@@"):
			e.line(strings.Trim(l, "@ \r\n"))
		case strings.HasPrefix(l, " "), strings.HasPrefix(l, "-"):
			e.line(l[1:])
		case strings.HasPrefix(l, "+"):
			e.text(l[1:])
		}
	}
}

// squeezed returns a name in lower case, without separators.
func squeezed(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '_' || r == '-':
			return -1
		case 'A' <= r && r <= 'Z':
			return r + ('a' - 'A')
		}
		return r
	}, name)
}

// isWritten reports whether an argument is what a model says, and refers to nothing:
// what a call is for, and how long it may take.
func isWritten(squeezed string) bool {
	switch squeezed {
	case "description", "explanation", "justification", "timeout", "timeoutms", "yieldtimems", "maxoutputtokens":
		return true
	}
	return false
}

// isOldText reports whether an argument is text that stands in a file and is to be
// replaced.
func isOldText(squeezed string) bool {
	return squeezed == "oldstring" || squeezed == "oldstr" || squeezed == "oldtext"
}
