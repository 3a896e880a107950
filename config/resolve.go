package config

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// A Query names what settings are resolved for. Provider and Model may be empty: then
// what holds for any.
type Query struct {
	Provider, Model string // as the file names them
	Policy          policy.Policy
	Catalog         catalog.Catalog // without what the settings say
	Override        Limits          // of this run
}

// layers returns where the window of a target is looked for, the nearest first, with a
// layer for each stated figure:
//
//	the override, the model, its provider                    as stated in files
//	the section models of a file, then the catalogue         the window only
//	the section defaults                                     all three figures
//
// Behind them is the policy (policy.Policy.Resolve).
//
// R000-8 knows the model, its provider and 131,072. What is known of the model stands
// before that last step, which so is left for models that nobody knows; there the
// window of defaults goes first. R000-9 has the buffer of
// defaults behind the provider's, as here.
func (s Settings) layers(q Query) []policy.Layer {
	var layers []policy.Layer
	for _, l := range s.near(q) {
		layers = append(layers, l.layers()...)
	}
	known, _ := q.Catalog.Lookup(q.Model)
	return append(append(layers, policy.Known(known)), s.Defaults.layers()...)
}

// near returns the limits that are stated for the target itself, the nearest first.
func (s Settings) near(q Query) []Limits {
	p, _ := s.Provider(q.Provider)
	return []Limits{q.Override, limitsOf(p.ModelLimits, q.Model), p.Limits, limitsOf(s.Facts, s.find(q).ID), s.Agent}
}

// find returns the model of the catalogue, with the settings laid over it.
func (s Settings) find(q Query) catalog.Model {
	m, _ := q.Catalog.With(s.Models...).Lookup(q.Model)
	return m
}

// Resolved are the settings of one target, each with where it came from.
type Resolved struct {
	policy.Figures                 // of the window
	MostOutput     int             // tokens that the model can write at most; 0 if unknown
	Tokenizer      Sourced[string] // an estimator's id; never empty
	// ToolResponseMaxBytes is the file's, else that of the policy; 0 if there is none. It
	// acts where the policy has a rule that moves outputs out by their bytes.
	ToolResponseMaxBytes  Sourced[int]
	ToolResponseBytesActs bool
	// The figures of the section toolOutputCache, else the policy's.
	ContextBudgetTokens, MaxMessageBytes, MaxLineLength RuleFigure

	OutputCache Sourced[bool]      // whether the rules are there that go by them; no source: not stated
	Reasoning   Sourced[Reasoning] // empty: not stated
	Tools       Tools

	limits Limits // as they are stated
}

// A RuleFigure is a figure that the policy may have a rule for. Its source is empty where
// nobody states it.
type RuleFigure struct {
	Sourced[int]
	Acts bool // the policy has a rule that goes by it
}

// A Sourced is a resolved value and where it came from, as policy.Figure has it.
type Sourced[T any] struct {
	Value  T
	Source string
}

// A RoomError says that the figures of a window leave nothing for a prompt.
type RoomError struct {
	Provider, Model string
	Figures         policy.Figures
	From            Origin // of the nearest figure that is stated; zero: none is
	Err             *budget.ConfigError
}

// Error names all figures and where they come from.
func (e *RoomError) Error() string {
	return "config: resolve " + e.target() + ": " + e.Text()
}

func (e *RoomError) target() string {
	switch {
	case e.Model == "" && e.Provider == "":
		return "any model"
	case e.Model == "":
		return e.Provider
	case e.Provider == "":
		return e.Model
	}
	return e.Provider + "/" + e.Model
}

// Text is Error without the target.
func (e *RoomError) Text() string {
	f, number := e.Figures, func(s policy.Figure) string { return edit.Thousands(s.Value) + " (" + s.Source + ")" }
	return fmt.Sprintf("%s, want %s, got %s: contextWindow %s - contextWindowBufferTokens %s - maxOutputTokens %s",
		e.Err.What, e.Err.Want, edit.Thousands(e.Err.Got), number(f.Capacity), number(f.Buffer), number(f.Output))
}

// Unwrap returns what is wrong with the window.
func (e *RoomError) Unwrap() error { return e.Err }

// Resolve returns the settings of a target. The error is a *RoomError, or wraps
// budget.ErrUnknownWindow where the policy takes no guess.
func (s Settings) Resolve(q Query) (Resolved, error) {
	var r Resolved
	var err error
	if r.Figures, err = q.Policy.Resolve(s.layers(q)...); err != nil {
		return r, fmt.Errorf("config: resolve %s: %w, want contextWindow of the model, of its provider or in defaults, got none, and %s takes no guess",
			(&RoomError{Provider: q.Provider, Model: q.Model}).target(), err, q.Policy.Title())
	}
	if err := r.Figures.Window().Validate(); err != nil {
		room := &RoomError{Provider: q.Provider, Model: q.Model, Figures: r.Figures, From: s.stated(q)}
		room.Err, _ = err.(*budget.ConfigError) //nolint:errorlint // Validate returns nothing else
		return r, room
	}
	r.MostOutput = s.find(q).MaxOutput
	s.rest(q, &r)
	return r, nil
}

// Window returns the window of a session's target: a buffer or a reserve of 0 is
// budget.None in it, as the session would put the policy's in the place of a 0.
func (r Resolved) Window() budget.Window { return r.Figures.Window().Stated() }

// Limit returns what a prompt may have, in tokens.
func (r Resolved) Limit() int { return r.Figures.Window().Limit() }

// stated returns where the nearest figure of a target's window is stated.
func (s Settings) stated(q Query) Origin {
	for _, l := range append(s.near(q), s.Defaults) {
		if at := first(first(l.MaxOutputTokens, l.ContextWindowBufferTokens), l.ContextWindow).From; at != (Origin{}) {
			return at
		}
	}
	return Origin{}
}

// Limits returns what is stated for a target, each by the nearest place. The policy does
// not count.
func (s Settings) Limits(q Query) Limits {
	var l Limits
	for _, near := range append(s.near(q), s.Defaults) {
		l = l.over(near)
	}
	return l
}

// rest resolves what is no figure of the window.
func (s Settings) rest(q Query, r *Resolved) {
	l := s.Limits(q)
	cat := q.Catalog.With(s.Models...)
	family := cat.FamilyOf(q.Model)
	r.Tokenizer = Sourced[string]{family.Estimator, "family " + family.Name}
	if m, ok := cat.Lookup(q.Model); ok {
		r.Tokenizer = Sourced[string]{m.Estimator, "catalogue"}
	}
	set(&r.Tokenizer, l.Tokenizer)
	r.outputs(q.Policy, l)
	set(&r.Reasoning, l.Reasoning)
	r.Tools = s.ToolsOf(q.Provider, q.Model)
}

// set takes over what is stated.
func set[T any](to *Sourced[T], v Stated[T]) {
	if v.Set() {
		*to = Sourced[T]{v.Value, v.From.String()}
	}
}
