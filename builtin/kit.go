package builtin

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A Kit is the tools that a policy offers. It is a value: it may be copied and used
// concurrently.
type Kit struct {
	tools  []tool
	names  map[string]string // under which each is offered, by its own name; without one it is not
	limits Limits
}

// Limits bound the answers. What is 0 is as [DefaultLimits] have it.
type Limits struct {
	// Answer is the bytes of an answer at most.
	Answer int
	// Line is the characters of a line at most; what is longer is clipped.
	Line int
	// Extract is the bytes of an answer of [policy.ToolOutput] at most.
	Extract int
	// Question is the tokens of a question to the Model at most, without the answer: the
	// window of that model, less its buffer and its output reserve.
	Question int
	// Chunks is how many questions about the parts of an output are worth while before it
	// is searched instead.
	Chunks int
}

// DefaultLimits returns the limits that hold where none are stated.
func DefaultLimits() Limits {
	return Limits{
		Answer:   64 << 10,
		Line:     1000,
		Extract:  12_288, // toolResponseMaxBytes of the source document
		Question: 32_000,
		Chunks:   1, // maxChunks of the source document
	}
}

// New returns the Kit of some of the tools that package policy names, in their order. Those
// that this package does not have are not in it. A name that is none is an error.
func New(names []string) (Kit, error) {
	var k Kit
	all := tools()
	for _, name := range names {
		i := slices.IndexFunc(all, func(t tool) bool { return t.name == name })
		switch {
		case slices.Contains(later, name):
		case i < 0:
			return Kit{}, fmt.Errorf("builtin: new kit: tool, want one that a policy can name, got %q", name)
		case !slices.ContainsFunc(k.tools, func(t tool) bool { return t.name == name }):
			k.tools = append(k.tools, all[i])
		}
	}
	return k.Within(Limits{}).Beside(nil), nil
}

// later are the tools that policies can name and that are not built yet.
var later = []string{policy.ToolCompactContext, policy.ToolSearch}

// Within returns the Kit with other limits.
func (k Kit) Within(l Limits) Kit {
	d := DefaultLimits()
	for _, f := range []struct{ got, def *int }{
		{&l.Answer, &d.Answer}, {&l.Line, &d.Line}, {&l.Extract, &d.Extract}, {&l.Question, &d.Question}, {&l.Chunks, &d.Chunks},
	} {
		if *f.got <= 0 {
			*f.got = *f.def
		}
	}
	l.Answer = max(l.Answer, leastAnswer)
	l.Extract = min(max(l.Extract, leastAnswer), l.Answer)
	l.Line = min(l.Line, l.Answer/4) // so that one has room, and what is around a match, too
	k.limits = l
	return k
}

// leastAnswer is the bytes in which any answer has room to say something.
const leastAnswer = 1 << 10

// Beside returns the Kit as it is offered beside a client's tools: the client's tool keeps a
// name that both have, and ours takes a prefix. Where that is taken, too, ours is not
// offered.
func (k Kit) Beside(taken []string) Kit {
	names := make(map[string]string, len(k.tools))
	for _, t := range k.tools {
		for _, name := range []string{t.name, policy.ToolPrefix + t.name} {
			if !slices.Contains(taken, name) {
				names[t.name] = name
				break
			}
		}
	}
	k.names = names
	return k
}

// Tools returns the definitions of the tools that are offered, in the policy's order. The
// same Kit gives the same bytes.
func (k Kit) Tools() []llm.Tool {
	var out []llm.Tool
	for _, t := range k.tools {
		if k.offers(t.name) {
			out = append(out, llm.Tool{Name: k.names[t.name], Description: t.about, Schema: t.schema, Builtin: true})
		}
	}
	return out
}

// Serves reports whether a call by that name is for the Kit.
func (k Kit) Serves(name string) bool {
	_, ok := k.find(name)
	return ok
}

// Call answers a call. Without a Model, which may be nil, no model is asked: the tool that
// would does by itself what it can.
func (k Kit) Call(ctx context.Context, s Source, m Model, call llm.ToolCall) Answer {
	t, ok := k.find(call.Name)
	if !ok {
		return Answer{Text: fmt.Sprintf("There is no tool %s here.", quote(call.Name)), IsError: true}
	}
	v := visit{kit: k, tool: call.Name, source: s, model: m, args: readArgs(call.Args)}
	if v.args.err != nil {
		return wrong(v.tool, v.args.err)
	}
	return t.run(ctx, &v)
}

// offers reports whether a tool is offered, by its own name.
func (k Kit) offers(name string) bool { return k.names[name] != "" }

// find returns the tool that is offered under a name.
func (k Kit) find(offered string) (tool, bool) {
	for _, t := range k.tools {
		if k.offers(t.name) && k.names[t.name] == offered {
			return t, true
		}
	}
	return tool{}, false
}

// A visit is one call while it is answered.
type visit struct {
	kit    Kit
	tool   string // its name as the model knows it
	source Source
	model  Model // may be nil
	args   *args
}

// read answers with what is read from the content that a call names. Where there is none, or
// nothing to read in it, the answer says so.
func (v *visit) read(ctx context.Context, name string, text func(c Content, ref llm.Ref) (string, error)) Answer {
	if v.args.err != nil {
		return wrong(v.tool, v.args.err)
	}
	ref, err := llm.ParseRef(bare(name))
	if err != nil {
		return unknown(name) // what is no Ref names nothing, a path neither
	}
	c, err := v.source.Open(ctx, ref)
	if err != nil {
		return failed(ctx, ref, err)
	}
	defer func() { _ = c.Close() }() // it was only read
	answer := Answer{Ref: ref}
	if about, ok := unreadable(c); ok {
		answer.Text = about
	} else if answer.Text, err = text(c, ref); err != nil {
		return failed(ctx, ref, err)
	}
	return answer
}

// unreadable says why there is nothing to read in a content: it is empty, or no text.
func unreadable(c Content) (string, bool) {
	if c.Size() == 0 {
		return "The output is empty.", true
	}
	head := make([]byte, min(c.Size(), 8<<10))
	n, _ := c.ReadAt(head, 0) // what cannot be read fails where it is needed
	if bytes.IndexByte(head[:n], 0) >= 0 {
		return fmt.Sprintf("[Binary content, %s bytes: it cannot be shown as text.]", commas(c.Size())), true
	}
	return "", false
}

// past says that an offset is past the end, as the source document prints it, and how much
// there is.
func past(format string, args ...any) string {
	return fmt.Sprintf("Offset exceeds output length.\n["+format+".]", args...)
}
