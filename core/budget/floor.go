package budget

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Floor is what no edit can take out of a view (DESIGN.md section 2).
type Floor struct {
	System      int // with skills and what else is sent as sections
	Tools       int
	Pins        int // of the policy
	OpenCalls   int // calls without a result
	NewestRound int // its arguments whole, its outputs as stubs
	Margin      int // what the count allows for its own error
	Bytes       int // of the request at the floor
	Images      int // in the request at the floor
}

// Total returns the tokens of the floor.
func (f Floor) Total() int {
	return f.System + f.Tools + f.Pins + f.OpenCalls + f.NewestRound + f.Margin
}

// String lists the parts of the floor that are not empty, as in
// "floor 930 = system 700 + newest round 230".
func (f Floor) String() string {
	var parts []string
	for _, p := range []struct {
		name   string
		tokens int
	}{
		{"system", f.System},
		{"tools", f.Tools},
		{"pins", f.Pins},
		{"open calls", f.OpenCalls},
		{"newest round", f.NewestRound},
		{"margin of the count", f.Margin},
	} {
		if p.tokens != 0 {
			parts = append(parts, fmt.Sprintf("%s %d", p.name, p.tokens))
		}
	}
	if len(parts) == 0 {
		return "floor 0"
	}
	return fmt.Sprintf("floor %d = %s", f.Total(), strings.Join(parts, " + "))
}

// Quantity is what a window limits.
type Quantity uint8

// The quantities.
const (
	InTokens Quantity = iota
	InBytes
	InImages
)

// String returns "tokens", "bytes" or "images".
func (q Quantity) String() string {
	names := [...]string{"tokens", "bytes", "images"}
	if int(q) < len(names) {
		return names[q]
	}
	return "quantity?"
}

// A Load is what a request has, to be compared with a window.
type Load struct {
	// Count is the one number that decides whether a request fits: the exact
	// tokens, or the bound of an estimate. It may exceed the sum of the components.
	Count      int
	Components Components
	Bytes      int
	Images     int
}

// An OverError says that a request does not fit a target.
type OverError struct {
	Target    Target
	Quantity  Quantity
	Component token.Component // the largest one
	Tokens    int             // of that component
	Used      int             // of the quantity
	Limit     int             // of the quantity
	Floor     Floor
}

// Error names target, component, used, limit and floor.
func (e *OverError) Error() string {
	text := fmt.Sprintf("budget: check: request to %s, want at most %d %s, got %d (largest component: %s, %d tokens; %s",
		e.Target.Name(), e.Limit, e.Quantity, e.Used, e.Component, e.Tokens, e.Floor)
	if e.Irreducible() {
		text += ", which no edit can shrink to the limit"
	}
	return text + ")"
}

// Irreducible reports whether even the floor is above the limit, so that no
// edit helps.
func (e *OverError) Irreducible() bool {
	switch e.Quantity {
	case InBytes:
		return e.Floor.Bytes > e.Limit
	case InImages:
		return e.Floor.Images > e.Limit
	}
	return e.Floor.Total() > e.Limit
}

// Check returns nil if the load fits the target's window, else an *OverError
// about the first of tokens, bytes and images that does not.
func Check(t Target, l Load, f Floor) error {
	over := func(q Quantity, used, limit int) error {
		largest := l.Components.Largest()
		return &OverError{
			Target: t, Quantity: q, Component: largest, Tokens: l.Components.Of(largest),
			Used: used, Limit: limit, Floor: f,
		}
	}
	w := t.Window
	switch {
	case l.Count > w.Limit():
		return over(InTokens, l.Count, w.Limit())
	case w.MaxBytes > 0 && l.Bytes > w.MaxBytes:
		return over(InBytes, l.Bytes, w.MaxBytes)
	case w.MaxImages > 0 && l.Images > w.MaxImages:
		return over(InImages, l.Images, w.MaxImages)
	}
	return nil
}
