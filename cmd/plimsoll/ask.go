package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// askFlags are the flags of plimsoll ask.
type askFlags struct {
	model, system   string
	baseURL, config string
	maxOutput       int
	timeout         time.Duration
	stream, json    bool
	outputSet       bool // maxOutput is stated
	effort          llm.Effort
}

const (
	defaultOutput  = 4096 // tokens: what every model of the catalogue can write
	defaultTimeout = 10 * time.Minute
)

func newAsk(s streams) *cobra.Command {
	var f askFlags
	cmd := &cobra.Command{
		Use:   "ask PROMPT|-",
		Short: "Ask a model one question, to check the set-up",
		Long: `Ask a model one question and print its answer; what it cost, in tokens and time, goes
to standard error. The prompt is the argument, or standard input.

A model is named provider/model. These providers are known, and those of
plimsoll.yaml or plimsoll.toml in the working folder or in the configuration folder
of the user (docs/providers.md):
` + wrapped("  ", client.Names()) + `

A key is taken from the provider's environment variable, such as ANTHROPIC_API_KEY,
or from where that file says.

Without --model the file's model is asked; else, if there is a key of one provider
only, a small model of that one.`,
		Example: `  plimsoll ask "Say hello in Latin."
  plimsoll ask --model anthropic/claude-haiku-4-5 "Say hello in Latin."
  git diff | plimsoll ask --system "Write a commit message for this." -
  plimsoll ask --model openai-compatible/qwen3 --base-url http://127.0.0.1:8000/v1 "Hello?"`,
		Args: wantArgs(0, 1, "prompt"),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt)
			defer stop()
			context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
			f.outputSet = cmd.Flags().Changed("max-output")
			return runAsk(ctx, s, f, args)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.model, "model", "m", "", "`provider/model` to ask")
	fl.StringVar(&f.system, "system", "", "system `prompt`")
	fl.IntVar(&f.maxOutput, "max-output", defaultOutput, "`tokens` that the answer may have, reasoning included; in place of maxOutputTokens of the settings")
	fl.BoolVar(&f.stream, "stream", false, "print the answer as it comes; the default on a terminal")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	fl.StringVar(&f.baseURL, "base-url", "", "`URL` to send the request to, and the key")
	fl.DurationVar(&f.timeout, "timeout", defaultTimeout, "`time` that the call may take, all attempts included")
	fl.StringVar(&f.config, "config", "", "`file` of settings to read, in place of those in the folders")
	_ = cmd.RegisterFlagCompletionFunc("model", completeTargets)
	return cmd
}

func runAsk(ctx context.Context, s streams, f askFlags, args []string) error {
	switch {
	case f.stream && f.json:
		return usage(errors.New("ask: --stream and --json, want one of them, got both"), "")
	case f.maxOutput <= 0:
		return usage(fmt.Errorf("ask: --max-output, want a number above 0, got %d", f.maxOutput), "")
	case f.timeout <= 0:
		return usage(fmt.Errorf("ask: --timeout, want a time above 0, got %v", f.timeout), "")
	}
	t, err := f.target(os.Getenv)
	if err != nil {
		return err
	}
	if !f.outputSet && t.maxOutput > 0 {
		f.maxOutput = t.maxOutput
	}
	if err := f.think(t); err != nil {
		return err
	}
	prompt, err := readPrompt(s, args)
	if err != nil {
		return err
	}
	c, err := client.New(t.provider, client.Options{Total: f.timeout, OnRetry: func(a client.Attempt) { t.printRetry(s.err, a) }, UserAgent: "plimsoll/" + version()})
	if err != nil {
		_, wrong := errors.AsType[*client.BaseURLError](err)
		err = t.explain(err, "")
		if c, ok := errors.AsType[*codedError](err); ok && wrong && f.baseURL != "" {
			c.code = exitUsage
		}
		return err
	}
	q := asking{s: s, f: f, t: t, c: c, start: time.Now()}
	if f.json || !f.stream && !console.IsTerminal(s.out) {
		err = q.whole(ctx, f.request(t.model, prompt))
	} else {
		err = q.streamed(ctx, f.request(t.model, prompt))
	}
	if errors.Is(err, context.Canceled) && ctx.Err() != nil {
		return &codedError{exitInterrupted, errors.New("ask: interrupted"), ""}
	}
	return t.explain(err, c.BaseURL())
}

// readPrompt returns the argument, or standard input.
func readPrompt(s streams, args []string) (string, error) {
	prompt := ""
	if len(args) == 1 && args[0] != "-" {
		prompt = args[0]
	} else {
		if len(args) == 0 && console.IsTerminal(s.in) {
			return "", usage(errors.New("ask: no prompt, and standard input is a terminal"),
				`write the prompt in quotes, pipe one in, or use - to type one and end it with Ctrl-D`)
		}
		b, err := io.ReadAll(s.in)
		if err != nil {
			return "", fail(fmt.Errorf("ask: read standard input: %w", err), "")
		}
		prompt = string(b)
	}
	switch {
	case strings.TrimSpace(prompt) == "":
		return "", usage(errors.New("ask: want a prompt, got nothing"), "")
	case strings.ContainsRune(prompt, 0) || !utf8.ValidString(prompt):
		return "", usage(errors.New("ask: want a prompt of text in UTF-8, got other bytes"),
			"a model is asked in words; of a file in another encoding, iconv makes UTF-8")
	}
	return prompt, nil
}

// think has the model think as hard as the settings say, as far as it can be asked.
func (f *askFlags) think(t target) error {
	known, err := catalog.Load()
	if err != nil {
		return fail(err, "")
	}
	f.effort = known.EffortOf(t.model, t.reasoning, f.maxOutput)
	return nil
}

// request returns what is sent.
func (f askFlags) request(model, prompt string) llm.Request {
	r := llm.Request{
		Model: model, MaxOutput: f.maxOutput, Settings: llm.Settings{Effort: f.effort},
		Messages: []llm.Message{{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: prompt}}}},
	}
	if f.system != "" {
		r.Sections = []llm.Section{{Name: "system", Text: f.system}}
	}
	return r
}

// asking is one call on its way.
type asking struct {
	s     streams
	f     askFlags
	t     target
	c     *client.Client
	start time.Time
}

// whole prints an answer when it is there.
func (q *asking) whole(ctx context.Context, r llm.Request) error {
	reply, err := q.c.Complete(ctx, r)
	if err != nil {
		return err
	}
	if q.f.json {
		q.warn(reply)
		return console.PrintJSON(q.s.out, q.asked(reply))
	}
	if text := reply.Message.Text(); text != "" {
		if _, err := fmt.Fprintln(q.s.out, strings.TrimSuffix(printable(text), "\n")); err != nil {
			return err
		}
	}
	q.finish(reply)
	return nil
}

// streamed prints an answer as it comes.
func (q *asking) streamed(ctx context.Context, r llm.Request) error {
	var reply wire.Reply
	var failed error
	p := textPrinter{out: q.s.out}
	for e, err := range q.c.Stream(ctx, r) {
		if err != nil {
			failed = err
			break
		}
		reply.Add(e)
		if err := p.event(e); err != nil {
			return err
		}
	}
	if err := p.end(); err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	q.finish(reply.Response(""))
	return nil
}

// A textPrinter prints the texts of a stream and nothing else of it, each on lines of its own.
type textPrinter struct {
	out    io.Writer
	open   map[int]bool // the parts that are texts
	inLine bool         // the last line has no end yet
}

func (p *textPrinter) event(e llm.Event) error {
	switch e.Kind {
	case llm.EventPartStart:
		if _, ok := e.Part.(llm.Text); ok {
			if p.open == nil {
				p.open = map[int]bool{}
			}
			p.open[e.Index] = true
			return p.end()
		}
	case llm.EventDelta:
		if !p.open[e.Index] || e.Delta != llm.DeltaText || e.Text == "" {
			return nil
		}
		p.inLine = !strings.HasSuffix(e.Text, "\n")
		_, err := io.WriteString(p.out, printable(e.Text))
		return err
	}
	return nil
}

// end ends the last line.
func (p *textPrinter) end() error {
	if !p.inLine {
		return nil
	}
	p.inLine = false
	_, err := io.WriteString(p.out, "\n")
	return err
}

// printable is safe for a text of several lines.
func printable(text string) string {
	var b strings.Builder
	for {
		at := strings.IndexAny(text, "\n\t")
		if at < 0 {
			return b.String() + console.Safe(text)
		}
		b.WriteString(console.Safe(text[:at]) + text[at:at+1])
		text = text[at+1:]
	}
}

// asked is what plimsoll ask --json prints. The counts are tokens, in parts that have no
// token in common, but for reasoning, which is a share of output.
type asked struct {
	Provider   string  `json:"provider"`
	Model      string  `json:"model"` // as the provider names it
	ID         string  `json:"id"`
	Text       string  `json:"text"`
	Stop       string  `json:"stop"`   // end, length, refusal, ...
	Reason     string  `json:"reason"` // the provider's own word for it
	Input      int     `json:"input"`
	CacheRead  int     `json:"cache_read"`
	CacheWrite int     `json:"cache_write"`
	Output     int     `json:"output"`
	Reasoning  int     `json:"reasoning"`
	Seconds    float64 `json:"seconds"`
}

func (q *asking) asked(r llm.Response) asked {
	u := r.Usage
	a := asked{
		Provider: q.t.provider.Name, Model: r.Model, ID: r.ID, Text: r.Message.Text(), Stop: r.Stop.String(), Reason: r.Reason,
		Input: u.Input, CacheRead: u.CacheRead, CacheWrite: u.CacheWrite5m + u.CacheWrite1h, Output: u.Output, Reasoning: u.Reasoning,
		Seconds: q.seconds(),
	}
	if a.Model == "" {
		a.Model = q.t.model
	}
	return a
}

// seconds is the time since the question, in tenths.
func (q *asking) seconds() float64 {
	return float64(time.Since(q.start).Round(100*time.Millisecond)) / float64(time.Second)
}

// finish says what the answer cost, and what may be wrong with it.
func (q *asking) finish(r llm.Response) {
	q.warn(r)
	_, _ = fmt.Fprintf(q.s.err, "%s/%s: %s, %.1f s\n", console.Safe(q.t.provider.Name), console.Safe(q.t.model), usageText(r.Usage), q.seconds())
}

// warn says what may be wrong with an answer.
func (q *asking) warn(r llm.Response) {
	switch {
	case r.Stop == llm.StopLength:
		printError(q.s.err, q.cut(r.Usage.Output))
	case r.Stop == llm.StopRefusal:
		printError(q.s.err, fmt.Errorf("ask: warning: the model refused (%s)", r.Reason))
	case r.Message.Text() == "":
		printError(q.s.err, errors.New("ask: warning: the answer has no text"))
	}
}

// cut says that a limit cut an answer of so many tokens, and which; 0 if nobody said how
// many. A provider may count some tokens that are not shown, or stop a few short.
func (q *asking) cut(output int) error {
	const nearly = 9 // tenths of --max-output
	switch {
	case output <= 0:
		return fail(errors.New("ask: warning: the answer was cut at a limit"), "--max-output N lets it be longer, if the model's window has the room")
	case output*10 >= q.f.maxOutput*nearly:
		return fail(fmt.Errorf("ask: warning: the answer was cut after %s", tokens(output)), "--max-output N lets it be longer")
	}
	return fail(fmt.Errorf("ask: warning: the answer was cut after %s, before --max-output", tokens(output)),
		"the model's window is full, or the provider has a lower limit")
}

// usageText says what was reported.
func usageText(u llm.Usage) string {
	if u.IsZero() {
		return "usage not reported"
	}
	reasoning := ""
	if u.Reasoning > 0 {
		reasoning = fmt.Sprintf(" (%s reasoning)", edit.Thousands(u.Reasoning))
	}
	return fmt.Sprintf("%s in (%s cached), %s out%s", tokens(u.Prompt()), edit.Thousands(u.CacheRead), edit.Thousands(u.Output), reasoning)
}

// printRetry says that an attempt is made again.
func (t target) printRetry(w io.Writer, a client.Attempt) {
	printError(w, fmt.Errorf("ask: attempt %d failed, next in %v: %s", a.Number, a.Wait.Round(100*time.Millisecond), t.words(a.Err)))
}

// target finds out which model is asked, and where.
func (f askFlags) target(env func(string) string) (target, error) {
	s, err := loadSettings(f.config)
	if err != nil {
		return target{}, fail(err, "plimsoll config check FILE lists every fault")
	}
	name := f.model
	if name == "" {
		name = s.Model
	}
	if name == "" {
		if name, err = onlyModel(s, env); err != nil {
			return target{}, err
		}
	}
	t, err := targetNamed(s, "ask: --model", name)
	if err == nil && f.baseURL != "" {
		t.provider.BaseURL, t.provider.BaseEnv = f.baseURL, nil
	}
	return t, err
}
