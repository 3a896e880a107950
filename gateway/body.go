package gateway

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// bodyOf returns the body of what the session sends: the client's own, unless an edit
// holds. Edits are laid over the messages of this very request and not over those that
// the session keeps: what a client moves from request to request without saying anything
// else, as cache marks are, stays where it has put it.
func (x *Exchange) bodyOf(b *branch, send *engine.Send) (body []byte, betas []string, err error) {
	marks := x.ownMarks(send)
	own := slices.DeleteFunc(slices.Clone(send.Tools), func(t llm.Tool) bool { return !t.Builtin })
	clear := x.ownClearing(send)
	if !send.Edited && clear.IsZero() && send.Final == engine.ReasonNone && len(own) == 0 && len(marks) == 0 && !searched(send.Tools) && !b.hides() && !denies(b.allows, x.request.Tools) {
		return x.call.Body, nil, nil
	}
	if err := x.readWhole(); err != nil {
		return nil, nil, err
	}
	all := b.uncovered(x.request.Messages)
	v, err := edit.Fold(all, edit.Holding(b.session.Edits()))
	if err != nil {
		return nil, nil, err
	}
	r := x.request
	items := edit.WithoutCompactions(v.Items, send.LeftOut.Summaries)
	r.Messages = make([]llm.Message, len(items))
	for i, it := range items {
		r.Messages[i] = it.Message
		if slices.ContainsFunc(send.LeftOut.Thinking, func(s edit.Span) bool { return !it.IsNote() && s.Contains(it.Message.ID) }) {
			r.Messages[i] = edit.WithoutThinking(it.Message)
		}
	}
	if x.gateway.options.ClientView {
		x.report.Saved = b.saved(all, v.Items)
	}
	if x.call.Dialect == anthropic.Dialect {
		keepMarks(r.Messages, all)
	}
	r.Sections = append(slices.Clip(r.Sections), v.Sections...)
	r = allowed(b.allows, r)
	r.Tools = placed(r.Tools, send.Tools)
	if send.Final != engine.ReasonNone {
		r.Tools = send.Tools
	}
	r.Marks, r.Settings.Clear = marks, clear
	r.Settings.DropBrokenThinking = r.Settings.DropBrokenThinking || send.DropBrokenThinking
	if body, err = x.codec.EncodeRequest(x.withMedia(r)); err != nil {
		return nil, nil, fmt.Errorf("body: %w", err)
	}
	if x.call.Dialect == anthropic.Dialect {
		betas = anthropic.Betas(r)
	}
	return body, betas, nil
}

// withMedia returns a request with the images that a tool of ours gave back where its format
// has none in outputs: behind them.
func (x *Exchange) withMedia(r llm.Request) llm.Request {
	d, known := x.gateway.options.Catalog.Dialect(x.call.Dialect)
	if !known || d.ResultImage == catalog.Keep && d.ResultDocument == catalog.Keep || !slices.ContainsFunc(r.Messages, ownMedia) {
		return r
	}
	return convert.Request(r, d, convert.Options{}).Request
}

// ownMedia reports whether a message has an output with images or documents that no client made.
func ownMedia(m llm.Message) bool {
	return slices.ContainsFunc(m.Results(), func(r llm.ToolResult) bool {
		return r.Data == nil && r.Base == nil && slices.ContainsFunc(r.Content, func(p llm.Part) bool { _, ok := p.(llm.Media); return ok })
	})
}

// denies reports whether one of tools may not be offered.
func denies(allows func(tool string) bool, tools []llm.Tool) bool {
	return allows != nil && slices.ContainsFunc(tools, func(t llm.Tool) bool { return !allows(t.Name) })
}

// allowed returns a request without the tools that may not be offered, and without a choice
// that demands one of them, or any where none is left.
func allowed(allows func(tool string) bool, r llm.Request) llm.Request {
	r.Tools = slices.Clone(r.Tools)
	if !denies(allows, r.Tools) {
		return r
	}
	r.Tools = slices.DeleteFunc(r.Tools, func(t llm.Tool) bool { return !allows(t.Name) })
	if c := r.Settings.Choice; len(r.Tools) == 0 || c.Mode == llm.ChoiceTool && !allows(c.Tool) {
		r.Settings.Choice = llm.Choice{}
	}
	return r
}

// asAllowed returns the client's body without the tools that may not be offered: its own
// bytes if there are none. The error says that nobody here can read it.
func (x *Exchange) asAllowed() ([]byte, error) {
	if x.codec == nil || x.gateway.options.Allow == nil {
		return x.call.Body, nil
	}
	r, err := x.codec.DecodeRequest(x.call.Body)
	if err != nil {
		return nil, errUnread // err may quote it
	}
	allows := x.gateway.allows(budget.Target{Provider: x.call.Provider, Model: cmp.Or(x.call.Model, r.Model)})
	if !denies(allows, r.Tools) {
		return x.call.Body, nil
	}
	return x.codec.EncodeRequest(allowed(allows, r))
}

// errUnread says that a body is not that of a request.
var errUnread = errors.New("the body is not read")

// unread refuses a request of which nobody can say whether it offers tools that are not
// allowed.
func (x *Exchange) unread(why error) error {
	e := &wire.Error{Class: wire.BadRequest, Message: "plimsoll: " + why.Error() + ", and it may offer tools that are not allowed here"}
	x.report.Class, x.report.Refused = e.Class, why.Error()
	status, body := x.codec.EncodeError(e)
	return &RefusalError{Status: status, Body: body, Report: x.report, Err: why}
}

// Unread says what becomes of a call whose body could not be had, such as one that is packed
// in an unknown way: where tools are not allowed ([Options.Allow]) it is refused, with a
// *[RefusalError], for they may be in it; else it may pass, and is not looked at.
func (g *Gateway) Unread(c Call, why error) error {
	codec, ok := codecs.For(c.Dialect)
	if !ok || g.options.Allow == nil {
		return nil
	}
	x := &Exchange{gateway: g, call: c, codec: codec, report: Report{Model: c.Model}}
	return x.unread(why)
}

// keepMarks puts the cache marks of the client's messages that edits took out, or took
// from, on the nearest message before that can have one: up to there the provider has the
// prefix, or reads it from the next request on.
func keepMarks(shown, all []llm.Message) {
	at := map[llm.MessageID]int{} // of each message that is shown
	for i, m := range shown {
		if m.ID > 0 {
			at[m.ID] = i
		}
	}
	for n, m := range all {
		mark := anthropic.MarkOf(m)
		if mark == nil {
			continue
		}
		id := llm.MessageID(n + 1)
		if i, ok := at[id]; ok && anthropic.MarkOf(shown[i]) != nil {
			continue
		}
		for id--; id > 0; id-- {
			i, ok := at[id]
			if !ok {
				continue
			}
			if anthropic.MarkOf(shown[i]) != nil {
				break
			}
			if marked, ok := anthropic.Marked(shown[i], mark); ok {
				shown[i] = marked
				break
			}
		}
	}
}

// uncovered returns the messages of the session: the client's own, numbered, and where it
// does not see all of a reply what the session has of that.
func (b *branch) uncovered(msgs []llm.Message) []llm.Message {
	if b.ends == nil {
		return numbered(msgs)
	}
	all := b.session.Messages()
	for i, m := range msgs {
		if from, to := b.end(i), b.end(i+1); to == from+1 {
			m.ID = llm.MessageID(to)
			all[from] = m
		}
	}
	return all
}

// numbered returns msgs with the numbers that they have in a session.
func numbered(msgs []llm.Message) []llm.Message {
	out := slices.Clone(msgs)
	for i := range out {
		out[i].ID = llm.MessageID(i + 1)
	}
	return out
}

// aroundOf names the system prompt and the tools of a request, to the byte.
func aroundOf(r llm.Request) [sha256.Size]byte {
	h := sha256.New()
	write := func(texts ...string) {
		for _, t := range texts {
			h.Write(binary.AppendUvarint(nil, uint64(len(t)))) // so that each counts as a whole
			h.Write([]byte(t))
		}
	}
	for _, s := range r.Sections {
		write("section", s.Text, string(s.Data))
	}
	for _, t := range r.Tools {
		write("tool", t.Name, t.Description, t.Schema, string(t.Data))
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// judge returns by how much a request is too long as the client made it; nil if it fits. It
// asks a session that nothing is kept of, under a policy that leaves everything alone. The
// error says that the request cannot be judged.
func (x *Exchange) judge(ctx context.Context) (*budget.OverError, error) {
	if err := x.readWhole(); err != nil {
		return nil, err
	}
	off, err := policy.Preset("off")
	if err != nil {
		return nil, err
	}
	s, err := plimsoll.Open(ctx, plimsoll.Options{
		Store: &store.Memory{}, Policy: off, Targets: []budget.Target{x.target}, Catalog: x.gateway.options.Catalog, Encodings: x.gateway.options.Encodings,
	})
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.SetSections(ctx, x.request.Sections), s.SetTools(ctx, x.request.Tools)); err != nil {
		return nil, err
	}
	for _, m := range x.request.Messages {
		if err := s.Append(ctx, m); err != nil {
			return nil, err
		}
	}
	if u := s.Usage(); u.Count.Bound > u.Limit {
		return &budget.OverError{Target: u.Target, Used: u.Count.Bound, Limit: u.Limit}, nil
	}
	return nil, nil //nolint:nilnil // it fits, and nothing went wrong
}
