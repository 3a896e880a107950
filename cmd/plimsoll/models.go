package main

import (
	"fmt"
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/spf13/cobra"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

type modelsFlags struct {
	provider, config string
	json             bool
}

func newModels(s streams) *cobra.Command {
	var f modelsFlags
	cmd := &cobra.Command{
		Use: "models [NAME]", Short: "List what is known about models, or show one in full",
		Long: `List what is known about models: their windows, prices, tokenizers and caches. With
a name, show that model in full, with where its figures come from. A name may have
the decorations that clouds and gateways add; a part of one lists the models that have it.

Prices are in dollars for a million tokens: what the maker asks for short prompts at
its own API. ? is not known, and a cost that would need it is not known either.
The section models of plimsoll.yaml changes them and adds models; docs/models.md
describes it.`,
		Example: `  plimsoll models --provider anthropic
  plimsoll models opus
  plimsoll models us.anthropic.claude-sonnet-4-5-20250929-v1:0
  plimsoll models gpt-5.4 --json`,
		Args: wantArgs(0, 1, "model"), ValidArgsFunction: completeModelArg,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := loadCatalog(f.config)
			if err != nil {
				return err
			}
			if len(args) == 1 {
				return f.one(s, c, args[0])
			}
			return f.list(s, c)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.provider, "provider", "p", "", "list the models of one `maker`, such as anthropic")
	fl.StringVar(&f.config, "config", "", "`file` of settings to read instead of those that are found")
	fl.BoolVar(&f.json, "json", false, "print one JSON object a line")
	_ = cmd.RegisterFlagCompletionFunc("provider", completeMakers)
	return cmd
}

// list prints all models, or those of one maker.
func (f modelsFlags) list(s streams, c catalog.Catalog) error {
	models := c.Models()
	if f.provider != "" {
		name := strings.ToLower(f.provider)
		models = slices.DeleteFunc(models, func(m catalog.Model) bool { return m.Provider != name })
		if len(models) == 0 {
			return unknownMaker(f.provider, c)
		}
	}
	return f.print(s, c, models)
}

// modelsLike returns the models that a part of their names names, such as opus.
func modelsLike(name string, c catalog.Catalog) []catalog.Model {
	name = strings.ToLower(name)
	return slices.DeleteFunc(c.Models(), func(m catalog.Model) bool {
		return len(name) < leastLike || !strings.Contains(strings.ToLower(m.ID), name)
	})
}

// leastLike is how many characters name several models.
const leastLike = 3

func (f modelsFlags) print(s streams, c catalog.Catalog, models []catalog.Model) error {
	if f.json {
		for _, m := range models {
			if err := console.PrintJSON(s.out, newModelFacts(m, c)); err != nil {
				return fail(err, "")
			}
		}
		return nil
	}
	text := modelTable(models, console.Width(s.out)).String()
	if err := console.Print(s.out, text); err != nil {
		return fail(err, "")
	}
	words := console.Glossary{Words: []console.Word{
		{Name: "in, out", Means: "dollars for a million tokens of a prompt, and of a reply"},
		{Name: "read, write", Means: "the same of tokens read from the provider's cache, and written to it for five minutes"},
	}}
	words.Note(text)
	return fail(words.Print(s.out), "")
}

func unknownMaker(name string, c catalog.Catalog) error {
	names := makers(c)
	hint := "makers: " + strings.Join(names, ", ")
	if near := policy.Nearest(strings.ToLower(name), names); near != "" {
		hint = "did you mean " + near + "?"
	}
	return usage(fmt.Errorf("models: --provider %q has no models here", name), hint)
}

// makers returns the makers of models by name, those of the settings included.
func makers(c catalog.Catalog) []string {
	var names []string
	for _, m := range c.Models() {
		if m.Provider != "" {
			names = append(names, m.Provider)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func modelTable(models []catalog.Model, width int) console.Table {
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "model"},
		{Name: "window", Right: true},
		{Name: "output", Right: true, Spare: 3},
		{Name: "in", Right: true},
		{Name: "out", Right: true},
		{Name: "read", Right: true, Spare: 4},
		{Name: "write", Right: true, Spare: 5},
		{Name: "tokenizer", Spare: 2},
		{Name: "cache", Spare: 1},
	}}
	for _, m := range models {
		p, _ := m.PricesAt(0)
		t.Rows = append(t.Rows, console.Plain(console.Safe(m.ID), size(m.Window), size(m.MaxOutput), p.Input.String(), p.Output.String(),
			p.CacheRead.String(), p.CacheWrite5m.String(), console.Safe(shortTokenizer(m.Estimator)), console.Safe(m.Cache)))
	}
	return t
}

// shortTokenizer leaves out of an estimator's id what stands in the line anyway.
func shortTokenizer(id string) string {
	if encoding, ok := strings.CutPrefix(id, "tiktoken:"); ok {
		return encoding
	}
	name, _, _ := strings.Cut(id, ":")
	return name
}

// one shows one model in full.
func (f modelsFlags) one(s streams, c catalog.Catalog, name string) error {
	if f.provider != "" {
		return usage(fmt.Errorf("models: a name and --provider, want one of them, got both"), "")
	}
	m, ok := c.Lookup(name)
	if !ok {
		if like := modelsLike(name, c); len(like) > 0 {
			return f.print(s, c, like)
		}
		return usage(fmt.Errorf("models: %q is not known", name), nearModels(name, c))
	}
	facts := newModelFacts(m, c)
	if f.json {
		return fail(console.PrintJSON(s.out, facts), "")
	}
	_, err := lipgloss.Fprint(s.out, modelText(m, facts, console.Width(s.out)))
	return fail(err, "")
}

// mostNear is how many models a hint names.
const mostNear = 5

// nearModels is a hint for a name that nothing is known of: the nearest name, else
// names that begin as it does.
func nearModels(name string, c catalog.Catalog) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	if near := nearestModel(name, c); near != "" {
		return "did you mean " + near + "?"
	}
	ids := modelIDs(c)
	for n := len(name); n >= 3; n-- {
		like := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, name[:n]) })
		if len(like) > 0 {
			return "known: " + strings.Join(console.AtMost(like, mostNear), ", ")
		}
	}
	return "plimsoll models lists what is known; a model of one's own is described in plimsoll.yaml, under models"
}

func completeModelArg(cmd *cobra.Command, args []string, word string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return completeModels(cmd, args, word)
}

func completeMakers(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	c, err := loadCatalog("")
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return makers(c), cobra.ShellCompDirectiveNoFileComp
}
