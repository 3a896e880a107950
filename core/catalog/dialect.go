package catalog

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Dialect says what one wire format can carry of a conversation that another one
// wrote. What is not in it, thinking, calls that a provider ran itself and opaque
// parts, belongs to the format that wrote it and is always dropped.
type Dialect struct {
	Name           llm.Dialect
	CallID         NameRule
	ToolName       NameRule
	Image          Fate // of images, documents and sound in messages
	ImageLink      Fate // of images that are an address, in messages and results
	LinkTyped      bool // an address goes with its media type, and not without
	Document       Fate
	DocumentLink   Fate // of documents that are an address
	Audio          Fate
	ResultImage    Fate // of images and documents in tool results
	ResultDocument Fate
	FreeText       Fate // of calls of tools that take free text instead of JSON
	MidSystem      Fate // of system messages inside the conversation
	ErrorFlag      Fate // of the mark that a tool result is an error
	ToolChoice     Fate // of the demand that tools are called or not
	Stops          int  // most stop sequences of a request; -1 if there is no limit
	Temperature    int  // highest temperature, in thousandths
	Output         int  // tokens of output that a request states where nobody says how many; 0 if it need not
}

// A Fate is what becomes of something in another wire format.
type Fate uint8

// The fates. The zero Fate is that of a format that is not known.
const (
	Drop Fate = iota // left out
	Note             // the nearest form, or a line of text in its place
	Keep             // carried as it is
)

// String returns the word that the table has for f.
func (f Fate) String() string { return [...]string{"drop", "note", "keep"}[min(f, Keep)] }

// A NameRule says which names a format takes.
type NameRule struct {
	Extra  string // characters besides ASCII letters and digits
	Any    bool   // every character
	Letter bool   // the first one is an ASCII letter or _
	Max    int    // bytes; 0 if there is no limit
}

// Allows reports whether name fits r. An empty name never does.
func (r NameRule) Allows(name string) bool {
	if name == "" || r.Max > 0 && len(name) > r.Max {
		return false
	}
	if c := name[0]; r.Letter && c != '_' && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
		return false
	}
	return r.Any || !strings.ContainsFunc(name, func(c rune) bool { return !r.takes(c) })
}

func (r NameRule) takes(c rune) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune(r.Extra, c)
}

// Dialect returns what is known about the format of that name.
func (c Catalog) Dialect(name llm.Dialect) (Dialect, bool) {
	i := slices.IndexFunc(c.dialects, func(d Dialect) bool { return d.Name == name })
	if i < 0 {
		return Dialect{}, false
	}
	return c.dialects[i], true
}

func readDialect(r *row) Dialect {
	tool := readNameRule(r, 3)
	tool.Letter = r.text(19) == "name"
	return Dialect{
		Name: llm.Dialect(r.text(0)), CallID: readNameRule(r, 1), ToolName: tool,
		Image: readFate(r, 5), Document: readFate(r, 6), DocumentLink: readFate(r, 7), Audio: readFate(r, 8),
		ResultImage: readFate(r, 9), ResultDocument: readFate(r, 10), FreeText: readFate(r, 11),
		MidSystem: readFate(r, 12), ErrorFlag: readFate(r, 13), ToolChoice: readFate(r, 14),
		Stops: readStops(r, 15), Temperature: r.number(16), Output: r.number(17),
		ImageLink: readLink(r, 18), LinkTyped: r.text(18) == typed,
	}
}

// typed is the word for addresses that are carried with their media type only.
const typed = "typed"

func readLink(r *row, i int) Fate {
	if r.text(i) == typed {
		return Keep
	}
	return readFate(r, i)
}

func readNameRule(r *row, i int) NameRule {
	extra := r.text(i)
	if extra == "any" {
		return NameRule{Any: true, Max: r.number(i + 1)}
	}
	return NameRule{Extra: extra, Max: r.number(i + 1)}
}

func readStops(r *row, i int) int {
	if r.text(i) == "any" {
		return -1
	}
	return r.number(i)
}

func readFate(r *row, i int) Fate {
	for f := Drop; f <= Keep; f++ {
		if r.text(i) == f.String() {
			return f
		}
	}
	r.fail("fate", "keep, note or drop", r.text(i))
	return Drop
}
