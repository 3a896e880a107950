package verify

import (
	"crypto/sha256"
	"encoding/base32"
	"slices"
	"strings"
)

// refChars is how many characters follow the "r" of a Ref (DESIGN.md section 2).
const refChars = 26

// refOf returns the Ref of data: "r" and the first 26 characters of the lower-case
// base32 form of its SHA-256.
func refOf(data []byte) string {
	sum := sha256.Sum256(data)
	return "r" + strings.ToLower(base32.StdEncoding.EncodeToString(sum[:]))[:refChars]
}

// words returns what has the form of a Ref in s: the letter r and 26 characters of
// a-z and 2-7, with no letter, digit or underscore beside them.
func words(s string) []string {
	var out []string
	run := 0 // length of the run of word characters that ends before i
	ref := 0 // how many of them, counted from the beginning, may be a Ref
	for i := 0; i <= len(s); i++ {
		if i < len(s) && isWord(s[i]) {
			if ref == run && isRefChar(s[i], run) {
				ref++
			}
			run++
			continue
		}
		if run == refChars+1 && ref == run {
			if w := s[i-run : i]; !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		run, ref = 0, 0
	}
	return out
}

func isWord(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c >= 0x80
}

func isRefChar(c byte, at int) bool {
	if at == 0 {
		return c == 'r'
	}
	return 'a' <= c && c <= 'z' || '2' <= c && c <= '7'
}

// words returns the Refs that p's text may name.
func (p *piece) words() []string {
	if p.refs == nil {
		p.refs = append([]string{}, words(p.Text)...)
	}
	return p.refs
}

// names returns the Refs under which the content of p may be stored: what it says
// and its bytes, in each form that a part can be kept in. The first one of a result
// is that of its text.
func (p *piece) names() []string {
	if p.own != nil {
		return p.own
	}
	add := func(data string) {
		if ref := refOf([]byte(data)); !slices.Contains(p.own, ref) {
			p.own = append(p.own, ref)
		}
	}
	switch p.Kind {
	case Text:
		add(p.Text)
		add(valid(p.Text))
		if v := plain(p.Part); v != nil {
			add(`{"type":"text","text":` + string(v) + `}`)
		}
	case Result:
		s := output(p.Value)
		add(s)
		add(valid(s))
	case Call: // one that never had bytes
		add(p.Name + " " + p.Text)
	}
	add(string(p.Raw))
	if p.Value != nil {
		add(string(p.Value))
	}
	return p.own
}

// output returns the text as which an output may be stored: its text, if that is all
// there is; else its texts with a line break after each, and the bytes of the rest.
func output(content []byte) string {
	if s, ok := oneText(content); ok {
		return s
	}
	var b strings.Builder
	for _, e := range elements(content) {
		if p := blockPart(e); p.Kind == Text {
			b.WriteString(p.Text + "\n")
		} else {
			b.Write(e)
		}
	}
	return b.String()
}
