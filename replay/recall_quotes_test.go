package replay_test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A quote is what a call quotes of a file to edit it.
type quote struct {
	paths []string
	old   []string // lines of the file
	new   []string // those that are to stand there
}

// quotes looks at what a reply quotes.
func (r *watchedRun) quotes(m llm.Message) {
	for _, call := range m.Calls() {
		q := quoteOf(call)
		lines := q.lines()
		if len(lines) == 0 {
			continue
		}
		seen := textOf(r.view())
		var all edit.View
		for _, m := range r.msgs {
			all.Append(m)
		}
		said := textOf(all)
		var others []string
		for _, line := range lines {
			switch {
			case !strings.Contains(said, line): // the agent has it from elsewhere
			case strings.Contains(seen, line):
				r.sum.quoted++
				r.sum.seen++
			default:
				r.sum.quoted++
				others = append(others, line)
			}
		}
		if len(others) > 0 {
			r.searched(q, others)
		}
	}
}

// searched searches for lines that the model does not see.
func (r *watchedRun) searched(q quote, lines []string) {
	const around = 2000 // bytes
	var shown, near, named strings.Builder
	for _, h := range r.hits(q.query(q.old, q.new)) {
		shown.WriteString(h.Text + "\n")
		data, err := r.Get(r.t.Context(), r.session, h.Ref)
		if err != nil {
			r.t.Fatal(err)
		}
		at := int(h.Offset)
		near.Write(data[max(0, at-around):min(len(data), at+around)])
		named.Write(data)
	}
	var byNew strings.Builder
	for _, h := range r.hits(q.query(q.new)) {
		byNew.WriteString(h.Text + "\n")
	}
	for _, line := range lines {
		for text, count := range map[*strings.Builder]*int{&shown: &r.sum.found, &byNew: &r.sum.foundNew, &near: &r.sum.near, &named: &r.sum.named} {
			if says(text.String(), line) {
				*count++
			}
		}
	}
}

func (r *watchedRun) hits(query string) []builtin.Hit {
	hits, err := plimsoll.Contents(&r.Memory, r.session).Search(r.t.Context(), query, recallHits)
	if err != nil {
		r.t.Fatal(err)
	}
	return hits
}

// says reports whether a line stands in a text, or in a string of it, or in a string of such a one.
func says(text, line string) bool {
	for range 3 {
		if strings.Contains(text, line) {
			return true
		}
		written, _ := json.Marshal(line) // of a string
		line = string(written[1 : len(written)-1])
	}
	return false
}

// quoteOf returns what a call quotes: nothing, if it edits no file by its lines.
func quoteOf(call llm.ToolCall) quote {
	var q quote
	var args any = call.Args
	_ = json.Unmarshal([]byte(call.Args), &args) // else it is a text
	q.read("", args)
	return q
}

// read takes what a value of a call's arguments quotes.
func (q *quote) read(key string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			q.read(k, v[k])
		}
	case []any:
		for _, x := range v {
			q.read(key, x)
		}
	case string:
		switch key {
		case "path", "file_path", "filePath":
			q.paths = append(q.paths, v)
		case "old_string", "old_str", "oldText", "old_text", "oldString":
			q.old = append(q.old, strings.Split(v, "\n")...)
		case "new_string", "new_str", "newText", "new_text", "newString":
			q.new = append(q.new, strings.Split(v, "\n")...)
		default:
			if strings.Contains(v, "*** Begin Patch") {
				q.patch(v)
			}
		}
	}
}

// patch takes what a patch in Codex's form quotes.
func (q *quote) patch(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		path, updates := strings.CutPrefix(line, "*** Update File: ")
		switch {
		case updates:
			q.paths = append(q.paths, path)
		case strings.HasPrefix(line, "-"), strings.HasPrefix(line, " "):
			q.old = append(q.old, line[1:])
		case strings.HasPrefix(line, "+"):
			q.new = append(q.new, line[1:])
		}
	}
}

// lines returns the lines that say something: of 12 characters and two words at least.
func (q quote) lines() (lines []string) {
	for _, l := range q.old {
		l = strings.TrimSpace(l)
		if len([]rune(l)) >= 12 && len(strings.Fields(l)) >= 2 && !slices.Contains(lines, l) {
			lines = append(lines, l)
		}
	}
	return lines
}

var identifier = regexp.MustCompile(`[A-Za-z_$][\w$]*`)

// query returns the paths of a call and the identifiers of some of its lines.
func (q quote) query(texts ...[]string) string {
	terms := slices.Clone(q.paths)
	for _, lines := range texts {
		for _, word := range identifier.FindAllString(strings.Join(lines, "\n"), -1) {
			if isIdentifier(word) && !slices.Contains(terms, word) {
				terms = append(terms, word)
			}
		}
	}
	return strings.Join(terms, " ")
}

// isIdentifier reports whether a word can be no other: it has humps, a sign or a digit.
func isIdentifier(word string) bool {
	return len(word) > 2 && (strings.ContainsAny(word, "_$0123456789") || strings.ToLower(word[1:]) != word[1:] && strings.ToUpper(word) != word)
}

// textOf returns all texts of a view, also those in the arguments of calls.
func textOf(v edit.View) string {
	var b strings.Builder
	for _, it := range v.Items {
		for _, p := range it.Message.Parts {
			writePart(&b, p)
		}
	}
	for _, s := range v.Sections {
		b.WriteString(s.Text + "\n")
	}
	return b.String()
}

func writePart(b *strings.Builder, p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		b.WriteString(p.Text + "\n")
	case llm.Stub:
		b.WriteString(p.Text + "\n")
	case llm.ToolResult:
		for _, c := range p.Content {
			writePart(b, c)
		}
	case llm.ToolCall:
		var args any = p.Args
		_ = json.Unmarshal([]byte(p.Args), &args) // else it is a text
		writeStrings(b, args)
	}
}

func writeStrings(b *strings.Builder, v any) {
	switch v := v.(type) {
	case map[string]any:
		for _, x := range v {
			writeStrings(b, x)
		}
	case []any:
		for _, x := range v {
			writeStrings(b, x)
		}
	case string:
		b.WriteString(v + "\n")
	}
}
