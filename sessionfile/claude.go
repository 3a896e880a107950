package sessionfile

import (
	"bytes"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
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

// The ids that a record's parent can be instead of a record.
const (
	isRoot   = -1 // the line says that it has no parent
	isBroken = -2 // its parent is not in the file, or the line does not say
)

// A record is one line of a Claude Code file that may matter.
type record struct {
	line     int
	kind     kind
	boundary boundary
	side     bool // of a sub-agent
	meta     bool // marked as the client's own
	summary  bool // a compaction's summary
	apiError bool // an error that the client wrote as a reply
	results  bool // holds tool results
	hasUsage bool
	rooted   bool   // parentUuid is null
	uuid     string // empty if the line has none
	parent   string // uuid, empty if there is none
	logical  string // uuid of the line before a compaction
	msgID    string
	model    string
	usage    llm.Usage
	body     []byte // the message's content, the attachment or a boundary's data, as it stands in the file
}

// said reports whether the record is part of the conversation itself.
func (r *record) said() bool { return r.kind == kindUser || r.kind == kindAssistant }

// claude reads a Claude Code file: all lines first, then the tree.
type claude struct {
	*reading
	records []record
	agent   string // id of the sub-agent whose file this is
}

// fields are the top-level fields of a line that are looked at.
type fields struct {
	kind, subtype, message, attachment, content, compact, micro, uuid, parent, logical []byte
	session, version, agent                                                            []byte
	side, meta, summary, hidden, apiError                                              bool
}

func (f *fields) set(key, value []byte) {
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
	case "agentId":
		f.agent = value
	case "isSidechain":
		f.side = isTrue(value)
	case "isMeta":
		f.meta = isTrue(value)
	case "isCompactSummary":
		f.summary = isTrue(value)
	case "isVisibleInTranscriptOnly":
		f.hidden = isTrue(value)
	case "isApiErrorMessage":
		f.apiError = isTrue(value)
	}
}

// line takes in one line.
func (c *claude) line(l line) {
	b, ok := c.object(l)
	if !ok {
		return
	}
	var f fields
	eachField(b, f.set)
	rec := record{
		line: l.no, side: f.side, meta: f.meta, summary: f.summary, apiError: f.apiError,
		rooted: string(f.parent) == "null", uuid: str(f.uuid), parent: str(f.parent), logical: str(f.logical),
	}
	switch string(f.kind) {
	case `"user"`, `"assistant"`:
		if !c.message(&rec, &f) {
			return
		}
	case `"attachment"`:
		rec.kind, rec.body = kindAttachment, c.keep(l.no, f.attachment)
	case `"system"`:
		c.system(&rec, &f)
	}
	if f.hidden && !f.summary {
		rec.kind, rec.body = kindLink, nil
	}
	if rec.kind == kindLink && rec.uuid == "" {
		return
	}
	c.about(&f)
	c.records = append(c.records, rec)
}

// about takes over what a line says about the session.
func (c *claude) about(f *fields) {
	if s := c.name(f.session); s != "" {
		c.session.ID = s
	}
	if v := c.name(f.version); v != "" {
		c.session.ClientVersion = v
	}
	if a := c.name(f.agent); a != "" && c.agent == "" {
		c.agent = a
	}
}

// message reads a user or assistant line. It reports false if the line has none.
func (c *claude) message(rec *record, f *fields) bool {
	rec.kind = kindUser
	if string(f.kind) == `"assistant"` {
		rec.kind = kindAssistant
	}
	if len(f.message) == 0 || f.message[0] != '{' {
		c.problem(rec.line, "a line of type %s without a message, skipped", f.kind)
		return false
	}
	eachField(f.message, func(key, value []byte) {
		switch string(key) {
		case "id":
			rec.msgID = str(value)
		case "model":
			rec.model = c.name(value)
		case "usage":
			rec.usage, rec.hasUsage = c.usage(rec.line, value), true
		case "content":
			rec.body = value
		}
	})
	rec.body = c.keep(rec.line, rec.body)
	rec.results = rec.kind == kindUser && bytes.Contains(rec.body, []byte(`"tool_result"`))
	return true
}

// usage reads an Anthropic usage report into disjoint parts.
func (c *claude) usage(line int, value []byte) llm.Usage {
	report := gjson.ParseBytes(value)
	u := llm.Usage{
		Input:        c.tokens(line, report, "input_tokens"),
		CacheRead:    c.tokens(line, report, "cache_read_input_tokens"),
		CacheWrite1h: c.tokens(line, report, "cache_creation.ephemeral_1h_input_tokens"),
		Output:       c.tokens(line, report, "output_tokens"),
		Reasoning:    c.tokens(line, report, "output_tokens_details.thinking_tokens"),
	}
	written := c.tokens(line, report, "cache_creation_input_tokens")
	u.CacheWrite1h = min(u.CacheWrite1h, written)
	u.CacheWrite5m = written - u.CacheWrite1h
	u.Reasoning = min(u.Reasoning, u.Output)
	return u
}

// system reads a system line: most are bookkeeping.
func (c *claude) system(rec *record, f *fields) {
	switch string(f.subtype) {
	case `"compact_boundary"`:
		rec.boundary, rec.body = compactBoundary, c.keep(rec.line, f.compact)
	case `"microcompact_boundary"`:
		rec.boundary, rec.body = microBoundary, c.keep(rec.line, f.micro)
	case `"local_command"`:
		rec.kind, rec.body = kindCommand, c.keep(rec.line, f.content)
	}
}
