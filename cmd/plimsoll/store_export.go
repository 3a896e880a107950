package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
)

// exportFlags are the flags of plimsoll store export.
type exportFlags struct {
	to, model     string
	view, records bool
}

func newStoreExport(s streams) *cobra.Command {
	var e exportFlags
	cmd := &cobra.Command{
		Use: "export SESSION", Short: "Print a session in a form that other programs read",
		Long: `Print a session as the body of a request, as its provider takes it: the whole
conversation as it was said, with the system prompt and the tools of its end, or with
--view what the model would be shown now. plimsoll inspect reads that, and so do
programs that go on with a conversation. With --records print what the store has, a
record a line, which loses nothing. SESSION may be in use: nothing is changed.

Dialects: ` + strings.Join(dialects(), ", "),
		Example: "  plimsoll store export fix-the-build > request.json\n  plimsoll store export fix-the-build --view --to openai-chat",
		Args:    wantArgs(1, 1, "session"),
	}
	fl := cmd.Flags()
	fl.StringVar(&e.to, "to", "", "`dialect` to write; default that of the conversation, else anthropic")
	fl.StringVarP(&e.model, "model", "m", "", "`model` that the request is for; default that of the last request")
	fl.BoolVar(&e.view, "view", false, "what the model would be shown, with what was taken out of it as it stands there")
	fl.BoolVar(&e.records, "records", false, "the records of the store, a line each")
	cmd.MarkFlagsMutuallyExclusive("view", "records")
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	_ = cmd.RegisterFlagCompletionFunc("to", cobra.FixedCompletions(dialects(), cobra.ShellCompDirectiveNoFileComp))
	return storeCommand(cmd, "", func(ctx context.Context, st *sqlite.Store, f storeFlags) error {
		if e.records {
			return exportRecords(ctx, s, st, f)
		}
		return e.export(ctx, s, st, f)
	})
}

func exportRecords(ctx context.Context, s streams, st *sqlite.Store, f storeFlags) error {
	one, err := findSession(ctx, st, f)
	if err != nil {
		return err
	}
	for line, err := range st.Records(ctx, one.Name, 0) {
		if err != nil {
			return err
		}
		if _, err := s.out.Write(append(slices.Clip(line), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// export prints a session as a request.
func (e exportFlags) export(ctx context.Context, s streams, st *sqlite.Store, f storeFlags) error {
	t, err := takeUp(ctx, st, f, nil)
	if err != nil {
		return err
	}
	r := e.request(t)
	to, err := dialectFlag(f.command, "to", e.to)
	if e.to == "" {
		to, err = dialectOf(t.snap.Messages), nil
	}
	if err != nil {
		return err
	}
	cat, err := catalog.Load()
	if err != nil {
		return err
	}
	d, _ := cat.Dialect(to.Dialect())
	refused, err := refusedOf(cat, to.Dialect(), r.Model)
	if err != nil {
		return err
	}
	fit := convert.Request(r, d, convert.Options{Refused: refused})
	body, err := to.EncodeRequest(fit.Request)
	if err != nil {
		return err
	}
	for _, l := range fit.Losses {
		printError(s.err, fmt.Errorf("%s: %s", f.command, l))
	}
	_, err = fmt.Fprintf(s.out, "%s\n", body)
	return err
}

// request returns what a session would send, or would if nothing had been taken out of it.
func (e exportFlags) request(t taken) llm.Request {
	r := llm.Request{Model: e.model, Messages: t.snap.Messages, Sections: t.snap.Base.Sections, Tools: t.snap.Base.Tools}
	offer := t.snap.Base.Offer
	for _, rec := range t.snap.Tail {
		switch rec.Kind {
		case journal.KindSections:
			r.Sections = rec.Sections
		case journal.KindTools:
			r.Tools, offer = rec.Tools, nil
		case journal.KindOffer:
			offer = rec.Offer
		}
	}
	if s := t.snap.State; s != nil && r.Model == "" {
		_, r.Model, _ = strings.Cut(s.Sent.Target, "/")
	}
	if e.view {
		r.Tools = offered(r.Tools, offer)
		r.Sections = slices.Concat(r.Sections, t.view.Sections)
		r.Messages = make([]llm.Message, len(t.view.Items))
		for i, it := range t.view.Items {
			r.Messages[i] = it.Message
		}
	}
	return r
}

// offered returns the tools that a model is shown of a list, by their places; nil: all but the
// one that finds what is left out.
func offered(tools []llm.Tool, places []int) []llm.Tool {
	if places == nil {
		return slices.DeleteFunc(slices.Clone(tools), func(t llm.Tool) bool { return t.Builtin && policy.BuiltinOf(t.Name) == policy.ToolSearch })
	}
	out := make([]llm.Tool, 0, len(places))
	for _, at := range places {
		if at >= 0 && at < len(tools) {
			out = append(out, tools[at])
		}
	}
	return out
}

// dialectOf returns the codec of the newest message that came from a provider or a client.
func dialectOf(msgs []llm.Message) codecs.Full {
	for _, m := range slices.Backward(msgs) {
		if c, ok := codecs.For(m.Dialect); ok {
			return c
		}
	}
	return anthropic.Codec{}
}
