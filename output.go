package plimsoll

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
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
	Ref    llm.Ref // under which the whole of it is stored; empty if it is shown whole
	Bytes  int64   // of the whole
}

// Shown is how much of an output the model sees.
type Shown string

// What the model sees.
const (
	ShownWhole  Shown = "whole"
	ShownPart   Shown = "part"   // shortened: the rest can be read back
	ShownHandle Shown = "handle" // a line that names the ref
	ShownFailed Shown = "failed" // that there was no room for it
)

// Why an output is not shown whole.
const (
	ReasonSizeCap     = "size_cap"     // it is larger than one output may be (R000-13)
	ReasonTokenBudget = "token_budget" // no target has room for it (R000-13)
	ReasonRepeated    = "repeated"     // what it says is shown already
)

const (
	// inlineOutput is the largest output, in bytes, that the policy's rules look at as
	// a whole. A larger one goes into the store while it is read.
	inlineOutput = 4 << 20
	// headBytes and tailBytes are shown of such an output, where the policy shows a part.
	headBytes = 2_000
	tailBytes = 1_000
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
	return s.place(ctx, r, int64(len(head)), engine.Append{Message: llm.Message{
		Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: r.CallID, IsError: r.IsError, Content: []llm.Part{llm.Text{Text: text}}},
		},
	}})
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
// [ToolBudget.CanExecute] said no (R000-23).
func (s *Session) Skip(ctx context.Context, callID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := s.drive(ctx, engine.Append{Message: llm.Message{
		Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: callID, IsError: true, Content: []llm.Part{llm.Text{Text: s.machine.SkippedText()}}},
		},
	}})
	return err
}

// place feeds an output and says what became of it.
func (s *Session) place(ctx context.Context, r Result, size int64, in engine.Input) (Placement, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return Placement{}, err
	}
	before := len(s.machine.Journal())
	if _, err := s.drive(ctx, s.granted(in, r.Reserved)); err != nil {
		return Placement{}, err
	}
	s.held.take(r.Reserved)
	p := Placement{Shown: ShownWhole, Bytes: size}
	if stored, ok := in.(engine.Stored); ok {
		p = Placement{Shown: ShownHandle, Reason: ReasonSizeCap, Ref: stored.Ref, Bytes: size}
		if last := s.machine.Messages(); stored.Head != "" && strings.Contains(last[len(last)-1].Results()[0].Text(), stored.Head) {
			p.Shown = ShownPart
		}
	}
	id := llm.MessageID(len(s.machine.Messages()))
	for _, e := range s.machine.Journal()[before:] {
		if e.Op == edit.Replace && e.Span.From == id {
			p.Shown, p.Reason, p.Ref = shownBy(e), s.reasonOf(e), e.Refs[0]
		}
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

// shownBy says what an edit leaves of an output.
func shownBy(e edit.Edit) Shown {
	r, _ := e.Replacement.(llm.ToolResult)
	switch {
	case e.Kind == edit.KindFail:
		return ShownFailed
	case edit.FormOf(r) == edit.Bare:
		return ShownHandle
	}
	return ShownPart
}

// reasonOf says why an output is not shown whole.
func (s *Session) reasonOf(e edit.Edit) string {
	switch e.Kind {
	case edit.KindFail:
		return ReasonTokenBudget
	case edit.KindDedup:
		return ReasonRepeated
	}
	for _, r := range s.machine.Policy().Rules {
		if r.Name == e.Rule && r.When.Measure == policy.MeasureGuard {
			return ReasonTokenBudget
		}
	}
	return ReasonSizeCap
}

// streamed stores an output that is larger than the rules look at, and adds what the
// model sees of it.
func (s *Session) streamed(ctx context.Context, r Result, head []byte, rest io.Reader) (Placement, error) {
	w := &sizes{}
	in := engine.Stored{CallID: r.CallID, IsError: r.IsError, Head: cutAtLine(head[:headBytes])}
	body := io.TeeReader(io.MultiReader(bytes.NewReader(head), rest), w)
	ref, size, err := s.put(ctx, body)
	if err != nil {
		return Placement{}, fmt.Errorf("plimsoll: session %q: output of call %q: %w", s.id, r.CallID, err)
	}
	in.Ref, in.Bytes, in.Lines, in.Tail = ref, int(size), w.lines+1, string(w.tail)
	sample := string(head[:min(len(head), 64<<10)])
	in.Tokens = int(size) / max(len(sample), 1) * s.Budget().Count(sample)
	return s.place(ctx, r, size, in)
}

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

// sizes counts what is written to it.
type sizes struct {
	lines int
	tail  []byte
}

// Write never fails.
func (w *sizes) Write(p []byte) (int, error) {
	w.lines += bytes.Count(p, []byte("\n"))
	w.tail = append(w.tail, p[max(0, len(p)-tailBytes):]...)
	w.tail = w.tail[max(0, len(w.tail)-tailBytes):]
	return len(p), nil
}

// cutAtLine ends a text after its last whole line, if it has one.
func cutAtLine(p []byte) string {
	if i := bytes.LastIndexByte(p, '\n'); i > 0 {
		p = p[:i]
	}
	return string(bytes.ToValidUTF8(p, nil))
}
