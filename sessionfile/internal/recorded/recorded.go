// Package recorded reads what the proxy of this module records: a file for each exchange,
// of which those of one conversation lie in one folder. The package comment of sessionfile
// says what is made of them. It is for sessionfile/formats only.
package recorded

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// version is what the member plimsoll says of itself in the files that are read here.
const version = "1"

// Reader returns the reader of recorded exchanges.
func Reader() read.Reader {
	return read.Reader{
		Formats: []sessionfile.Format{sessionfile.FormatRecord},
		Document: func(d *read.Document) sessionfile.Format {
			if d.Bytes[0] == '[' && isExchange(d.First()) {
				return sessionfile.FormatRecord
			}
			return ""
		},
		Read: readFile,
	}
}

// isExchange tells an exchange of the proxy's from those of other recorders of HTTP.
func isExchange(f read.Fields) bool {
	return f.Has("body", "status", "response", "plimsoll") && string(f.Of("plimsoll")["version"]) == version
}

// readFile reads the conversation of an exchange up to it. What was recorded of it before
// lies in the same folder.
func readFile(r *read.Reading, in *read.Input) error {
	d, err := in.Document()
	if err != nil {
		return r.NotFormat(err)
	}
	last := d.First()
	r.Session.ID = last.Of("plimsoll").Str("session")
	c := &conversation{Reading: r}
	for _, name := range before(in.Path) {
		if beside, err := in.Beside(name); err != nil {
			r.Problem(0, "%s beside it, left out: %v", name, err)
		} else if beside != nil && isExchange(beside.First()) {
			c.exchange(name, beside.First())
		}
	}
	c.exchange(filepath.Base(r.Session.Path), last)
	c.finish()
	if c.shorter > 0 {
		r.Problem(0, "%d requests left shorter than the client had made them: what they used is not the size of the client's, which is estimated", c.shorter)
	}
	return nil
}

// A conversation is one that is being put together, of exchanges in their order.
type conversation struct {
	*read.Reading
	codec   codecs.Full
	segment sessionfile.Segment
	sent    int    // entries that the newest request had
	id      string // of the newest reply
	replied int    // entries up to it
	shorter int    // exchanges that left with another body than the client's
}

// exchange takes in one exchange.
func (c *conversation) exchange(name string, f read.Fields) {
	about := f.Of("plimsoll")
	codec, ok := codecs.For(llm.Dialect(about.Str("dialect")))
	if !ok {
		c.Problem(0, "%s: a dialect that is not known, %.40q, left out", name, about.Str("dialect"))
		return
	}
	body := []byte(f.Str("body"))
	request, err := codec.DecodeRequest(body)
	if err != nil {
		c.Problem(0, "%s: the request cannot be read, left out: %v", name, err)
		return
	}
	c.codec, c.Session.Dialect = codec, codec.Dialect()
	c.request(name, request, gjson.GetBytes(body, "previous_response_id").Str, c.Time(0, about["time"]))
	reply, err := c.reply(f)
	if status, failed := strconv.Atoi(string(f["status"])); failed == nil && status >= 400 {
		c.Fail(read.Outcome{Time: c.Time(0, about["ended"]), Status: status, Words: f.Str("response")})
	}
	if err != nil {
		c.Problem(0, "%s: no reply: %v", name, err)
		return
	}
	shorter := about.Str("sent") != ""
	if shorter {
		c.shorter++
	}
	step := &sessionfile.Step{Model: about.Str("model"), MessageID: reply.ID, Time: c.Time(0, about["ended"])}
	if !shorter {
		step.Usage = reply.Usage
		step.Reported = step.Usage.Prompt() > 0
		step.OutputReported = step.Reported && step.Usage.Output > 0
	}
	reply.Message.Parts = read.Said(reply.Message.Parts, step)
	c.segment.Entries = append(c.segment.Entries, sessionfile.Entry{Message: reply.Message, Step: step, Time: step.Time})
	c.id, c.replied = reply.ID, len(c.segment.Entries)
}

// request takes in what the client sent: the conversation so far, or, where the provider
// holds it (previous), what is new.
func (c *conversation) request(name string, r llm.Request, previous string, at int64) {
	entries := make([]sessionfile.Entry, len(r.Messages))
	for i, m := range r.Messages {
		entries[i] = sessionfile.Entry{Message: m, Time: at}
	}
	held := c.segment.Entries
	switch {
	case previous != "" && previous == c.id:
		entries = append(slices.Clip(held[:c.replied]), entries...)
	case previous != "":
		c.Problem(0, "%s: goes on from a response that was not recorded before it", name)
		c.begin(sessionfile.StartResumed)
	case len(held) > 0 && goesOn(held[:c.sent], entries):
		c.keep(entries)
	default:
		c.begin(startOf(entries))
	}
	c.segment.Sections, c.segment.Tools = r.Sections, r.Tools
	c.segment.Entries, c.sent = entries, len(entries)
}

// keep gives entries what is known of those that they repeat. A reply whose request came
// again is in no conversation: it was paid for all the same.
func (c *conversation) keep(entries []sessionfile.Entry) {
	for i, e := range c.segment.Entries {
		switch {
		case i < len(entries) && (e.Step == nil || entries[i].Message.Role == llm.RoleAssistant):
			entries[i].Step, entries[i].Time = e.Step, e.Time
		case e.Step != nil:
			c.Session.Abandoned = append(c.Session.Abandoned, sessionfile.Branch{Messages: 1, Why: sessionfile.WhyAbandoned, Calls: []sessionfile.Step{*e.Step}})
		}
	}
}

// goesOn reports whether a request begins with all that the one before had.
func goesOn(before, now []sessionfile.Entry) bool {
	if len(before) > len(now) {
		return false
	}
	return slices.EqualFunc(before, now[:len(before)], func(a, b sessionfile.Entry) bool {
		return llm.DigestOf(a.Message) == llm.DigestOf(b.Message)
	})
}

// begin ends the segment for one that does not go on from it.
func (c *conversation) begin(start sessionfile.Start) {
	c.finish()
	c.segment = sessionfile.Segment{Start: start}
}

// startOf says how a conversation starts whose first request has these messages.
func startOf(entries []sessionfile.Entry) sessionfile.Start {
	if slices.ContainsFunc(entries, func(e sessionfile.Entry) bool { return e.Message.Role == llm.RoleAssistant }) {
		return sessionfile.StartResumed
	}
	return sessionfile.StartRoot
}

// finish hands the segment over.
func (c *conversation) finish() {
	c.segment.Final = len(c.segment.Entries) > 0 && c.segment.Steps() == 0
	c.Emit(c.segment)
	c.segment, c.sent, c.replied = sessionfile.Segment{}, 0, 0
}

// reply reads the answer to a request.
func (c *conversation) reply(f read.Fields) (llm.Response, error) {
	answer := []byte(f.Str("response"))
	switch {
	case string(f["status"]) != "200":
		return llm.Response{}, fmt.Errorf("the answer has the status %.10s", f["status"])
	case read.IsTrue(f["responseIsBinary"]):
		return llm.Response{}, fmt.Errorf("the answer is no text")
	case !isStream(f):
		return c.codec.DecodeResponse(answer)
	}
	var gathered wire.Reply
	d := c.codec.NewDecoder()
	events, err := d.Feed(answer)
	for _, e := range events {
		gathered.Add(e)
	}
	if err == nil {
		events, err = d.Close()
		for _, e := range events {
			gathered.Add(e)
		}
	}
	return gathered.Response(c.codec.Dialect()), err
}

// isStream reports whether an answer is a stream: events, or lines of JSON.
func isStream(f read.Fields) bool {
	kind, _, _ := strings.Cut(f.Str("contentType"), ";")
	switch strings.TrimSpace(kind) {
	case "text/event-stream", "application/x-ndjson", "application/stream+json":
		return true
	}
	return strings.Contains(f.Str("path"), ":streamGenerateContent")
}
