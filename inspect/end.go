package inspect

import (
	"cmp"
	"fmt"
	"strconv"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire"
)

func refusedOf(f sessionfile.Failure) *Failed {
	return &Failed{
		Line: f.Line, Time: f.Time, After: f.After, Stopped: f.Stopped, Limit: f.Limit, Class: f.Error.Class.String(), Status: f.Error.Status,
		Message: f.Error.Message, Used: f.Error.Used, Window: f.Error.Window,
	}
}

func failuresOf(seg sessionfile.Segment) []Failed {
	out := []Failed{}
	for _, f := range seg.Failures {
		out = append(out, *refusedOf(f))
	}
	return out
}

// end says how the session ended.
func (r *reading) end() End {
	if len(r.segments) == 0 {
		return End{}
	}
	g := r.segments[len(r.segments)-1]
	calls := 0
	for _, other := range r.segments {
		calls += len(other.steps)
	}
	failure, ok := g.Last()
	if !ok {
		how, tool := g.rest()
		e := End{How: how, Tool: tool, Call: calls}
		if n := len(g.steps); n > 0 {
			e.Time = g.steps[n-1].info.Time
		}
		return e
	}
	e := End{How: EndRefused, Call: calls + 1, Time: failure.Time, Failed: refusedOf(failure)}
	switch {
	case failure.Stopped:
		e.How = EndStopped
	case failure.Limit:
		e.How, e.Call = EndLimit, calls
	}
	if n := len(g.steps); failure.TooLong() && n > 0 && g.steps[n-1].refused != nil {
		last := g.steps[n-1]
		e.Call, e.Tokens, e.Kind = calls, last.tokens, last.kind
		e.Window = cmp.Or(failure.Error.Window, r.o.WindowOf(r.s, g.Segment).Tokens)
	}
	return e
}

// rest says how a segment ends whose last call was answered.
func (g *segment) rest() (how, tool string) {
	for i := len(g.Entries) - 1; i >= 0; i-- {
		m := g.Entries[i].Message
		switch {
		case m.Origin == llm.Note && !g.Final:
			continue
		case m.Origin != llm.Model:
			return EndWaits, ""
		}
		for _, c := range m.Calls() {
			if !c.Hosted {
				return EndOpen, c.Name
			}
		}
		return EndAnswered, ""
	}
	return EndWaits, ""
}

// Text says how the session ended in one line; empty if nothing says so.
func (e End) Text() string {
	call := fmt.Sprintf("call %d", e.Call)
	if e.Time > 0 {
		call += " at " + time.UnixMilli(e.Time).UTC().Format("15:04")
	}
	switch e.How {
	case EndRefused:
		return call + " was refused: " + e.why()
	case EndStopped:
		return call + " was stopped by the user"
	case EndLimit:
		return "a limit of the client's own ended it after " + call + ": " + cmp.Or(e.Failed.Message, "the file does not say which")
	case EndAnswered:
		return "the last call was answered"
	case EndOpen:
		return "a call of " + e.Tool + " has no result"
	case EndWaits:
		return "the last message is not answered"
	}
	return ""
}

// why says what a provider refused a call for.
func (e End) why() string {
	f := e.Failed
	switch f.Class {
	case wire.TooLong.String():
		return "prompt is too long" + e.figures()
	case wire.TooLarge.String():
		return "the request has too many bytes" + e.figures()
	case wire.Unclassified.String():
		return cmp.Or(f.Message, "the file does not say why")
	}
	if f.Message == "" {
		return f.Class
	}
	return f.Class + ", " + strconv.Quote(f.Message)
}

// figures are those of a prompt that was refused.
func (e End) figures() string {
	if e.Tokens == 0 {
		return ""
	}
	text := ", " + edit.Thousands(e.Tokens) + " tokens"
	if e.Window == 0 && e.Kind != Reported {
		return ";" + text[1:] + " of it are known (" + e.Kind + ")"
	}
	if e.Window > 0 {
		text += " of " + edit.Thousands(e.Window)
	}
	if e.Kind != Reported {
		text += " (" + e.Kind + ")"
	}
	return text
}
