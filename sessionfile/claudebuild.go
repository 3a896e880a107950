package sessionfile

import (
	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// clearedText is what stands in a prompt for a tool result that Claude Code
// cleared. The files do not hold it; this is our understanding of what the client
// sends.
const clearedText = "[Old tool result content cleared]"

// syntheticModel is the model of replies that Claude Code wrote itself.
const syntheticModel = "<synthetic>"

const outsidePrompt = "its first request continues a conversation that is in the parent session's file"

// readClaude reads a Claude Code file.
func readClaude(r *reading, in *input) {
	c := &claude{reading: r}
	in.each(r, c.line)
	r.session.Client = "claude-code"
	r.session.Dialect = anthropic.Dialect
	t := newTree(c)
	if t.side && c.agent != "" {
		r.session.Parent, r.session.ID = r.session.ID, "agent-"+c.agent
	}
	b := claudeBuild{tree: t, used: make([]bool, len(t.records))}
	for _, s := range t.stretches() {
		b.stretch(s)
	}
	r.session.Segments = b.segments
	r.session.Abandoned = t.abandoned(b.used)
}

// claudeBuild turns stretches of the tree into segments.
type claudeBuild struct {
	*tree
	used     []bool
	segments []Segment
	raw      []piece // of the segment being built, before pairing
}

// A piece is an entry and the record it came from.
type piece struct {
	Entry
	record int
}

// stretch builds the segments of one stretch: one, and one more for every
// microcompaction in it.
func (b *claudeBuild) stretch(s stretch) {
	seg := Segment{Start: s.start}
	b.raw = nil
	if s.outside && s.start == StartResumed && b.side {
		seg.NotRun = outsidePrompt
	}
	at, keep := b.insertion(s)
	if at < 0 {
		b.carry(keep)
		keep = nil
	}
	if seg.Start == StartRoot && b.answersFirst(s.path) {
		seg.Start = StartResumed
	}
	for _, u := range b.order(s.path) {
		if rec := &b.records[u[0]]; rec.boundary == microBoundary {
			b.finish(seg)
			seg = Segment{Start: StartMicrocompaction, NotRun: seg.NotRun}
			if !b.clear(rec) {
				seg.NotRun = tooMuch
			}
			continue
		}
		b.add(u, true)
		if u[0] == at {
			b.carry(keep)
			keep = nil
		}
	}
	b.carry(keep)
	b.finish(seg)
}

// answersFirst reports whether the first message of a path answers something that
// is not there.
func (b *claudeBuild) answersFirst(path []int) bool {
	for _, i := range path {
		if rec := &b.records[i]; rec.said() {
			return rec.results || rec.kind == kindAssistant && rec.model != syntheticModel
		}
	}
	return false
}

// finish closes the segment being built.
func (b *claudeBuild) finish(seg Segment) {
	entries := make([]Entry, len(b.raw))
	for i, p := range b.raw {
		entries[i] = p.Entry
	}
	seg.Entries = b.pair(entries)
	if len(seg.Entries) > 0 {
		b.segments = append(b.segments, seg)
	}
}

// carry adds messages that a compaction kept. No request was made for them here.
func (b *claudeBuild) carry(path []int) {
	if len(path) == 0 || !b.repeat(b.records[path[0]].line, len(path)) {
		return
	}
	for _, u := range b.order(path) {
		b.add(u, false)
	}
}

// clear makes the messages so far the prefix of a new segment, with the tool
// results and attachments that a microcompaction cleared. It reports false if that is
// too much.
func (b *claudeBuild) clear(rec *record) bool {
	data := gjson.ParseBytes(rec.body)
	cleared, found, gone := map[string]bool{}, 0, map[string]bool{}
	for _, id := range data.Get("compactedToolIds").Array() {
		cleared[id.String()] = true
	}
	for _, id := range data.Get("clearedAttachmentUUIDs").Array() {
		gone[id.String()] = true
	}
	old := b.raw
	b.raw = nil
	if !b.repeat(rec.line, len(old)) {
		return false
	}
	for _, p := range old {
		if from := &b.records[p.record]; from.kind == kindAttachment && gone[from.uuid] {
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
		b.problem(rec.line, "microcompaction: %d of %d cleared tool results are not in this conversation", len(cleared)-found, len(cleared))
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

// add turns one unit into pieces.
func (b *claudeBuild) add(u unit, called bool) {
	for _, i := range u {
		b.used[i] = true
	}
	rec := &b.records[u[0]]
	switch rec.kind {
	case kindAssistant:
		b.addReply(u, called)
	case kindUser:
		b.addUser(rec, u[0])
	case kindAttachment:
		if m, ok := b.attachment(rec); ok {
			b.push(m, u[0], nil)
		}
	case kindCommand:
		parts := b.content(rec)
		b.push(llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: parts, Dialect: anthropic.Dialect}, u[0], nil)
	}
}

func (b *claudeBuild) push(m llm.Message, record int, step *Step) {
	if len(m.Parts) == 0 {
		return
	}
	b.raw = append(b.raw, piece{Entry: Entry{Message: m, Line: b.records[record].line, Step: step}, record: record})
}

// content decodes a record's body, and reports what cannot be decoded.
func (b *claudeBuild) content(rec *record) []llm.Part {
	if len(rec.body) == 0 {
		b.problem(rec.line, "a message without content, skipped")
		return nil
	}
	parts, _, err := anthropic.DecodeContent(rec.body)
	if err != nil {
		b.problem(rec.line, "content, skipped: %v", err)
		return nil
	}
	return parts
}

// addReply adds a reply, whose blocks are on as many lines.
func (b *claudeBuild) addReply(u unit, called bool) {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: anthropic.Dialect}
	var step Step
	reported := false
	for _, i := range u {
		rec := &b.records[i]
		m.Parts = append(m.Parts, b.content(rec)...)
		if rec.model != "" {
			step.Model = rec.model
		}
		if rec.hasUsage { // each line has the figure so far; the last one counts
			step.Usage, reported = rec.usage, true
		}
	}
	if step.Model == syntheticModel || b.records[u[0]].apiError {
		m.Origin, m.Flags = llm.Note, llm.FlagSynthetic
		b.push(m, u[0], nil)
		return
	}
	if !called {
		b.push(m, u[0], nil)
		return
	}
	step.Reported = reported && step.Usage.Prompt() > 0 && !hosted(m)
	step.OutputReported = step.Reported && outputIsFinal(step.Usage.Output, m.Parts)
	b.push(m, u[0], &step)
}

// hosted reports whether a reply used tools that the provider runs. Its usage then
// adds up hidden requests and says nothing about the prompt
// (research/estimates.md section 6, "anchor traps").
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
func (b *claudeBuild) addUser(rec *record, i int) {
	var results, rest []llm.Part
	for _, p := range b.content(rec) {
		if _, ok := p.(llm.ToolResult); ok {
			results = append(results, p)
		} else {
			rest = append(rest, p)
		}
	}
	b.push(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results, Dialect: anthropic.Dialect}, i, nil)
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: rest, Dialect: anthropic.Dialect}
	switch {
	case rec.summary:
		m.Flags = llm.FlagSummary
	case rec.meta || rec.side:
		m.Flags = rulesIn(rest)
	default:
		if m.Origin = originOf(rest); m.Origin == llm.Note {
			m.Flags = rulesIn(rest)
		}
	}
	b.push(m, i, nil)
}

// insertion returns the record behind which the messages kept by the compaction
// at the start of a stretch stand, and these messages.
func (b *claudeBuild) insertion(s stretch) (at int, keep []int) {
	if s.boundary < 0 || b.records[s.boundary].boundary != compactBoundary {
		return -1, nil
	}
	missing := 0
	for _, k := range b.keeps[s.boundary] {
		if k < 0 {
			missing++
		} else {
			keep = append(keep, k)
		}
	}
	if missing > 0 {
		b.problem(b.records[s.boundary].line, "compaction: %d of %d messages that it kept are not in the file", missing, missing+len(keep))
	}
	anchor := b.anchor(s.boundary)
	if anchor == s.boundary {
		return -1, keep
	}
	at = -1
	for _, i := range s.path {
		switch rec := &b.records[i]; {
		case i == anchor && rec.kind != kindLink:
			return i, keep
		case rec.summary:
			at = i
		}
	}
	return at, keep
}

// anchor returns the record behind which a compaction put what it kept, or -1 if
// it does not say.
func (b *claudeBuild) anchor(boundary int) int {
	data := gjson.ParseBytes(b.records[boundary].body)
	for _, path := range []string{"preservedMessages.anchorUuid", "preservedSegment.anchorUuid"} {
		if i, ok := b.byUUID[data.Get(path).String()]; ok {
			return i
		}
	}
	return -1
}
