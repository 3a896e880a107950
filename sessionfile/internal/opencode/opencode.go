// Package opencode reads what `opencode export` writes: one JSON object with messages
// and their parts; and the database of which that is one session. The package comment of sessionfile says what is made of them. It is
// for sessionfile/formats only.
package opencode

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// clearedText is what stands in a prompt for a result that the client has pruned. It is our
// own wording; the export keeps the whole output and the time.
const clearedText = sessionfile.ClearedByOpenCode

// opencode reads one export.
type opencode struct {
	*read.Reading
	segment  sessionfile.Segment
	messages []message
	places   map[string]int         // of the messages in the list, by their ids
	done     map[string]int         // place of the finished summary that answers a message
	began    []int                  // position in the segment's entries of each message
	dialects map[string]llm.Dialect // of the providers so far
	pruned   map[string]int64       // when a call's result was cleared, in Unix milliseconds
	due      int64                  // the first of these times; 0 if there is none
	within   bool                   // some report counts reasoning within the output
}

// A message is one element of the list.
type message struct {
	info  read.Fields
	parts []byte
	line  int
}

// Reader returns the reader of opencode's exports.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatOpenCode},
		Document: func(d *read.Document) sessionfile.Format { return detect(d.Fields()) },
		Database: isDatabase,
		Parts:    parts,
		Read:     readFile,
	}
}

// detect tells an export by the session's own fields.
func detect(f read.Fields) sessionfile.Format {
	messages := f["messages"]
	if info := f.Of("info"); len(messages) > 0 && messages[0] == '[' && info.Has("id", "time") && (info.Has("directory") || info.Has("projectID")) {
		return sessionfile.FormatOpenCode
	}
	return ""
}

// readFile reads an export.
func readFile(r *read.Reading, in *read.Input) error {
	document := (*read.Input).Document
	if in.Part != "" {
		document = func(in *read.Input) (*read.Document, error) { return readDatabase(r, in) }
	}
	d, err := document(in)
	if err != nil {
		return r.NotFormat(err)
	}
	f := d.Fields()
	info := f.Of("info")
	if r.Session.ID, r.Session.Parent = info.Str("id"), info.Str("parentID"); r.Session.Parent != "" {
		r.Session.Kin = sessionfile.KinAgent
	}
	r.Session.Client, r.Session.ClientVersion, r.Session.Dialect = "opencode", info.Str("version"), openai.DialectChat
	o := &opencode{
		Reading: r, segment: sessionfile.Segment{Start: sessionfile.StartRoot},
		places: map[string]int{}, done: map[string]int{}, dialects: map[string]llm.Dialect{}, pruned: map[string]int64{},
	}
	read.EachElement(f["messages"], func(value []byte) bool {
		m := read.FieldsOf(value)
		o.messages = append(o.messages, message{info: m.Of("info"), parts: m["parts"], line: d.Line(value)})
		return true
	})
	o.index()
	for i := range o.messages {
		if r.Stopped() {
			return nil
		}
		o.take(i)
	}
	o.finish()
	o.state(info, d.Line(f["info"]))
	return nil
}

// index finds the places of the messages, and the summaries that were finished.
func (o *opencode) index() {
	for i, m := range o.messages {
		o.places[m.info.Str("id")] = i
		if m.info.Str("role") == "assistant" && read.IsTrue(m.info["summary"]) && m.info.Str("finish") != "" && m.info.Of("error") == nil {
			o.done[m.info.Str("parentID")] = i
		}
	}
	o.began = make([]int, len(o.messages))
}

// take takes in one message.
func (o *opencode) take(i int) {
	m := o.messages[i]
	o.began[i] = len(o.segment.Entries)
	switch m.info.Str("role") {
	case "user":
		if tail, ok := o.compaction(i); ok {
			o.compacted(i, tail)
			return
		}
		o.user(m)
	case "assistant":
		if parent := m.info.Str("parentID"); o.done[parent] == i && i > 0 {
			if _, asked := o.compaction(o.places[parent]); !asked {
				o.cut(i) // a version that wrote no request for it
			}
			return // else it stands where it was asked for
		}
		o.reply(m)
	default:
		o.Problem(m.line, "a message of the role %.40q, skipped", m.info.Str("role"))
	}
}

// finish ends the segment.
func (o *opencode) finish() {
	build.Began(o.Reading, &o.segment)
	build.Shape(o.Session.Dialect, &o.segment)
	o.Emit(o.segment)
}

// user takes in a message of the user's side.
func (o *opencode) user(m message) {
	parts, typed := o.userParts(m)
	e := sessionfile.Entry{Line: m.line, Time: o.Time(m.line, m.info.Of("time")["created"])}
	e.Message = read.UserMessage(parts, "")
	if !typed || o.Session.Parent != "" { // the session that started this one wrote it
		e.Message = build.Note(wire.RulesIn(parts), parts...)
	}
	e.Message.Dialect = build.Dialect("", parts)
	o.add(e)
}

// userParts returns the parts of a user message, and whether a person is the source of
// any. Texts that the client put in are marked synthetic.
func (o *opencode) userParts(m message) (parts []llm.Part, typed bool) {
	read.EachElement(m.parts, func(value []byte) bool {
		f := read.FieldsOf(value)
		switch f.Str("type") {
		case "text":
			if text := f.Str("text"); text != "" && !read.IsTrue(f["ignored"]) {
				parts = append(parts, llm.Text{Text: text})
				typed = typed || !read.IsTrue(f["synthetic"])
			}
		case "file":
			if mime := f.Str("mime"); mime != "text/plain" && mime != "application/x-directory" { // their content is a text of its own
				parts = append(parts, media(f))
				typed = true
			}
		case "subtask":
			parts = append(parts, llm.Text{Text: sessionfile.NotInFile("a task that the user gave to a sub-agent")})
		}
		return true
	})
	return parts, typed
}

// media returns a file that was attached.
func media(f read.Fields) llm.Part {
	mime, data, ok := build.DataURL(f.Str("url"))
	if !ok {
		return llm.Text{Text: sessionfile.NotInFile("file " + f.Str("filename") + " " + f.Str("mime"))}
	}
	if named := f.Str("mime"); named != "" {
		mime = named
	}
	return build.Media(mime, data)
}

func (o *opencode) add(e sessionfile.Entry) {
	if e.Message.Parts = read.Said(e.Message.Parts, e.Step); len(e.Message.Parts) > 0 {
		o.segment.Entries = append(o.segment.Entries, e)
	}
}

// dialect returns the dialect of a provider: by what its reasoning is signed with, else
// by its name, else Chat.
func (o *opencode) dialect(m message) llm.Dialect {
	provider := m.info.Str("providerID")
	read.EachElement(m.parts, func(value []byte) bool {
		d := signer(read.Field(value, "metadata"))
		if d != "" {
			o.dialects[provider] = d
		}
		return d == ""
	})
	if d, ok := o.dialects[provider]; ok {
		return d
	}
	switch {
	case strings.HasPrefix(provider, "anthropic"):
		return anthropic.Dialect
	case provider == "openai":
		return openai.DialectResponses
	case provider == "google" || provider == "google-vertex":
		return gemini.Dialect
	}
	return openai.DialectChat
}

// signer returns the dialect of the provider that the metadata of a part are of, "" if it
// is none of those that sign.
func signer(metadata []byte) llm.Dialect {
	switch {
	case read.Field(metadata, "anthropic") != nil:
		return anthropic.Dialect
	case read.Field(metadata, "openai") != nil:
		return openai.DialectResponses
	case read.Field(metadata, "google") != nil:
		return gemini.Dialect
	}
	return ""
}

// compaction looks whether a user message asked for a compaction that was finished, and
// returns the id of the first message that is kept as it is, if there is one.
func (o *opencode) compaction(i int) (tail string, ok bool) {
	if _, ok := o.done[o.messages[i].info.Str("id")]; !ok {
		return "", false
	}
	read.EachElement(o.messages[i].parts, func(value []byte) bool {
		f := read.FieldsOf(value)
		if ok = f.Str("type") == "compaction"; ok {
			tail = f.Str("tail_start_id")
		}
		return !ok
	})
	return tail, ok
}

// compacted begins a new segment: the summary, then what was kept.
func (o *opencode) compacted(i int, tail string) {
	m, old := o.messages[i], o.segment
	o.cut(o.done[m.info.Str("id")])
	if tail == "" {
		return
	}
	first, ok := o.places[tail]
	if !ok || first >= i {
		o.Problem(m.line, "compaction: the first message that it kept is not in the file")
		return
	}
	from := min(o.began[first], len(old.Entries))
	shift := len(o.segment.Entries) - from
	o.segment.Entries = append(o.segment.Entries, build.Carried(o.Reading, m.line, old.Entries[from:])...)
	for k := range o.began[:i] {
		o.began[k] = max(0, o.began[k]+shift)
	}
}

// cut ends the segment for one that begins with the summary at place i.
func (o *opencode) cut(i int) {
	m := o.messages[i]
	summary := o.summary(i)
	o.finish()
	o.summaryCall(m)
	o.segment = sessionfile.Segment{Start: sessionfile.StartCompaction, Cut: read.Time(m.info.Of("time")["created"])}
	o.add(summary)
}

// summaryCall hands over the call that wrote a summary. Its prompt has a question and
// instructions of its own, which are not in the file.
func (o *opencode) summaryCall(m message) {
	c := o.begin(m)
	o.segment = sessionfile.Segment{
		Name: "summary", Start: sessionfile.StartResumed,
		NotRun: "the call for the summary: what it was asked is not in the file",
	}
	o.parts(m, &c, func(f read.Fields) { o.part(m.line, &c, f) })
	c.entry.Message.Flags = llm.FlagSummary
	o.end(m, c)
	o.Emit(o.segment)
}

// summary returns the text of a summary as a Note.
func (o *opencode) summary(i int) sessionfile.Entry {
	m := o.messages[i]
	var parts []llm.Part
	read.EachElement(m.parts, func(value []byte) bool {
		if f := read.FieldsOf(value); f.Str("type") == "text" && f.Str("text") != "" {
			parts = append(parts, llm.Text{Text: f.Str("text")})
		}
		return true
	})
	return sessionfile.Entry{Line: m.line, Time: o.Time(m.line, m.info.Of("time")["completed"]), Message: build.Note(llm.FlagSummary, parts...)}
}

// prune begins a new segment if results were cleared before a time.
func (o *opencode) prune(no int, now int64) {
	if o.due == 0 || o.due > now {
		return
	}
	cleared, last := map[string]bool{}, int64(0)
	o.due = 0
	for id, at := range o.pruned {
		if at <= now {
			cleared[id], last = true, max(last, at)
			delete(o.pruned, id)
		} else if o.due == 0 || at < o.due {
			o.due = at
		}
	}
	isCleared := func(p llm.Part) bool {
		r, ok := p.(llm.ToolResult)
		return ok && cleared[r.CallID]
	}
	if !slices.ContainsFunc(o.segment.Entries, func(e sessionfile.Entry) bool { return slices.ContainsFunc(e.Message.Parts, isCleared) }) {
		return // a compaction took them away
	}
	old := o.segment
	o.finish()
	o.segment = sessionfile.Segment{Start: sessionfile.StartMicrocompaction, Cut: last, Entries: build.Carried(o.Reading, no, old.Entries)}
	if o.segment.Entries == nil {
		o.segment.NotRun = read.TooMuch
	}
	for i, e := range o.segment.Entries {
		parts := slices.Clone(e.Message.Parts)
		for k, p := range parts {
			if r, ok := p.(llm.ToolResult); ok && isCleared(p) {
				parts[k] = r.WithContent(llm.Text{Text: clearedText})
			}
		}
		o.segment.Entries[i].Message = e.Message.WithParts(parts)
	}
}

// state adds what versions from 1.18 on write about the session as a whole. The sums are
// those of its own calls, without sub-agents and titles.
func (o *opencode) state(info read.Fields, no int) {
	tokens := info["tokens"]
	if tokens == nil || o.Emitted() == 0 {
		return
	}
	u := o.usage(no, tokens)
	if u.Total() == 0 {
		return // it was migrated from a version that did not count
	}
	if report := gjson.ParseBytes(tokens); o.within {
		u.Output = o.Tokens(no, report, "output")
	}
	stated := sessionfile.Stated{Line: no, What: "the session's own sums", To: o.Emitted(), Figures: []sessionfile.Figure{
		{Name: sessionfile.FigureInput, Value: int64(u.Input)},
		{Name: sessionfile.FigureCacheRead, Value: int64(u.CacheRead)},
		{Name: sessionfile.FigureCacheWrite, Value: int64(u.CacheWrite5m)},
		{Name: sessionfile.FigureOutput, Value: int64(u.Output)},
		{Name: sessionfile.FigureReasoning, Value: int64(u.Reasoning)},
	}}
	if cost := build.Cost(info["cost"]); cost > 0 {
		// Each call's cost is a float of dollars, and so is their sum.
		stated.Figures = append(stated.Figures, sessionfile.Figure{Name: sessionfile.FigureCost, Value: cost, Round: 1000})
	}
	o.Session.Stated = append(o.Session.Stated, stated)
}
