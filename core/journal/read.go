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
	if r.has("v") {
		l.V = r.number()
	}
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
	if r.has("dialect") {
		m.Dialect = r.text()
	}
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
	if r.has("call_id") {
		p.CallID = r.text()
	}
	if r.has("name") {
		p.Name = r.text()
	}
	if r.has("args") {
		p.Args = r.text()
	}
	if r.has("custom") {
		p.Custom = r.truth()
	}
	if r.has("hosted") {
		p.Hosted = r.truth()
	}
	if r.has("is_error") {
		p.IsError = r.truth()
	}
	if r.has("type") {
		p.Type = r.text()
	}
	if r.has("ref") {
		p.Ref = r.text()
	}
	if r.has("text") {
		p.Text = r.text()
	}
	if r.has("signature") {
		p.Signature = r.text()
	}
}

func (r *reader) partFigures(p *part) {
	if r.has("redacted") {
		p.Redacted = r.truth()
	}
	if r.has("size") {
		p.Size = r.number()
	}
	if r.has("width") {
		p.Width = r.number()
	}
	if r.has("height") {
		p.Height = r.number()
	}
	if r.has("tokens") {
		p.Tokens = r.number()
	}
	if r.has("detail") {
		p.Detail = r.text()
	}
	if r.has("lines") {
		p.Lines = r.number()
	}
	if r.has("loads") {
		p.Loads = r.text()
	}
	if r.has("compacts") {
		p.Compacts = r.text()
	}
}

func (r *reader) change(c *change) {
	r.open()
	if r.has("id") {
		integer(r, &c.ID)
	}
	if r.has("op") {
		c.Op = r.text()
	}
	if r.has("kind") {
		c.Kind = r.text()
	}
	if r.has("from") {
		c.From = r.number()
	}
	if r.has("to") {
		c.To = r.number()
	}
	if r.has("part") {
		c.Part = r.number()
	}
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
	if r.has("before") {
		c.Before = r.number()
	}
	if r.has("after") {
		c.After = r.number()
	}
	if r.has("low") {
		c.Low = r.number()
	}
	if r.has("why") {
		c.Why = r.text()
	}
	if r.has("rule") {
		c.Rule = r.text()
	}
	if r.has("supersedes") {
		c.Supersedes = list(r, integer[edit.ID])
	}
}

func (r *reader) worth(w *Worth) {
	r.open()
	for _, f := range []struct {
		name string
		to   *int
	}{
		{"removed", &w.Removed},
		{"suffix", &w.Suffix},
		{"requests", &w.Requests},
		{"warm", &w.Warm},
		{"gain", &w.Gain},
	} {
		if r.has(f.name) {
			*f.to = r.number()
		}
	}
	r.end()
}

func readSection(r *reader, s *section) {
	r.open()
	if r.has("name") {
		s.Name = r.text()
	}
	if r.has("kind") {
		s.Kind = r.known(sectionNames)
	}
	if r.has("text") {
		s.Text = r.text()
	}
	if r.has("cacheable") {
		s.Cacheable = r.truth()
	}
	if r.has("tokens") {
		s.Tokens = r.number()
	}
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
	for _, f := range []struct {
		name string
		to   *int
	}{
		{"input", &u.Input},
		{"cache_read", &u.CacheRead},
		{"cache_write_5m", &u.CacheWrite5m},
		{"cache_write_1h", &u.CacheWrite1h},
		{"output", &u.Output},
		{"reasoning", &u.Reasoning},
		{"cleared", &u.Cleared},
		{"made", &u.Made},
		{"stored", &u.Stored},
	} {
		if r.has(f.name) {
			*f.to = r.number()
		}
	}
	if r.has("reported") {
		u.Reported = r.truth()
	}
	if r.has("output_reported") {
		u.OutputKnown = r.truth()
	}
	if r.has("ratio") {
		u.Ratio = r.number()
	}
	if r.has("target") {
		u.Target = r.text()
	}
	if r.has("model") {
		u.Model = r.text()
	}
	if r.has("by") {
		u.By = r.text()
	}
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
