package engine_test

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The notation of messages in testdata:
//
//	human: Fix the build.
//	model: I look.
//	  thinking: Where is it?
//	  call c1 read: main.go
//	tool:
//	  result c1: {bytes 5000 a}
//	  error c2: no such file
//	  shot c3: screen 40000
//	  shot c4: screen 40000 Saved to a.png.
//	rules: Answer in French.
//	note: The person opened a file.
//
// A message begins with who speaks: human, model, tool, note, or rules for a note
// with standing instructions. What follows the colon is a text part; further parts
// are indented by two spaces. {bytes N word} is N bytes of numbered lines made of a
// word, {lines N word} are N such lines, {line N word} is one line of N bytes, {prose
// N word} are N bytes of long words, which are fewer tokens than a quarter of their
// bytes, {nl} is a line break. A shot is an output with a screenshot: of N bytes that a
// word tells from others, after a text, if there is one. An image and a file are parts
// of a message, named in the same way. Without a name their bytes are not known.

// parseMessages reads messages.
func parseMessages(body []string) ([]llm.Message, error) {
	var out []llm.Message
	for _, line := range body {
		inner, isPart := strings.CutPrefix(line, "  ")
		switch {
		case isPart && len(out) > 0:
			p, err := parsePart(inner)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			last := &out[len(out)-1]
			last.Parts = append(last.Parts, p)
		default:
			m, err := parseHead(line)
			if err != nil {
				return nil, fmt.Errorf("%q: %w", line, err)
			}
			out = append(out, m)
		}
	}
	return out, nil
}

func parseHead(line string) (llm.Message, error) {
	who, text, ok := strings.Cut(line, ":")
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note}
	switch who {
	case "human":
		m.Origin = llm.Human
	case "model":
		m.Role, m.Origin = llm.RoleAssistant, llm.Model
	case "tool":
		m.Role, m.Origin = llm.RoleTool, llm.ToolRun
	case "rules":
		m.Flags = llm.FlagRules
	case "system":
		m.Role = llm.RoleSystem
	case "note":
	default:
		ok = false
	}
	if !ok {
		return m, fmt.Errorf("want human, model, tool, note, system or rules, and a colon")
	}
	if text = strings.TrimPrefix(text, " "); text != "" {
		m.Parts = append(m.Parts, llm.Text{Text: fill(text)})
	}
	return m, nil
}

func parsePart(line string) (llm.Part, error) {
	head, text, _ := strings.Cut(line, ":")
	text = fill(strings.TrimPrefix(text, " "))
	words := append(strings.Fields(head), "", "", "")
	switch words[0] {
	case "text":
		return llm.Text{Text: text}, nil
	case "thinking":
		return llm.Thinking{Text: text, Signature: "signed"}, nil
	case "call":
		return llm.ToolCall{CallID: words[1], Name: words[2], Args: text}, nil
	case "result", "error":
		return llm.ToolResult{CallID: words[1], Content: []llm.Part{llm.Text{Text: text}}, IsError: words[0] == "error"}, nil
	case "shot":
		m, text := parseMedia("image/png", text)
		r := llm.ToolResult{CallID: words[1], Content: []llm.Part{m}}
		if text != "" {
			r.Content = []llm.Part{llm.Text{Text: text}, m}
		}
		return r, nil
	case "image":
		m, _ := parseMedia("image/png", text)
		return m, nil
	case "file":
		m, _ := parseMedia("application/pdf", text)
		return m, nil
	}
	return nil, fmt.Errorf("want a kind of part, got %q", words[0])
}

// parseMedia reads a name and a number of bytes, and returns what follows.
func parseMedia(kind, text string) (m llm.Media, rest string) {
	name, rest, _ := strings.Cut(text, " ")
	size, rest, _ := strings.Cut(rest, " ")
	m = llm.Media{Type: kind, Size: 40000, Width: 1000, Height: 750}
	if name != "" {
		m.Size = number([]string{size}, 0)
		m.Data = []byte(filler(m.Size, name))
	}
	return m, rest
}

// fill writes what braces stand for.
func fill(text string) string {
	for {
		before, rest, ok := strings.Cut(text, "{")
		inner, after, closed := strings.Cut(rest, "}")
		words := append(strings.Fields(inner), "", "")
		n, err := strconv.Atoi(words[1])
		switch {
		case !ok || !closed:
			return text
		case inner == "nl":
			text = before + "\n" + after
		case err != nil:
			return text
		case words[0] == "bytes":
			text = before + filler(n, words[2]) + after
		case words[0] == "prose":
			text = before + prose(n, words[2]) + after
		case words[0] == "line":
			text = before + strings.ReplaceAll(filler(n, words[2]), "\n", ";") + after
		case words[0] == "lines":
			text = before + strings.TrimSuffix(filler(n*lineLength, words[2]), "\n") + after
		default:
			return text
		}
	}
}

const lineLength = 40

// filler returns n bytes of lines that differ from one another.
func filler(n int, word string) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		line := fmt.Sprintf("%s %d ", word, i)
		for len(line) < lineLength-1 {
			line += "and so on "
		}
		b.WriteString(line[:lineLength-1] + "\n")
	}
	return b.String()[:n]
}

// prose returns n bytes of lines of long words.
func prose(n int, word string) string {
	var b strings.Builder
	for i := 1; b.Len() < n; i++ {
		fmt.Fprintf(&b, "%s %d international responsibilities, environmental considerations\n", word, i)
	}
	return b.String()[:n]
}

// short writes a text in one line.
func short(text string) string {
	const most = 70
	whole := len(text)
	text = strings.ReplaceAll(text, "\n", "⏎")
	if whole <= most {
		return text
	}
	return fmt.Sprintf("%s… %s (%d bytes)", strings.ToValidUTF8(text[:most/2], ""), strings.ToValidUTF8(text[len(text)-most/2:], ""), whole)
}

// viewLines writes a view, a part a line.
func viewLines(v edit.View) []string {
	var out []string
	for _, it := range v.Items {
		who := it.Message.Origin.String()
		switch {
		case it.Message.Flags.Has(llm.FlagSummary):
			who = "summary"
		case it.Message.Flags.Has(llm.FlagRules):
			who = "rules"
		}
		head := fmt.Sprintf("%d %s", it.Message.ID, who)
		if it.IsNote() {
			head = "+ " + who
		}
		indent := strings.Repeat(" ", len(head)-1) + "·"
		for n, p := range it.Message.Parts {
			out = append(out, head+": "+partLine(p, changed(v, it, n)))
			head = indent
		}
	}
	for _, s := range v.Sections {
		out = append(out, fmt.Sprintf("section %s: %s", s.Name, short(s.Text)))
	}
	return out
}

// changed reports whether an edit shows part n of it in another form.
func changed(v edit.View, it edit.Item, n int) bool {
	for _, e := range v.Edits() {
		if e.Op == edit.Replace && !it.IsNote() && e.Span.From == it.Message.ID && e.Part == n {
			return true
		}
	}
	return false
}

func partLine(p llm.Part, edited bool) string {
	mark := ""
	if edited {
		mark = "*"
	}
	switch p := p.(type) {
	case llm.Text:
		return mark + short(p.Text)
	case llm.Stub:
		return mark + short(p.Text)
	case llm.Thinking:
		return "(thinking) " + short(p.Text)
	case llm.ToolCall:
		return fmt.Sprintf("call %s %s %s", p.CallID, p.Name, short(p.Args))
	case llm.ToolResult:
		kind := "result"
		if p.IsError {
			kind = "error"
		}
		text := short(p.Text())
		for _, c := range p.Content {
			if _, ok := c.(llm.Media); ok {
				text = strings.TrimPrefix(text+" (image)", " ")
			}
		}
		return fmt.Sprintf("%s%s %s %s", mark, kind, p.CallID, text)
	case llm.Media:
		if !p.IsImage() {
			return "(file)"
		}
		return "(image)"
	}
	return fmt.Sprintf("%T", p)
}
