package journal

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// line reads a record of the kinds that a session has many of, and reports whether it
// could. The members are those of the types, in their order, but for "b64".
func (r *reader) line() bool {
	l := &r.into.line
	*l = line{}
	r.open()
	r.hasNumber("v", &l.V)
	if r.has("kind") {
		readText(r, &l.Kind)
	}
	switch {
	case l.Kind == KindMessage && r.has("message"):
		l.Message, r.into.message = &r.into.message, message{}
		readMessage(r, l.Message)
	case l.Kind == KindEdit && r.has("edit"):
		l.Edit, r.into.change = &r.into.change, change{}
		r.change(l.Edit)
		if r.has("worth") {
			l.Worth = &Worth{} // the record keeps it
			r.worth(l.Worth)
		}
	case l.Kind == KindUsage && r.has("usage"):
		l.Usage, r.into.usage = &r.into.usage, usage{}
		r.usage(l.Usage)
	case l.Kind == KindState && r.has("state"):
		l.unread = r.unread()
	default:
		return false
	}
	r.end()
	return r.done()
}

// unread looks through a state.
func (r *reader) unread() *UnreadState {
	s, from := &UnreadState{}, r.at
	r.open()
	if r.has("edit") {
		integer(r, &s.LastEdit)
	}
	for !r.lost && r.next() != '}' {
		switch name := r.member(); {
		case bytes.EqualFold(name, []byte("edit")):
			r.lost = true
		case string(name) == "final":
			s.Final = true
			r.pass()
		case string(name) == "sent":
			r.sent(&s.Sent)
		default:
			r.pass()
		}
	}
	r.end()
	s.JSON = bytes.Clone(r.data[from:r.at])
	return s
}

// sent looks through what a state says about the request that was sent last.
func (r *reader) sent(to *Sent) {
	r.open()
	for !r.lost && r.next() != '}' {
		switch name := r.member(); string(name) {
		case "edit":
			integer(r, &to.Edit)
		case "messages":
			integer(r, &to.Messages)
		default:
			r.pass()
		}
	}
	r.end()
}

// read reads what was only looked through.
func (s *UnreadState) read() (*State, error) {
	var w state
	if err := json.Unmarshal(s.JSON, &w); err != nil {
		return nil, fmt.Errorf("%s: %w", KindState, err)
	}
	now := w.state()
	return &now, nil
}

func readMessage(r *reader, m *message) {
	r.open()
	if r.has("id") {
		integer(r, &m.ID)
	}
	if r.has("role") {
		m.Role = r.known(roleNames)
	}
	if r.has("origin") {
		m.Origin = r.known(originNames)
	}
	if r.has("flags") {
		m.Flags = list(r, readText[string])
	}
	r.hasText("dialect", &m.Dialect)
	if r.has("raw") {
		m.Raw = r.pointer()
	}
	if r.has("spans") {
		m.Spans = list(r, readPlace)
	}
	if r.has("parts") {
		m.Parts = list(r, readPart)
	}
	r.end()
}

// known reads one of the names of a closed set.
func (r *reader) known(names []string) string {
	text := r.literal()
	for _, name := range names {
		if name == string(text) {
			return name
		}
	}
	return string(text)
}

func readPlace(r *reader, p *place) {
	r.want("[")
	integer(r, &p[0])
	r.want(",")
	integer(r, &p[1])
	r.want("]")
}

func readPart(r *reader, p *part) {
	r.open()
	if r.has("kind") {
		p.Kind = r.known(partKinds)
	}
	r.partTexts(p)
	r.partFigures(p)
	if r.has("content") {
		p.Content = list(r, readPart)
	}
	if r.has("data") {
		p.Data = r.pointer()
	}
	if r.has("in") {
		p.In = &place{}
		readPlace(r, p.In)
	}
	if r.has("base") {
		p.Base = r.pointer()
	}
	r.end()
}

func (r *reader) partTexts(p *part) {
	r.hasText("call_id", &p.CallID)
	r.hasText("name", &p.Name)
	r.hasText("args", &p.Args)
	r.hasTruth("custom", &p.Custom)
	r.hasTruth("hosted", &p.Hosted)
	r.hasTruth("is_error", &p.IsError)
	r.hasText("type", &p.Type)
	r.hasText("ref", &p.Ref)
	r.hasText("text", &p.Text)
	r.hasText("signature", &p.Signature)
}

func (r *reader) partFigures(p *part) {
	r.hasTruth("redacted", &p.Redacted)
	r.hasNumber("size", &p.Size)
	r.hasNumber("width", &p.Width)
	r.hasNumber("height", &p.Height)
	r.hasNumber("tokens", &p.Tokens)
	r.hasText("detail", &p.Detail)
	r.hasNumber("lines", &p.Lines)
	r.hasText("loads", &p.Loads)
	r.hasText("compacts", &p.Compacts)
}

func (r *reader) change(c *change) {
	r.open()
	if r.has("id") {
		integer(r, &c.ID)
	}
	r.hasText("op", &c.Op)
	r.hasText("kind", &c.Kind)
	r.hasNumber("from", &c.From)
	r.hasNumber("to", &c.To)
	r.hasNumber("part", &c.Part)
	if r.has("replacement") {
		c.Replacement = &part{}
		readPart(r, c.Replacement)
	}
	if r.has("notes") {
		c.Notes = list(r, readMessage)
	}
	if r.has("sections") {
		c.Sections = list(r, readSection)
	}
	if r.has("refs") {
		c.Refs = r.refs()
	}
	if r.has("within") {
		c.Within = &place{}
		readPlace(r, c.Within)
	}
	r.changeWhy(c)
	r.end()
}

// refs reads a list of Refs. That of an archive names all there is in it, thousands at
// times: they share one text.
func (r *reader) refs() []llm.Ref {
	r.want("[")
	from, n := r.at, 0
	for !r.lost && r.next() != ']' {
		if n++; n > 1 {
			r.want(",")
		}
		at := r.at + len(`"`)
		r.want(`"`)
		r.skip()
		r.lost = r.lost || r.at != at+refLength
		r.want(`"`)
	}
	if r.lost {
		return nil
	}
	text := string(r.data[from:r.at])
	r.at++
	out := make([]llm.Ref, n)
	for i := range out {
		at := i*(refLength+len(`"",`)) + len(`"`)
		out[i] = llm.Ref(text[at : at+refLength])
	}
	return out
}

// refLength is the length of a Ref.
const refLength = 27

func (r *reader) changeWhy(c *change) {
	r.hasNumber("before", &c.Before)
	r.hasNumber("after", &c.After)
	r.hasNumber("low", &c.Low)
	r.hasText("why", &c.Why)
	r.hasText("rule", &c.Rule)
	if r.has("supersedes") {
		c.Supersedes = list(r, integer[edit.ID])
	}
}

func (r *reader) worth(w *Worth) {
	r.open()
	r.hasNumber("removed", &w.Removed)
	r.hasNumber("suffix", &w.Suffix)
	r.hasNumber("requests", &w.Requests)
	r.hasNumber("warm", &w.Warm)
	r.hasNumber("gain", &w.Gain)
	r.end()
}

func readSection(r *reader, s *section) {
	r.open()
	r.hasText("name", &s.Name)
	if r.has("kind") {
		s.Kind = r.known(sectionNames)
	}
	r.hasText("text", &s.Text)
	r.hasTruth("cacheable", &s.Cacheable)
	r.hasNumber("tokens", &s.Tokens)
	if r.has("data") {
		s.Data = r.pointer()
	}
	if r.has("base") {
		s.Base = r.pointer()
	}
	r.end()
}

func (r *reader) usage(u *usage) {
	r.open()
	r.hasNumber("input", &u.Input)
	r.hasNumber("cache_read", &u.CacheRead)
	r.hasNumber("cache_write_5m", &u.CacheWrite5m)
	r.hasNumber("cache_write_1h", &u.CacheWrite1h)
	r.hasNumber("output", &u.Output)
	r.hasNumber("reasoning", &u.Reasoning)
	r.hasNumber("cleared", &u.Cleared)
	r.hasNumber("made", &u.Made)
	r.hasNumber("stored", &u.Stored)
	r.hasTruth("reported", &u.Reported)
	r.hasTruth("output_reported", &u.OutputKnown)
	r.hasNumber("ratio", &u.Ratio)
	r.hasText("target", &u.Target)
	r.hasText("model", &u.Model)
	r.hasText("by", &u.By)
	if r.has("extra") {
		u.Extra = &usage{}
		r.usage(u.Extra)
	}
	if r.has("stated") {
		u.Stated = &usage{}
		r.usage(u.Stated)
	}
	r.end()
}
