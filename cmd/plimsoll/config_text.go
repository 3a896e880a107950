package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/config"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// notesOn says what a person should know about resolved settings.
func notesOn(q config.Query, r config.Resolved) []string {
	notes := []string{}
	if r.Assumed {
		notes = append(notes, fmt.Sprintf("the window of %s is not known: %s assumed", cmp.Or(q.Model, "a model that is not named"), tokens(r.Capacity.Value)))
	}
	if r.Input.Value > 0 {
		notes = append(notes, fmt.Sprintf("%s takes prompts of at most %s", q.Model, tokens(r.Input.Value)))
	}
	if r.MostOutput > 0 && r.Output.Value > r.MostOutput {
		what := "maxOutputTokens"
		if r.Output.Source == "window/4" {
			what = "a quarter of the window is kept for the reply; state maxOutputTokens, and the prompt has more"
		}
		notes = append(notes, fmt.Sprintf("%s: %s writes at most %s", what, q.Model, tokens(r.MostOutput)))
	}
	for _, f := range []struct {
		name   string
		stated bool
		acts   bool
	}{
		{"toolResponseMaxBytes", r.ToolResponseMaxBytes.Source != "", r.ToolResponseBytesActs},
		{"contextBudgetTokens", r.ContextBudgetTokens.Source != "", r.ContextBudgetTokens.Acts},
		{"maxMessageBytes", r.MaxMessageBytes.Source != "", r.MaxMessageBytes.Acts},
		{"maxLineLength", r.MaxLineLength.Source != "", r.MaxLineLength.Acts},
	} {
		if f.stated && !f.acts {
			notes = append(notes, fmt.Sprintf("%s: %s has no rule that it changes", f.name, q.Policy.Name))
		}
	}
	if word := string(r.Reasoning.Value); word != "" && q.Catalog.EffortOf(q.Model, word, r.Output.Value) == (llm.Effort{}) {
		notes = append(notes, "reasoning: "+cmp.Or(q.Model, "a model that is not named")+" is asked nothing: nobody knows how it is asked, or the reply has too little room")
	}
	return notes
}

// shownConfig is what plimsoll config show --json prints. Tokens and bytes are integers.
type shownConfig struct {
	Provider string        `json:"provider"` // empty: any
	Model    string        `json:"model"`
	Policy   string        `json:"policy"`
	Settings shownSettings `json:"settings"`
	Limit    int           `json:"limit"` // contextWindow - contextWindowBufferTokens - maxOutputTokens
	Way      *shownWay     `json:"connection"`
	Notes    []string      `json:"notes"`
	Files    []shownFile   `json:"files"`
}

type shownSettings struct {
	ContextWindow             shown[int]      `json:"contextWindow"`
	ContextWindowBufferTokens shown[int]      `json:"contextWindowBufferTokens"`
	MaxOutputTokens           shown[int]      `json:"maxOutputTokens"`
	Tokenizer                 shown[string]   `json:"tokenizer"`
	ToolResponseMaxBytes      shown[int]      `json:"toolResponseMaxBytes"` // 0: none
	OutputCache               shown[bool]     `json:"toolOutputCache"`      // without a source: not stated, and on
	ContextBudgetTokens       shown[int]      `json:"contextBudgetTokens"`  // 0: none, as of the next two
	MaxMessageBytes           shown[int]      `json:"maxMessageBytes"`
	MaxLineLength             shown[int]      `json:"maxLineLength"`
	Reasoning                 shown[string]   `json:"reasoning"` // empty: not stated
	Tools                     []shownToolRule `json:"tools"`     // a tool must get through all
}

// shown is a value and where it came from.
type shown[T any] struct {
	Value  T      `json:"value"`
	Source string `json:"source"` // empty: nobody states it
}

type shownToolRule struct {
	Allowed shown[[]string] `json:"allowed"` // empty: all
	Denied  shown[[]string] `json:"denied"`
}

// shownWay is how a provider is reached. A key is never shown.
type shownWay struct {
	Kind    string `json:"kind"`
	BaseURL string `json:"base_url"` // without its query; empty: none
	Key     string `json:"key"`      // where it comes from; of several variables that could have it all, if none is set
	KeySet  *bool  `json:"key_set"`  // whether that variable is set; null: it is no variable
	NoKey   bool   `json:"key_optional"`
}

type shownFile struct {
	File string `json:"file"`
	Read bool   `json:"read"`
}

func newShownConfig(q config.Query, s config.Settings, r config.Resolved) shownConfig {
	out := shownConfig{
		Provider: q.Provider, Model: q.Model, Policy: q.Policy.Name, Limit: r.Limit(), Notes: notesOn(q, r),
		Settings: shownSettings{
			ContextWindow:             shown[int](r.Capacity),
			ContextWindowBufferTokens: shown[int](r.Buffer),
			MaxOutputTokens:           shown[int](r.Output),
			Tokenizer:                 shown[string](r.Tokenizer),
			ToolResponseMaxBytes:      shown[int](r.ToolResponseMaxBytes),
			OutputCache:               shown[bool](r.OutputCache),
			ContextBudgetTokens:       shown[int](r.ContextBudgetTokens.Sourced),
			MaxMessageBytes:           shown[int](r.MaxMessageBytes.Sourced),
			MaxLineLength:             shown[int](r.MaxLineLength.Sourced),
			Reasoning:                 shown[string]{string(r.Reasoning.Value), r.Reasoning.Source},
			Tools:                     []shownToolRule{},
		},
	}
	for _, l := range r.Tools {
		out.Settings.Tools = append(out.Settings.Tools, shownToolRule{shownList(l.Allowed), shownList(l.Denied)})
	}
	if p, ok := providerNamed(s, q.Provider); ok {
		out.Way = newShownWay(p, s)
	}
	return out
}

func shownList(l config.Stated[[]string]) shown[[]string] {
	return shown[[]string]{append([]string{}, l.Value...), l.From.String()}
}

// newShownWay says how a provider is reached. A variable that is set stands for its value,
// which may be a secret.
func newShownWay(p client.Provider, s config.Settings) *shownWay {
	way := shownWay{Kind: p.Name, BaseURL: p.BaseURL}
	if set, ok := s.Provider(p.Name); ok {
		way.Kind = set.Kind
	}
	if i := slices.IndexFunc(p.BaseEnv, isSet); i >= 0 {
		way.BaseURL = "$" + p.BaseEnv[i]
	}
	way.BaseURL, _, _ = strings.Cut(way.BaseURL, "?")
	way.NoKey = p.KeyOptional
	var names []string
	for _, c := range p.Credentials {
		if len(c.Command) > 0 { // its arguments are the user's business
			way.Key, way.KeySet = "printed by "+filepath.Base(c.Command[0]), nil
			return &way
		}
		if isSet(c.Env) {
			way.Key, way.KeySet = c.Env, new(true)
			return &way
		}
		names = append(names, c.Env)
	}
	if len(names) > 0 {
		way.Key, way.KeySet = strings.Join(names, " or "), new(false)
	}
	return &way
}

// text is a line about how a provider is reached.
func (w *shownWay) text() string {
	address := cmp.Or(w.BaseURL, "no address")
	switch {
	case w.Key == "":
		return fmt.Sprintf("%s at %s", w.Kind, address)
	case w.KeySet == nil:
		return fmt.Sprintf("%s at %s, key %s", w.Kind, address, w.Key)
	case *w.KeySet:
		return fmt.Sprintf("%s at %s, key from %s", w.Kind, address, w.Key)
	case w.NoKey:
		return fmt.Sprintf("%s at %s, without a key: none is needed, and %s is not set", w.Kind, address, w.Key)
	case strings.Contains(w.Key, " or "):
		return fmt.Sprintf("%s at %s, key from %s, of which none is set", w.Kind, address, w.Key)
	}
	return fmt.Sprintf("%s at %s, key from %s, which is not set", w.Kind, address, w.Key)
}

// print writes what a person is shown.
func (c shownConfig) print(w io.Writer) error {
	head := console.NewStyles().Head
	title := "any model"
	switch {
	case c.Model != "":
		title = strings.TrimPrefix(c.Provider+"/"+c.Model, "/")
	case c.Provider != "":
		title = "any model of " + c.Provider
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s under %s\n\n", console.Paint(head, console.Safe(title)), console.Paint(head, console.Safe(c.Policy)))
	b.WriteString(c.table(console.Width(w)).String())
	v := c.Settings
	line := func(text string) {
		if console.ScreenWidth(w) > 0 {
			text = strings.Join(console.Wrap(text, console.Width(w)), "\n")
		}
		b.WriteString(text + "\n")
	}
	b.WriteByte('\n')
	line(fmt.Sprintf("capacity %s − buffer %s − output reserve %s = limit %s", edit.Thousands(v.ContextWindow.Value),
		edit.Thousands(v.ContextWindowBufferTokens.Value), edit.Thousands(v.MaxOutputTokens.Value), edit.Thousands(c.Limit)))
	if c.Way != nil {
		fmt.Fprintf(&b, "asked as %s\n", console.Safe(c.Way.text()))
	}
	for _, n := range c.Notes {
		line("note: " + console.Safe(n))
	}
	b.WriteString("\n" + filesTable(c.Files, console.Width(w)).String())
	_, err := lipgloss.Fprint(w, b.String())
	return err
}

func (c shownConfig) table(width int) console.Table {
	t := console.Table{Width: width, Columns: []console.Column{{Name: "setting"}, {Name: "value"}, {Name: "from", Wrap: true}}}
	add := func(name, value, source string) {
		if source != "" {
			t.Rows = append(t.Rows, []console.Cell{{Text: name}, {Text: console.Safe(value)}, {Text: console.Safe(console.Homely(source)), Style: console.NewStyles().Dim}})
		}
	}
	v := c.Settings
	add("contextWindow", edit.Thousands(v.ContextWindow.Value), v.ContextWindow.Source)
	add("contextWindowBufferTokens", edit.Thousands(v.ContextWindowBufferTokens.Value), v.ContextWindowBufferTokens.Source)
	add("maxOutputTokens", edit.Thousands(v.MaxOutputTokens.Value), v.MaxOutputTokens.Source)
	add("tokenizer", v.Tokenizer.Value, v.Tokenizer.Source)
	add("toolResponseMaxBytes", edit.Thousands(v.ToolResponseMaxBytes.Value), v.ToolResponseMaxBytes.Source)
	add("toolOutputCache", strconv.FormatBool(v.OutputCache.Value), v.OutputCache.Source)
	add("contextBudgetTokens", edit.Thousands(v.ContextBudgetTokens.Value), v.ContextBudgetTokens.Source)
	add("maxMessageBytes", edit.Thousands(v.MaxMessageBytes.Value), v.MaxMessageBytes.Source)
	add("maxLineLength", edit.Thousands(v.MaxLineLength.Value), v.MaxLineLength.Source)
	add("reasoning", v.Reasoning.Value, v.Reasoning.Source)
	for _, l := range v.Tools {
		add("toolsAllowed", cmp.Or(strings.Join(l.Allowed.Value, ", "), "all"), l.Allowed.Source)
		add("toolsDenied", cmp.Or(strings.Join(l.Denied.Value, ", "), "none"), l.Denied.Source)
	}
	return t
}

func filesTable(files []shownFile, width int) console.Table {
	t := console.Table{Width: width, Columns: []console.Column{{Name: "file", Wrap: true}, {Name: "is"}}}
	for _, f := range files {
		is := "not there"
		if f.Read {
			is = "read"
		}
		t.Rows = append(t.Rows, console.Plain(console.Safe(console.Homely(f.File)), is))
	}
	return t
}
