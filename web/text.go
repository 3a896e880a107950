package web

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/internal/rows"
)

// each makes a list of copies.
func each[T, U any](list []T, f func(T) U) []U {
	if list == nil {
		return nil
	}
	out := make([]U, len(list))
	for i, v := range list {
		out[i] = f(v)
	}
	return out
}

// windowName is what a window is called.
func windowName(window string) string { return clean(rows.Window(window)) }

// maxText is how many characters of a foreign text are shown.
const maxText = 300

// clean makes a foreign text fit to be shown in a line: white space becomes a blank,
// control and direction characters are named by their code point, and what is too
// long is cut. The joiners of emoji and of Indic scripts stay.
func clean(s string) string {
	var b strings.Builder
	n := 0
	for i, r := range s {
		if n++; n > maxText {
			b.WriteString("…")
			break
		}
		switch {
		case r == utf8.RuneError:
			b.WriteRune(unicode.ReplacementChar)
		case r == '\u200c' || r == '\u200d':
			b.WriteRune(r)
		case r == '\n' || r == '\t' || r == '\r':
			if i > 0 {
				b.WriteByte(' ')
			}
		case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// base returns the last part of a path, whatever system it is from.
func base(file string) string {
	if i := strings.LastIndexAny(file, `/\`); i >= 0 && i+1 < len(file) {
		return file[i+1:]
	}
	return file
}

// count writes a number with separators of thousands.
func count(n int) string {
	digits, negative := strings.CutPrefix(strconv.Itoa(n), "-")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if negative {
		return "−" + digits
	}
	return digits
}

// share writes part of whole in percent with one place, "–" where there is no whole.
func share(part, whole int) string {
	if whole <= 0 {
		return "–"
	}
	permille := (part*2000 + whole) / (2 * whole)
	return fmt.Sprintf("%d.%d %%", permille/10, permille%10)
}

// ppm writes parts per million in percent with two places.
func ppm(n int) string {
	hundredths := (n + 50) / 100
	return fmt.Sprintf("%d.%02d %%", hundredths/100, hundredths%100)
}

// kinds writes numbers by name, the largest first.
func kinds(m map[string]int) string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	for i, name := range names {
		names[i] = count(m[name]) + " " + clean(strings.ReplaceAll(name, "_", " "))
	}
	if len(names) == 0 {
		return "–"
	}
	return strings.Join(names, ", ")
}

// total adds up.
func total(m map[string]int) int {
	n := 0
	for _, v := range m {
		n += v
	}
	return n
}
