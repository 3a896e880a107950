// Package cline reads the sessions of Cline: of its SDK, one JSON object with messages in
// blocks like those of the Messages API, and of the editor extension, a folder for each
// task with the messages in one file and what is shown of them in another. The package
// comment of sessionfile says what is made of them. It is for sessionfile/formats only.
package cline

import (
	"bytes"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/build"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
)

// cline reads one session.
type cline struct {
	*read.Reading
	doc     *read.Document
	segment sessionfile.Segment
	summary int64 // when the segment's summary was written, in Unix milliseconds; 0 unknown
}

// Reader returns the reader of Cline's session files.
func Reader() read.Reader {
	return read.Reader{
		Formats: []sessionfile.Format{sessionfile.FormatCline},
		Document: func(d *read.Document) sessionfile.Format {
			if isHistory(d) || isShown(d) {
				return sessionfile.FormatCline
			}
			return detect(d.Fields())
		},
		Read: readFile,
	}
}

// detect tells a session by its own fields.
func detect(f read.Fields) sessionfile.Format {
	messages := f["messages"]
	if f.Has("version", "sessionId") && (f.Has("system_prompt") || f.Has("agent")) && len(messages) > 0 && messages[0] == '[' {
		return sessionfile.FormatCline
	}
	return ""
}

// readFile reads a session.
func readFile(r *read.Reading, in *read.Input) error {
	d, err := in.Document()
	if err != nil {
		return r.NotFormat(err)
	}
	switch {
	case isHistory(d):
		readHistory(r, in, d)
		return nil
	case isShown(d):
		readShown(r, in, d)
		return nil
	}
	f := d.Fields()
	r.Session.ID, r.Session.Client, r.Session.Dialect = f.Str("sessionId"), "cline", anthropic.Dialect
	r.Session.ClientVersion = f.Of("origin").Str("version")
	c := &cline{Reading: r, doc: d, segment: sessionfile.Segment{Start: sessionfile.StartRoot}}
	if text := f.Str("system_prompt"); text != "" {
		c.segment.Sections = []llm.Section{{Name: "system_prompt", Text: text, Cacheable: true}}
	}
	read.EachElement(f["messages"], func(value []byte) bool {
		c.message(d.Line(value), read.FieldsOf(value))
		return !r.Stopped()
	})
	c.finish()
	return nil
}

// finish ends the segment.
func (c *cline) finish() {
	build.Began(c.Reading, &c.segment)
	c.Emit(c.segment)
}

// message takes in one message.
func (c *cline) message(no int, f read.Fields) {
	metadata := f.Of("metadata")
	if read.IsTrue(metadata["displayOnly"]) {
		return
	}
	c.compaction(metadata)
	e := sessionfile.Entry{Line: no, Time: c.Time(no, f["ts"])}
	results, rest, files := c.content(no, f["content"])
	if f.Str("role") == "assistant" {
		e.Message = llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: rest, Dialect: anthropic.Dialect}
		if !c.kept(f, metadata, e.Time) {
			e.Step = c.step(no, f, e.Time)
		}
		c.add(e)
		return
	}
	ran := e
	ran.Message = llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: results, Dialect: anthropic.Dialect}
	c.add(ran)
	attached := e
	attached.Message = llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: files, Dialect: anthropic.Dialect}
	c.add(attached)
	e.Message = read.UserMessage(rest, anthropic.Dialect)
	if metadata.Str("kind") == "compaction_summary" {
		e.Message = llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary, Parts: rest, Dialect: anthropic.Dialect}
	}
	c.add(e)
}

func (c *cline) add(e sessionfile.Entry) {
	if e.Message.Parts = read.Said(e.Message.Parts, e.Step); len(e.Message.Parts) > 0 {
		c.segment.Entries = append(c.segment.Entries, e)
	}
}

// compaction looks whether a message begins what a compaction made. The file holds
// the result only, so mostly it is the first.
func (c *cline) compaction(metadata read.Fields) {
	kind := metadata.Str("kind")
	if kind != "compaction" && kind != "compaction_summary" {
		return
	}
	c.finish()
	c.segment = sessionfile.Segment{Start: sessionfile.StartCompaction, Sections: c.segment.Sections}
	c.summary = read.Time(metadata["generatedAt"])
}

// kept reports whether a reply was carried over by the compaction before: it is marked,
// or older than the summary.
func (c *cline) kept(f, metadata read.Fields, time int64) bool {
	return metadata.Str("compaction") == "preserved" || time > 0 && time < c.summary || !f.Has("metrics") && !f.Has("modelInfo")
}

// step returns what a message says about its call.
func (c *cline) step(no int, f read.Fields, time int64) *sessionfile.Step {
	report := gjson.ParseBytes(f["metrics"])
	input := c.Tokens(no, report, "inputTokens")
	cached, written := c.Tokens(no, report, "cacheReadTokens"), c.Tokens(no, report, "cacheWriteTokens")
	if cached+written > input {
		c.Problem(no, "usage: %d cached of %d input tokens, taken as all", cached+written, input)
		cached = min(cached, input)
		written = min(written, input-cached)
	}
	step := &sessionfile.Step{
		Model: c.Name(f.Of("modelInfo")["id"]), Time: time, Cost: build.Cost([]byte(report.Get("cost").Raw)),
		Usage: llm.Usage{Input: input - cached - written, CacheRead: cached, CacheWrite5m: written, Output: c.Tokens(no, report, "outputTokens")},
	}
	step.Reported = step.Usage.Prompt() > 0
	step.OutputReported = step.Reported && step.Usage.Output > 0
	return step
}

// content returns the parts of a message, results and attached files apart: no person
// typed these.
func (c *cline) content(no int, value []byte) (results, rest, files []llm.Part) {
	c.Halves(no, value)
	value = read.Compact(value)
	if s := read.Str(value); s != "" {
		return nil, []llm.Part{llm.Text{Text: s}}, nil
	}
	read.EachElement(value, func(block []byte) bool {
		switch p := c.block(no, block).(type) {
		case nil:
		case llm.ToolResult:
			results = append(results, p)
		default:
			if read.FieldsOf(block).Str("type") == fileBlock {
				files = append(files, p)
			} else {
				rest = append(rest, p)
			}
		}
		return true
	})
	return results, rest, files
}

// fileBlock is the type of a file that the client put in.
const fileBlock = "file"

// block returns one block as a part. Blocks of the Messages API keep their bytes; the
// client's own kinds become what the model is shown of them.
func (c *cline) block(no int, block []byte) llm.Part {
	f := read.FieldsOf(block)
	switch f.Str("type") {
	case fileBlock:
		return llm.Text{Text: f.Str("path") + "\n" + f.Str("content")}
	case "image":
		if f.Has("data", "mediaType") {
			return build.Media(f.Str("mediaType"), f.Str("data"))
		}
	case "tool_result":
		return c.result(f)
	case "thinking":
		if f.Str("signature") == "" { // of a model without signatures
			return llm.Thinking{Text: f.Str("thinking")}
		}
	}
	p, err := anthropic.DecodeBlock(block)
	if err != nil {
		c.Problem(no, "content, skipped: %v", err)
		return nil
	}
	return p
}

// result returns a tool's result. The client keeps it as a text, as blocks, or as objects,
// each with what was asked and what came of it; of these the result has the texts.
func (c *cline) result(f read.Fields) llm.Part {
	r := llm.ToolResult{CallID: f.Str("tool_use_id"), IsError: read.IsTrue(f["is_error"])}
	content := f["content"]
	if len(content) == 0 || content[0] != '[' {
		text := read.Str(content)
		if text == "" && !bytes.HasPrefix(content, []byte(`"`)) {
			text = string(content)
		}
		r.IsError = r.IsError || strings.HasPrefix(text, "{") && gjson.Get(text, "success").Raw == "false"
		r.Content = []llm.Part{llm.Text{Text: text}}
		return r
	}
	failed, objects := 0, 0
	read.EachElement(content, func(value []byte) bool {
		block := read.FieldsOf(value)
		switch block.Str("type") {
		case "text":
			r.Content = append(r.Content, llm.Text{Text: block.Str("text")})
		case "image":
			r.Content = append(r.Content, image(block))
		default:
			objects++
			if string(block["success"]) == "false" {
				failed++
			}
			r.Content = append(r.Content, llm.Text{Text: answer(block, value)})
		}
		return true
	})
	r.IsError = r.IsError || objects > 0 && failed == objects
	return r
}

// answer returns what an object of a result says.
func answer(f read.Fields, object []byte) string {
	var texts []string
	for _, name := range []string{"query", "result", "error"} {
		if text := f.Str(name); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return string(object)
	}
	return strings.Join(texts, "\n")
}

// image returns an image in either of the shapes that the client has.
func image(block read.Fields) llm.Part {
	if source := block.Of("source"); source.Has("media_type", "data") {
		return build.Media(source.Str("media_type"), source.Str("data"))
	}
	return build.Media(block.Str("mediaType"), block.Str("data"))
}
