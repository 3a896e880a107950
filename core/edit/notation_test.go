package edit_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The notation of testdata, which is read and written here:
//
//	1 human: Fix the build.
//	2 model: I look.
//	  thinking: Where is it?
//	  call c1 read: main.go
//	3 tool:
//	  result c1: package main
//	    func main() {}
//	  error c2: no such file
//	4 note: The person opened a file.
//	+ note: made by an edit
//
// A message begins with its id and origin, or "+" for a note of an edit. What
// follows the colon is a text part; further parts are indented by two spaces
// (text, thinking, call, hosted, result, error, image, opaque), further lines of
// a text by four. A part that an edit changed has a "*" before it. Refs are
// written as <c1>, what the output of call c1 was, and <2-5>, the archive of
// messages 2 to 5.

// parseMessages reads messages; the ids must continue from next.
func parseMessages(text string, next llm.MessageID) ([]llm.Message, error) {
	var out []llm.Message
	for n, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		var err error
		switch {
		case line == "":
		case strings.HasPrefix(line, "    ") && len(out) > 0:
			err = continued(&out[len(out)-1], line[4:])
		case strings.HasPrefix(line, "  ") && len(out) > 0:
			var p llm.Part
			if p, err = parsePart(line[2:]); err == nil {
				out[len(out)-1].Parts = append(out[len(out)-1].Parts, p)
			}
		default:
			var m llm.Message
			if m, err = parseHead(line, next+llm.MessageID(len(out))); err == nil {
				out = append(out, m)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("line %d, %q: %w", n+1, line, err)
		}
	}
	return out, nil
}

func parseHead(line string, want llm.MessageID) (llm.Message, error) {
	head, text, ok := strings.Cut(line, ":")
	id, origin, _ := strings.Cut(head, " ")
	if !ok || id != strconv.Itoa(int(want)) {
		return llm.Message{}, fmt.Errorf("want \"%d ORIGIN: ...\"", want)
	}
	m := llm.Message{ID: want}
	switch origin {
	case "human":
		m.Role, m.Origin = llm.RoleUser, llm.Human
	case "model":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "tool":
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
	case "note":
		m.Role, m.Origin = llm.RoleUser, llm.Note
	default:
		return llm.Message{}, fmt.Errorf("want an origin, got %q", origin)
	}
	if text != "" {
		m.Parts = append(m.Parts, llm.Text{Text: strings.TrimPrefix(text, " ")})
	}
	return m, nil
}

func parsePart(line string) (llm.Part, error) {
	head, text, _ := strings.Cut(line, ":")
	text = strings.TrimPrefix(text, " ")
	words := append(strings.Fields(head), "", "", "")
	id, name := words[1], words[2]
	switch words[0] {
	case "text":
		return llm.Text{Text: text}, nil
	case "thinking":
		return llm.Thinking{Text: text, Signature: "signed"}, nil
	case "call", "hosted":
		return llm.ToolCall{CallID: id, Name: name, Args: text, Hosted: words[0] == "hosted"}, nil
	case "result", "error":
		return llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: text}}, IsError: words[0] == "error"}, nil
	case "image":
		return llm.Media{Type: "image/png", Raw: llm.Raw{Data: []byte(text)}}, nil
	case "opaque":
		return llm.Opaque{Kind: "item", Raw: llm.Raw{Data: []byte(text)}}, nil
	}
	return nil, fmt.Errorf("want a kind of part, got %q", words[0])
}

// continued adds a line to the last text of m.
func continued(m *llm.Message, line string) error {
	last := len(m.Parts) - 1
	if last < 0 {
		return fmt.Errorf("want a part before its second line")
	}
	switch p := m.Parts[last].(type) {
	case llm.Text:
		p.Text += "\n" + line
		m.Parts[last] = p
	case llm.ToolResult:
		t, _ := p.Content[0].(llm.Text)
		p.Content = []llm.Part{llm.Text{Text: t.Text + "\n" + line}}
		m.Parts[last] = p
	default:
		return fmt.Errorf("want a text before its second line, got %T", p)
	}
	return nil
}

// render writes a view.
func render(w *world, v edit.View) string {
	var b strings.Builder
	for _, it := range v.Items {
		if it.IsNote() {
			fmt.Fprintf(&b, "+ %s:", it.Message.Origin)
		} else {
			fmt.Fprintf(&b, "%d %s:", it.Message.ID, it.Message.Origin)
		}
		for n, p := range it.Message.Parts {
			mark := ""
			if _, changed := editOf(v, it, n); changed {
				mark = "*"
			}
			renderPart(&b, p, n == 0, mark)
		}
		b.WriteByte('\n')
	}
	for _, s := range v.Sections {
		fmt.Fprintf(&b, "section %s: %s\n", s.Name, indent(s.Text))
	}
	return w.named(b.String())
}

// editOf returns the edit that changed part n of it.
func editOf(v edit.View, it edit.Item, n int) (edit.ID, bool) {
	for _, e := range v.Edits() {
		if e.Op == edit.Replace && !it.IsNote() && e.Span.From == it.Message.ID && e.Part == n {
			return e.ID, true
		}
	}
	return 0, false
}

func renderPart(b *strings.Builder, p llm.Part, first bool, mark string) {
	switch p := p.(type) {
	case llm.Text:
		if first {
			fmt.Fprintf(b, " %s", indent(p.Text))
			return
		}
		fmt.Fprintf(b, "\n  %stext: %s", mark, indent(p.Text))
	case llm.Stub:
		if first && mark == "" {
			fmt.Fprintf(b, " %s", indent(p.Text))
			return
		}
		fmt.Fprintf(b, "\n  %sstub: %s", mark, indent(p.Text))
	case llm.Thinking:
		fmt.Fprintf(b, "\n  %sthinking: %s", mark, indent(p.Text))
	case llm.ToolCall:
		kind := "call"
		if p.Hosted {
			kind = "hosted"
		}
		fmt.Fprintf(b, "\n  %s%s %s %s: %s", mark, kind, p.CallID, p.Name, p.Args)
	case llm.ToolResult:
		kind := "result"
		if p.IsError {
			kind = "error"
		}
		fmt.Fprintf(b, "\n  %s%s %s: %s", mark, kind, p.CallID, indent(p.Text()))
	case llm.Media:
		fmt.Fprintf(b, "\n  %simage: %s", mark, p.Data)
	case llm.Opaque:
		fmt.Fprintf(b, "\n  %sopaque: %s", mark, p.Data)
	}
}

// indent prepares a text of several lines for what follows a colon.
func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n    ") }

// renderEdits lists a journal.
func renderEdits(w *world) string {
	var b strings.Builder
	for _, e := range w.journal {
		fmt.Fprintf(&b, "%d %s %s", e.ID, e.Op, e.Kind)
		switch e.Op {
		case edit.Archive:
			fmt.Fprintf(&b, " of %d-%d", e.Span.From, e.Span.To-1)
		case edit.Replace:
			fmt.Fprintf(&b, " of %d.%d", e.Span.From, e.Part)
		}
		fmt.Fprintf(&b, ": %d to %d", e.Before, e.After)
		if len(e.Refs) > 0 {
			b.WriteString(", stored")
		}
		named := map[llm.Ref]bool{}
		for _, r := range e.Refs {
			if !named[r] {
				fmt.Fprintf(&b, " %s", r)
			}
			named[r] = true
		}
		if len(e.Supersedes) > 0 {
			fmt.Fprintf(&b, ", supersedes %s", strings.Trim(fmt.Sprint(e.Supersedes), "[]"))
		}
		b.WriteByte('\n')
	}
	return w.named(b.String())
}

// named writes the refs of outputs and archives as <c1> and <2-5>.
func (w *world) named(text string) string {
	var pairs []string
	for _, e := range w.journal {
		if e.Op == edit.Archive {
			pairs = append(pairs, string(e.Refs[0]), fmt.Sprintf("<%d-%d>", e.Span.From, e.Span.To-1))
		}
	}
	for _, m := range w.messages {
		for _, r := range m.Results() {
			pairs = append(pairs, string(llm.RefOf(edit.Stored(r))), "<"+r.CallID+">")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
