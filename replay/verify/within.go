package verify

import (
	"bytes"
	"encoding/json"
	"strings"
)

// typed is how a client begins a person's words that it puts at the end of a tool's output, in
// a tag.
var typed = []string{"The user sent a new message while you were working:", "The user sent the following message:"}

// The tag of such words. Others may follow it.
const openWords, closeWords = "<system-reminder>", "</system-reminder>"

// apart takes a person's words out of the results of a message, each behind its result, as a
// text of its own: one may be shortened and the other may not.
func apart(parts []Part) []Part {
	var out []Part
	for _, p := range parts {
		rest, said, ok := cutWords(p)
		if !ok {
			out = append(out, p)
			continue
		}
		out = append(out, rest, said)
	}
	return out
}

// cutWords cuts a person's words off the end of a result. ok is false if there are none, or
// if there is no output beside them.
func cutWords(p Part) (rest, said Part, ok bool) {
	if p.Kind != Result || p.Hosted {
		return p, Part{}, false
	}
	if first(p.Value) == '"' {
		output, words, ok := cutText(unquote(p.Value))
		if !ok || output == "" {
			return p, Part{}, false
		}
		return withContent(p, literal(output)), textPart(words), true
	}
	all := elements(p.Value)
	if len(all) == 0 {
		return p, Part{}, false
	}
	last := blockPart(all[len(all)-1])
	output, words, ok := cutText(last.Text)
	if !ok || last.Kind != Text || output == "" && len(all) == 1 {
		return p, Part{}, false
	}
	all = append([][]byte{}, all[:len(all)-1]...)
	if output != "" {
		all = append(all, replaced(last.Raw, last.Value, literal(output)))
	}
	return withContent(p, []byte("["+string(bytes.Join(all, []byte(",")))+"]")), textPart(words), true
}

// cutText cuts a person's words, and the tags behind them, off the end of a text.
func cutText(s string) (output, words string, ok bool) {
	for _, opening := range typed {
		for from := 0; ; {
			i := strings.Index(s[from:], opening)
			if i < 0 {
				break
			}
			before := strings.TrimRight(s[:from+i], " \t\r\n")
			from += i + len(opening)
			at := len(before) - len(openWords)
			if strings.HasSuffix(before, openWords) && onlyTags(s[at:]) {
				return strings.TrimRight(s[:at], " \t\r\n"), s[at:], true
			}
		}
	}
	return "", "", false
}

// onlyTags reports whether a text is nothing but tags with what they have in them, the first
// of them that of the words.
func onlyTags(s string) bool {
	_, s, ok := strings.Cut(s, closeWords)
	for s = strings.TrimSpace(s); ok && s != ""; s = strings.TrimSpace(s) {
		name, inside, _ := strings.Cut(strings.TrimPrefix(s, "<"), ">")
		if ok = strings.HasPrefix(s, "<"); ok {
			_, s, ok = strings.Cut(inside, "</"+name+">")
		}
	}
	return ok
}

// textPart is a text that came in the string of another part.
func textPart(s string) Part {
	v := literal(s)
	return Part{Kind: Text, Text: s, Raw: []byte(`{"type":"text","text":` + string(v) + `}`), Value: v, Within: true}
}

// withContent returns a result with another content.
func withContent(p Part, content []byte) Part {
	p.Raw = replaced(p.Raw, p.Value, content)
	p.Value = content
	p.Text = textOf(content)
	return p
}

// replaced returns raw with other bytes for those of a member that is one of its own.
func replaced(raw, value, by []byte) []byte {
	for _, m := range members(raw) {
		if len(m.value) > 0 && &m.value[0] == &value[0] {
			end := m.at.end
			return bytes.Join([][]byte{raw[:end-len(m.value)], by, raw[end:]}, nil)
		}
	}
	return raw
}

// literal returns a text as a JSON string that escapes no more than it has to.
func literal(s string) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string always can
	return bytes.TrimSpace(b.Bytes())
}
