package claudecode

import (
	"bytes"
	"cmp"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// clearedText is what stands in a prompt for a tool result that Claude Code
// cleared. The files do not hold it; this is our understanding of what the client
// sends.
const clearedText = sessionfile.ClearedByClaudeCode

// syntheticModel is the model of replies that Claude Code wrote itself.
const syntheticModel = "<synthetic>"

const outsidePrompt = "its first request continues a conversation that is in the parent session's file"

// Reader returns the reader of Claude Code's session files.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatClaudeCode}, Line: detect, Document: document, Read: readFile}
}

// bookkeeping are the types of lines that have neither a uuid nor always a session
// id.
var bookkeeping = map[string]bool{
	"summary": true, "file-history-snapshot": true, "file-history-delta": true, "queue-operation": true, "last-prompt": true,
	"custom-title": true, "ai-title": true, "mode": true, "permission-mode": true, "pr-link": true,
}

var conversation = map[string]bool{
	"user": true, "assistant": true, "system": true, "progress": true, "attachment": true,
}

// detect tells a line of Claude Code by its type and the ids that come with it.
func detect(f read.Fields) sessionfile.Format {
	kind := f.Str("type")
	switch {
	case conversation[kind] && (f.Has("uuid") || f.Has("sessionId", "message")),
		bookkeeping[kind] && (f.Has("sessionId") || f.Has("leafUuid") || f.Has("snapshot")),
		isEvent(f):
		return sessionfile.FormatClaudeCode
	}
	return ""
}

// readFile reads a Claude Code file. A second run over it takes the tree from the
// first.
func readFile(r *read.Reading, in *read.Input) error {
	t, ok := in.Kept.(*tree)
	if ok {
		t.Reading, t.err = r, nil
		r.Repeat(0, t.grown)
	} else if done, err := readStream(r, in); done {
		return err
	} else {
		c := &scan{Reading: r, unpriced: map[string]bool{}}
		in.Each(r, c.line)
		r.Session.Client = "claude-code"
		r.Session.Dialect = anthropic.Dialect
		t = newTree(c, in)
		if t.side && c.agent != "" {
			r.Session.Parent, r.Session.ID, r.Session.Kin = r.Session.ID, "agent-"+c.agent, sessionfile.KinAgent
		}
		in.Kept = t
	}
	b := build{tree: t, used: make([]bool, len(t.records))}
	for _, s := range t.parts {
		if r.Stopped() {
			return nil
		}
		b.stretch(s)
	}
	b.abandoned()
	return t.err
}

// build turns stretches of the tree into segments.
type build struct {
	*tree
	used   []bool
	raw    []piece // of the segment being built, before pairing
	copies sessionfile.Copies
	mark   func(sessionfile.Segment) sessionfile.Segment // of the conversation named last
	marks  string                                        // its name
}

// A piece is an entry and the record it came from.
type piece struct {
	sessionfile.Entry
	record int
}

// stretch builds the segments of one stretch: one, and one more for every
// microcompaction in it.
func (b *build) stretch(s stretch) {
	seg := sessionfile.Segment{Name: s.name, Start: s.start}
	b.raw = nil
	if s.outside && s.start == sessionfile.StartResumed && b.side {
		seg.NotRun = outsidePrompt
	}
	at, keep := b.insertion(s)
	if at == none {
		b.carry(keep)
		keep = nil
	}
	if seg.Start == sessionfile.StartRoot && b.answersFirst(s.path) {
		seg.Start = sessionfile.StartResumed
	}
	for _, u := range b.order(s.path) {
		if b.records[u].boundary == microBoundary {
			b.finish(seg)
			seg = sessionfile.Segment{Name: seg.Name, Start: sessionfile.StartMicrocompaction, NotRun: seg.NotRun}
			if !b.clear(int(u)) {
				seg.NotRun = read.TooMuch
			}
			continue
		}
		b.add(u, true)
		if int(u) == at {
			b.carry(keep)
			keep = nil
		}
	}
	b.carry(keep)
	b.finish(seg)
}

// answersFirst reports whether the first message of a path answers something that
// is not there.
func (b *build) answersFirst(path []int32) bool {
	for _, i := range path {
		if rec := &b.records[i]; rec.said() {
			return rec.has(hasResults) || rec.kind == kindAssistant && !rec.has(isSynthetic)
		}
	}
	return false
}

// finish closes the segment being built.
func (b *build) finish(seg sessionfile.Segment) {
	entries := make([]sessionfile.Entry, len(b.raw))
	for i, p := range b.raw {
		entries[i] = p.Entry
	}
	if len(entries) == 0 || b.err != nil {
		return
	}
	seg.Entries = entries
	if seg.Name != "" {
		seg = b.marked(seg)
	}
	b.Emit(seg)
}

// marked marks what a conversation copied from one before it in the file.
func (b *build) marked(seg sessionfile.Segment) sessionfile.Segment {
	if b.mark == nil || b.marks != seg.Name {
		b.mark, b.marks = b.copies.In(seg.Name), seg.Name
	}
	return b.mark(seg)
}

// carry adds messages that a compaction kept. No request was made for them here.
func (b *build) carry(path []int32) {
	if len(path) == 0 || !b.Repeat(b.records[path[0]].at(), len(path)) {
		return
	}
	for _, u := range b.order(path) {
		b.add(u, false)
	}
}

// clear makes the messages so far the prefix of a new segment, with the tool
// results and attachments that a microcompaction cleared. It reports false if that is
// too much.
func (b *build) clear(boundary int) bool {
	line, data := b.records[boundary].at(), b.data(boundary)
	cleared, found, gone := map[string]bool{}, 0, map[int]bool{}
	for _, uuid := range data.Get("compactedToolIds").Array() {
		cleared[uuid.String()] = true
	}
	for _, uuid := range data.Get("clearedAttachmentUUIDs").Array() {
		if i, ok := b.named(idOfText(uuid.String())); ok && b.records[i].kind == kindAttachment {
			gone[i] = true
		}
	}
	old := b.raw
	b.raw = nil
	if !b.Repeat(line, len(old)) {
		return false
	}
	for _, p := range old {
		if gone[p.record] {
			continue
		}
		p.Step = nil
		if p.Message.Role == llm.RoleTool {
			var n int
			p.Message, n = clearResults(p.Message, cleared)
			found += n
		}
		b.raw = append(b.raw, p)
	}
	if found < len(cleared) {
		b.Problem(line, "microcompaction: %d of %d cleared tool results are not in this conversation", len(cleared)-found, len(cleared))
	}
	return true
}

// clearResults returns m with the results of some calls cleared, and their number.
func clearResults(m llm.Message, cleared map[string]bool) (llm.Message, int) {
	parts := make([]llm.Part, len(m.Parts))
	n := 0
	for i, p := range m.Parts {
		parts[i] = p
		if r, ok := p.(llm.ToolResult); ok && cleared[r.CallID] {
			parts[i] = r.WithContent(llm.Text{Text: clearedText})
			n++
		}
	}
	if n == 0 {
		return m, 0
	}
	return m.WithParts(parts), n
}

// add turns the unit that begins with a record into pieces.
func (b *build) add(i int32, called bool) {
	u := b.unit(i)
	for _, k := range u {
		b.used[k] = true
	}
	at := u[0]
	switch b.records[at].kind {
	case kindAssistant:
		b.addReply(u, called)
	case kindUser:
		b.addUser(at)
	case kindAttachment:
		f := b.line(at)
		if m, ok := b.attachment(at, f.attachment); ok {
			b.push(m, at, b.Time(b.records[at].at(), f.time))
		}
	case kindCommand:
		f := b.line(at)
		m := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: b.content(at, f.content), Dialect: anthropic.Dialect}
		b.push(m, at, b.Time(b.records[at].at(), f.time))
	}
}

// push adds a message that stands on the line of a record, if there is anything in
// it. It returns its piece, or nil.
func (b *build) push(m llm.Message, record int, time int64) *piece {
	if len(m.Parts) == 0 {
		return nil
	}
	b.raw = append(b.raw, piece{Entry: sessionfile.Entry{Message: m, Line: b.records[record].at(), Time: time}, record: record})
	return &b.raw[len(b.raw)-1]
}

// content decodes the content on a record's line, and reports what cannot be
// decoded.
func (b *build) content(i int, content []byte) []llm.Part {
	if b.err != nil {
		return nil
	}
	line := b.records[i].at()
	if len(content) == 0 {
		b.Problem(line, "a message without content, skipped")
		return nil
	}
	parts, _, err := anthropic.DecodeContent(bytes.Clone(content))
	if err != nil {
		b.Problem(line, "content, skipped: %v", err)
		return nil
	}
	return parts
}

// addReply adds a reply, whose blocks are on as many lines.
func (b *build) addReply(u []int, called bool) {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: anthropic.Dialect}
	var step sessionfile.Step
	var time int64
	reported := false
	for n, i := range u {
		f := b.line(i)
		said := messageOf(&f)
		m.Parts = append(m.Parts, b.content(i, said.content)...)
		if model := b.Name(said.model); model != "" {
			step.Model = model
		}
		if n == 0 {
			step.MessageID = read.Str(said.id)
		}
		step.RequestID = cmp.Or(step.RequestID, read.Str(f.request))
		step.Copied = cmp.Or(step.Copied, b.Name(f.forkedFrom()))
		at := b.Time(b.records[i].at(), f.time)
		if n == 0 {
			time = at
		}
		step.Time = max(step.Time, at)
		if said.usage != nil { // each line has the figure so far; the last one counts
			step.Usage, reported = usage(b.Reading, b.records[i].at(), said.usage), true
			step.Unpriced = cmp.Or(step.Unpriced, unpriced(said.usage)) // what one line says holds for the call
		}
	}
	if b.records[u[0]].has(isAPIError) { // the client does not send it
		if f := b.line(u[0]); called { // else it is known
			failed(b.Reading, read.Outcome{Line: b.records[u[0]].at(), Time: step.Time, Words: m.Text()}, f.failure)
		}
		return
	}
	if step.Model == syntheticModel {
		m.Origin, m.Flags = llm.Note, llm.FlagSynthetic
		b.push(m, u[0], time)
		return
	}
	m.Parts = read.Said(m.Parts, &step)
	p := b.push(m, u[0], time)
	if !called || p == nil {
		return
	}
	step.Reported = reported && step.Usage.Prompt() > 0 && !hosted(m)
	step.OutputReported = step.Reported && read.OutputIsFinal(step.Usage.Output, m.Parts)
	p.Step = &step
}

// hosted reports whether a reply used tools that the provider runs. Its usage then
// adds up hidden requests and says nothing about the prompt.
func hosted(m llm.Message) bool {
	for _, c := range m.Calls() {
		if c.Hosted {
			return true
		}
	}
	return false
}

// addUser adds a line in the user's role: its tool results as one message, the
// rest as another.
func (b *build) addUser(i int) {
	rec := &b.records[i]
	f := b.line(i)
	said := messageOf(&f)
	time := b.Time(rec.at(), f.time)
	var results, rest []llm.Part
	for _, p := range b.content(i, said.content) {
		if _, ok := p.(llm.ToolResult); ok {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	b.push(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results, Dialect: anthropic.Dialect}, i, time)
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: rest, Dialect: anthropic.Dialect}
	switch {
	case rec.has(isSummary):
		m.Flags = llm.FlagSummary
	case rec.has(isMeta | isSide):
		m.Flags = wire.RulesIn(rest)
	default:
		m = read.UserMessage(rest, anthropic.Dialect)
		stopped(b.Reading, rec.at(), time, m)
	}
	b.push(m, i, time)
}

// insertion returns the record behind which the messages kept by the compaction
// at the start of a stretch stand, or none, and these messages.
func (b *build) insertion(s stretch) (at int, keep []int32) {
	if s.boundary < 0 || b.records[s.boundary].boundary != compactBoundary {
		return none, nil
	}
	missing := 0
	for _, k := range b.keeps[s.boundary] {
		if k < 0 {
			missing++
		} else {
			keep = append(keep, int32(k))
		}
	}
	if missing > 0 {
		b.Problem(b.records[s.boundary].at(), "compaction: %d of %d messages that it kept are not in the file", missing, missing+len(keep))
	}
	anchor := b.anchor(s.boundary)
	if anchor == s.boundary {
		return none, keep
	}
	at = none
	for _, k := range s.path {
		i := int(k)
		switch rec := &b.records[i]; {
		case i == anchor && rec.kind != kindLink:
			return i, keep
		case rec.has(isSummary):
			at = i
		}
	}
	return at, keep
}

// anchor returns the record behind which a compaction put what it kept, or none
// if it does not say.
func (b *build) anchor(boundary int) int {
	data := b.data(boundary)
	for _, path := range []string{"preservedMessages.anchorUuid", "preservedSegment.anchorUuid"} {
		if i, ok := b.named(idOfText(data.Get(path).String())); ok {
			return i
		}
	}
	return none
}
