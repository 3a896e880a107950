package scriptmodel

import (
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel/internal/prefix"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// say returns what the model says when it follows p.
func (x *exchange) say(p Reply) (llm.Response, *wire.Error) {
	d := x.route.dialect
	r := llm.Response{
		ID: x.id(replyID(d)), Model: x.r.Model, Dialect: d, Stop: p.Stop,
		Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: d},
	}
	last := x.lastSeal()
	for _, s := range p.Parts {
		if s.Kind == SaySearch {
			found, refused := x.searched(s)
			if refused != nil {
				return r, refused
			}
			r.Message.Parts = append(r.Message.Parts, found...)
			continue
		}
		part, refused := x.part(s, &last)
		if refused != nil {
			return r, refused
		}
		if part != nil {
			r.Message.Parts = append(r.Message.Parts, part)
		}
	}
	r.Message.Parts = signCalls(x, r.Message.Parts, last)
	x.shorten(&r)
	if r.Stop == llm.StopUnknown {
		r.Stop = llm.StopEnd
		if len(r.Message.Calls()) > 0 {
			r.Stop = llm.StopTool
		}
	}
	r.Usage = x.usage(r.Message)
	if p.Usage != nil {
		r.Usage = *p.Usage
	}
	x.reported(&r)
	x.remember(r.Message)
	return r, nil
}

// replyID returns how the ids of replies begin.
func replyID(d llm.Dialect) string {
	switch d {
	case messages:
		return "msg_"
	case chat:
		return "chatcmpl-"
	case responses:
		return "resp_"
	}
	return "reply-"
}

// part returns one part of the reply; nil if the request does not want it.
func (x *exchange) part(s Saying, last *prefix.ID) (llm.Part, *wire.Error) {
	switch s.Kind {
	case SayWords:
		return llm.Text{Text: filler(s.N)}, nil
	case SayThinking, SayHidden:
		if !x.thinks() {
			return nil, nil
		}
		t := llm.Thinking{Text: s.Text, Redacted: s.Kind == SayHidden}
		if signsThinking(x.route.dialect) {
			t.Signature = x.seal(s.Text, *last)
			if seal, ok := x.sealer.Open(t.Signature); ok {
				*last = seal.ID
			}
		}
		return t, nil
	case SayCall:
		return llm.ToolCall{CallID: x.callID(), Name: s.Name, Args: s.Text, Custom: x.isCustom(s.Name)}, nil
	case SayShell:
		c, ok := shellCall(x.r.Tools, s.Text)
		if !ok {
			return nil, x.fault(500, "script: call shell, want a request that offers a shell tool, got none that is known")
		}
		c.CallID = x.callID()
		return c, nil
	}
	return llm.Text{Text: s.Text}, nil
}

// searched returns a search that the provider runs itself, with what it found.
func (x *exchange) searched(s Saying) ([]llm.Part, *wire.Error) {
	at := slices.IndexFunc(x.r.Tools, func(t llm.Tool) bool { return t.Finder })
	if x.route.dialect != messages || at < 0 {
		return nil, x.fault(500, "script: search, want a request of the Messages API with a tool search tool, got none")
	}
	id := x.id("srvtoolu_")
	references := make([][]byte, len(s.Found))
	for i, name := range s.Found {
		references[i] = object("type", "tool_reference", "tool_name", name)
	}
	content := object("type", "tool_search_tool_search_result", "tool_references", references)
	result := object("type", "tool_search_tool_result", "tool_use_id", id, "content", content)
	return []llm.Part{
		llm.ToolCall{CallID: id, Name: x.r.Tools[at].Name, Args: string(object("query", s.Text)), Hosted: true},
		llm.Opaque{Kind: "tool_search_tool_result", Loads: s.Found, Raw: llm.Raw{Data: result}},
	}, nil
}

func (x *exchange) callID() string {
	if x.route.dialect == messages {
		return x.id("toolu_")
	}
	return x.id("call_")
}

// isCustom reports whether a tool of that name takes free text.
func (x *exchange) isCustom(name string) bool {
	for _, t := range x.r.Tools {
		if t.Name == name {
			return isFreeform(t)
		}
	}
	return false
}

// filler returns n words, always the same ones.
func filler(n int) string {
	words := strings.Fields("the ship lies deeper when the hold is full and the line on her side goes under")
	out := make([]string, n)
	for i := range out {
		out[i] = words[i%len(words)]
	}
	return strings.Join(out, " ")
}

// shorten ends the reply where the room for it ends: a text is cut, anything else that does
// not fit is left out with all that follows.
func (x *exchange) shorten(r *llm.Response) {
	room, byWindow := x.room()
	count := x.written()
	if room == 0 || count.Message(r.Message) <= room {
		return
	}
	r.Stop = llm.StopLength
	if byWindow && x.route.dialect == messages {
		r.Stop = llm.StopWindow
	}
	parts := r.Message.Parts
	r.Message.Parts = nil
	for _, p := range parts {
		whole := r.Message
		whole.Parts = append(whole.Parts[:len(whole.Parts):len(whole.Parts)], p)
		if count.Message(whole) <= room {
			r.Message = whole
			continue
		}
		if t, ok := p.(llm.Text); ok {
			t.Text = cutText(count, t.Text, room-count.Message(r.Message))
			r.Message.Parts = append(r.Message.Parts, t)
		}
		return
	}
}

// cutText returns as many words of s as have at most that many tokens, one at least.
func cutText(c token.Counter, s string, tokens int) string {
	words := strings.SplitAfter(s, " ")
	low, high := 1, len(words)
	for low < high {
		mid := (low + high + 1) / 2
		if c.Text(strings.Join(words[:mid], "")) <= tokens {
			low = mid
		} else {
			high = mid - 1
		}
	}
	return strings.TrimSuffix(strings.Join(words[:low], ""), " ")
}

// usage counts the call, and lets the cache take part.
func (x *exchange) usage(reply llm.Message) llm.Usage {
	count := x.written()
	u := llm.Usage{Output: max(count.Message(reply), 1)}
	for _, p := range reply.Parts {
		if t, ok := p.(llm.Thinking); ok {
			u.Reasoning += count.Text(t.Text)
		}
	}
	u.Reasoning = min(u.Reasoning, u.Output)
	use := x.cached()
	u.CacheRead, u.CacheWrite5m, u.CacheWrite1h = use.Read, use.WriteShort, use.WriteLong
	u.Input = max(x.seen()-use.Read-use.WriteShort-use.WriteLong, 0)
	return u
}

// cached lets the simulated cache see the prompt.
func (x *exchange) cached() prefix.Use {
	var use prefix.Use
	if rules, ok := x.cacheRules(); ok {
		use = x.state.cache.Call(x.account+"\n"+x.r.Model, x.prompt, rules, x.state.clock)
	}
	use.Read = max(use.Read, x.held)
	return use
}

// remember keeps what a later request is held against: the thinking beside each call.
func (x *exchange) remember(m llm.Message) {
	var seals []string
	for _, p := range m.Parts {
		if t, ok := p.(llm.Thinking); ok {
			seals = append(seals, t.Signature)
		}
	}
	for _, c := range m.Calls() {
		x.state.turns[c.CallID] = seals
	}
}
