package loop

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mostLooked bounds how much of an output is looked at, in bytes: of a longer one its
// ends.
const mostLooked = 4 << 20

// bounded returns a text, or both ends of one that is too long.
func bounded(text string) string {
	if len(text) <= mostLooked {
		return text
	}
	const head = mostLooked / 4
	return text[:head] + "\n[…]\n" + text[len(text)-(mostLooked-head):]
}

// squeezed is a text by its letters and digits alone, in lower case: so an echo is known
// however a program has wrapped, framed, indented or coloured it.
type squeezed struct {
	letters []byte
	ends    []int32 // where each byte's character ends in the text
}

func squeeze(text string) squeezed {
	s := squeezed{letters: make([]byte, 0, len(text)), ends: make([]int32, 0, len(text))}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		at += size
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		before := len(s.letters)
		s.letters = utf8.AppendRune(s.letters, unicode.ToLower(r))
		for range len(s.letters) - before {
			s.ends = append(s.ends, int32(at)) // bounded: at most mostLooked and a little
		}
	}
	return s
}

// How many letters and digits of the beginning of a prompt make an echo of it: anywhere,
// and at the very beginning of an output.
const (
	echoHead  = 64
	echoStart = 8
)

// afterEcho returns what an output says after the last echo of the prompt: of its
// beginning, as far as it goes, or of the line that it ends with.
func afterEcho(output, prompt string) string {
	out, in := squeeze(output), squeeze(prompt).letters
	last := squeeze(prompt[strings.LastIndexByte(strings.TrimSpace(prompt), '\n')+1:]).letters
	end := 0
	if at := bytes.LastIndex(out.letters, last); at >= 0 && len(last) > 0 {
		end = at + len(last)
	}
	if n := common(out.letters, in); n >= echoStart {
		end = max(end, n)
	}
	if at := bytes.LastIndex(out.letters, in[:min(echoHead, len(in))]); at >= 0 && len(in) >= echoHead {
		end = max(end, at+common(out.letters[at:], in))
	}
	if end == 0 {
		return output
	}
	rest := output[out.ends[end-1]:]
	// What is left of the echo's last line is its marks.
	if line, more, ok := strings.Cut(rest, "\n"); len(squeeze(line).letters) == 0 {
		if !ok {
			return ""
		}
		return more
	}
	return rest
}

// common returns how far two texts are the same.
func common(a, b []byte) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// quotes says whether a line stands in a prompt with more around its tag than the tag.
func quotes(prompt, line, tag string) bool {
	said := squeeze(line).letters
	return len(said) > len(squeeze(tag).letters) && bytes.Contains(squeeze(prompt).letters, said)
}

// said returns a text without what it quotes: fenced blocks and lines behind ">". A fence
// that is never closed reaches to the end.
func said(text string) string {
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(text) {
		bare := strings.TrimSpace(line)
		mark := fenceOf(bare)
		switch {
		case fence == "" && mark != "":
			fence = mark
		case fence != "" && strings.HasPrefix(mark, fence) && strings.Trim(bare, mark[:1]) == "":
			fence = ""
		case fence == "" && !strings.HasPrefix(bare, ">"):
			b.WriteString(line)
		}
	}
	return b.String()
}

// fenceOf returns the run of ` or ~ that opens or closes a fence, "" if there is none.
func fenceOf(line string) string {
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return ""
	}
	rest := strings.TrimLeft(line, line[:1])
	if line[0] == '`' && strings.Contains(rest, "`") {
		return "" // code within a line
	}
	return line[:len(line)-len(rest)]
}
