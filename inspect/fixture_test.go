package inspect_test

import (
	"slices"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// ship is a model with round figures: in picodollars a token, 3 of input, 4 and 6
// written, 1 read, 10 of output, times a million. Its cache is marked and keeps a
// prefix for five minutes or an hour.
const ship = "ship-1"

// drops is the same, but its provider takes a finished Turn's thinking out.
const drops = "ship-1-drops"

const million = 1_000_000

// withShip adds the models to what a test analyses with.
func withShip(t testing.TB) inspect.Options {
	t.Helper()
	o := options(t)
	m := catalog.Model{ID: ship, Window: 200_000, Cache: "anthropic", Tiers: []catalog.Tier{{Prices: catalog.Prices{
		Input: 3 * million, CacheWrite5m: 4 * million, CacheWrite1h: 6 * million, CacheRead: 1 * million, Output: 10 * million,
	}}}}
	d := m
	d.ID, d.DropsThinking = drops, true
	o.Catalog = o.Catalog.With(m, d)
	return o
}

// A log writes a session as a reader would return it: a message a line, ten seconds
// apart.
type log struct {
	s     sessionfile.Session
	seg   *sessionfile.Segment
	model string
	line  int
	now   int64
}

func newLog() *log {
	l := &log{model: ship, now: 1_700_000_000_000}
	l.s = sessionfile.Session{Path: "log.jsonl", Format: sessionfile.FormatClaudeCode, Client: "claude-code", ClientVersion: "2.0.1", Dialect: "anthropic", ID: "log"}
	l.segment(sessionfile.StartRoot)
	return l
}

// segment begins a new one with entries that it carries over.
func (l *log) segment(start sessionfile.Start, carried ...sessionfile.Entry) {
	carried = slices.Clone(carried)
	for i := range carried {
		carried[i].Step = nil
	}
	l.s.Segments = append(l.s.Segments, sessionfile.Segment{Start: start, Entries: carried})
	l.seg = &l.s.Segments[len(l.s.Segments)-1]
}

func (l *log) add(m llm.Message, step *sessionfile.Step) {
	l.line++
	l.now += 10_000
	if step != nil {
		step.Time = l.now
	}
	l.seg.Entries = append(l.seg.Entries, sessionfile.Entry{Message: m, Line: l.line, Step: step, Time: l.now})
}

func (l *log) human(text string) {
	l.add(llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}, nil)
}

func (l *log) summary(text string) {
	l.add(llm.Message{Role: llm.RoleUser, Origin: llm.Note, Flags: llm.FlagSummary, Parts: []llm.Part{llm.Text{Text: text}}}, nil)
}

// reply is a Step with that usage; the zero Usage means that nothing was reported.
func (l *log) reply(u llm.Usage, parts ...llm.Part) {
	l.add(llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts}, &sessionfile.Step{
		Model: l.model, Usage: u, Reported: u.Prompt() > 0, OutputReported: u.Output > 0,
	})
}

func (l *log) result(id, text string) {
	l.add(llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: text}}},
	}}, nil)
}

// fail ends the segment with a call that came to nothing.
func (l *log) fail(e wire.Error) {
	l.now += 10_000
	f := sessionfile.Failure{Line: l.line + 1, Time: l.now, After: l.seg.Steps(), Error: e}
	l.seg.Failures, l.seg.Final = append(l.seg.Failures, f), f.TooLong()
}

// interrupted is the stated result of a call that never ended.
func (l *log) interrupted(id string) {
	l.add(turn.Interrupted([]turn.Call{{CallID: id}}, "")[0], nil)
}

func call(id, name, args string) llm.Part { return llm.ToolCall{CallID: id, Name: name, Args: args} }

func text(s string) llm.Part { return llm.Text{Text: s} }

// cached is the usage of a call that read so many tokens and wrote the rest.
func cached(read, write int) llm.Usage {
	return llm.Usage{CacheRead: read, CacheWrite5m: write, Output: 20}
}

func (l *log) report(t testing.TB, o inspect.Options) inspect.Report {
	t.Helper()
	checkSession(t, &l.s, o)
	r, err := inspect.Session(&l.s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}
