package builtin

import (
	"bytes"
	"context"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A visit is one call while it is answered.
type visit struct {
	limits Limits
	names  map[string]string // of the tools that are offered beside it, by their own names
	tool   string            // its name as the model knows it
	source Source
	model  Model // may be nil
	args   *args
}

// read answers with what is read from the content that a call names. Where there is none, or
// nothing to read in it, the answer says so.
func (v *visit) read(ctx context.Context, name string, text func(c Content, ref llm.Ref) (string, error)) Answer {
	if v.args.err != nil {
		return wrong(v.tool, v.args.err)
	}
	ref, err := llm.ParseRef(bare(name))
	if err != nil {
		return unknown(name) // what is no Ref names nothing, a path neither
	}
	c, err := v.source.Open(ctx, ref)
	if err != nil {
		return failed(ctx, ref, err)
	}
	defer func() { _ = c.Close() }() // it was only read
	answer := Answer{Ref: ref}
	if about, ok := unreadable(c); ok {
		answer.Text, answer.NoText = about, c.Size() > 0
	} else if answer.Text, err = text(c, ref); err != nil {
		return failed(ctx, ref, err)
	}
	return answer
}

// unreadable says why there is nothing to read in a content: it is empty, or no text.
func unreadable(c Content) (string, bool) {
	if c.Size() == 0 {
		return "The output is empty.", true
	}
	head := make([]byte, min(c.Size(), 8<<10))
	n, _ := c.ReadAt(head, 0) // what cannot be read fails where it is needed
	if bytes.IndexByte(head[:n], 0) >= 0 {
		return fmt.Sprintf("[Binary content, %s bytes: it cannot be shown as text.]", commas(c.Size())), true
	}
	return encoded(c, head[:n])
}

// encoded shows a content that is JSON around one long run of base64, or such a run as a string, such as an image as it came
// from a provider: what stands around it, which says its type, and how long the run is.
func encoded(c Content, head []byte) (string, bool) {
	const around, shortest = 1 << 10, 256 // bytes
	isCode := func(b byte) bool {
		return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || b == '+' || b == '/' || b == '='
	}
	end := len(head)
	if int64(len(head)) == c.Size() { // what stands behind the run is in it, too
		end = max(0, end-around)
	}
	from := end
	for from > 0 && isCode(head[from-1]) {
		from--
	}
	before, quoted := head[:from], []byte(`"`)
	isJSON := bytes.HasPrefix(before, []byte("{")) || bytes.HasPrefix(before, []byte("[")) || bytes.Equal(before, quoted)
	isString := bytes.HasSuffix(before, quoted) || bytes.HasSuffix(before, []byte(";base64,"))
	if end-from < shortest || from > around || !isJSON || !isString {
		return "", false // before the end is read, which of a large content costs as much as a page
	}
	tail := make([]byte, min(c.Size(), around))
	n, _ := c.ReadAt(tail, c.Size()-int64(len(tail)))
	tail = tail[:n]
	rest := 0
	for rest < len(tail) && isCode(tail[rest]) {
		rest++
	}
	size := c.Size() - int64(from) - int64(len(tail)-rest)
	if rest == 0 || !bytes.HasPrefix(tail[rest:], quoted) {
		return "", false
	}
	return fmt.Sprintf("%s[%s bytes in base64: they cannot be shown as text.]%s", before, commas(size), tail[rest:]), true
}

// past says that an offset is past the end, as the source document prints it, and how much
// there is.
func past(format string, args ...any) string {
	return fmt.Sprintf("Offset exceeds output length.\n["+format+".]", args...)
}

// How a place in a long line is named: by the argument that reads on from there, if a tool
// has one.
const (
	byChars = "char_offset" // in characters of the line
	byBytes = "offset"      // in bytes of the content
	byNone  = "character"   // of the line
)

// placeName is how a place in a long line is named: as the tool for lines takes it, or the
// one for bytes, whichever is offered.
func (v *visit) placeName() string {
	switch {
	case v.names[policy.ToolOutputCacheLine] != "":
		return byChars
	case v.names[policy.ToolReadResult] != "":
		return byBytes
	}
	return byNone
}
