package tokenizers

import (
	"encoding/json"
	"fmt"
	"time"
	"unicode"

	"github.com/dlclark/regexp2/v2"
)

// matchTimeout is how long one search of a pattern may take. The patterns of the known models need microseconds.
const matchTimeout = time.Second

// gpt2Pattern is what ByteLevel cuts by (openai/gpt-2, encoder.py).
const gpt2Pattern = `'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+`

// A stage is one step of the pre-tokenizer: it cuts a text, and the next stage cuts what comes out.
type stage interface {
	// cut calls yield with the parts of the text in their order, never with an empty one. It fails if a search takes too
	// long; end is then where what was not yielded begins.
	cut(text []rune, yield func(part []rune)) (end int, err error)
}

var (
	_ stage = split{}
	_ stage = prefixed{}
)

// A matcher finds the delimiters of a split: it calls yield with the ends of each, in their order, without overlap.
type matcher interface {
	find(text []rune, yield func(start, end int)) error
}

// split cuts at delimiters.
type split struct {
	matcher  matcher
	behavior behavior
	invert   bool   // what lies between the matches are the delimiters
	regex    string // the pattern as it stands in the file, if it is one
}

// behavior says what becomes of a delimiter.
type behavior uint8

const (
	isolated behavior = iota
	removed
	mergedWithPrevious
	mergedWithNext
	contiguous
)

// span is a part of a text, a delimiter or not.
type span struct {
	start, end int
	match      bool
}

// cut implements stage.
func (s split) cut(text []rune, yield func([]rune)) (int, error) {
	switch s.behavior {
	case isolated, removed:
		return s.stream(text, yield)
	}
	spans, err := s.spans(text)
	if err != nil {
		return 0, err
	}
	for _, p := range s.behavior.join(spans) {
		if p.end > p.start {
			yield(text[p.start:p.end])
		}
	}
	return len(text), nil
}

// stream is cut for what needs no memory of the part before.
func (s split) stream(text []rune, yield func([]rune)) (int, error) {
	done := 0
	keep := func(start, end int, match bool) {
		if end > start && (s.behavior == isolated || match == s.invert) {
			yield(text[start:end])
		}
		done = end
	}
	err := s.matcher.find(text, func(start, end int) {
		keep(done, start, false)
		keep(start, end, true)
	})
	if err != nil {
		return done, err
	}
	keep(done, len(text), false)
	return done, nil
}

// spans lists delimiters and what lies between, empty ones too.
func (s split) spans(text []rune) ([]span, error) {
	var out []span
	done := 0
	err := s.matcher.find(text, func(start, end int) {
		if start > done {
			out = append(out, span{done, start, s.invert})
		}
		out = append(out, span{start, end, !s.invert})
		done = end
	})
	if done < len(text) {
		out = append(out, span{done, len(text), s.invert})
	}
	return out, err
}

// join merges delimiters with what they belong to. Of several delimiters in a row only the first (for mergedWithNext
// the last) is merged, as in the original.
func (b behavior) join(spans []span) []span {
	var out []span
	before := false
	if b == mergedWithNext {
		for i := len(spans) - 1; i >= 0; i-- {
			p := spans[i]
			if p.match && !before && len(out) > 0 {
				out[len(out)-1].start = p.start
			} else {
				out = append(out, p)
			}
			before = p.match
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
		return out
	}
	for _, p := range spans {
		joins := p.match && !before
		if b == contiguous {
			joins = p.match == before
		}
		if joins && len(out) > 0 {
			out[len(out)-1].end = p.end
		} else {
			out = append(out, p)
		}
		before = p.match
	}
	return out
}

// pattern matches by a regular expression.
type pattern struct{ re *regexp2.Regexp }

// find implements matcher.
func (p pattern) find(text []rune, yield func(start, end int)) error {
	return p.re.FindRunesMatches(text, 0, func(m regexp2.MatchView) bool {
		if at, n, ok := m.GroupRange(0); ok {
			yield(at, at+n)
		}
		return true
	})
}

// digit matches each number by itself. Runs of numbers are split by it with contiguous.
type digit struct{}

// find implements matcher.
func (digit) find(text []rune, yield func(start, end int)) error {
	for i, r := range text {
		if unicode.IsNumber(r) {
			yield(i, i+1)
		}
	}
	return nil
}

// prefixed puts a space in front of what does not begin with one.
type prefixed struct{}

// cut implements stage.
func (prefixed) cut(text []rune, yield func([]rune)) (int, error) {
	if text[0] != ' ' {
		text = append([]rune{' '}, text...)
	}
	yield(text)
	return len(text), nil
}

// preJSON is a pre-tokenizer as it stands in the file.
type preJSON struct {
	Type     string            `json:"type"`
	List     []json.RawMessage `json:"pretokenizers"`
	Pattern  map[string]string `json:"pattern"`
	Behavior string            `json:"behavior"`
	Invert   bool              `json:"invert"`
	Prefix   *bool             `json:"add_prefix_space"`
	UseRegex *bool             `json:"use_regex"`
	Single   bool              `json:"individual_digits"`
}

// readPreTokenizer returns the stages that the file asks for. The last must be ByteLevel, which is not a stage: it turns
// a piece into its bytes, as model works on.
func readPreTokenizer(path string, raw json.RawMessage) ([]stage, error) {
	if !given(raw) {
		return nil, unsupported(path, "ByteLevel, or a Sequence that ends with it", "none")
	}
	r := preReader{}
	if err := r.read(path, raw, 0); err != nil {
		return nil, err
	}
	if !r.closed {
		return nil, unsupported(path, "ByteLevel as the last step", "none")
	}
	return r.stages, nil
}

// preReader collects stages.
type preReader struct {
	stages []stage
	closed bool // ByteLevel was there
}

// maxDepth is how deep sequences may be nested.
const maxDepth = 8

func (r *preReader) read(path string, raw json.RawMessage, depth int) error {
	var j preJSON
	if err := decode(path, raw, &j); err != nil {
		return err
	}
	if depth > maxDepth {
		return unsupported(path, fmt.Sprintf("sequences at most %d deep", maxDepth), "more")
	}
	if j.Type == "Sequence" {
		for i, inner := range j.List {
			if err := r.read(fmt.Sprintf("%s.pretokenizers[%d]", path, i), inner, depth+1); err != nil {
				return err
			}
		}
		return nil
	}
	if r.closed {
		return unsupported(path, "nothing after ByteLevel", fmt.Sprintf("%q", j.Type))
	}
	switch j.Type {
	case "ByteLevel":
		return r.byteLevel(j)
	case "Split":
		return r.split(path, j)
	case "Digits":
		s := split{matcher: digit{}, behavior: contiguous}
		if j.Single {
			s.behavior = isolated
		}
		r.stages = append(r.stages, s)
		return nil
	}
	return unsupported(path+".type", "ByteLevel, Split, Digits or Sequence", fmt.Sprintf("%q", j.Type))
}

// byteLevel reads the last step. Both its members default to true, as in the original.
func (r *preReader) byteLevel(j preJSON) error {
	r.closed = true
	if j.Prefix == nil || *j.Prefix {
		r.stages = append(r.stages, prefixed{})
	}
	if j.UseRegex != nil && !*j.UseRegex {
		return nil
	}
	re, err := compile(gpt2Pattern)
	if err != nil {
		return err
	}
	r.stages = append(r.stages, split{matcher: pattern{re}, regex: gpt2Pattern})
	return nil
}

func (r *preReader) split(path string, j preJSON) error {
	s := split{invert: j.Invert}
	switch j.Behavior {
	case "Isolated":
		s.behavior = isolated
	case "Removed":
		s.behavior = removed
	case "MergedWithPrevious":
		s.behavior = mergedWithPrevious
	case "MergedWithNext":
		s.behavior = mergedWithNext
	case "Contiguous":
		s.behavior = contiguous
	default:
		return invalid(path+".behavior", "Isolated, Removed, MergedWithPrevious, MergedWithNext or Contiguous", fmt.Sprintf("%q", j.Behavior))
	}
	expr, at := "", path+".pattern.Regex"
	if text, ok := j.Pattern["String"]; ok && len(j.Pattern) == 1 {
		expr, at = regexp2.Escape(text), path+".pattern.String"
	} else if text, ok := j.Pattern["Regex"]; ok && len(j.Pattern) == 1 {
		s.regex = text
		var fault string
		if expr, fault = translate(text); fault != "" {
			return unsupported(at, "a pattern that means the same to both engines", fault)
		}
	} else {
		return invalid(path+".pattern", "Regex or String", fmt.Sprintf("%d members", len(j.Pattern)))
	}
	if expr == "" {
		return invalid(at, "a pattern", "an empty one")
	}
	re, err := compile(expr)
	if err != nil {
		return unsupported(at, "a pattern", err.Error())
	}
	s.matcher = pattern{re}
	r.stages = append(r.stages, s)
	return nil
}

// compile makes a pattern that gives up a search after matchTimeout.
func compile(expr string) (*regexp2.Regexp, error) {
	re, err := regexp2.Compile(expr)
	if err != nil {
		return nil, err
	}
	re.MatchTimeout = matchTimeout
	return re, nil
}
