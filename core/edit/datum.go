package edit

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// looked is how many bytes of an output say what it is.
const looked = 8000

// isBinary reports whether a text is none: it has a zero byte, or more than a tenth of
// its characters are control characters or no UTF-8.
func isBinary(text string) bool {
	text = wholeRunes(cutBytes(text, looked))
	if strings.IndexByte(text, 0) >= 0 {
		return true
	}
	all, strange := 0, 0
	for _, r := range text {
		all++
		if r == utf8.RuneError || r < ' ' && !strings.ContainsRune("\t\n\r\f\b\x1b", r) {
			strange++
		}
	}
	return strange*10 > all
}

// Beginnings of formats, as they are and in base64.
var formats = []struct{ name, raw, coded string }{
	{"image/png", "\x89PNG", "iVBORw0KGgo"},
	{"image/jpeg", "\xff\xd8\xff", "/9j/"},
	{"image/gif", "GIF8", "R0lGOD"},
	{"image/webp", "RIFF", "UklGR"},
	{"application/pdf", "%PDF-", "JVBERi0"},
	{"application/zip", "PK\x03\x04", "UEsDB"},
	{"application/gzip", "\x1f\x8b", "H4sI"},
	{"application/zstd", "\x28\xb5\x2f\xfd", "KLUv/"},
	{"application/wasm", "\x00asm", "AGFzbQ"},
	{"application/x-elf", "\x7fELF", "f0VMR"},
	{"application/vnd.sqlite3", "SQLite format 3", "U1FMaXRlIGZvcm1hdCAz"},
}

// typeOf returns the type of what is no text, by its first bytes.
func typeOf(data string) string {
	for _, f := range formats {
		if strings.HasPrefix(data, f.raw) {
			return f.name
		}
	}
	return "binary"
}

// shortestCode is the fewest characters in a row that are taken for base64.
const shortestCode = 256

// unencoded returns a line with what it is in place of each long run of base64, and of
// the data URL that it is part of.
func unencoded(line string) string {
	if len(line) < shortestCode {
		return line
	}
	var b strings.Builder
	done := 0
	for at := 0; at < len(line); {
		end := at
		for end < len(line) && isCode(line[end]) {
			end++
		}
		if run := line[at:end]; isCoded(run) {
			name, url := codedAs(run, line[done:at])
			b.WriteString(line[done : at-url])
			fmt.Fprintf(&b, "[%s, %s in base64]", name, sizeName(len(strings.TrimRight(run, "="))*3/4))
			done = end
		}
		at = end + 1
	}
	return b.String() + line[done:]
}

func isCode(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '='
}

// isCoded reports whether a run of the characters of base64 is that: long, and of all
// kinds of characters. A digest in hexadecimal is not, nor is a rule of ===.
func isCoded(run string) bool {
	if len(run) < shortestCode {
		return false
	}
	begin := run[:shortestCode]
	return strings.ContainsAny(begin, "abcdefghijklmnopqrstuvwxyz") && strings.ContainsAny(begin, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") &&
		strings.ContainsAny(begin, "0123456789+")
}

// codedAs returns the type of a run of base64, and how many bytes before it are the
// beginning of its data URL.
func codedAs(run, before string) (name string, url int) {
	if head, ok := strings.CutSuffix(before, ";base64,"); ok {
		if i := strings.LastIndex(head, "data:"); i >= 0 {
			name, _, _ = strings.Cut(head[i+len("data:"):], ";")
			if isTypeName(name) {
				return name, len(before) - i
			}
		}
	}
	for _, f := range formats {
		if strings.HasPrefix(run, f.coded) {
			return f.name, 0
		}
	}
	return "binary", 0
}

// isJSON reports whether a text is one object or list.
func isJSON(text string) bool {
	begin := strings.TrimLeft(text, " \t\r\n")
	return begin != "" && (begin[0] == '{' || begin[0] == '[') && json.Valid([]byte(text))
}

// A table has at least so many lines, all of as many columns.
const tableLines = 8

// tableOf returns of how many columns the lines are, and how many stand above the rows,
// if they are a table: of tabs, commas or semicolons, or as Markdown has them.
func tableOf(lines []numbered) (above, columns int) {
	if len(lines) < tableLines {
		return 0, 0
	}
	if isRule(lines[1].text) && sameColumns(lines, '|') {
		return 2, separators(lines[1].text, '|') - 1
	}
	for _, by := range []struct {
		separator byte
		fewest    int
	}{{'\t', 1}, {',', 2}, {';', 2}} {
		n := separators(lines[0].text, by.separator)
		if n >= by.fewest && lines[0].text[0] != by.separator && sameColumns(lines, by.separator) {
			return 1, n + 1
		}
	}
	return 0, 0
}

// isRule reports whether a line is what Markdown has below the header of a table.
func isRule(line string) bool {
	return strings.HasPrefix(line, "|") && strings.Contains(line, "-") && strings.Trim(line, "|-: ") == ""
}

// sameColumns reports whether all lines have as many separators as the first.
func sameColumns(lines []numbered, separator byte) bool {
	n := separators(lines[0].text, separator)
	for _, l := range lines {
		if separators(l.text, separator) != n {
			return false
		}
	}
	return true
}

// separators counts c in a line, outside of quotes.
func separators(line string, c byte) int {
	n, quoted := 0, false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == c && !quoted:
			n++
		}
	}
	return n
}
