package builtin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// The modes of tool_output, in the order in which one stands in for the one before.
const (
	modeAuto        = "auto"
	modeFullChunked = "full-chunked" // a model reads all of it
	modeReadGrep    = "read-grep"    // a model searches it
	modeGrep        = "grep"         // the lines that have the words of what is needed; in place of read-grep without a model
	modeTruncate    = "truncate"     // its beginning and its end
)

// longLines is the average length of lines, in bytes, from which on they are read by bytes: a
// line says nothing about where one is then. It is avgLineBytesThreshold of the source
// document.
const longLines = 1000

// mostQuestions is how many parts an output is asked about at most, where full-chunked is
// asked for.
const mostQuestions = 32

// extract answers tool_output.
func extract(ctx context.Context, v *visit) Answer {
	const most = 4096
	handle, want, mode := v.args.need("handle", "ref_id", "ref"), v.args.need("extract"), v.args.text("mode")
	if len(want) > most {
		v.args.keep(fmt.Errorf("extract: want at most %d bytes, got %d", most, len(want)))
	}
	if mode == "" {
		mode = modeAuto
	}
	if modes := []string{modeAuto, modeFullChunked, modeReadGrep, modeTruncate}; !slices.Contains(modes, mode) {
		v.args.keep(fmt.Errorf("mode: want one of %s, got %s", strings.Join(modes, ", "), quote(mode)))
	}
	count, err := token.NewCounter("pieces", nil)
	if err != nil {
		return failed(ctx, "", err)
	}
	x := extraction{visit: v, count: count, want: want}
	answer := v.read(ctx, handle, func(c Content, ref llm.Ref) (string, error) {
		x.c, x.ref = c, ref
		return x.run(ctx, mode)
	})
	answer.Usage = x.usage
	if answer.Fault == nil {
		answer.Fault = x.fault
	}
	return answer
}

// An extraction is what is needed of an output, while it is got.
type extraction struct {
	*visit
	c     Content
	ref   llm.Ref
	count token.Counter
	want  string
	usage llm.Usage
	fault error    // the last one that another way made up for
	tried []string // ways that did not get there, and why
}

// A way is one of getting what is needed. Its error says why it did not.
type way struct {
	name string
	run  func(ctx context.Context) (string, error)
}

// run goes the ways from a mode on until one gets there. The last one always does, unless
// the content cannot be read.
func (x *extraction) run(ctx context.Context, mode string) (string, error) {
	ways, err := x.ways(ctx, mode)
	if err != nil {
		return "", err
	}
	for i, w := range ways {
		text, err := w.run(ctx)
		if err == nil {
			return x.headed(w.name, text), nil
		}
		if ctx.Err() != nil || i == len(ways)-1 {
			return "", err
		}
		x.tried = append(x.tried, w.name+": "+x.why(err))
	}
	return "", nil // there is a last way
}

// ways returns the ways from a mode on.
func (x *extraction) ways(ctx context.Context, mode string) ([]way, error) {
	chunked, searched := way{modeFullChunked, x.fullChunked}, way{modeReadGrep, x.readGrep}
	if x.model == nil {
		searched = way{modeGrep, x.grepWords}
	}
	last := way{modeTruncate, x.truncate}
	switch mode {
	case modeTruncate:
		return []way{last}, nil
	case modeReadGrep:
		return []way{searched, last}, nil
	case modeFullChunked:
		return []way{chunked, searched, last}, nil
	}
	if x.model == nil {
		if x.c.Size() <= int64(x.room()) {
			return []way{last}, nil // all of it can be shown
		}
		return []way{searched, last}, nil
	}
	// However long its lines are: a search finds its way in them, too.
	_, few, err := x.chunks(ctx, x.limits.Chunks)
	if err != nil || few {
		return []way{chunked, searched, last}, err
	}
	return []way{searched, last}, nil
}

// A reason is why a way did not get there, for the model to read.
type reason string

func (r reason) Error() string { return string(r) }

// why returns what a model is told of an error. What is not its doing is kept for the host.
func (x *extraction) why(err error) string {
	var r reason
	if errors.As(err, &r) {
		return string(r)
	}
	x.fault = err
	if errors.Is(err, ErrDamaged) {
		return "a part of the output is damaged"
	}
	return "no model answered"
}

// headed puts above an answer what it is of and how it was got, and keeps it to its bound.
func (x *extraction) headed(name, text string) string {
	head := fmt.Sprintf("[From the output of %s, handle=%s, strategy=%s", x.maker(), x.ref, name)
	if len(x.tried) > 0 {
		head += "; " + strings.Join(x.tried, "; ")
	}
	head += "]\n"
	return head + ends(text, x.limits.Extract-len(head))
}

// room is the bytes that an answer has below its head, which is seldom longer.
func (x *extraction) room() int { return x.limits.Extract - 400 }

// maker names the tool that put the output out.
func (x *extraction) maker() string {
	if m, ok := x.c.(Made); ok {
		if name := m.Tool(); name != "" {
			return string(firstRunes([]byte(name), 64))
		}
	}
	return "a tool"
}

// truncate shows the beginning and the end of an output.
func (x *extraction) truncate(context.Context) (string, error) {
	size, most := x.c.Size(), int64(x.room())
	if size <= most {
		b := make([]byte, size)
		err := readFull(x.c, b, 0)
		return shown(b), err
	}
	head, _, err := wholeRunes(x.c, span{0, (most - markRoom) / 2})
	if err != nil {
		return "", err
	}
	tail, from, err := wholeRunes(x.c, span{size - (most-markRoom)/2, most})
	if err != nil {
		return "", err
	}
	return shown(head) + mark(from-int64(len(head))) + shown(tail), nil
}

// markRoom is what a mark takes at most.
const markRoom = 64

// mark stands in place of what was left out.
func mark(n int64) string { return fmt.Sprintf("\n[... %s bytes left out ...]\n", commas(n)) }

// ends returns a text whole if it has room, else its beginning and its end.
func ends(s string, room int) string {
	if len(s) <= room {
		return s
	}
	b := []byte(s)
	half := max(0, room-markRoom) / 2
	head, tail := runeBegin(b, half), runeBegin(b, len(b)-half)
	return s[:head] + mark(int64(tail-head)) + s[tail:]
}
