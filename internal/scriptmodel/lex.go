package scriptmodel

import (
	"fmt"
	"strconv"
	"strings"
)

// A line of a script, cut into words.
type line struct {
	number   int
	indented bool
	words    []word
}

// A word is a bare word, a quoted text, a comma, or the JSON that ends a line.
type word struct {
	text   string
	quoted bool
}

// lex cuts a script into lines; empty ones and comments are left out.
func lex(text string) ([]line, error) {
	var lines []line
	number := 0
	for text := range strings.SplitSeq(text, "\n") {
		number++
		l := line{number: number, indented: strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t")}
		var err error
		if l.words, err = words(text); err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		if len(l.words) > 0 {
			lines = append(lines, l)
		}
	}
	return lines, nil
}

// words cuts one line.
func words(text string) ([]word, error) {
	var out []word
	for {
		text = strings.TrimSpace(text)
		switch {
		case text == "" || text[0] == '#':
			return out, nil
		case text[0] == ',':
			out, text = append(out, word{text: ","}), text[1:]
		case text[0] == '{':
			return append(out, word{text: text, quoted: true}), nil
		case text[0] == '"' || text[0] == '`':
			literal, err := strconv.QuotedPrefix(text)
			if err != nil {
				return nil, fmt.Errorf("text, want one that ends with its quote, got %s", text)
			}
			said, err := strconv.Unquote(literal)
			if err != nil {
				return nil, fmt.Errorf("text, want a quoted one, got %s", literal)
			}
			out, text = append(out, word{text: said, quoted: true}), text[len(literal):]
		default:
			n := strings.IndexAny(text, " \t,\r")
			if n < 0 {
				n = len(text)
			}
			out, text = append(out, word{text: text[:n]}), text[n:]
		}
	}
}

// A reader takes the words of one line in turn.
type reader struct{ line }

// more reports whether words are left.
func (r *reader) more() bool { return len(r.words) > 0 }

// next takes a bare word; "" if there is none.
func (r *reader) next() string {
	if !r.more() || r.words[0].quoted {
		return ""
	}
	w := r.words[0].text
	r.words = r.words[1:]
	return w
}

// skip takes the next word if it is that one.
func (r *reader) skip(bare string) bool {
	if !r.more() || r.words[0].quoted || r.words[0].text != bare {
		return false
	}
	r.words = r.words[1:]
	return true
}

// quoted takes a quoted text, if one is next.
func (r *reader) quotedNext() (string, bool) {
	if !r.more() || !r.words[0].quoted {
		return "", false
	}
	w := r.words[0].text
	r.words = r.words[1:]
	return w, true
}

// got shows what is next, for errors.
func (r *reader) got() string {
	switch {
	case !r.more():
		return "the end of the line"
	case r.words[0].quoted:
		return strconv.Quote(r.words[0].text)
	}
	return r.words[0].text
}

// wrong returns the error of the next word.
func (r *reader) wrong(what, want string) error {
	return fmt.Errorf("line %d: %s, want %s, got %s", r.number, what, want, r.got())
}

// text takes a quoted text.
func (r *reader) text(what string) (string, error) {
	if s, ok := r.quotedNext(); ok {
		return s, nil
	}
	return "", r.wrong(what, "a quoted text")
}

// number takes a whole number of at least low.
func (r *reader) count(what string, low int) (int, error) {
	if r.more() && !r.words[0].quoted {
		if n, err := strconv.Atoi(strings.ReplaceAll(r.words[0].text, "_", "")); err == nil && n >= low {
			r.words = r.words[1:]
			return n, nil
		}
	}
	return 0, r.wrong(what, "a whole number of at least "+strconv.Itoa(low))
}

// end says that nothing may follow.
func (r *reader) end(what string) error {
	if r.more() {
		return r.wrong(what, "nothing more")
	}
	return nil
}
