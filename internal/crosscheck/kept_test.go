package crosscheck

import (
	"bytes"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// kept is law 2: every message is shown as it was said, or can be read back. It also holds what is shown against law 6.
func (r *run) kept(v *sight, edits []edit.Edit) {
	shown := map[llm.MessageID]edit.Item{}
	last := llm.MessageID(0)
	for _, it := range v.send.Items {
		if it.IsNote() {
			r.refsIn(it.Message.Parts, nil)
			continue
		}
		id := it.Message.ID
		if id <= last || int(id) > len(r.said) {
			r.fail("law 2", "message %d is shown after %d", id, last)
		}
		shown[id], last = it, id
	}
	for _, s := range v.send.Sections {
		if !slices.ContainsFunc(r.sections, func(o llm.Section) bool { return o.Text == s.Text }) {
			r.refsOf(s.Text, "")
		}
	}
	for _, e := range edits[r.edits:] {
		for _, ref := range e.Refs {
			r.blob(ref)
		}
		if len(e.Refs) > 0 && e.Op == edit.Archive {
			r.counts.archives++
		}
		if e.Kind == edit.KindSummarise {
			r.counts.summaries++
		}
	}
	hold := holding(edits)
	for _, m := range r.said {
		if it, ok := shown[m.ID]; ok {
			r.shown(m, it, hold)
		} else {
			r.archived(m, hold)
		}
	}
}

// listed shows edits, one a line.
func listed(edits []edit.Edit) string {
	all := ""
	for _, e := range edits {
		all += fmt.Sprintf("\n    %d %s %s %v by %s, supersedes %v", e.ID, e.Op, e.Kind, e.Span, e.Rule, e.Supersedes)
	}
	return all
}

// holding returns the edits that hold: what an undo took back has not been done, so that what it had superseded holds again.
func holding(edits []edit.Edit) map[edit.ID]edit.Edit {
	undone, gone, hold := map[edit.ID]bool{}, map[edit.ID]bool{}, map[edit.ID]edit.Edit{}
	for i := len(edits) - 1; i >= 0; i-- {
		e := edits[i]
		if undone[e.ID] {
			continue
		}
		if e.Op == edit.Undo {
			for _, id := range e.Supersedes {
				undone[id] = true
			}
			continue
		}
		for _, id := range e.Supersedes {
			gone[id] = true
		}
		if !gone[e.ID] {
			hold[e.ID] = e
		}
	}
	return hold
}

// blob reads a Ref back and compares its name with its content.
func (r *run) blob(ref llm.Ref) []byte {
	if data, ok := r.seen[ref]; ok {
		return data
	}
	data, err := r.main.s.Blob(r.ctx, ref)
	if err != nil {
		r.fail("law 2", "ref %s: %v", ref, err)
	}
	sum := sha256.Sum256(data)
	if want := "r" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:26]; want != string(ref) {
		r.fail("law 2", "ref %s holds what is %s", ref, want)
	}
	r.seen[ref] = data
	return data
}

// refsOf resolves the Refs that a text names and its original does not.
func (r *run) refsOf(text, original string) {
	for _, ref := range refForm.FindAllString(text, -1) {
		if ref == fakeName || strings.Contains(original, ref) {
			continue
		}
		if _, ok := r.seen[llm.Ref(ref)]; !ok {
			r.blob(llm.Ref(ref))
		}
	}
}

func (r *run) refsIn(parts []llm.Part, original []llm.Part) {
	whole := fmt.Sprint(original)
	for _, p := range parts {
		switch p := p.(type) {
		case llm.Text:
			r.refsOf(p.Text, whole)
		case llm.Stub:
			if p.Ref != "" {
				r.blob(p.Ref)
			}
			r.refsOf(p.Text, whole)
		case llm.ToolResult:
			r.refsIn(p.Content, original)
		}
	}
}

// shown looks at a message that stands in the view.
func (r *run) shown(m llm.Message, it edit.Item, hold map[edit.ID]edit.Edit) {
	got := it.Message
	for _, p := range got.Parts {
		if th, ok := p.(llm.Thinking); ok && !slices.ContainsFunc(m.Parts, func(o llm.Part) bool { return samePart(o, th) }) {
			r.fail("law 6", "the thinking of message %d is not what the model wrote", m.ID)
		}
	}
	want, have := spoken(m.Parts), spoken(got.Parts)
	if len(want) != len(have) {
		r.fail("law 2", "message %d, want %d parts, got %d", m.ID, len(want), len(have))
	}
	changed := false
	for i := range want {
		if samePart(want[i], have[i]) {
			continue
		}
		changed = true
		r.changed(m, want[i], have[i], hold)
	}
	if changed && len(it.Edits) == 0 {
		r.fail("law 2", "message %d is changed by no edit", m.ID)
	}
	for _, id := range it.Edits {
		if _, ok := hold[id]; !ok {
			r.fail("law 5", "message %d is shown by edit %d, which does not hold: by %v, of %s", m.ID, id, it.Edits, listed(r.main.s.Edits()))
		}
	}
}

// changed looks at a part that is shown in another form.
func (r *run) changed(m llm.Message, want, got llm.Part, hold map[edit.ID]edit.Edit) {
	r.refsIn([]llm.Part{got}, m.Parts)
	switch w := want.(type) {
	case llm.ToolResult:
		g, ok := got.(llm.ToolResult)
		if !ok || g.CallID != w.CallID || g.IsError != w.IsError {
			r.fail("law 3", "the result of %s in message %d is shown as %+v", w.CallID, m.ID, got)
		}
	case llm.Media:
	case llm.Text: // both ends of a long one that is pinned
		g, ok := got.(llm.Stub)
		if !ok || m.Origin == llm.Model || !bothEnds(g.Text, w.Text) || string(r.blob(g.Ref)) != w.Text {
			r.fail("law 2", "message %d: a text is shown as %+v", m.ID, got)
		}
		return
	default:
		r.fail("law 2", "message %d: %T is shown as %+v", m.ID, want, got)
	}
	for _, e := range hold {
		if e.Op != edit.Replace || e.Span.From != m.ID {
			continue
		}
		for _, ref := range e.Refs {
			if r.holds(want, r.blob(ref)) {
				return
			}
		}
	}
	r.fail("law 2", "message %d: no edit's refs have %s", m.ID, brief(fmt.Sprintf("%+v", want)))
}

// holds reports whether stored bytes are the content of a part.
func (r *run) holds(p llm.Part, data []byte) bool {
	switch p := p.(type) {
	case llm.Media:
		return bytes.Equal(p.Data, data)
	case llm.ToolResult:
		if len(p.Content) == 1 {
			if s, ok := p.Content[0].(llm.Stub); ok {
				return s.Ref == nameOf(data)
			}
			return p.Text() == string(data)
		}
		for _, c := range p.Content { // some form with all of it
			switch c := c.(type) {
			case llm.Text:
				if !bytes.Contains(data, quoted(c.Text)) && !bytes.Contains(data, []byte(c.Text)) {
					return false
				}
			case llm.Media:
				if !bytes.Contains(data, c.Data) && !bytes.Contains(data, quoted(string(c.Data))) {
					return false
				}
			}
		}
		return true
	}
	return false
}

func quoted(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)
	return bytes.Trim(bytes.TrimSpace(b.Bytes()), `"`)
}

func nameOf(data []byte) llm.Ref {
	sum := sha256.Sum256(data)
	return llm.Ref("r" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:]))[:26])
}

// archived looks for a message that the view does not show.
func (r *run) archived(m llm.Message, hold map[edit.ID]edit.Edit) {
	for _, e := range hold {
		if e.Op != edit.Archive || m.ID < e.Span.From || m.ID >= e.Span.To || len(e.Refs) == 0 {
			continue
		}
		parts := r.archive(e.Refs[0])[m.ID]
		for i, p := range m.Parts {
			if !slices.ContainsFunc(parts[i], func(s stored) bool { return r.says(p, s) }) {
				r.fail("law 2", "part %d of message %d is not in the archive %s: %s has %q", i, m.ID, e.Refs[0], brief(fmt.Sprintf("%+v", p)), brief(fmt.Sprint(parts[i])))
			}
		}
		return
	}
	r.fail("law 2", "message %d is not shown and no edit archives it", m.ID)
}

// A stored is a part as an archive has it.
type stored struct {
	kind, text string
	raw        []byte
}

// archive reads an archive, and those inside it.
func (r *run) archive(ref llm.Ref) map[llm.MessageID]map[int][]stored {
	if all, ok := r.archives[ref]; ok {
		return all
	}
	all := map[llm.MessageID]map[int][]stored{}
	for i, line := range bytes.Split(bytes.TrimSuffix(r.blob(ref), []byte("\n")), []byte("\n")) {
		var l struct {
			Archive      json.RawMessage
			Message      llm.MessageID
			Part         *int
			Kind, Ref    string
			Raw          json.RawMessage
			Text, Note   *string
			Raw64        string
			Text64       string
			From, To     int
			Role, Origin json.RawMessage
		}
		if err := json.Unmarshal(line, &l); err != nil {
			r.fail("law 2", "archive %s, line %d: %v", ref, i, err)
		}
		switch {
		case i > 0 && l.Archive != nil:
			var inner llm.Ref
			_ = json.Unmarshal(l.Archive, &inner)
			for id, parts := range r.archive(inner) {
				all[id] = parts
			}
		case l.Part != nil:
			s := stored{kind: l.Kind}
			switch {
			case l.Ref != "":
				s.raw = r.blob(llm.Ref(l.Ref))
				s.text = string(s.raw)
			case l.Text != nil:
				s.text = *l.Text
			case l.Text64 != "":
				data, _ := base64.StdEncoding.DecodeString(l.Text64)
				s.text = string(data)
			case l.Raw64 != "":
				s.raw, _ = base64.StdEncoding.DecodeString(l.Raw64)
			default:
				var text string
				if json.Unmarshal(l.Raw, &text) == nil {
					s.raw = []byte(text)
				} else {
					s.raw = l.Raw
				}
			}
			if all[l.Message] == nil {
				all[l.Message] = map[int][]stored{}
			}
			all[l.Message][*l.Part] = append(all[l.Message][*l.Part], s)
		}
	}
	r.archives[ref] = all
	return all
}

// forget makes the checker read everything again that it has read: from another store.
func (r *run) forget() {
	r.seen, r.archives = map[llm.Ref][]byte{}, map[llm.Ref]map[llm.MessageID]map[int][]stored{}
}

// says reports whether what an archive has of a part is all of it.
func (r *run) says(p llm.Part, s stored) bool {
	switch p := p.(type) {
	case llm.Text:
		return s.text == p.Text
	case llm.Thinking:
		return strings.Contains(s.text, p.Text) || bytes.Contains(s.raw, quoted(p.Text))
	case llm.ToolCall:
		return strings.Contains(s.text+string(s.raw), p.Args) || bytes.Contains([]byte(s.text), quoted(p.Args))
	case llm.Media:
		return bytes.Equal(s.raw, p.Data) || s.text == string(p.Data)
	case llm.ToolResult:
		if s.text == p.Text() && images(p.Content) == 0 {
			return true
		}
		return r.holds(p, []byte(s.text)) || r.holds(p, s.raw)
	}
	return false
}
