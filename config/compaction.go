package config

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/policy"
)

// Sections that have the keys of a source document each.
const (
	compactionSection = "compaction"
	agentSection      = "agent"
)

// Compaction is what the section compaction states: when conversations are summarised, by
// whom, and what is asked. What is null in the file is stated where that means something:
// no model of its own, no retain section.
type Compaction struct {
	Enabled           Stated[bool] // false: no summary is asked for
	Auto              Stated[bool] // false: only a person, or the model by its tool, has a conversation summarised
	ThresholdRatio    Stated[int]  // permille of what the policy's rule takes its share of
	Model             Stated[string]
	SummaryPrompt     Stated[string]
	SummaryDirectives Stated[[]string]
	RetainPrompt      Stated[string] // empty: no retain section
	RetainDirectives  Stated[[]string]
	RetainLastTurns   Stated[int] // 0 or more
}

func (c *Compaction) over(under *Compaction) *Compaction {
	switch {
	case c == nil:
		return under
	case under == nil:
		return c
	}
	return &Compaction{
		Enabled: first(c.Enabled, under.Enabled), Auto: first(c.Auto, under.Auto), ThresholdRatio: first(c.ThresholdRatio, under.ThresholdRatio),
		Model: first(c.Model, under.Model), SummaryPrompt: first(c.SummaryPrompt, under.SummaryPrompt),
		SummaryDirectives: first(c.SummaryDirectives, under.SummaryDirectives), RetainPrompt: first(c.RetainPrompt, under.RetainPrompt),
		RetainDirectives: first(c.RetainDirectives, under.RetainDirectives), RetainLastTurns: first(c.RetainLastTurns, under.RetainLastTurns),
	}
}

// never is a figure that no measure reaches.
const never = 1_000_000_000

// apply changes a policy that is the caller's own, and reports whether it did.
func (c *Compaction) apply(p *policy.Policy) bool {
	if c == nil {
		return false
	}
	changed := false
	if c.Enabled.Set() && !c.Enabled.Value {
		n := len(p.Rules)
		p.Rules = slices.DeleteFunc(p.Rules, func(r policy.Rule) bool { return r.Do == policy.DoSummarise })
		changed = len(p.Rules) < n
	}
	for i := range p.Rules {
		if r := &p.Rules[i]; r.Do == policy.DoSummarise {
			changed = c.applyTo(r) || changed
		}
	}
	for _, t := range []struct {
		stated Stated[string]
		text   *string
	}{{c.SummaryPrompt, &p.SummaryPrompt}, {c.RetainPrompt, &p.RetainPrompt}} {
		if t.stated.Set() && *t.text != t.stated.Value {
			*t.text, changed = t.stated.Value, true
		}
	}
	for _, t := range []struct {
		stated Stated[[]string]
		texts  *[]string
	}{{c.SummaryDirectives, &p.SummaryDirectives}, {c.RetainDirectives, &p.RetainDirectives}} {
		if t.stated.Set() && !slices.Equal(*t.texts, t.stated.Value) {
			*t.texts, changed = slices.Clone(t.stated.Value), true
		}
	}
	return changed
}

// applyTo changes a rule that summarises.
func (c *Compaction) applyTo(r *policy.Rule) bool {
	was := *r
	if t := c.RetainLastTurns; t.Set() && (r.Args.Keep.Unit == policy.TailTurns || r.Args.Keep == policy.Tail{}) {
		r.Args.Keep = policy.Tail{Unit: policy.TailTurns, N: t.Value}
		if t.Value == 0 {
			r.Args.Keep = policy.Tail{}
		}
	}
	if t := c.ThresholdRatio; t.Set() && !r.Forced && r.When.Permille > 0 {
		r.When.Permille = t.Value
	}
	if c.Auto.Set() && !c.Auto.Value && r.When.Measure != "" {
		r.When = policy.Condition{Measure: r.When.Measure, Op: r.When.Op, Value: never}
	}
	return *r != was
}

// thresholds are the shares of the window that the section agent states.
type thresholds struct {
	Compact Stated[int] // permille of the effective window above which room is made
	Block   Stated[int] // above which it must be
	Tools   Stated[int] // above which tools are left out
}

func (t thresholds) over(under thresholds) thresholds {
	return thresholds{first(t.Compact, under.Compact), first(t.Block, under.Block), first(t.Tools, under.Tools)}
}

// apply changes the rules that clear, summarise and truncate before a call: those that are forced
// are the higher tier. Figures in the wrong order change places.
func (t thresholds) apply(p *policy.Policy) bool {
	if t.Compact.Set() && t.Block.Set() && t.Compact.Value > t.Block.Value {
		t.Compact, t.Block = t.Block, t.Compact
	}
	changed := t.Tools.Set() && p.Deferral.Permille > 0 && p.Deferral.Permille != t.Tools.Value
	if changed {
		p.Deferral.Permille = t.Tools.Value
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		switch r.Do {
		case policy.DoClear, policy.DoSummarise, policy.DoTruncate:
		default:
			continue
		}
		at := t.Compact
		if r.Forced {
			at = t.Block
		}
		if r.At == policy.AtPrepare && r.When.Measure == policy.MeasureView && r.When.Of == policy.OfLimit && at.Set() && r.When.Permille != at.Value {
			r.When.Permille, changed = at.Value, true
		}
	}
	return changed
}

// compaction reads that section.
func (r *settingsReader) compaction(c *Compaction, n *node) {
	if n.kind != object && n.kind != null {
		r.fault(n, "%s: want when and how conversations are summarised, got %s", compactionSection, describe(n))
		return
	}
	for _, m := range n.members {
		path := compactionSection + "." + m.name
		switch m.name {
		case "enabled":
			c.Enabled = stated(r, path, m, r.flag(path, m.value))
		case "auto":
			c.Auto = stated(r, path, m, r.flag(path, m.value))
		case "thresholdRatio":
			c.ThresholdRatio = stated(r, path, m, r.share(path, m.value))
		case "model":
			if m.value.kind != null {
				c.Model = stated(r, path, m, r.modelName(path, m.value))
			}
		case "summaryPrompt":
			c.SummaryPrompt = stated(r, path, m, r.text(path, m.value))
		case "summaryDirectives":
			c.SummaryDirectives = stated(r, path, m, r.directives(path, m.value))
		case "retainPrompt":
			c.RetainPrompt = stated(r, path, m, r.textOrNull(path, m.value))
		case "retainDirectives":
			c.RetainDirectives = stated(r, path, m, r.directives(path, m.value))
		case "retainLastTurns":
			c.RetainLastTurns = stated(r, path, m, r.turns(path, m.value))
		default:
			r.fault(m.value, "%s", unknownField(path, m.name, compactionFields))
		}
	}
}

var compactionFields = []string{
	"enabled", "auto", "thresholdRatio", "model", "summaryPrompt", "summaryDirectives", "retainPrompt", "retainDirectives", "retainLastTurns",
}

// agent reads the section of that name, whose keys stand for all models.
func (r *settingsReader) agent(l *Limits, n *node) {
	if n.kind != object && n.kind != null {
		r.fault(n, "%s: want figures of the context, got %s", agentSection, describe(n))
		return
	}
	for _, m := range n.members {
		path := agentSection + "." + m.name
		switch m.name {
		case "context_budget":
			l.ContextWindow = stated(r, path, m, r.tokens(path, m.value, 1))
		case "max_output_tokens":
			l.MaxOutputTokens = stated(r, path, m, r.tokens(path, m.value, 1))
		case "compact_trigger":
			l.tiers.Compact = stated(r, path, m, r.share(path, m.value))
		case "hard_block":
			l.tiers.Block = stated(r, path, m, r.share(path, m.value))
		case "result_offload_threshold":
			l.ToolResponseMaxBytes = stated(r, path, m, r.bytes(path, m.value))
		case "tool_deferral_threshold":
			l.tiers.Tools = stated(r, path, m, r.share(path, m.value))
		default:
			r.fault(m.value, "%s", unknownField(path, m.name, agentFields))
		}
	}
}

var agentFields = []string{
	"context_budget", "max_output_tokens", "compact_trigger", "hard_block", "result_offload_threshold", "tool_deferral_threshold",
}

// share reads a share of something, in permille.
func (r *settingsReader) share(path string, n *node) int {
	digits, want := figure(n, policy.UnitPermille)
	v, err := strconv.Atoi(digits)
	if want == "" && (err != nil || v < 1 || v > 1000) {
		want = "a share above 0, at most 1"
	}
	if want != "" {
		r.fault(n, "%s: want %s, got %s", path, want, describe(n))
		return 1
	}
	return v
}

// turns reads a number of Turns; the document takes one below 0 for 0, and a fraction for what is
// below it.
func (r *settingsReader) turns(path string, n *node) int {
	f, err := strconv.ParseFloat(n.text, 64)
	if n.kind != number || err != nil || f > 1000 {
		r.fault(n, "%s: want a number of turns up to 1000, got %s", path, describe(n))
		return 0
	}
	return max(int(f), 0)
}

// directives reads a list of texts, which may be empty.
func (r *settingsReader) directives(path string, n *node) []string {
	if n.kind == list && len(n.items) == 0 {
		return nil
	}
	return r.texts(path, n)
}

func (r *settingsReader) textOrNull(path string, n *node) string {
	if n.kind == null {
		return ""
	}
	return r.text(path, n)
}

// modelName reads provider/model.
func (r *settingsReader) modelName(path string, n *node) string {
	name := r.text(path, n)
	if provider, model, _ := strings.Cut(name, "/"); provider == "" || model == "" {
		r.fault(n, "%s: want provider/model, got %s", path, describe(n))
	}
	return name
}
