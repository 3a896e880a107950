package config

import (
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/edit"
)

// LoopContext is what settings say of the context of an autonomous loop.
type LoopContext struct {
	RawWindowSize    Stated[int] // iterations that stay raw
	SummarizeEvery   Stated[int] // iterations after which the summary is written anew
	MaxSummaryTokens Stated[int]
}

// contextSection is the section that has the keys of the document about such loops.
const contextSection = "context"

var contextFields = []string{"raw_window_size", "summarize_every", "max_summary_tokens"}

// context reads that section.
func (r *settingsReader) context(n *node) LoopContext {
	var c LoopContext
	if n.kind != object && n.kind != null {
		r.fault(n, "%s: want how a loop remembers its iterations, got %s", contextSection, describe(n))
		return c
	}
	for _, m := range n.members {
		path := contextSection + "." + m.name
		switch m.name {
		case "raw_window_size":
			c.RawWindowSize = stated(r, path, m, r.within(path, m.value, 100))
		case "summarize_every":
			c.SummarizeEvery = stated(r, path, m, r.within(path, m.value, 1_000_000))
		case "max_summary_tokens":
			c.MaxSummaryTokens = stated(r, path, m, r.within(path, m.value, 2000))
		default:
			r.fault(m.value, "%s", wrongField(path, m.name, contextFields))
		}
	}
	return c
}

// within reads a whole number from 1 on.
func (r *settingsReader) within(path string, n *node, most int) int {
	v, err := strconv.Atoi(strings.ReplaceAll(n.text, "_", ""))
	if n.kind != number && n.kind != text || err != nil || v < 1 || v > most {
		r.fault(n, "%s: want 1 to %s, got %s", path, edit.Thousands(most), describe(n))
		return 0
	}
	return v
}

// over returns c laid over under.
func (c LoopContext) over(under LoopContext) LoopContext {
	return LoopContext{first(c.RawWindowSize, under.RawWindowSize), first(c.SummarizeEvery, under.SummarizeEvery), first(c.MaxSummaryTokens, under.MaxSummaryTokens)}
}
