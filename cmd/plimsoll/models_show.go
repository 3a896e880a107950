package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// size writes a number of tokens, ? if it is not known.
func size(n int) string {
	if n == 0 {
		return "?"
	}
	return edit.Thousands(n)
}

// modelFacts is what plimsoll models --json prints for each model. Prices are
// dollars for a million tokens; null is not known.
type modelFacts struct {
	ID            string       `json:"id"`
	Provider      string       `json:"provider"`  // empty if unknown
	API           string       `json:"api"`       // the name that its maker's API takes
	Window        int          `json:"window"`    // tokens; 0: unknown
	MaxInput      int          `json:"max_input"` // most of a prompt; 0: the window is the only limit
	MaxOutput     int          `json:"max_output"`
	Tokenizer     string       `json:"tokenizer"`
	Family        string       `json:"family"`
	DropsThinking bool         `json:"drops_thinking"`
	Prices        []priceFacts `json:"prices"` // by tier; empty: unknown
	Cache         *cacheFacts  `json:"cache"`  // null: unknown, or none
	Limits        limitFacts   `json:"limits"`
	Capabilities  []string     `json:"capabilities"`
	Sources       sourceFacts  `json:"sources"`
}

type priceFacts struct {
	Above        int          `json:"above"` // tokens of the prompt
	Input        *json.Number `json:"input"`
	Output       *json.Number `json:"output"`
	CacheRead    *json.Number `json:"cache_read"`
	CacheWrite   *json.Number `json:"cache_write"`    // with the short lifetime, or the only one
	CacheWrite1h *json.Number `json:"cache_write_1h"` // with the long lifetime
}

type cacheFacts struct {
	Rule      string `json:"rule"`
	Marked    bool   `json:"marked"`
	Marks     int    `json:"marks"`
	LookBack  int    `json:"look_back"`
	Minimum   int    `json:"minimum"` // tokens
	Step      int    `json:"step"`
	Lifetimes []int  `json:"lifetimes"` // seconds
	Refresh   bool   `json:"refresh"`
}

type limitFacts struct {
	Bytes  int `json:"bytes"` // 0: none known
	Images int `json:"images"`
}

type sourceFacts struct {
	Model  string `json:"model"`
	Prices string `json:"prices"`
	Cache  string `json:"cache"`
}

func newModelFacts(m catalog.Model, c catalog.Catalog) modelFacts {
	l := c.LimitsOf(m.ID)
	out := modelFacts{
		ID: m.ID, Provider: m.Provider, API: cmp.Or(m.API, m.ID), Window: m.Window, MaxInput: m.MaxInput, MaxOutput: m.MaxOutput,
		Tokenizer: m.Estimator, Family: m.Family, DropsThinking: m.DropsThinking, Prices: []priceFacts{},
		Limits: limitFacts{l.Bytes, l.Images}, Capabilities: append([]string{}, m.Capabilities.Words()...),
		Sources: sourceFacts{Model: m.Source, Prices: m.PriceSource},
	}
	for _, t := range m.Tiers {
		out.Prices = append(out.Prices, priceFacts{
			t.Above, dollars(t.Input), dollars(t.Output), dollars(t.CacheRead), dollars(t.CacheWrite5m), dollars(t.CacheWrite1h),
		})
	}
	if r, ok := c.CacheRuleOf(m.ID); ok {
		out.Cache = &cacheFacts{r.Name, r.Marked, r.Marks, r.LookBack, r.Minimum, r.Step, append([]int{}, r.Lifetimes...), r.Refresh}
		out.Sources.Cache = r.Source
	}
	return out
}

// dollars is a price as JSON, nil if it is unknown.
func dollars(p catalog.Price) *json.Number {
	if p < 0 {
		return nil
	}
	n := json.Number(p.String())
	return &n
}

// modelText is what a person is shown of one model.
func modelText(m catalog.Model, f modelFacts, width int) string {
	t := console.Table{Width: width, Columns: []console.Column{{Name: "model"}, {Name: f.ID, Wrap: true}}}
	t.Columns[1].Name = console.Safe(f.ID)
	add := func(name, value string) {
		if value != "" {
			t.Rows = append(t.Rows, console.Plain(name, console.Safe(value)))
		}
	}
	add("maker", f.Provider)
	if m.API != "" {
		add("API name", m.API)
	}
	add("window", size(f.Window)+" tokens")
	if f.MaxInput > 0 {
		add("most input", size(f.MaxInput)+" tokens")
	}
	add("most output", size(f.MaxOutput)+" tokens")
	add("tokenizer", f.Tokenizer+", family "+f.Family)
	if f.DropsThinking {
		add("thinking", "taken out by the provider when the next Turn begins")
	}
	add("cache", f.Cache.text())
	add("limits", f.Limits.text())
	add("can", strings.Join(f.Capabilities, ", "))
	add("figures from", f.Sources.Model)
	add("prices from", f.Sources.Prices)
	add("cache from", f.Sources.Cache)
	if len(m.Tiers) == 0 {
		return t.String() + "\nits prices are not known\n"
	}
	return t.String() + "\n" + priceTable(m.Tiers, width).String()
}

// priceTable shows the prices by the size of the prompt.
func priceTable(tiers []catalog.Tier, width int) console.Table {
	t := console.Table{Width: width, Columns: []console.Column{
		{Name: "dollars a million tokens"},
		{Name: "in", Right: true},
		{Name: "out", Right: true},
		{Name: "cache read", Right: true},
		{Name: "cache write", Right: true, Spare: 2},
		{Name: "long cache write", Right: true, Spare: 1},
	}}
	for _, r := range tiers {
		from := "prompts above " + edit.Thousands(r.Above)
		if r.Above == 0 {
			from = "prompts"
		}
		t.Rows = append(t.Rows, console.Plain(from, r.Input.String(), r.Output.String(), r.CacheRead.String(), r.CacheWrite5m.String(), r.CacheWrite1h.String()))
	}
	return t
}

// text describes a cache in a line; nothing for one that is not known.
func (c *cacheFacts) text() string {
	if c == nil {
		return ""
	}
	how := "automatic"
	if c.Marked {
		how = "what marks say"
	}
	out := []string{how}
	if c.Rule != how {
		out[0] = c.Rule + ": " + how
	}
	if c.Marks > 0 {
		out = append(out, console.Plural(c.Marks, "mark"))
	}
	if c.LookBack > 0 {
		out = append(out, "look-back "+console.Plural(c.LookBack, "position"))
	}
	if c.Minimum > 0 {
		out = append(out, fmt.Sprintf("from %s tokens", edit.Thousands(c.Minimum)))
	}
	if c.Step > 1 {
		out = append(out, fmt.Sprintf("in steps of %d", c.Step))
	}
	var kept []string
	for _, s := range c.Lifetimes {
		kept = append(kept, lifetime(s))
	}
	if len(kept) > 0 {
		out = append(out, "kept "+strings.Join(kept, " or "))
	}
	if c.Refresh {
		out = append(out, "renewed by a hit")
	}
	return strings.Join(out, ", ")
}

// lifetime says how long an entry is kept.
func lifetime(seconds int) string {
	switch {
	case seconds%3600 == 0:
		return console.Plural(seconds/3600, "hour")
	case seconds%60 == 0:
		return console.Plural(seconds/60, "minute")
	}
	return console.Plural(seconds, "second")
}

func (l limitFacts) text() string {
	var out []string
	if l.Bytes > 0 {
		out = append(out, edit.Thousands(l.Bytes)+" bytes a request")
	}
	if l.Images > 0 {
		out = append(out, console.Plural(l.Images, "image"))
	}
	return strings.Join(out, ", ")
}
