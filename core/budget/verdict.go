package budget

import "strings"

// A Target is a model that the next call may go to.
type Target struct {
	Provider string
	Model    string
	Window   Window
}

// Name returns "provider/model", or the one of the two that is known.
func (t Target) Name() string {
	switch {
	case t.Provider == "":
		return t.Model
	case t.Model == "":
		return t.Provider
	}
	return t.Provider + "/" + t.Model
}

// TargetNamed returns the target of that name, without a window. Where its model is not
// known (""), it is what stands behind the first slash: a model may have slashes of its
// own, a provider has none.
func TargetNamed(name, model string) Target {
	if provider, ok := strings.CutSuffix(name, model); ok && model != "" {
		return Target{Provider: strings.TrimSuffix(provider, "/"), Model: model}
	}
	if provider, model, ok := strings.Cut(name, "/"); ok {
		return Target{Provider: provider, Model: model}
	}
	return Target{Model: name}
}

// Decision is what the guard says about a target.
type Decision uint8

// The decisions, from good to bad.
const (
	OK    Decision = iota // the call may go to this target
	Skip                  // not to this one, but another fits
	Final                 // no target fits: the final Step
)

// String returns "ok", "skip" or "final".
func (d Decision) String() string {
	names := [...]string{"ok", "skip", "final"}
	if int(d) < len(names) {
		return names[d]
	}
	return "decision?"
}

// A Projection is what the next prompt is expected to have, in tokens.
type Projection struct {
	Base       int // current + pending + fresh + extra
	WithSchema int // and the tools, as far as Current does not contain them
}

// An Entry is the verdict on one target.
type Entry struct {
	Target   Target
	Limit    int
	Decision Decision
	// Blocked says that the projection without tools is strictly above the
	// limit, or that the limit is not positive.
	Blocked bool
	// SchemaOnly says that only the tools are above the limit: the base fits.
	SchemaOnly bool
}

// A Verdict is the guard's answer for all targets.
type Verdict struct {
	Projection
	// Decision is that of the first target: the one the next call would go to.
	Decision Decision
	// Next is the first target that fits; -1 if none does.
	Next    int
	Entries []Entry // one a target, in order
}

// Project returns what the next prompt is expected to have with extra tokens
// more.
func (g *Guard) Project(extra int) Projection {
	base := g.base(extra)
	return Projection{Base: base, WithSchema: sum(base, g.counters.Schema-g.within)}
}

// Evaluate judges all targets. A target whose projection is above its limit is
// blocked: it is skipped if another fits, else the Step is final. A target of which
// only the tools overflow is not blocked. Without targets the verdict is final. The entries are written to entries[:0]; give the slice of the
// last verdict to save memory, or nil.
func (g *Guard) Evaluate(entries []Entry, targets []Target, extra int) Verdict {
	v := g.decide(targets, extra)
	v.Entries = entries[:0]
	for _, t := range targets {
		e := Entry{Target: t, Limit: t.Window.Limit()}
		e.Blocked = blocks(v.Projection, e.Limit)
		e.SchemaOnly = e.Limit > 0 && v.Base <= e.Limit && v.WithSchema > e.Limit
		if e.Blocked {
			e.Decision = v.instead()
		}
		v.Entries = append(v.Entries, e)
	}
	return v
}

// decide judges all targets without entries.
func (g *Guard) decide(targets []Target, extra int) Verdict {
	v := Verdict{Projection: g.Project(extra), Decision: Final, Next: -1}
	for i, t := range targets {
		if !blocks(v.Projection, t.Window.Limit()) {
			v.Next = i
			break
		}
	}
	if v.Next == 0 {
		v.Decision = OK
		return v
	}
	v.Decision = v.instead()
	return v
}

// instead returns the decision on a blocked target.
func (v Verdict) instead() Decision {
	if v.Next < 0 {
		return Final
	}
	return Skip
}

// blocks reports whether p is above a limit. A limit that is not positive leaves
// room for nothing.
func blocks(p Projection, limit int) bool { return limit <= 0 || p.Base > limit }
