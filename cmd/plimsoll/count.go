package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// counted is what plimsoll count --json prints.
type counted struct {
	File      string `json:"file,omitempty"` // of several
	Tokens    int    `json:"tokens"`
	Bytes     int    `json:"bytes"`
	Estimator string `json:"estimator"`
	Kind      string `json:"kind"` // "exact" or "estimated"
}

// countFlags are the flags of plimsoll count.
type countFlags struct {
	encoding, model string
	json            bool
}

// defaultEncoding is what count uses if no flag says otherwise.
const defaultEncoding = "o200k_base"

func newCount(s streams) *cobra.Command {
	var f countFlags
	cmd := &cobra.Command{
		Use:   "count [FILE|-]...",
		Short: "Count the tokens of a text",
		Long: `Count the tokens of files, or of standard input (-). Each is held in memory as a
whole. Of several there is a line for each, and their sum.

Counts by o200k_base (the default), cl100k_base and o200k_harmony are exact: the
same as tiktoken's; what looks like a special token is counted as the text it is.
Those by hf:FILE, the tokenizer.json of an open model, are exact too; there an added
token in the text is one token. All others are estimates and say so. A byte that is
not valid UTF-8 counts as one U+FFFD, which is what would be sent for it.

Encodings: ` + strings.Join(encodings(), ", ") + `

Estimators: ` + strings.Join(estimators(), ", ") + `, hf:FILE
(X is a model, A and B are estimators, FILE is a tokenizer.json)`,
		Example: `  plimsoll count main.go
  plimsoll count *.md
  git diff | plimsoll count
  plimsoll count --model claude-opus-4-5 notes.md
  plimsoll count --encoding cl100k_base --json main.go
  plimsoll count --encoding hf:qwen3/tokenizer.json main.go`,
		Args: cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error { return runCount(s, f, args) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.encoding, "encoding", "e", "", "`encoding` or estimator to count by")
	fl.StringVarP(&f.model, "model", "m", "", "`model` whose tokens to count, such as gpt-5 or claude-sonnet-4-5")
	fl.BoolVar(&f.json, "json", false, "print one JSON object")
	complete := slices.DeleteFunc(append(encodings(), estimators()...), func(id string) bool { return strings.ContainsAny(id, "AX") })
	_ = cmd.RegisterFlagCompletionFunc("encoding", cobra.FixedCompletions(complete, cobra.ShellCompDirectiveNoFileComp))
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	return cmd
}

func runCount(s streams, f countFlags, args []string) error {
	if f.encoding != "" && f.model != "" {
		return usage(errors.New("count: --encoding and --model, want one of them, got both"), "--model chooses the encoding that fits the model")
	}
	c, err := counterFor(f)
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return countSeveral(s, f, c, args)
	}
	out, err := countOne(s, c, args)
	if err != nil {
		return err
	}
	if f.json {
		return fail(console.PrintJSON(s.out, out), "")
	}
	_, err = fmt.Fprintf(s.out, "%s tokens (%s, %s), %s bytes\n", edit.Thousands(out.Tokens), out.Estimator, out.Kind, edit.Thousands(out.Bytes))
	return fail(err, "")
}

// countOne counts the file that args name, or standard input.
func countOne(s streams, c token.Counter, args []string) (counted, error) {
	text, err := readText(s, args)
	if err != nil {
		return counted{}, err
	}
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		printError(s.err, errors.New("count: warning: this is not plain text; each byte that is not UTF-8 counts as U+FFFD"))
	}
	kind := "estimated"
	if c.Kind() == token.Exact {
		kind = "exact"
	}
	return counted{Tokens: c.Text(text), Bytes: len(text), Estimator: c.ID(), Kind: kind}, nil
}

// countSeveral counts files one by one, and together.
func countSeveral(s streams, f countFlags, c token.Counter, args []string) error {
	t := console.Table{Width: console.Width(s.out), Columns: []console.Column{{Name: "tokens", Right: true}, {Name: "bytes", Right: true}, {Name: "file", Wrap: true}}}
	var all counted
	for _, name := range args {
		out, err := countOne(s, c, []string{name})
		if err != nil {
			return err
		}
		out.File = name
		all = counted{Tokens: all.Tokens + out.Tokens, Bytes: all.Bytes + out.Bytes, Estimator: out.Estimator, Kind: out.Kind}
		if f.json {
			if err := console.PrintJSON(s.out, out); err != nil {
				return fail(err, "")
			}
		}
		t.Rows = append(t.Rows, console.Plain(edit.Thousands(out.Tokens), edit.Thousands(out.Bytes), console.Safe(name)))
	}
	if f.json {
		return nil
	}
	t.Rows = append(t.Rows, console.Plain(edit.Thousands(all.Tokens), edit.Thousands(all.Bytes), fmt.Sprintf("together (%s, %s)", all.Estimator, all.Kind)))
	return fail(console.Print(s.out, t.String()), "")
}

// counterFor returns the counter that the flags ask for.
func counterFor(f countFlags) (token.Counter, error) {
	id := f.encoding
	switch {
	case f.model != "":
		var err error
		if id, err = estimatorOf(f.model); err != nil {
			return nil, err
		}
	case id == "":
		id = "tiktoken:" + defaultEncoding
	case isEncoding(id):
		id = "tiktoken:" + id
	}
	c, err := tokenizers.Counter(id)
	if err == nil {
		return c, nil
	}
	hint := "plimsoll count --help lists the encodings and estimators"
	if unknown, ok := errors.AsType[*token.UnknownError](err); ok {
		near := policy.Nearest(f.encoding, encodings())
		if near = cmp.Or(near, unknown.Nearest); near != "" {
			hint = "did you mean " + near + "?"
		}
		return nil, usage(fmt.Errorf("count: --encoding %q is not known", f.encoding), hint)
	}
	hint = ""
	if _, ok := errors.AsType[*tokenizers.UnsupportedError](err); ok {
		hint = "hf: reads the tokenizer.json of byte-level BPE models, such as Llama 3, Qwen, DeepSeek and gpt-oss"
	}
	return nil, fail(fmt.Errorf("count: %w", err), hint)
}

func encodings() []string { return []string{defaultEncoding, "cl100k_base", "o200k_harmony"} }

// estimators are those that need no file.
func estimators() []string {
	return slices.DeleteFunc(token.EstimatorIDs(), func(id string) bool { return strings.HasSuffix(id, ":FILE") })
}

// isEncoding reports whether a name looks like an encoding's, so that a new one
// needs no change here.
func isEncoding(name string) bool {
	return !strings.ContainsAny(name, ":(") && (strings.HasSuffix(name, "_base") || strings.HasSuffix(name, "_harmony"))
}

// estimatorOf returns the counter's id for a model: that of the settings for
// provider/model, else the catalogue's, else that of the family that the beginning of its
// name says.
func estimatorOf(model string) (string, error) {
	s, err := loadSettings("")
	if err != nil {
		return "", fail(err, settingsPage)
	}
	if provider, name, ok := client.Split(model); ok {
		if id := s.Limits(config.Query{Provider: provider, Model: name}).Tokenizer; id.Set() {
			return id.Value, nil
		}
	}
	cat, err := loadCatalog("")
	if err != nil {
		return "", err
	}
	if m, ok := cat.Lookup(model); ok {
		return m.Estimator, nil
	}
	if encoding, ok := cat.EncodingFor(model); ok {
		return "tiktoken:" + encoding, nil
	}
	switch family := cat.FamilyOf(model).Name; {
	case strings.HasPrefix(family, "claude"):
		return "claude:" + model, nil
	case family == "gemini":
		return family, nil
	}
	return "", unknownModel("count", model, cat)
}

// readText returns the whole of the file that args name, or of standard input.
func readText(s streams, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		info, err := os.Stat(args[0])
		if err == nil && info.IsDir() {
			return "", fail(fmt.Errorf("count: %s is a folder, want a file", args[0]), "name its files: plimsoll count FILE...")
		}
		b, err := os.ReadFile(args[0])
		if err != nil {
			return "", fail(fmt.Errorf("count: %w", err), "")
		}
		return string(b), nil
	}
	if len(args) == 0 && console.IsTerminal(s.in) {
		return "", usage(errors.New("count: no file, and standard input is a terminal"),
			"name a file, pipe a text in, or use - to type one and end it with Ctrl-D")
	}
	b, err := io.ReadAll(s.in)
	if err != nil {
		return "", fail(fmt.Errorf("count: read standard input: %w", err), "")
	}
	return string(b), nil
}
