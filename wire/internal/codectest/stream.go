package codectest

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// step is how far apart the places are at which a stream of n bytes is cut in turn: every byte
// of a short one, and so that none takes seconds.
func step(n int) int { return 1 + n*n/(2<<20) }

// Chunks holds that events do not depend on how a stream is cut, and returns them.
func (l Laws) Chunks(t T, stream []byte) []llm.Event {
	t.Helper()
	want := Events(t, l, stream)
	for cut := 0; cut <= len(stream); cut += step(len(stream)) {
		if got, err := Feed(l, stream, cut); err != nil || !reflect.DeepEqual(want, got) {
			t.Fatalf("cut at %d: %v\n%s", cut, err, Diff(want, got))
		}
	}
	every := make([]int, len(stream))
	for i := range every {
		every[i] = i
	}
	if got, err := Feed(l, stream, every...); err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("byte by byte: %v\n%s", err, Diff(want, got))
	}
	return want
}

// CutShort holds that a stream which ends before end is cut.
func (l Laws) CutShort(t T, stream []byte, end int) {
	t.Helper()
	cut := func(n int) {
		t.Helper()
		if _, err := Feed(l, stream[:n]); !errors.Is(err, wire.ErrCut) {
			t.Fatalf("%d of %d bytes: want a cut stream, got %v", n, len(stream), err)
		}
	}
	for n := 0; n < end; n += step(end) {
		cut(n)
	}
	cut(end - 1)
}

// A part that is open, as its deltas tell it.
type openPart struct{ text, signature, args string }

// InOrder holds what package llm says of the order of events: one start first and one end
// last, parts that begin in the order of their index and end once, with the bytes that a
// request wants, and deltas that add up to their part, but for what is redacted and was told
// whole as it began.
func (l Laws) InOrder(t T, events []llm.Event) {
	t.Helper()
	open := map[int]*openPart{}
	next, started, ended := 0, false, false
	for i, e := range events {
		if e.Kind == llm.EventOther {
			continue
		}
		if ended || started == (e.Kind == llm.EventStart) {
			t.Fatalf("event %d: %v out of place", i, e.Kind)
		}
		switch e.Kind {
		case llm.EventStart:
			started = true
		case llm.EventEnd:
			if ended = true; len(open) > 0 {
				t.Fatalf("the end leaves %d parts open", len(open))
			}
		case llm.EventPartStart:
			if e.Index != next {
				t.Fatalf("event %d: want part %d to begin, got %d", i, next, e.Index)
			}
			next++
			open[e.Index] = begun(e.Part)
		case llm.EventDelta:
			x := open[e.Index]
			if x == nil || e.Text == "" {
				t.Fatalf("event %d: delta %q of part %d", i, e.Text, e.Index)
			}
			x.add(e)
		case llm.EventPartEnd:
			x := open[e.Index]
			if x == nil {
				t.Fatalf("event %d: part %d ends but is not open", i, e.Index)
			}
			delete(open, e.Index)
			if want := whole(e.Part); *x != want && !l.Contradicts {
				t.Errorf("part %d: want the deltas to add up to %+v, got %+v", e.Index, want, *x)
			}
			if _, thinks := e.Part.(llm.Thinking); len(e.Part.Bytes()) == 0 && (!thinks || !l.FewerBytes) {
				t.Errorf("part %d: want the bytes that a request wants, got none", e.Index)
			}
		}
	}
	if !ended {
		t.Fatal("no end")
	}
}

// begun returns what the start of a part tells: all of what is redacted, if it has that.
func begun(p llm.Part) *openPart {
	if p, ok := p.(llm.Thinking); ok && p.Redacted {
		return &openPart{p.Text, p.Signature, ""}
	}
	return &openPart{}
}

func (x *openPart) add(e llm.Event) {
	switch e.Delta {
	case llm.DeltaText:
		x.text += e.Text
	case llm.DeltaSignature:
		x.signature += e.Text
	case llm.DeltaArgs:
		x.args += e.Text
	}
}

// whole returns what the deltas of a part tell together.
func whole(p llm.Part) (x openPart) {
	switch p := p.(type) {
	case llm.Text:
		x.text = p.Text
	case llm.Thinking:
		x.text, x.signature = p.Text, p.Signature
	case llm.ToolCall:
		x.args = p.Args
	}
	return x
}

// AnyStream holds that the events of any bytes, and how they fail, do not depend on how they
// are cut, that events are in order, and that what was told can be told again. It returns what
// they tell, and what that tells as a stream; nothing for bytes that are no stream. Any
// numbers may be given for where they are cut.
func (l Laws) AnyStream(t T, stream []byte, numbers ...uint) (want, again []llm.Event) {
	t.Helper()
	cuts := make([]int, len(numbers))
	for i, n := range numbers {
		cuts[i] = int(n % uint(len(stream)+1))
	}
	slices.Sort(cuts)
	want, wantErr := Feed(l, stream)
	got, err := Feed(l, stream, cuts...)
	if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
		t.Fatalf("cut at %d: want %v, got %v", cuts, wantErr, err)
	}
	if !reflect.DeepEqual(want, got) {
		t.Fatalf("cut at %d: %s", cuts, Diff(want, got))
	}
	out := Encoded(t, l, want)
	if err != nil {
		return nil, nil
	}
	l.InOrder(t, want)
	again = Events(t, l, out)
	l.InOrder(t, again)
	return want, again
}

// StreamedReply holds that a reply, given as it is and as a stream of one payload, tells the
// same in both ways, and returns both.
func (l Laws) StreamedReply(t T, body, stream []byte) (reply, streamed llm.Response) {
	t.Helper()
	reply, streamed = Reply(t, l, body), Told(l.Dialect(), Events(t, l, stream))
	reply.Raw = nil
	if d := Diff(reply, streamed); d != "" {
		t.Fatal(d)
	}
	return reply, streamed
}

// EncodesInOrder holds that an encoder writes no stream whose events are out of order.
func EncodesInOrder(t *testing.T, c wire.Streamer) {
	start := llm.Event{Kind: llm.EventStart}
	for name, events := range map[string][]llm.Event{
		"no start":               {{Kind: llm.EventPartStart, Part: llm.Text{}}},
		"two starts":             {start, start},
		"delta of no part":       {start, {Kind: llm.EventDelta, Delta: llm.DeltaText, Text: "a"}},
		"end of no part":         {start, {Kind: llm.EventPartEnd, Part: llm.Text{}}},
		"something after an end": {start, {Kind: llm.EventEnd}, {Kind: llm.EventEnd}},
	} {
		t.Run(name, func(t *testing.T) {
			n := c.NewEncoder()
			var err error
			for _, e := range events {
				_, err = n.Append(nil, e)
			}
			if err == nil {
				t.Error("want an error")
			}
		})
	}
}

// ErrorEnds holds that an error ends a stream which began with events: it is read back as it
// was, and nothing comes after it. It returns the stream and what is told before the error.
func ErrorEnds(t T, c wire.Streamer, events []llm.Event, e *wire.Error) (stream []byte, before []llm.Event) {
	t.Helper()
	w := c.NewEncoder()
	for _, x := range events {
		var err error
		if stream, err = w.Append(stream, x); err != nil {
			t.Fatal(err)
		}
	}
	stream = w.AppendError(stream, e)
	before, err := Feed(c, stream)
	var got *wire.Error
	if !errors.As(err, &got) || got.Class != e.Class || got.Used != e.Used || got.Window != e.Window {
		t.Errorf("after %d events: want %v, got %v in %s", len(events), e, err, stream)
	}
	if _, err := w.Append(nil, llm.Event{Kind: llm.EventEnd}); err == nil {
		t.Error("want nothing to be appended after an error")
	}
	return stream, before
}

// Most is how many bytes may be open in the decoders that [Holds] is asked about.
const Most = 40_000

// Holds checks the error of a decoder whose open parts may hold [Most] bytes together: there is
// one if they were to hold more, and none else.
func Holds(t T, name string, err error, more bool) {
	t.Helper()
	if full := err != nil && strings.Contains(err.Error(), "want at most 40000 bytes"); full != more || !full && err != nil {
		t.Errorf("%s: got %v", name, err)
	}
}

// A Spliced is what came of the replies of some Rounds.
type Spliced struct {
	Out     []byte
	Replies []llm.Response
	Err     error // of the last Round
}

// Splice gives replies to a splice, each cut at what the function says of its length, up to
// the first error. The end is not asked for.
func Splice(s wire.Splice, rounds [][]byte, cut func(n int) int) (got Spliced) {
	for i, r := range rounds {
		if i > 0 {
			s.Next()
		}
		for len(r) > 0 {
			n := cut(len(r))
			out, err := s.Write(r[:n:n])
			got.Out, r = append(got.Out, out...), r[n:]
			if err != nil {
				break
			}
		}
		reply, err := s.EndRound()
		if got.Replies, got.Err = append(got.Replies, reply), err; err != nil {
			break
		}
	}
	return got
}

// AtOnce cuts nothing.
func AtOnce(n int) int { return n }

// Joined returns what a client gets of some Rounds that end well.
func Joined(t T, s wire.Splice, cut func(n int) int, rounds ...string) string {
	t.Helper()
	all := make([][]byte, len(rounds))
	for i, r := range rounds {
		all[i] = []byte(r)
	}
	got := Splice(s, all, cut)
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	return string(append(got.Out, s.Finish()...))
}

// Hides reports whether the tools of such tests are hidden: those whose names begin with h.
func Hides(tool string) bool { return strings.HasPrefix(tool, "h") }
