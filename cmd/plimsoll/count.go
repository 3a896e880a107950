package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// counted is what plimsoll count --json prints.
type counted struct {
	Tokens    int    `json:"tokens"`
	Bytes     int    `json:"bytes"`
	Estimator string `json:"estimator"`
	Kind      string `json:"kind"` // "exact" or "estimated"
}

func newCount(s streams) *cobra.Command {
	var encoding, model string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "count [FILE|-]",
		Short: "Count the tokens of a text",
		Long: `Count the tokens of a file, or of standard input.

Without a flag the encoding is o200k_base. Counts by o200k_base, cl100k_base and
o200k_harmony are exact; every other estimator says that it is one.`,
		Example: `  plimsoll count main.go
  git diff | plimsoll count
  plimsoll count --model claude-opus-4-5 notes.md
  plimsoll count --encoding cl100k_base --json main.go`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := counterFor(encoding, model)
			if err != nil {
				return err
			}
			text, err := readText(s, args)
			if err != nil {
				return err
			}
			kind := "estimated"
			if c.Kind() == token.Exact {
				kind = "exact"
			}
			return printCount(s.out, counted{c.Text(text), len(text), c.ID(), kind}, asJSON)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&encoding, "encoding", "e", "", "encoding or estimator, such as o200k_base, cl100k_base, claude:opus, gemini, approximate")
	f.StringVarP(&model, "model", "m", "", "model whose tokens to count, such as gpt-5 or claude-sonnet-4-5")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	cmd.MarkFlagsMutuallyExclusive("encoding", "model")
	_ = cmd.RegisterFlagCompletionFunc("encoding", func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return append([]string{"o200k_base", "cl100k_base", "o200k_harmony"}, token.EstimatorIDs()...), cobra.ShellCompDirectiveNoFileComp
	})
	_ = cmd.RegisterFlagCompletionFunc("model", completeModels)
	return cmd
}

// counterFor returns the counter that the flags ask for.
func counterFor(encoding, model string) (token.Counter, error) {
	id := encoding
	switch {
	case model != "":
		cat, err := catalog.Load()
		if err != nil {
			return nil, fail(err, "")
		}
		if m, ok := cat.Lookup(model); ok {
			id = m.Estimator
		} else {
			return nil, usage(fmt.Errorf("count: model %q is not known", model),
				"name an encoding with --encoding, or try --encoding claude:MODEL, gemini or approximate")
		}
	case encoding == "":
		id = "tiktoken:o200k_base"
	case isEncoding(encoding):
		id = "tiktoken:" + encoding
	}
	c, err := token.NewCounter(id, bpe.Load)
	var unknown *token.UnknownError
	if errors.As(err, &unknown) {
		return nil, usage(err, "plimsoll count --help names the common ones")
	}
	return c, fail(err, "")
}

func isEncoding(name string) bool {
	return strings.HasSuffix(name, "_base") || strings.HasSuffix(name, "_harmony")
}

// readText returns the whole of the file that args name, or of standard input.
func readText(s streams, args []string) (string, error) {
	if len(args) == 1 && args[0] != "-" {
		b, err := os.ReadFile(args[0])
		if err != nil {
			return "", fail(fmt.Errorf("count: %w", err), "")
		}
		return string(b), nil
	}
	if f, ok := s.in.(*os.File); ok && len(args) == 0 && term.IsTerminal(int(f.Fd())) {
		return "", usage(errors.New("count: no file, and standard input is a terminal"),
			"name a file, pipe a text in, or use - to type one and end it with Ctrl-D")
	}
	b, err := io.ReadAll(s.in)
	if err != nil {
		return "", fail(fmt.Errorf("count: read standard input: %w", err), "")
	}
	return string(b), nil
}

func printCount(w io.Writer, c counted, asJSON bool) error {
	if asJSON {
		return fail(json.NewEncoder(w).Encode(c), "")
	}
	_, err := fmt.Fprintf(w, "%s tokens (%s, %s), %s bytes\n", edit.Thousands(c.Tokens), c.Estimator, c.Kind, edit.Thousands(c.Bytes))
	return fail(err, "")
}

// completeModels offers the catalogue's models.
func completeModels(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	cat, err := catalog.Load()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var ids []string
	for _, m := range cat.Models() {
		ids = append(ids, m.ID)
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}
