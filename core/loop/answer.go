package loop

import "strings"

// Names of the tags, and what the instructions put into the first.
const (
	progressTag = "progress"
	promiseTag  = "promise"
	rememberTag = "remember"
	placeholder = "what you accomplished"
	lasting     = "a fact"
)

// A tagged is a text between two tags.
type tagged struct {
	text       string
	start, end int // of all of it, tags included
}

// tagsIn returns what stands between tags of a name, in any case. A tag that is opened
// twice begins where it was opened last.
func tagsIn(text, name string) []tagged {
	lower := lowerASCII(text)
	open, closing := "<"+name+">", "</"+name+">"
	var found []tagged
	for at := 0; ; {
		end := strings.Index(lower[at:], closing)
		if end < 0 {
			return found
		}
		end += at
		if start := strings.LastIndex(lower[at:end], open); start >= 0 {
			start += at
			found = append(found, tagged{text[start+len(open) : end], start, end + len(closing)})
		}
		at = end + len(closing)
	}
}

// lowerASCII lowers A-Z only, so that positions stay the same.
func lowerASCII(text string) string {
	lower := []byte(text)
	for i, b := range lower {
		if b >= 'A' && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return string(lower)
}

// near is how many bytes of a line are looked at on each side of a tag.
const near = 1000

// around returns the texts before and behind a tag in its lines.
func (t tagged) around(text string) (before, behind string) {
	before = text[max(0, t.start-near):t.start]
	behind = text[t.end:min(len(text), t.end+near)]
	behind, _, _ = strings.Cut(behind, "\n")
	return before[strings.LastIndexByte(before, '\n')+1:], behind
}

// without returns a text with a line break in place of each of some tags.
func without(text string, tags []tagged) string {
	var b strings.Builder
	at := 0
	for _, t := range tags {
		b.WriteString(text[at:t.start] + "\n")
		at = t.end
	}
	return b.String() + text[at:]
}

// quoted says whether a tag is mentioned, not used: within a line's code, or in quotes.
func (t tagged) quoted(text string) bool {
	before, behind := t.around(text)
	if strings.Count(before, "`")%2 == 1 {
		return true
	}
	for _, q := range []string{`"`, "'", "“", "„", "«", "‘", "‹"} {
		if strings.HasSuffix(before, q) {
			return true
		}
	}
	return strings.HasPrefix(behind, `"`) || strings.HasPrefix(behind, "'")
}

// markersIn returns the marks of progress of the agent's words, or others of a name: one line
// each, none twice.
func markersIn(words, name string) []string {
	var found []string
	seen := map[string]bool{placeholder: true, lasting: true, "": true}
	for _, t := range tagsIn(words, name) {
		text := oneLine(t.text, maxMarker)
		if seen[fold(text)] || t.quoted(words) || len(found) == maxMarkers {
			continue
		}
		seen[fold(text)] = true
		found = append(found, text)
	}
	return found
}

// mostPromises is how many promises are looked at, from the last one on.
const mostPromises = 100

// promised says whether the agent's words make the promise: in a line of its own, or at
// the end of one, after a sentence. In the middle of one it is talked about.
func promised(words, promise, prompt string) bool {
	tags := tagsIn(words, promiseTag)
	for _, t := range tags[max(0, len(tags)-mostPromises):] {
		if fold(t.text) != fold(promise) || t.quoted(words) {
			continue
		}
		before, behind := t.around(words)
		before = strings.TrimRight(before, " \t*_")
		alone := strings.Trim(before, " \t*_-+•#│|") == ""
		if strings.Trim(behind, " \t*_.!│|") != "" || !alone && !strings.HasSuffix(before, ".") && !strings.HasSuffix(before, "!") {
			continue
		}
		if !quotes(prompt, before+words[t.start:t.end]+behind, words[t.start:t.end]) {
			return true
		}
	}
	return false
}

// checklist counts the finished and all items of lists such as "- [x] login".
func checklist(words string) (done, all int) {
	for line := range strings.Lines(words) {
		item := strings.TrimLeft(line, " \t-*+•0123456789.")
		switch {
		case strings.HasPrefix(item, "[x]"), strings.HasPrefix(item, "[X]"):
			done++
			all++
		case strings.HasPrefix(item, "[ ]"):
			all++
		}
	}
	return done, all
}
