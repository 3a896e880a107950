package sessionfile

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxUnknown is how many JSON objects are looked at before a file of JSON lines is
// said to be of no known format.
const maxUnknown = 64

// Open reads a session file. The format is found by the content, not by the name.
// The error is a *[FormatError] if nothing could be read, or the operating
// system's; everything less is in Session.Problems.
func Open(path string) (*Session, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("sessionfile: open: %w", err)
	}
	s, err := Read(path, f)
	_ = f.Close() // it was only read
	return s, err
}

// Read reads a session from a stream. The name is only for Session.Path and for
// problems. Errors are as with [Open].
func Read(name string, r io.Reader) (*Session, error) {
	in, format, err := detect(name, r)
	if err != nil {
		return nil, err
	}
	state := newReading(name, format)
	switch format {
	case FormatClaudeCode:
		readClaude(state, in)
	case FormatCodex:
		readCodex(state, in)
	default:
		err = readBody(state, in.body())
	}
	if err != nil {
		return nil, err
	}
	if state.session.ID == "" {
		base := filepath.Base(name)
		state.session.ID = strings.TrimSuffix(base, filepath.Ext(base))
	}
	slices.SortStableFunc(state.session.Problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
	return state.session, nil
}

// An input is a file whose first lines were read to find its format.
type input struct {
	head  []line // owned copies
	rest  *lineReader
	err   error // that ended the head
	bytes int   // in head
}

// each calls take for every line. An error in the middle is a Problem.
func (in *input) each(r *reading, take func(line)) {
	for _, l := range in.head {
		take(l)
	}
	in.head = nil
	err := in.err
	for err == nil {
		var l line
		if l, err = in.rest.next(); err == nil {
			take(l)
		}
	}
	if !errors.Is(err, io.EOF) {
		r.problem(in.rest.no+1, "reading stopped: %v", err)
	}
}

// body returns the head as one text.
func (in *input) body() []byte {
	var b bytes.Buffer
	for i, l := range in.head {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.Write(l.bytes)
	}
	return b.Bytes()
}

// detect reads as many lines as it takes to know the format.
func detect(name string, r io.Reader) (*input, Format, error) {
	in := &input{rest: newLineReader(r)}
	unknown := &FormatError{File: name, Known: Formats()}
	objects := 0
	for in.bytes < maxLineBytes && objects < maxUnknown {
		var l line
		l, in.err = in.rest.next()
		if in.err != nil {
			break
		}
		l.bytes = bytes.Clone(l.bytes)
		if len(in.head) == 0 {
			l.bytes = bytes.TrimPrefix(l.bytes, []byte("\xEF\xBB\xBF"))
		}
		in.head = append(in.head, l)
		in.bytes += len(l.bytes)
		if what := notText(l.bytes); what != "" {
			unknown.Seen = what
			return nil, "", unknown
		}
		object := bytes.TrimSpace(l.bytes)
		if len(object) == 0 || object[0] != '{' || !isJSON(object) {
			continue
		}
		if format := lineFormat(object); format != "" {
			return in, format, nil
		}
		objects++
	}
	if in.err != nil && !errors.Is(in.err, io.EOF) && in.bytes == 0 {
		return nil, "", fmt.Errorf("sessionfile: read: %s: %w", name, in.err)
	}
	format, seen := bodyFormat(in)
	if format == "" {
		unknown.Seen = seen
		return nil, "", unknown
	}
	return in, format, nil
}

// notText names what a line is if it is not text.
func notText(b []byte) string {
	switch {
	case bytes.HasPrefix(b, []byte("\x1F\x8B")):
		return "gzip data"
	case bytes.HasPrefix(b, []byte("\x28\xB5\x2F\xFD")):
		return "zstd data"
	case bytes.HasPrefix(b, []byte("PK\x03\x04")):
		return "a zip archive"
	case bytes.HasPrefix(b, []byte("\xFF\xFE")), bytes.HasPrefix(b, []byte("\xFE\xFF")):
		return "UTF-16 text"
	case bytes.IndexByte(b, 0) >= 0:
		return "binary data"
	}
	return ""
}

// claudeBookkeeping are the types of Claude Code lines that have neither a uuid
// nor always a session id.
var claudeBookkeeping = map[string]bool{
	"summary": true, "file-history-snapshot": true, "file-history-delta": true, "queue-operation": true, "last-prompt": true,
	"custom-title": true, "ai-title": true, "mode": true, "permission-mode": true, "pr-link": true,
}

var claudeTypes = map[string]bool{
	"user": true, "assistant": true, "system": true, "progress": true, "attachment": true,
}

var codexTypes = map[string]bool{
	"session_meta": true, "turn_context": true, "response_item": true, "event_msg": true, "compacted": true,
}

// lineFormat returns the format of a file that has this line, or "".
func lineFormat(object []byte) Format {
	has := map[string][]byte{}
	eachField(object, func(key, value []byte) { has[string(key)] = value })
	kind := str(has["type"])
	_, payload := has["payload"]
	_, id := has["uuid"]
	_, session := has["sessionId"]
	_, message := has["message"]
	_, leaf := has["leafUuid"]
	_, snapshot := has["snapshot"]
	switch {
	case payload && codexTypes[kind]:
		return FormatCodex
	case claudeTypes[kind] && (id || session && message),
		claudeBookkeeping[kind] && (session || leaf || snapshot):
		return FormatClaudeCode
	}
	return ""
}

// bodyFormat returns the format of a file that is one JSON body, or what it is instead.
func bodyFormat(in *input) (Format, string) {
	if len(in.head) == 0 {
		return "", "an empty file"
	}
	b := bytes.TrimSpace(in.body())
	first := bytes.TrimSpace(in.head[0].bytes)
	lines := len(first) > 0 && first[0] == '{' && isJSON(first)
	end := check(b)
	switch {
	case len(b) == 0:
		return "", "an empty file"
	case end == tooDeep:
		return "", "JSON that is nested too deep"
	case lines && len(first) < len(b):
		return "", "JSON lines with the fields " + keysOf(first)
	case end == invalid:
		return "", fmt.Sprintf("text that is not JSON and begins %.40q", b)
	case b[0] != '{':
		return "", "a JSON value that is no object"
	}
	if format := requestFormat(b); format != "" {
		return format, ""
	}
	return "", "a JSON object with the fields " + keysOf(b)
}

// keysOf names the first fields of a JSON object.
func keysOf(object []byte) string {
	var keys []string
	eachField(bytes.TrimSpace(object), func(key, _ []byte) {
		if len(keys) < 6 && len(key) < 40 {
			keys = append(keys, string(key))
		}
	})
	return strings.Join(keys, ", ")
}
