package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// An Origin says where something was stated. The zero Origin is nowhere.
type Origin struct {
	File         string // as it was found or named; empty: the command line
	Line, Column int    // from 1; 0 on the command line
	Field        string // such as providers.openai.contextWindow, or the flag
}

// String returns o as it is shown: plimsoll.yaml:7 providers.openai.contextWindow.
func (o Origin) String() string {
	if o.File == "" {
		return o.Field
	}
	return fmt.Sprintf("%s:%d %s", o.File, o.Line, o.Field)
}

// Stated is a value and where it was stated. The zero Stated says nothing; zero
// values can be stated.
type Stated[T any] struct {
	Value T
	From  Origin
}

// Set reports whether anybody stated it.
func (s Stated[T]) Set() bool { return s.From != Origin{} }

// Reasoning is how hard a model is asked to think before it answers.
type Reasoning string

// The levels of reasoning. A number of tokens is none of them: reasoning is within
// what the reply may have.
const (
	ReasoningNone    Reasoning = "none"
	ReasoningMinimal Reasoning = "minimal"
	ReasoningLow     Reasoning = "low"
	ReasoningMedium  Reasoning = "medium"
	ReasoningHigh    Reasoning = "high"
)

func reasonings() []string {
	return []string{string(ReasoningNone), string(ReasoningMinimal), string(ReasoningLow), string(ReasoningMedium), string(ReasoningHigh)}
}

// Limits are what one place states about a window and what acts near its end: a
// provider, a model, the section defaults, or the command line. In a file each has
// its field's name, in camel case; not every place may state all of them.
type Limits struct {
	ContextWindow             Stated[int] // tokens of prompt and output together; 1 or more
	ContextWindowBufferTokens Stated[int] // tokens kept free; 0 or more
	MaxOutputTokens           Stated[int] // tokens kept free for the reply, reasoning included; 1 or more
	ToolResponseMaxBytes      Stated[int] // bytes of a tool output above which it is handled; 1 or more
	Tokenizer                 Stated[string]
	Reasoning                 Stated[Reasoning]

	// Of the section toolOutputCache.
	OutputCache         Stated[bool] // whether outputs are cut and trimmed
	ContextBudgetTokens Stated[int]  // tokens of all outputs together; 1 or more
	MaxMessageBytes     Stated[int]  // bytes shown of one output; 1 or more
	MaxLineLength       Stated[int]  // bytes of a line in it; 1 or more

	Compaction *Compaction // nil: nothing is stated
	tiers      thresholds
}

// over returns l, and what under states where l says nothing.
func (l Limits) over(under Limits) Limits {
	return Limits{
		ContextWindow:             first(l.ContextWindow, under.ContextWindow),
		ContextWindowBufferTokens: first(l.ContextWindowBufferTokens, under.ContextWindowBufferTokens),
		MaxOutputTokens:           first(l.MaxOutputTokens, under.MaxOutputTokens),
		ToolResponseMaxBytes:      first(l.ToolResponseMaxBytes, under.ToolResponseMaxBytes),
		Tokenizer:                 first(l.Tokenizer, under.Tokenizer),
		Reasoning:                 first(l.Reasoning, under.Reasoning),
		OutputCache:               first(l.OutputCache, under.OutputCache),
		ContextBudgetTokens:       first(l.ContextBudgetTokens, under.ContextBudgetTokens),
		MaxMessageBytes:           first(l.MaxMessageBytes, under.MaxMessageBytes),
		MaxLineLength:             first(l.MaxLineLength, under.MaxLineLength),
		Compaction:                l.Compaction.over(under.Compaction),
		tiers:                     l.tiers.over(under.tiers),
	}
}

func first[T any](a, b Stated[T]) Stated[T] {
	if a.Set() {
		return a
	}
	return b
}

// layers returns a layer for each figure of a window that l states, so that each
// has a source of its own.
func (l Limits) layers() []policy.Layer {
	var out []policy.Layer
	if n := l.ContextWindow; n.Set() {
		out = append(out, policy.Layer{Source: n.From.String(), Capacity: policy.Some(n.Value)})
	}
	if n := l.ContextWindowBufferTokens; n.Set() {
		out = append(out, policy.Layer{Source: n.From.String(), Buffer: policy.Some(n.Value)})
	}
	if n := l.MaxOutputTokens; n.Set() {
		out = append(out, policy.Layer{Source: n.From.String(), Output: policy.Some(n.Value)})
	}
	return out
}

// ModelLimits are the limits of one model, by its name.
type ModelLimits struct {
	Model string
	Limits
}

// limitsOf returns what a list states about a model of exactly that name.
func limitsOf(list []ModelLimits, model string) Limits {
	var out Limits
	for _, m := range list {
		if m.Model == model {
			out = out.over(m.Limits)
		}
	}
	return out
}

// A scope is a place that may state limits.
type scope uint8

const (
	inDefaults scope = 1 << iota
	inProvider
	inModel
	inOutputs
	inOverride
)

// limitFields are the fields of Limits, and where they may be stated.
var limitFields = []struct {
	name string
	in   scope
}{
	{"contextWindow", inDefaults | inProvider | inModel | inOverride},
	{"contextWindowBufferTokens", inDefaults | inProvider | inModel | inOverride},
	{"maxOutputTokens", inDefaults | inModel | inOverride},
	{"toolResponseMaxBytes", inDefaults | inOverride},
	{"enabled", inOutputs},
	{"contextBudgetTokens", inOutputs | inOverride},
	{"maxMessageBytes", inOutputs | inOverride},
	{"maxLineLength", inOutputs | inOverride},
	{"tokenizer", inProvider | inModel | inOverride},
	{"reasoning", inDefaults | inModel | inOverride},
	{"toolsAllowed", inDefaults | inModel},
	{"toolsDenied", inDefaults | inModel},
}

// fieldsOf returns the names of the limits that a place may state.
func fieldsOf(in scope) []string {
	var names []string
	for _, f := range limitFields {
		if f.in&in != 0 {
			names = append(names, f.name)
		}
	}
	return names
}

// OverrideFields are the limits that an override may state, by name.
func OverrideFields() []string { return fieldsOf(inOverride) }

// misplaced says where a limit belongs that may not stand where it does; empty if
// the name is no limit's.
func misplaced(name string) string {
	for _, f := range limitFields {
		if f.name != name {
			continue
		}
		var where []string
		for _, w := range []struct {
			in   scope
			text string
		}{{inDefaults, "defaults"}, {inProvider, "a provider"}, {inModel, "a model of a provider"}, {inOutputs, outputsSection}} {
			if f.in&w.in != 0 {
				where = append(where, w.text)
			}
		}
		return strings.Join(where, " or ")
	}
	return ""
}

// wrongField says that a field is none of these, or where it belongs.
func wrongField(path, name string, fields []string) string {
	if where := misplaced(name); where != "" {
		return fmt.Sprintf("%s: cannot be stated here, want it in %s", path, where)
	}
	return unknownField(path, name, fields)
}

// limit reads one field of the limits that a place states. It reports whether the
// place may state it.
func (r *settingsReader) limit(l *Limits, in scope, path string, m member) bool {
	if !slices.Contains(fieldsOf(in), m.name) {
		return false
	}
	switch m.name {
	case "contextWindow":
		l.ContextWindow = stated(r, path, m, r.tokens(path, m.value, 1))
	case "contextWindowBufferTokens":
		l.ContextWindowBufferTokens = stated(r, path, m, r.tokens(path, m.value, 0))
	case "maxOutputTokens":
		l.MaxOutputTokens = stated(r, path, m, r.tokens(path, m.value, 1))
	case "toolResponseMaxBytes":
		l.ToolResponseMaxBytes = stated(r, path, m, r.bytes(path, m.value))
	case "tokenizer":
		l.Tokenizer = stated(r, path, m, r.tokenizer(path, m.value))
	case "enabled":
		l.OutputCache = stated(r, path, m, r.flag(path, m.value))
	case "contextBudgetTokens":
		if m.value.kind != null { // as in the document: the budget follows from the window
			l.ContextBudgetTokens = stated(r, path, m, r.tokens(path, m.value, 1))
		}
	case "maxMessageBytes":
		l.MaxMessageBytes = stated(r, path, m, r.bytes(path, m.value))
	case "maxLineLength":
		l.MaxLineLength = stated(r, path, m, r.bytes(path, m.value))
	case "reasoning":
		l.Reasoning = stated(r, path, m, r.reasoning(path, m.value))
	default:
		return false
	}
	return true
}

// stated is what a field of the file says.
func stated[T any](r *settingsReader, path string, m member, v T) Stated[T] {
	return Stated[T]{v, Origin{File: r.file, Line: m.value.at.line, Column: m.value.at.column, Field: path}}
}

func (r *settingsReader) reasoning(path string, n *node) Reasoning {
	if n.kind == number {
		r.fault(n, "%s: want one of %s, got the number %s; how many tokens reasoning may have is within maxOutputTokens", path, strings.Join(reasonings(), ", "), n.text)
		return ""
	}
	return Reasoning(r.oneOf(path, n, reasonings()))
}
