package prefix

import (
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Mark says where a client wants the cache to be written, and for how long.
type Mark uint8

// The marks.
const (
	NoMark    Mark = iota
	MarkShort      // five minutes
	MarkLong       // one hour
)

// A Block is one piece of a prompt: a tool, a piece of the system prompt, or a part of a
// message.
type Block struct {
	Digest Digest // of everything up to the end of the block
	Tokens int    // of everything up to the end of the block
	Mark   Mark
}

// A Prompt is what the model reads, in the order in which it reads it: tools, system
// prompt, messages.
type Prompt []Block

// Tokens returns the tokens of the whole prompt.
func (p Prompt) Tokens() int {
	if len(p) == 0 {
		return 0
	}
	return p[len(p)-1].Tokens
}

// Of returns the prompt of r, counted by c. What r asks for that changes how messages are
// read, such as a forced tool, is given as salt: it stands between system prompt and
// messages and costs nothing.
func Of(r llm.Request, c token.Counter, salt string) Prompt {
	b := builder{w: newWriter(false), count: c}
	b.tools(atOnce(r.Tools))
	b.deferred = r.Tools
	for _, s := range r.Sections {
		b.w.text("section", s.Text)
		b.add(c.Text(s.Text), markOf(s.Data))
	}
	b.w.text("salt", salt)
	for _, m := range r.Messages {
		b.message(m)
	}
	if automatic := markOf(r.Frame.Raw); automatic != NoMark && len(b.out) > 0 {
		b.out[len(b.out)-1].Mark = automatic
	}
	return b.out
}

type builder struct {
	w      writer
	count  token.Counter
	tokens int
	out    Prompt

	deferred []llm.Tool // among them those that wait until they are found
}

// atOnce returns the tools that stand before all else: those that wait do not.
func atOnce(tools []llm.Tool) []llm.Tool {
	return slices.DeleteFunc(slices.Clone(tools), func(t llm.Tool) bool { return t.Deferred })
}

// loaded returns the tokens of the definitions that stand in the place of a part, and writes them.
func (b *builder) loaded(p llm.Part) int {
	tokens := 0
	for _, name := range llm.Loads(llm.Message{Parts: []llm.Part{p}}) {
		i := slices.IndexFunc(b.deferred, func(t llm.Tool) bool { return t.Deferred && t.Name == name })
		if i >= 0 {
			b.w.text("tool", name, b.w.json(string(b.deferred[i].Data)))
			tokens += b.count.Tools(b.deferred[i : i+1])
		}
	}
	return tokens
}

func (b *builder) add(tokens int, m Mark) {
	b.tokens += max(tokens, 0)
	b.out = append(b.out, Block{Digest: b.w.sum(), Tokens: b.tokens, Mark: m})
}

// tools adds a block a tool. What the counter adds for a list as a whole goes to the last.
func (b *builder) tools(tools []llm.Tool) {
	rest := b.count.Tools(tools)
	for i, t := range tools {
		b.w.text("tool", t.Name, b.w.json(string(t.Data)))
		n := rest
		if i < len(tools)-1 {
			n = min(b.count.Tools(tools[i:i+1]), rest)
		}
		b.add(n, markOf(t.Data))
		rest -= n
	}
}

// message adds a block a part, so that the blocks together have the message's tokens.
func (b *builder) message(m llm.Message) {
	b.w.text("message", m.Role.String())
	if len(m.Parts) == 0 {
		b.add(b.count.Message(m), NoMark)
		return
	}
	rest := b.count.Message(m)
	for i, p := range m.Parts {
		b.w.part(p)
		n := rest
		if i < len(m.Parts)-1 {
			n = min(b.partTokens(m, p), rest)
		}
		b.add(n+b.loaded(p), markOf(p.Bytes()))
		rest -= n
	}
}

func (b *builder) partTokens(m llm.Message, p llm.Part) int {
	alone := llm.Message{Role: m.Role, Origin: m.Origin, Parts: []llm.Part{p}, Dialect: m.Dialect}
	return b.count.Message(alone)
}

// markOf returns the mark of the object data; its own, not one of an object in it.
func markOf(data []byte) Mark {
	mark := gjson.GetBytes(data, "cache_control")
	switch {
	case !mark.IsObject():
		return NoMark
	case mark.Get("ttl").String() == "1h":
		return MarkLong
	}
	return MarkShort
}

// Before returns, for each message of r and once more for the end, the digest of all that
// stands before it without thinking.
func Before(r llm.Request) []Digest {
	w := newWriter(true)
	for _, t := range atOnce(r.Tools) {
		w.text("tool", t.Name, w.json(string(t.Data)))
	}
	for _, s := range r.Sections {
		w.text("section", s.Text)
	}
	out := make([]Digest, 0, len(r.Messages)+1)
	speaker := ""
	for _, m := range r.Messages {
		out = append(out, w.sum())
		if says := speakerOf(m); says != speaker {
			w.text("speaker", says)
			speaker = says
		}
		for _, p := range m.Parts {
			if _, thinking := p.(llm.Thinking); !thinking {
				w.part(p)
			}
		}
	}
	return append(out, w.sum())
}

// speakerOf returns who speaks on the wire: the results of tools are the user's.
func speakerOf(m llm.Message) string {
	if m.Role == llm.RoleTool {
		return llm.RoleUser.String()
	}
	return m.Role.String()
}
