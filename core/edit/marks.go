package edit

import "strings"

// What a line says that tells what went wrong, in small letters.
var (
	troubles = []string{
		"error", "fail", "panic", "fatal", "exception", "traceback", "critical", "abort", "assert", "segmentation fault", "undefined",
		"cannot ", "not found", "no such file", "denied", "refused", "timed out", "killed", "out of memory",
	}
	warnings = []string{"warn", "deprecat"}
)

const (
	markedWithin = 512  // bytes of a line, in which it is looked for that
	mostMarks    = 2000 // lines of a kind: more than any excerpt shows

	// Where more lines than that say so, it is what the text is about: code that handles
	// errors, one problem in each line. In recorded sessions, agents then quote more of
	// what stands at both ends; the first few still say what it is about.
	manyMarks, manyPermille = 20, 20
	fewMarks                = 3
)

// marksOf returns which lines say what went wrong: errors first, then warnings, each from
// the beginning. Of lines that differ in their digits alone, the first counts.
func marksOf(lines []numbered) []int {
	var errors, warned []int
	seen := map[string]bool{}
	all := 0
	for i, l := range lines {
		text := strings.ToLower(cutBytes(l.text, markedWithin))
		list := &errors
		if !says(text, troubles) {
			if list = &warned; !says(text, warnings) {
				continue
			}
		}
		all++
		if key := withoutDigits(text); len(*list) < mostMarks && !seen[key] {
			seen[key] = true
			*list = append(*list, i)
		}
	}
	marks := append(errors, warned...)
	if all > max(manyMarks, len(lines)*manyPermille/1000) {
		return marks[:min(len(marks), fewMarks)]
	}
	return marks
}

// says reports whether a line has one of these words, other than to say that there is
// none: "0 errors", "no warnings".
func says(line string, words []string) bool {
	for _, w := range words {
		for at := 0; ; {
			i := strings.Index(line[at:], w)
			if i < 0 {
				break
			}
			if before := strings.TrimRight(line[:at+i], " "); !isNone(before) {
				return true
			}
			at += i + len(w)
		}
	}
	return false
}

// isNone reports whether a text ends with a word for none.
func isNone(text string) bool {
	rest, zero := strings.CutSuffix(text, "0")
	if zero {
		return rest == "" || (rest[len(rest)-1] < '0' || rest[len(rest)-1] > '9') && rest[len(rest)-1] != '.'
	}
	rest, no := strings.CutSuffix(text, "no")
	return no && (rest == "" || rest[len(rest)-1] == ' ')
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, s)
}
