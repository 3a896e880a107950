package claudecode

import (
	"bytes"
	"crypto/sha256"
	"hash/crc32"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// kind is what a Claude Code line holds.
type kind uint8

const (
	kindLink       kind = iota // bookkeeping; kept because other lines may name it as their parent
	kindUser                   // a message in the user's role
	kindAssistant              // one content block of a reply
	kindAttachment             // context that the client put in
	kindCommand                // output of a local command, sent as the user's text
)

// boundary says where the client changed what it sends.
type boundary uint8

const (
	noBoundary boundary = iota
	compactBoundary
	microBoundary
)

// What stands for a record's parent if it is not a record.
const (
	none     = -1 // no record
	isRoot   = -1 // the line says that it has no parent
	isBroken = -2 // its parent is not in the file, or the line does not say
)

// A record is what is kept of a line that may matter: where it is, and what the
// tree is made of. All else is read again when a segment is built.
type record struct {
	offset   int64  // of the object
	size     uint32 // of the object up to the last field that is looked at
	sum      uint32 // of these bytes
	line     uint32
	kind     kind
	boundary boundary
	is       flags
}

type flags uint16

const (
	isSide      flags = 1 << iota // of a sub-agent
	isMeta                        // marked as the client's own
	isSummary                     // a compaction's summary
	isAPIError                    // an error that the client wrote as a reply
	isSynthetic                   // of no model
	hasResults                    // holds tool results
	hasParent                     // names one
	isRooted                      // parentUuid is null
	isCopied                      // its uuid was on an earlier line
)

func (r *record) has(f flags) bool { return r.is&f != 0 }

// said reports whether the record is part of the conversation itself.
func (r *record) said() bool { return r.kind == kindUser || r.kind == kindAssistant }

// at returns the line's number as problems name it.
func (r *record) at() int { return int(r.line) }

// An id is a hash of an id in the file, zero if there is none. The ids of a file
// of a gigabyte are a tenth of what is kept of it as hashes, and most of it as texts.
type id [16]byte

// idOf returns the hash of a JSON string.
func idOf(value []byte) id {
	if len(value) <= 2 || value[0] != '"' {
		return id{}
	}
	text := value[1 : len(value)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		text = []byte(read.Str(value))
	}
	sum := sha256.Sum256(text)
	return id(sum[:16])
}

// idOfText returns the hash of an id that was read.
func idOfText(text string) id {
	if text == "" {
		return id{}
	}
	sum := sha256.Sum256([]byte(text))
	return id(sum[:16])
}

// ids are the ids of a line; they are needed until the tree is known.
type ids struct {
	uuid, parent, message id
	session               int32 // among those of the file; that of the line before if it says none
}

// scan reads a Claude Code file: all lines first, then the tree.
type scan struct {
	*read.Reading
	records []record
	ids     []ids
	agent   string // id of the sub-agent whose file this is
	sessions

	unpriced map[string]bool // reasons against list prices that were told
}

// fields are the top-level fields of a line that are looked at.
type fields struct {
	kind, subtype, message, attachment, content, compact, micro, uuid, parent, logical []byte
	session, version, agent, request, forked                                           []byte
	failure                                                                            failure
	time                                                                               []byte
	is                                                                                 flags // what the line says itself
	hidden                                                                             bool
	object                                                                             []byte // whose fields they are
	end                                                                                int    // behind the last one
}

func (f *fields) set(key, value []byte) {
	end := f.end
	f.end = cap(f.object) - cap(value) + len(value) // both end where the line's memory ends
	switch string(key) {
	case "type":
		f.kind = value
	case "subtype":
		f.subtype = value
	case "message":
		f.message = value
	case "attachment":
		f.attachment = value
	case "content":
		f.content = value
	case "compactMetadata":
		f.compact = value
	case "microcompactMetadata":
		f.micro = value
	case "uuid":
		f.uuid = value
	case "parentUuid":
		f.parent = value
	case "logicalParentUuid":
		f.logical = value
	case "sessionId":
		f.session = value
	case "version":
		f.version = value
	case "timestamp":
		f.time = value
	case "agentId":
		f.agent = value
	case "requestId":
		f.request = value
	case "forkedFrom":
		f.forked = value
	case "isSidechain":
		f.flag(isSide, value)
	case "isMeta":
		f.flag(isMeta, value)
	case "isCompactSummary":
		f.flag(isSummary, value)
	case "isVisibleInTranscriptOnly":
		f.hidden = read.IsTrue(value)
	case "isApiErrorMessage":
		f.flag(isAPIError, value)
	case "error":
		f.failure.kind = value
	case "errorDetails":
		f.failure.details = value
	case "apiErrorStatus":
		f.failure.status = value
	default:
		f.end = end
	}
}

// forkedFrom returns the id of the session that the line was copied from, as it stands in
// the file; nil if it was not.
func (f *fields) forkedFrom() []byte {
	if len(f.forked) == 0 {
		return nil
	}
	return read.Field(f.forked, "sessionId")
}

// flag sets a flag that a line says once or more; the last one counts.
func (f *fields) flag(flag flags, value []byte) {
	f.is &^= flag
	if read.IsTrue(value) {
		f.is |= flag
	}
}

// body returns what a segment needs of a line that is no message, as it stands in
// the file.
func (f *fields) body(rec *record) []byte {
	switch {
	case rec.kind == kindAttachment:
		return f.attachment
	case rec.kind == kindCommand:
		return f.content
	case rec.boundary == compactBoundary:
		return f.compact
	case rec.boundary == microBoundary:
		return f.micro
	}
	return nil
}

// fieldsOf returns the fields of a line's object, or of its front.
func fieldsOf(object []byte) fields {
	f := fields{object: object}
	read.EachField(object, f.set)
	return f
}

// recordOf returns the record of a line with these fields.
func recordOf(l read.Line, f *fields) record {
	rec := record{line: uint32(l.No), is: f.is}
	// An object that is not a part of the line was repaired; all of the line is
	// read and repaired again then.
	front := l.Bytes
	if start := bytes.IndexByte(l.Bytes, '{'); &l.Bytes[start] == &f.object[0] {
		rec.offset = int64(start)
		front = f.object[:f.end]
	}
	rec.offset += l.Offset
	rec.size = uint32(len(front))
	rec.sum = crc32.Checksum(front, read.Sums)
	return rec
}

// line takes in one line.
func (c *scan) line(l read.Line) {
	b, ok := c.Object(l)
	if !ok {
		return
	}
	f := fieldsOf(b)
	rec := recordOf(l, &f)
	var m message
	switch string(f.kind) {
	case `"user"`, `"assistant"`:
		if !c.message(&rec, &f, &m) {
			return
		}
	case `"attachment"`:
		rec.kind = kindAttachment
		c.Halves(l.No, f.attachment)
	case `"system"`:
		c.system(&rec, &f)
	}
	if f.hidden && !rec.has(isSummary) {
		rec.kind = kindLink
	}
	if string(f.parent) == "null" {
		rec.is |= isRooted
	}
	of := ids{uuid: idOf(f.uuid), parent: idOf(f.parent), message: idOf(m.id)}
	if of.parent != (id{}) {
		rec.is |= hasParent
	}
	if rec.kind == kindLink && of.uuid == (id{}) {
		return
	}
	c.about(&f)
	of.session = c.sessions.last
	c.records = append(c.records, rec)
	c.ids = append(c.ids, of)
}

// about takes over what a line says about the session.
func (c *scan) about(f *fields) {
	if s := c.Name(f.session); s != "" {
		c.Session.ID = s
		c.sessions.add(s)
	}
	if v := c.Name(f.version); v != "" {
		c.Session.ClientVersion = v
	}
	if p := c.Name(f.forkedFrom()); p != "" {
		c.Session.Parent, c.Session.Kin = p, sessionfile.KinFork
	}
	if a := c.Name(f.agent); a != "" && c.agent == "" {
		c.agent = a
	}
}

// A message is the fields of a line's message that are looked at.
type message struct{ id, model, usage, content []byte }

func (m *message) set(key, value []byte) {
	switch string(key) {
	case "id":
		m.id = value
	case "model":
		m.model = value
	case "usage":
		m.usage = value
	case "content":
		m.content = value
	}
}

// messageOf returns the fields of the message on a line.
func messageOf(f *fields) message {
	var m message
	if len(f.message) > 0 && f.message[0] == '{' {
		read.EachField(f.message, m.set)
	}
	return m
}

// message reads a user or assistant line. It reports false if the line has none.
func (c *scan) message(rec *record, f *fields, m *message) bool {
	rec.kind = kindUser
	if string(f.kind) == `"assistant"` {
		rec.kind = kindAssistant
	}
	if len(f.message) == 0 || f.message[0] != '{' {
		c.Problem(rec.at(), "a line of type %s without a message, skipped", f.kind)
		return false
	}
	read.EachField(f.message, m.set)
	if m.usage != nil {
		usage(c.Reading, rec.at(), m.usage)
		if why := unpriced(m.usage); why != "" && !c.unpriced[why] {
			c.unpriced[why] = true
			read.Unpriced(c.Reading, rec.at(), why)
		}
	}
	c.Halves(rec.at(), m.content)
	if rec.kind == kindUser && bytes.Contains(m.content, []byte(`"tool_result"`)) {
		rec.is |= hasResults
	}
	if c.Name(m.model) == syntheticModel {
		rec.is |= isSynthetic
	}
	return true
}

// A report is the fields of a usage report that are looked at.
type report struct{ input, read, written, written1h, output, thinking []byte }

func (p *report) set(key, value []byte) {
	switch string(key) {
	case "input_tokens":
		p.input = value
	case "cache_read_input_tokens":
		p.read = value
	case "cache_creation_input_tokens":
		p.written = value
	case "output_tokens":
		p.output = value
	case "cache_creation":
		p.written1h = read.Field(value, "ephemeral_1h_input_tokens")
	case "output_tokens_details":
		p.thinking = read.Field(value, "thinking_tokens")
	}
}

// usage reads an Anthropic usage report into disjoint parts.
func usage(r *read.Reading, line int, value []byte) llm.Usage {
	var p report
	if len(value) > 0 && value[0] == '{' {
		read.EachField(value, p.set)
	}
	u := llm.Usage{
		Input:        r.Count(line, "input_tokens", p.input),
		CacheRead:    r.Count(line, "cache_read_input_tokens", p.read),
		CacheWrite1h: r.Count(line, "cache_creation.ephemeral_1h_input_tokens", p.written1h),
		Output:       r.Count(line, "output_tokens", p.output),
		Reasoning:    r.Count(line, "output_tokens_details.thinking_tokens", p.thinking),
	}
	written := r.Count(line, "cache_creation_input_tokens", p.written)
	u.CacheWrite1h = min(u.CacheWrite1h, written)
	u.CacheWrite5m = written - u.CacheWrite1h
	u.Reasoning = min(u.Reasoning, u.Output)
	return u
}

// system reads a system line: most are bookkeeping.
func (c *scan) system(rec *record, f *fields) {
	switch string(f.subtype) {
	case `"compact_boundary"`:
		rec.boundary = compactBoundary
	case `"microcompact_boundary"`:
		rec.boundary = microBoundary
	case `"local_command"`:
		rec.kind = kindCommand
	}
	if data := f.body(rec); data != nil {
		c.Halves(rec.at(), data)
	}
}
