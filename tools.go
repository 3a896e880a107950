package plimsoll

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
)

// A Model is asked once and answers once; see [Options.Model].
type Model = builtin.Model

// SetTools sets the host's tools that are offered to the model. The session keeps a copy:
// what is changed later is neither sent nor counted until it is set again. The policy's own
// tools stand behind them, unless the options say otherwise. A schema that is none is a
// *[SchemaError], and the tools stay as they were.
func (s *Session) SetTools(ctx context.Context, tools []llm.Tool) error {
	if err := checkSchemas(tools); err != nil {
		return fmt.Errorf("plimsoll: session %q: set tools: %w", s.id, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.ready(ctx); err != nil {
		return err
	}
	return s.offer(ctx, tools)
}

// offer offers the host's tools, and the policy's own behind them where the conversation
// has them: from its first request on, or never. The lock is held.
func (s *Session) offer(ctx context.Context, tools []llm.Tool) error {
	tools = slices.DeleteFunc(slices.Clone(tools), func(t llm.Tool) bool { return !s.allows(t.Name) })
	if kind := s.options.ToolKind; kind != nil {
		for i, t := range tools {
			tools[i].Kind = kind(t)
		}
	}
	if s.offers() {
		tools = append(slices.DeleteFunc(slices.Clone(tools), isOwn), s.kitBeside(tools).Tools()...)
	}
	_, err := s.feed(ctx, engine.SetTools{Tools: tools})
	return err
}

// offers reports whether the conversation has the policy's own tools. The lock is held.
func (s *Session) offers() bool {
	return !s.options.WithoutTools && (len(s.own()) > 0 || !s.machine.Began())
}

// own returns the policy's own tools, as they are offered. The lock is held.
func (s *Session) own() []llm.Tool {
	return slices.DeleteFunc(slices.Clone(s.machine.ToolsSet()), func(t llm.Tool) bool { return !t.Builtin })
}

func isOwn(t llm.Tool) bool { return t.Builtin }

// kitBeside returns the policy's tools as they are offered beside the host's: those that the
// conversation has already, whatever its policy is now. One that has got a prefix keeps it.
// The lock is held.
func (s *Session) kitBeside(tools []llm.Tool) builtin.Kit {
	var taken, names []string
	for _, t := range tools {
		if !t.Builtin {
			taken = append(taken, t.Name)
		}
	}
	for _, t := range s.own() {
		names = append(names, policy.BuiltinOf(t.Name))
		if name, prefixed := strings.CutPrefix(t.Name, policy.ToolPrefix); prefixed {
			taken = append(taken, name)
		}
	}
	if len(names) == 0 {
		_, searches := s.store.(store.Searcher)
		names = slices.DeleteFunc(slices.Clone(s.options.Policy.Tools), func(name string) bool {
			return name == policy.ToolSearchContext && !searches || !s.allows(name)
		})
	}
	kit, _ := builtin.New(names) // a policy names none that there is not
	return kit.Beside(taken)
}

// offerFirst offers the policy's own tools in a first request whose host has set none. The
// lock is held.
func (s *Session) offerFirst(ctx context.Context) error {
	if len(s.own()) > 0 || !s.offers() {
		return nil
	}
	return s.offer(ctx, s.machine.ToolsSet())
}

// allows reports whether a tool may be offered.
func (s *Session) allows(tool string) bool { return s.options.Allow == nil || s.options.Allow(tool) }

// Builtin answers a call of one of the policy's own tools: it runs the tool and adds its
// output. So it does with a call of a tool that is not allowed, of which the model is told
// so. It returns false, and does nothing, if the call is for a tool of the host's.
//
//	if served, err := session.Builtin(ctx, call); served || err != nil {
//		return err
//	}
//
// What is wrong with the call, or with what is stored, the model is told; an error is the
// session's.
func (s *Session) Builtin(ctx context.Context, call llm.ToolCall) (served bool, err error) {
	if !s.allows(call.Name) {
		_, err := s.ToolResult(ctx, Result{CallID: call.CallID, Body: strings.NewReader(fmt.Sprintf(deniedText, call.Name)), IsError: true})
		return true, err
	}
	s.mu.Lock()
	own, kit := s.own(), s.kitBeside(s.machine.ToolsSet())
	_, limit := s.machine.Room()
	s.mu.Unlock()
	kit = kit.Within(builtin.LimitsFor(limit))
	if !slices.ContainsFunc(own, func(t llm.Tool) bool { return t.Name == call.Name }) || !kit.Serves(call.Name) {
		return false, nil
	}
	if err := s.awaits(ctx, call.CallID); err != nil {
		return true, err
	}
	answer := kit.Call(ctx, ownContents{contents{s.store, s.id, s.left}, s}, s.options.Model, call)
	if answer.Fault != nil {
		s.news.add(Event{Kind: EventUnread, Text: fmt.Sprintf("%s could not read %s: %v", call.Name, answer.Ref, answer.Fault)})
	}
	if answer.NoText {
		if media := s.mediaUnder(answer.Ref); len(media) > 0 {
			parts := append([]llm.Part{llm.Text{Text: answer.Text}}, media...)
			m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: call.CallID, Content: parts}}}
			return true, s.Append(ctx, m)
		}
	}
	if s.declares() && len(answer.Loads) > 0 {
		loading := llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: answer.Text}}, Loads: answer.Loads}
		return true, s.Append(ctx, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{loading}})
	}
	_, err = s.ToolResult(ctx, Result{CallID: call.CallID, Body: strings.NewReader(answer.Text), IsError: answer.IsError})
	return true, err
}

// declares reports whether tools that are left out are declared to the provider, so that an
// answer which names them puts them before the model.
func (s *Session) declares() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machine.Declares()
}

// mediaUnder returns the images and documents that are stored under a Ref, as they came: one by
// itself, or those of an output.
func (s *Session) mediaUnder(ref llm.Ref) []llm.Part {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.machine.Messages() {
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.Media:
				if p.Data != nil && llm.RefOf(p.Data) == ref {
					return []llm.Part{p}
				}
			case llm.ToolResult:
				media := mediaOf(p)
				if len(media) > 0 && llm.RefOf(edit.Stored(p)) == ref {
					return media
				}
			}
		}
	}
	return nil
}

// mediaOf returns the images and documents of an output.
func mediaOf(r llm.ToolResult) (media []llm.Part) {
	for _, p := range r.Content {
		if m, ok := p.(llm.Media); ok {
			media = append(media, m)
		}
	}
	return media
}

// deniedText is what the model is told that calls a tool which is not allowed.
const deniedText = "The tool %q is not allowed here. Nothing was done."
