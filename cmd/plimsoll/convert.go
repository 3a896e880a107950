package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
)

// convertFlags are the flags of plimsoll convert.
type convertFlags struct {
	from, to     string
	model        string
	strict, json bool
}

// converted is what plimsoll convert --json prints.
type converted struct {
	From   llm.Dialect `json:"from"`
	To     llm.Dialect `json:"to"`
	Kind   string      `json:"kind"` // "request", "response" or "stream"
	Bytes  int         `json:"bytes"`
	Body   string      `json:"body"`
	Losses []lossLine  `json:"losses"`
}

type lossLine struct {
	Fate    string `json:"fate"` // "drop" or "note"
	What    string `json:"what"`
	Name    string `json:"name,omitempty"`
	How     string `json:"how,omitempty"` // what became of it, where fate alone does not say it
	Message int    `json:"message"`       // -1: in no message
	Part    int    `json:"part"`          // -1: in no part
}

func newConvert(s streams) *cobra.Command {
	var f convertFlags
	cmd := &cobra.Command{
		Use:   "convert --to DIALECT [FILE|-]",
		Short: "Rewrite a request, response or stream in another provider's format",
		Long: `Rewrite the body of a request, of a response or of a streamed response in another
provider's format. What the other format cannot carry is left out or sent in its
nearest form, and each such loss is a line on standard error: thinking and its
signatures, tools that a provider runs itself, members that only one format has. So
is what the other provider or the model is known to refuse, such as a temperature.

A body that is of the format already comes out byte for byte.

Dialects: ` + strings.Join(dialects(), ", "),
		Example: `  plimsoll convert --to openai-responses request.json
  plimsoll convert --from anthropic --to gemini --strict request.json > out.json`,
		Args: wantArgs(0, 1, "file"),
		RunE: func(_ *cobra.Command, args []string) error { return runConvert(s, f, args) },
	}
	fl := cmd.Flags()
	fl.StringVar(&f.from, "from", "", "`dialect` of the file; told by its content if left out")
	fl.StringVar(&f.to, "to", "", "`dialect` to write")
	fl.StringVarP(&f.model, "model", "m", "", "`model` that the request is for; its own if left out")
	fl.BoolVar(&f.strict, "strict", false, "fail, and write nothing, if anything would be lost")
	fl.BoolVar(&f.json, "json", false, "print one JSON object with the body and the losses")
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	for _, flag := range []string{"from", "to"} {
		_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(dialects(), cobra.ShellCompDirectiveNoFileComp))
	}
	return cmd
}

func dialects() []string {
	var out []string
	for _, c := range codecs.All() {
		out = append(out, string(c.Dialect()))
	}
	return out
}

func runConvert(s streams, f convertFlags, args []string) error {
	if f.to == "" {
		return usage(errors.New("convert: no --to"), "name one of "+strings.Join(dialects(), ", "))
	}
	to, err := dialectFlag("convert", "to", f.to)
	if err != nil {
		return err
	}
	text, err := readBody(s, args)
	if err != nil {
		return err
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")) // some editors write a mark in front, no provider takes it
	from, kind, err := sourceOf(f, text)
	if err != nil {
		return err
	}
	body, losses, err := f.rewrite(text, kind, from, to)
	if err != nil {
		return fail(fmt.Errorf("convert: %w", err), f.readHint(from, err))
	}
	if f.strict && len(losses) > 0 {
		return fail(lossError(losses), "leave --strict out to convert all the same")
	}
	if f.json {
		return fail(console.PrintJSON(s.out, converted{From: from.Dialect(), To: to.Dialect(), Kind: kind.String()}.with(body, losses)), "")
	}
	for _, l := range losses {
		printError(s.err, fmt.Errorf("convert: %s", l))
	}
	if !bytes.HasSuffix(body, []byte("\n")) {
		body = append(body[:len(body):len(body)], '\n')
	}
	_, err = s.out.Write(body)
	return fail(err, "")
}

var errNoModel = errors.New("the request names no model")

// readHint says what can be done about a body that its codec cannot read.
func (f convertFlags) readHint(from codecs.Full, err error) string {
	_, refused := errors.AsType[*wire.Error](err)
	switch {
	case errors.Is(err, errNoModel):
		return "--model names the model that it is for, such as --model gpt-5"
	case refused:
		return "the stream ends with the provider's error; there is no reply to convert"
	case errors.Is(err, wire.ErrCut):
		return "the stream was cut: its end is missing"
	case f.from != "":
		return "leave --from out to have the dialect told by the content"
	}
	return fmt.Sprintf("it was taken for %s by its content; --from names another dialect", from.Dialect())
}

func lossError(losses []convert.Loss) error {
	lines := make([]string, len(losses))
	for i, l := range losses {
		lines[i] = "convert: " + l.String()
	}
	return errors.New(strings.Join(lines, "\n"))
}

// with returns out with its body and losses.
func (out converted) with(body []byte, losses []convert.Loss) converted {
	out.Bytes, out.Body, out.Losses = len(body), string(body), []lossLine{}
	for _, l := range losses {
		out.Losses = append(out.Losses, lossLine{l.Fate.String(), l.What, l.Name, l.How, l.Message, l.Part})
	}
	return out
}

// dialectFlag returns the codec that a flag names.
func dialectFlag(command, flag, name string) (codecs.Full, error) {
	if c, ok := codecs.For(llm.Dialect(name)); ok {
		return c, nil
	}
	hint := "dialects: " + strings.Join(dialects(), ", ")
	if near := policy.Nearest(name, dialects()); near != "" {
		hint = "did you mean " + near + "?"
	}
	return nil, usage(fmt.Errorf("%s: --%s %q is not known", command, flag, name), hint)
}

// sourceOf returns the codec of text and what text is.
func sourceOf(f convertFlags, text []byte) (codecs.Full, codecs.Kind, error) {
	seen, kind, err := codecs.Detect(text)
	if f.from == "" {
		if err != nil {
			return nil, 0, fail(fmt.Errorf("convert: %w", err), "--from says which dialect the file is of")
		}
		c, _ := codecs.For(seen)
		return c, kind, nil
	}
	c, flagErr := dialectFlag("convert", "from", f.from)
	if flagErr != nil {
		return nil, 0, flagErr
	}
	if err != nil {
		kind = codecs.KindRequest // its decoder says what is wrong with it
	}
	return c, kind, nil
}

// rewrite returns text in the dialect of to.
func (f convertFlags) rewrite(text []byte, kind codecs.Kind, from, to codecs.Full) ([]byte, []convert.Loss, error) {
	cat, err := catalog.Load()
	if err != nil {
		return nil, nil, err
	}
	d, ok := cat.Dialect(to.Dialect())
	if !ok {
		return nil, nil, fmt.Errorf("dialect, want one of the catalogue, got %q", to.Dialect())
	}
	switch kind {
	case codecs.KindStream:
		return rewriteStream(text, from, to, d)
	case codecs.KindResponse:
		r, err := from.DecodeResponse(text)
		if err != nil {
			return nil, nil, err
		}
		fit := convert.Response(r, d)
		body, err := to.EncodeResponse(fit.Response)
		return body, fit.Losses, err
	}
	r, err := from.DecodeRequest(text)
	if err != nil {
		return nil, nil, err
	}
	if f.model != "" {
		r.Model = f.model
	}
	refused, err := refusedOf(cat, to.Dialect(), r.Model)
	if err != nil {
		return nil, nil, err
	}
	fit := convert.Request(r, d, convert.Options{Refused: refused})
	if fit.Request.Model == "" && to.Dialect() != gemini.Dialect && to.Dialect() != from.Dialect() {
		return nil, nil, errNoModel
	}
	body, err := to.EncodeRequest(fit.Request)
	return body, fit.Losses, err
}

// refusedOf returns what is refused of requests to a model, which the catalogue need not
// know.
func refusedOf(cat catalog.Catalog, d llm.Dialect, name string) (catalog.Refused, error) {
	all, err := catalog.LoadRefusals()
	m, ok := cat.Lookup(name)
	if !ok {
		m = catalog.Model{ID: name}
	}
	return all.Of(d, m), err
}

// rewriteStream returns a stream event by event.
func rewriteStream(text []byte, from, to codecs.Full, d catalog.Dialect) ([]byte, []convert.Loss, error) {
	if from.Dialect() == to.Dialect() {
		return text, nil, nil
	}
	return convert.Stream(text, from.NewDecoder(), to.NewEncoder(), d)
}

// readBody returns the whole of the file that args name, or of standard input.
func readBody(s streams, args []string) ([]byte, error) {
	if len(args) == 1 && args[0] != "-" {
		b, err := os.ReadFile(args[0])
		if err != nil {
			return nil, fail(fmt.Errorf("convert: %w", err), "")
		}
		return b, nil
	}
	if len(args) == 0 && console.IsTerminal(s.in) {
		return nil, usage(errors.New("convert: no file, and standard input is a terminal"), "name a file, or pipe a body in")
	}
	b, err := io.ReadAll(s.in)
	if err != nil {
		return nil, fail(fmt.Errorf("convert: read standard input: %w", err), "")
	}
	return b, nil
}
