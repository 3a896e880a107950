package builtin

import (
	"context"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// How far a model may search, as the source document has it.
const (
	mostRounds = 15
	mostCalls  = 10 // in one round
)

// An only is a Source of one content.
type only struct {
	ref llm.Ref
	c   Content
}

// Open implements [Source].
func (o only) Open(_ context.Context, ref llm.Ref) (Content, error) {
	if ref != o.ref {
		return nil, fmt.Errorf("builtin: open %s: want %s alone: %w", ref, o.ref, ErrNotFound)
	}
	return borrowed{o.c}, nil
}

// Search implements [Source]. There is nothing to search but the content.
func (o only) Search(context.Context, string, int) ([]Hit, error) { return nil, nil }

// A borrowed content stays open: somebody else closes it.
type borrowed struct{ Content }

// Close implements io.Closer.
func (borrowed) Close() error { return nil }

// readGrep has a model search the output, with tools that read it and nothing else.
func (x *extraction) readGrep(ctx context.Context) (string, error) {
	kit, err := x.searchKit()
	if err != nil {
		return "", err
	}
	s := searching{extraction: x, kit: kit, source: only{x.ref, x.c}}
	s.add(llm.NoteText(fmt.Sprintf("What is needed: %s\n\nIt is in the output of %s, %s bytes, %s lines: ref_id=%s. "+
		"Search it with the tools, which you may call in %d replies, then answer.",
		x.want, x.maker(), commas(x.c.Size()), commas(x.c.Lines()), x.ref, mostRounds-1)))
	if s.full() {
		return "", noRoom
	}
	for round := 1; ; round++ {
		last := round == mostRounds || s.full()
		resp, err := s.reply(ctx, last)
		if err != nil {
			return "", err
		}
		calls := resp.Message.Calls()
		if len(calls) == 0 {
			return framed(resp)
		}
		if last {
			return "", reason("the search came to no end")
		}
		s.add(resp.Message)
		for i, call := range calls {
			s.add(s.result(ctx, i, call))
		}
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
	}
}

// searchKit returns the tools of a search: by lines, or by bytes where lines are long.
func (x *extraction) searchKit() (Kit, error) {
	names := []string{policy.ToolOutputCacheGrep, policy.ToolOutputCache, policy.ToolOutputCacheLine}
	if x.c.Size()/max(1, x.c.Lines()) >= longLines {
		names = []string{policy.ToolOutputCacheGrep, policy.ToolReadResult}
	}
	kit, err := New(names)
	// Several answers have room, whatever they cost.
	return kit.Within(Limits{Answer: min(x.limits.Question/4, 16<<10)}), err
}

// A searching is a conversation with a model that searches an output.
type searching struct {
	*extraction
	kit      Kit
	source   only
	messages []llm.Message
	tokens   int
}

// add adds a message.
func (s *searching) add(m llm.Message) {
	s.messages = append(s.messages, m)
	s.tokens += s.count.Message(m)
}

// full reports whether the answers of another round might not have room.
func (s *searching) full() bool {
	return s.tokens+s.kit.limits.Answer > s.questionRoom()-s.count.Tools(s.kit.Tools())
}

// reply asks for the next reply, or for the answer.
func (s *searching) reply(ctx context.Context, last bool) (llm.Response, error) {
	r := llm.Request{Tools: s.kit.Tools(), Messages: s.messages}
	if last {
		r.Messages = append(r.Messages[:len(r.Messages):len(r.Messages)], llm.NoteText("Answer now, from what you have seen."))
		r.Settings.Choice.Mode = llm.ChoiceNone
	}
	return s.ask(ctx, r)
}

// result answers the i-th call of a reply.
func (s *searching) result(ctx context.Context, i int, call llm.ToolCall) llm.Message {
	if i >= mostCalls {
		return llm.ToolError(call.CallID, fmt.Sprintf("Not done: at most %d calls in one reply.", mostCalls))
	}
	if i > 0 && s.full() {
		return llm.ToolError(call.CallID, "Not done: there is no more room.")
	}
	a := s.kit.Call(ctx, s.source, nil, call)
	if a.Fault != nil {
		s.fault = a.Fault
	}
	if a.IsError {
		return llm.ToolError(call.CallID, a.Text)
	}
	return llm.ToolText(call.CallID, a.Text)
}
