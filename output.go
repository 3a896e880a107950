package plimsoll

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A Result is what a tool put out.
type Result struct {
	CallID  string
	Body    io.Reader // its text; nil: none
	IsError bool
	// Reserved is the room that was held for it, which it gives back; zero: none was.
	Reserved Reservation
}

// A Placement says what became of an output.
type Placement struct {
	Shown  Shown
	Reason string  // why it is not shown whole: ReasonSizeCap, ReasonTokenBudget, ReasonRepeated or empty
	Ref    llm.Ref // under which the whole of it is stored; empty if it is not (Options.StoreLater)
	Bytes  int64   // of the whole
	Lines  int64   // of the whole; a last line without a newline counts
}

// Shown is how much of an output the model sees.
type Shown = engine.Shown

// What the model sees.
const (
	ShownWhole  = engine.ShownWhole
	ShownPart   = engine.ShownPart   // shortened: the rest can be read back
	ShownHandle = engine.ShownHandle // nothing of it, but its ref
	ShownFailed = engine.ShownFailed // that there was no room for it
)

// Why an output is not shown whole.
const (
	ReasonSizeCap     = string(engine.CauseSizeCap)     // it is larger than one output may be
	ReasonTokenBudget = string(engine.CauseTokenBudget) // no target has room for it
	ReasonRepeated    = string(engine.CauseRepeated)    // what it says is shown already
)

const (
	// inlineOutput is the largest output, in bytes, that the policy's rules look at as
	// a whole. A larger one goes into the store while it is read.
	inlineOutput = 4 << 20
	// headBytes and tailBytes are what the rules get to see of such an output: more than
	// the share that a policy leaves one output has in any window there is.
	headBytes = 1 << 20
	tailBytes = 512 << 10
)

// ToolResult adds the output of a call, which is read to its end, unless no call waits for
// it: then the error is a *turn.OrphanError. What the policy
// finds too large is stored and shown shortened or as a handle; the Placement says so.
// An output of which nothing is in memory at once needs a [store.Streamer].
func (s *Session) ToolResult(ctx context.Context, r Result) (Placement, error) {
	if err := s.awaits(ctx, r.CallID); err != nil {
		return Placement{}, err
	}
	body := r.Body
	if body == nil {
		body = bytes.NewReader(nil)
	}
	head, err := io.ReadAll(io.LimitReader(body, inlineOutput+1))
	if err != nil {
		return Placement{}, fmt.Errorf("plimsoll: session %q: output of call %q: %w", s.id, r.CallID, err)
	}
	if len(head) > inlineOutput {
		return s.streamed(ctx, r, head, body)
	}
	text := string(head)
	if text == "" {
		text = " " // some providers refuse an empty result (R000-13 finding)
	}
	said := llm.ToolText
	if r.IsError {
		said = llm.ToolError
	}
	return s.place(ctx, r, int64(len(head)), engine.Append{Message: said(r.CallID, text)})
}

// awaits returns an error if no call waits for that output, so that nothing is stored
// of one that nobody asked for.
func (s *Session) awaits(ctx context.Context, callID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	probe := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: callID}}}
	if err := s.machine.Acceptable(probe); err != nil {
		return fmt.Errorf("plimsoll: session %q: output: %w", s.id, err)
	}
	return nil
}

// Skip adds the stated result of a call that was not run, because
// [ToolBudget.CanExecute] said no.
func (s *Session) Skip(ctx context.Context, callID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.feed(ctx, engine.Append{Message: llm.ToolError(callID, s.machine.SkippedText())})
	return err
}

// place feeds an output and says what became of it.
func (s *Session) place(ctx context.Context, r Result, size int64, in engine.Input) (Placement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return Placement{}, err
	}
	done, err := s.feed(ctx, s.granted(in, r.Reserved))
	if err != nil {
		return Placement{}, err
	}
	s.held.take(r.Reserved)
	p := Placement{Shown: ShownWhole, Bytes: size}
	for _, at := range done.Placements {
		if at.CallID == r.CallID {
			p.Shown, p.Reason, p.Ref, p.Lines = at.Shown, string(at.Reason), at.Ref, int64(at.Lines)
		}
	}
	if size == 0 {
		p.Ref, p.Lines = "", 0 // what is stored is the space that stands for it
	}
	return p, nil
}

// granted gives what was reserved to the output that it was for.
func (s *Session) granted(in engine.Input, r Reservation) engine.Input {
	switch in := in.(type) {
	case engine.Append:
		in.Reserved = s.held.tokens[r.id]
		return in
	case engine.Stored:
		in.Reserved = s.held.tokens[r.id]
		return in
	}
	return in
}

// streamed stores an output that is larger than the rules look at, and adds what the
// model sees of it.
func (s *Session) streamed(ctx context.Context, r Result, head []byte, rest io.Reader) (Placement, error) {
	w := &sizes{}
	in := engine.Stored{CallID: r.CallID, IsError: r.IsError, Head: string(head[:headBytes])}
	body := io.TeeReader(io.MultiReader(bytes.NewReader(head), rest), w)
	ref, size, err := s.put(ctx, body)
	if err != nil {
		return Placement{}, fmt.Errorf("plimsoll: session %q: output of call %q: %w", s.id, r.CallID, err)
	}
	in.Ref, in.Bytes, in.Lines, in.Tail = ref, int(size), w.lines(), w.tail()
	sample := string(head[:sampleBytes])
	in.Tokens = int(size * int64(s.Budget().Count(sample)) / sampleBytes)
	return s.place(ctx, r, size, in)
}

// sampleBytes are counted of an output that is not counted whole.
const sampleBytes = 64 << 10

// mostMemory is the largest output, in bytes, that is taken into memory for a store
// that cannot stream.
const mostMemory = 1 << 30

// put stores what body yields.
func (s *Session) put(ctx context.Context, body io.Reader) (llm.Ref, int64, error) {
	if st, ok := s.store.(store.Streamer); ok {
		return st.PutFrom(ctx, s.id, body)
	}
	data, err := io.ReadAll(io.LimitReader(body, mostMemory+1))
	if err != nil {
		return "", 0, err
	}
	if len(data) > mostMemory {
		return "", 0, &OutputError{Limit: mostMemory}
	}
	ref := llm.RefOf(data)
	return ref, int64(len(data)), s.store.Put(ctx, s.id, []edit.Blob{{Ref: ref, Data: data}})
}

// An OutputError says that an output is larger than what a store that is no
// [store.Streamer] is given.
type OutputError struct{ Limit int64 } // in bytes

// Error names the limit.
func (e *OutputError) Error() string {
	return fmt.Sprintf("output, want at most %d bytes for a store that cannot stream, got more", e.Limit)
}

// sizes looks at what is written to it.
type sizes struct {
	newlines int
	end      []byte // the last bytes, at least tailBytes of them where there are so many
}

// Write never fails.
func (w *sizes) Write(p []byte) (int, error) {
	w.newlines += bytes.Count(p, []byte("\n"))
	w.end = append(w.end, p[max(0, len(p)-tailBytes):]...)
	if len(w.end) > 4*tailBytes { // not at every write
		w.end = append(w.end[:0], w.tail()...)
	}
	return len(p), nil
}

// lines returns how many there were; a last line without a newline counts.
func (w *sizes) lines() int {
	if n := len(w.end); n > 0 && w.end[n-1] != '\n' {
		return w.newlines + 1
	}
	return w.newlines
}

func (w *sizes) tail() string { return string(w.end[max(0, len(w.end)-tailBytes):]) }
