package verify

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Kind says what a part is.
type Kind string

// The kinds.
const (
	Text     Kind = "text"
	Thinking Kind = "thinking"
	Call     Kind = "call"
	Result   Kind = "result"
	Media    Kind = "media"
	Tool     Kind = "tool"   // the definition of a tool
	Opaque   Kind = "opaque" // anything else
)

// A Part is one piece of a body.
type Part struct {
	Kind   Kind
	CallID string // of a call or a result
	Name   string // of a tool; the type of a block or the name of a member that is opaque
	Text   string // decoded: a text, a thought, the arguments of a call, the texts of a result joined by newlines
	Hosted bool   // the provider runs the call itself
	Within bool   // it came at the end of the result before it, see apart
	Raw    []byte // the part's bytes: a block, an item, a string, or a member with its name
	Value  []byte // of a text or a thought, the JSON string; of a call, the arguments; of a result, its content
}

// A Message is one element of a body's list.
type Message struct {
	Role  string
	Raw   []byte
	Parts []Part
}

// A Field is a member of a body that is none of the system prompt, the tools and
// the list of messages.
type Field struct {
	Name string
	Raw  []byte // its value
}

// A Body is a parsed request. Its bytes are shared with what it was parsed from.
type Body struct {
	System   []Part // the system prompt or instructions, where the dialect has them outside the list
	Tools    []Part
	Messages []Message
	Fields   []Field
}

// The dialects, by the names that the exports carry.
const (
	blocks = "anthropic"
	chat   = "openai-chat"
	items  = "openai-responses"
	google = "gemini"
)

// Dialects returns the names of the dialects that can be judged.
func Dialects() []string {
	return []string{blocks, chat, items, google}
}

// ErrDialect is returned for a dialect that is not one of [Dialects].
var ErrDialect = errors.New("unknown dialect")

// A dialect is what the checks need to know of a wire format.
type dialect struct {
	list    string // the member that holds the messages
	system  string // the member that holds the system prompt; empty if there is none
	message func(raw []byte) Message
	orphans func(list []*message, stored bool) []string // stored: earlier messages are kept by the provider
}

func dialectOf(name string) (dialect, error) {
	switch name {
	case blocks:
		return dialect{"messages", "system", blockMessage, blockOrphans}, nil
	case chat:
		return dialect{"messages", "", chatMessage, chatOrphans}, nil
	case items:
		return dialect{"input", "instructions", itemMessage, itemOrphans}, nil
	case google:
		return dialect{"contents", "systemInstruction", geminiMessage, blockOrphans}, nil
	}
	return dialect{}, fmt.Errorf("verify: dialect %q, want one of %s: %w", name, strings.Join(Dialects(), ", "), ErrDialect)
}

// Parse reads a request body.
func Parse(dialect string, body []byte) (Body, error) {
	d, err := dialectOf(dialect)
	if err != nil {
		return Body{}, err
	}
	f, err := d.frame(body, nil, 0)
	if err != nil {
		return Body{}, err
	}
	out := Body{System: systemParts(f.system), Tools: toolParts(f.tools), Fields: f.fields}
	for _, s := range f.each {
		out.Messages = append(out.Messages, d.message(s.of(body)))
	}
	if f.listAt < 0 {
		out.Messages = []Message{stringMessage(f.text)}
	}
	return out, nil
}

// A frame is a body taken apart at its first level.
type frame struct {
	fields []Field
	system []byte
	tools  []byte
	text   []byte  // the list, if it is a string
	before []Field // the members before the list
	listAt int     // where the list begins, -1 if it is no array
	each   []span  // its elements
}

// A framer reads a frame.
type framer struct {
	cursor
	dialect
	frame
	seen map[string]bool
}

// frame reads the first level of a body. The first same bytes of body are those of
// an earlier one, whose frame is old; what is known of them is not read again.
func (d dialect) frame(body []byte, old *frame, same int) (frame, error) {
	f := framer{cursor: cursor{b: body}, dialect: d, frame: frame{listAt: -1}, seen: map[string]bool{}}
	if old != nil && old.listAt >= 0 && old.listAt < same {
		f.resume(old, same)
		if err := f.elements(); err != nil {
			return f.frame, err
		}
	} else if err := f.take('{'); err != nil {
		return f.frame, err
	}
	for f.space() != '}' {
		if len(f.seen) > 0 {
			if err := f.take(','); err != nil {
				return f.frame, err
			}
		}
		if err := f.member(); err != nil {
			return f.frame, err
		}
	}
	f.i++
	if f.space(); f.i < len(f.b) {
		return f.frame, &SyntaxError{f.i, "the end of the body"}
	}
	if f.listAt < 0 && f.text == nil {
		return f.frame, &SyntaxError{0, "a body with " + d.list}
	}
	return f.frame, nil
}

// resume takes over what old says about the bytes before same.
func (f *framer) resume(old *frame, same int) {
	f.listAt, f.i = old.listAt, old.listAt+1
	f.seen[f.list] = true
	keep, _ := slices.BinarySearchFunc(old.each, same, func(s span, same int) int {
		if s.end <= same {
			return -1
		}
		return 1
	})
	f.each = slices.Clip(old.each[:keep])
	if keep > 0 {
		f.i = f.each[keep-1].end
	}
	for _, v := range old.before {
		f.set(v)
	}
	f.before = old.before
}

// elements reads the rest of the list.
func (f *framer) elements() error {
	for f.space() != ']' {
		if len(f.each) > 0 {
			if err := f.take(','); err != nil {
				return err
			}
		}
		if f.space() != '{' {
			return &SyntaxError{f.i, "a message"}
		}
		s, err := f.value()
		if err != nil {
			return err
		}
		f.each = append(f.each, s)
	}
	f.i++
	return nil
}

// member reads one member of the body.
func (f *framer) member() error {
	at, err := f.name()
	if err != nil {
		return err
	}
	name := unquote(at.of(f.b))
	if f.seen[name] {
		return &SyntaxError{at.start, fmt.Sprintf("%q only once", name)}
	}
	f.seen[name] = true
	if name == f.list && f.space() == '[' {
		f.listAt = f.i
		f.i++
		return f.elements()
	}
	value, err := f.value()
	if err != nil {
		return err
	}
	raw := value.of(f.b)
	if name == f.list && first(raw) != '"' {
		return &SyntaxError{value.start, "a list of messages"}
	}
	f.set(Field{name, raw})
	return nil
}

// set puts a member that is not a list in its place.
func (f *framer) set(m Field) {
	f.seen[m.Name] = true
	if f.listAt < 0 {
		f.before = append(f.before, m)
	}
	switch m.Name {
	case f.list:
		f.text = m.Raw
	case f.dialect.system:
		f.frame.system = m.Raw
	case "tools":
		f.tools = m.Raw
	default:
		f.fields = append(f.fields, m)
	}
}
