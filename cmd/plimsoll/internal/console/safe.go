package console

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// SafeLines is safe for a text of several lines.
func SafeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.ReplaceAll(Safe(strings.ReplaceAll(l, "\t", "    ")), `\r`, "")
	}
	return strings.Join(lines, "\n")
}

// Safe returns a text that comes from outside in a form that can only be read: what
// a terminal would obey (escape sequences), or what would reorder or hide letters,
// is shown as an escape.
func Safe(s string) string {
	if !needsEscape(s) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case !Hidden(r):
			b.WriteRune(r)
		case r < 0x80:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(unicodeEscape(r))
		}
		s = s[n:]
	}
	return b.String()
}

func needsEscape(s string) bool {
	return !utf8.ValidString(s) || strings.ContainsFunc(s, Hidden)
}

// Hidden reports whether a character is not one to be seen: control characters,
// direction marks and the like. The joiners that emoji and some scripts need are
// let through.
func Hidden(r rune) bool {
	const nonJoiner, joiner = '\u200C', '\u200D'
	return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp) && r != nonJoiner && r != joiner
}

// unicodeEscape writes a character as JSON does.
func unicodeEscape(r rune) string {
	if high, low := utf16.EncodeRune(r); high != unicode.ReplacementChar {
		return fmt.Sprintf(`\u%04x\u%04x`, high, low)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// PrintJSON prints a value on one line. What JSON lets through and a terminal does
// not is escaped; a reader of JSON sees the same value.
func PrintJSON(w io.Writer, v any) error {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(w, SafeJSON(b.String()))
	return err
}

// SafeJSON escapes what is hidden in a JSON text; it can only stand in strings.
func SafeJSON(text string) string {
	if !strings.ContainsFunc(text, inString) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if inString(r) {
			b.WriteString(unicodeEscape(r))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// inString leaves out the white space between values, which is hidden too.
func inString(r rune) bool { return r >= ' ' && Hidden(r) }
