package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// mostFigure bounds every number of a policy, so that sums and products of
// figures cannot overflow and a slip of the finger is noticed.
const mostFigure = 1_000_000_000

// mostText bounds a text shown to the model, in bytes: it is part of the floor.
const mostText = 4096

// Validate reports everything that is wrong with p in one *FaultsError, or nil.
// It knows neither a window nor the names of estimators (see the package comment).
func Validate(p Policy) error {
	c := checker{p: p}
	c.head()
	c.window()
	c.gain()
	c.choices()
	c.lists()
	c.texts()
	for i, r := range p.Rules {
		c.rule(i, r)
	}
	c.order()
	return faultsError("validate", c.faults)
}

// A checker collects the faults of one policy.
type checker struct {
	p      Policy
	rules  string // place of the rule that is looked at, with a dot
	name   string // its name
	faults []Fault
}

// add records a fault of a field of the policy or, within a rule, of the rule.
func (c *checker) add(name, what, want, got string) {
	c.faults = append(c.faults, Fault{Field: c.rules + name, Rule: c.name, What: what, Want: want, Got: got})
}

// between checks that n lies in [low, high].
func (c *checker) between(name string, n, low, high int) {
	if n < low || n > high {
		c.add(name, "out of range", fmt.Sprintf("%d to %d", low, high), strconv.Itoa(n))
	}
}

// known checks that word is one of list.
func (c *checker) known(name, what, word string, list []string) bool {
	if slices.Contains(list, word) {
		return true
	}
	c.unknown(name, "unknown "+what, word, list)
	return false
}

// unknown records a word that is not one of list.
func (c *checker) unknown(name, what, word string, list []string) {
	c.add(name, what, oneOf(list), strconv.Quote(word))
	c.faults[len(c.faults)-1].Near = Nearest(word, list)
}

// set checks that all words are known and different.
func (c *checker) set(name, what string, given, list []string) {
	for i, w := range given {
		at := fmt.Sprintf("%s[%d]", name, i)
		if c.known(at, what, w, list) && slices.Contains(given[:i], w) {
			c.add(at, "repeated "+what, "it once", strconv.Quote(w))
		}
	}
}

func (c *checker) head() {
	if c.p.Version != 1 {
		c.add("version", "unknown version", "1", strconv.Itoa(c.p.Version))
	}
	if !isName(c.p.Name) {
		c.add("name", "no name", nameForm, strconv.Quote(c.p.Name))
	}
	if why := estimatorForm(c.p.Estimator); why != "" {
		c.add("estimator", why, "an estimator such as chars/4 or max(model,chars/4)", strconv.Quote(c.p.Estimator))
	}
	c.between("tools_permille", c.p.ToolsPermille, 1, 10000)
}

const nameForm = "1 to 40 of the characters a-z, 0-9 and -"

// isName reports whether s can name a policy or a rule.
func isName(s string) bool {
	const longest = 40
	for i := range len(s) {
		if ch := s[i]; (ch < 'a' || ch > 'z') && (ch < '0' || ch > '9') && ch != '-' {
			return false
		}
	}
	return s != "" && len(s) <= longest
}

func (c *checker) window() {
	w := c.p.Window
	c.between("window.buffer", w.Buffer, 0, mostFigure)
	c.between("window.buffer_permille", w.BufferPermille, 0, 1000)
	c.between("window.output", w.Output, 0, mostFigure)
	c.between("window.output_permille", w.OutputPermille, 0, 999)
	if !w.ReserveOutput && (w.Output != 0 || w.OutputPermille != 0) {
		c.add("window.reserve_output", "output stated but not reserved", "true, or no output and no output_permille", "false")
	}
	if w.Output != 0 && w.OutputPermille != 0 {
		c.add("window.output_permille", "stated beside output", "one of the two", strconv.Itoa(w.OutputPermille))
	}
	c.set("window.subtract", "component", w.Subtract, knownParts)
	u := c.p.OnUnknownWindow
	if !c.known("on_unknown_window.action", "action", u.Action, knownWindows) {
		return
	}
	switch u.Action {
	case WindowDefault:
		c.between("on_unknown_window.value", u.Value, 1, mostFigure)
	case WindowOutputMultiple:
		c.between("on_unknown_window.value", u.Value, 2, 100)
		if !w.ReserveOutput || w.OutputPermille != 0 {
			c.add("on_unknown_window.action", "no output reserve in tokens to multiply", "window.reserve_output without output_permille", strconv.Quote(u.Action))
		}
	case WindowError:
		if u.Value != 0 {
			c.add("on_unknown_window.value", "not read by error", "0", strconv.Itoa(u.Value))
		}
	}
}

func (c *checker) gain() {
	c.between("low_water", c.p.LowWater, 0, 999)
	c.between("first_batch", c.p.FirstBatch, 0, 999)
	c.between("minimum_gain.tokens", c.p.MinimumGain.Tokens, 0, mostFigure)
	c.between("minimum_gain.permille", c.p.MinimumGain.Permille, 0, 999)
	least := c.p.MinimumSummary
	c.between("minimum_summary.tokens", least.Tokens, 0, mostFigure)
	c.between("minimum_summary.permille", least.Permille, 0, 999)
	c.between("minimum_summary.most", least.Most, 0, mostFigure)
	if least.Most > 0 && least.Most < least.Tokens {
		c.add("minimum_summary.most", "below tokens", fmt.Sprintf("0, or %d and more", least.Tokens), strconv.Itoa(least.Most))
	}
}

// economy checks what is reckoned with.
func (c *checker) economy() {
	e := c.p.Economy
	c.between("economy.horizon", e.Horizon, 0, mostFigure)
	c.between("economy.write", e.Write, 0, mostRatio)
	c.between("economy.read", e.Read, 0, mostRatio)
	if e.Horizon == 0 && (e.Write != 0 || e.Read != 0) {
		c.add("economy.horizon", "prices that nobody reckons with", "a number of calls", "0")
	}
}

// mostRatio is far above what any provider asks for a token of its cache, in permille of
// the input's price.
const mostRatio = 10_000

func (c *checker) choices() {
	c.first()
	c.economy()
	c.known("prompt.changed", "change", c.p.Prompt.Changed, knownChanged)
	c.known("prompt.marks", "marks", c.p.Prompt.Marks, knownMarks)
	c.known("summary_slot", "slot", c.p.SummarySlot, knownSlots)
	c.known("on_floor", "answer", c.p.OnFloor, knownFloors)
	c.known("on_summary_error", "answer", c.p.OnSummaryError, knownSummary)
	if !c.p.Backstop && len(c.p.Rules) > 0 {
		c.add("backstop", "rules without the last resort below them", "true, or no rules (law 1)", "false")
	}
}

// first checks what a batch takes out, and how it names that.
func (c *checker) first() {
	c.known("order", "order", c.p.Order, knownOrders)
	c.between("references.permille", c.p.References.Permille, 0, 1000)
	c.between("pin_permille", c.p.PinPermille, 0, 1000)
	c.between("references.most", c.p.References.Most, 0, mostFigure)
	if c.p.References.Permille == 0 {
		return
	}
	if c.p.Order == OrderArrival {
		c.add("references.permille", "a note that no batch writes", "order "+OrderUse+" or "+OrderReference+", or 0", strconv.Quote(c.p.Order))
	} else if c.p.Templates[TemplateReferences] == "" {
		c.add("templates."+TemplateReferences, "no text", "the heading of the note of references", `""`)
	}
}

// deferral checks when tools are left out. They never are where the policy does not offer the
// tool that finds them.
func (c *checker) deferral() {
	d := c.p.Deferral
	c.between("deferral.permille", d.Permille, 0, 1000)
	switch {
	case d == Deferral{}:
		return
	case d.Permille == 0:
		c.add("deferral.permille", "tools that never leave", "a share of the limit, or no deferral", "0")
	case c.p.Templates[TemplateDeferred] == "":
		c.add("templates."+TemplateDeferred, "no text", "the note on how many tools are left out", `""`)
	}
	c.known("deferral.until", "end", d.Until, knownUntils)
	if d.Means != "" {
		c.known("deferral.means", "means", d.Means, knownMeans)
	}
	if d.Means == MeansNative && d.Until == UntilTurn {
		c.add("deferral.means", "tools that change by the Turn are in the prompt's beginning", `"append", or until the "end"`, strconv.Quote(d.Means))
	}
}

func (c *checker) lists() {
	c.deferral()
	c.set("pins", "pin", c.p.Pins, knownPins)
	c.set("tools", "builtin tool", c.p.Tools, knownTools)
	c.tail("tail", c.p.Tail)
	final := func(r Rule) bool { return r.Do == DoFinal }
	if c.p.FinalTool != "" && !slices.ContainsFunc(c.p.Rules, final) {
		c.add("final_tool", "read by no rule", "a rule that does final, or nothing", strconv.Quote(c.p.FinalTool))
	}
}

func (c *checker) tail(name string, t Tail) {
	if t == (Tail{}) {
		return
	}
	c.known(name+".unit", "unit", t.Unit, knownTails)
	c.between(name+".n", t.N, 1, mostFigure)
}

// texts checks what holds for every text, whoever shows it.
func (c *checker) texts() {
	for _, name := range slices.Sorted(mapKeys(c.p.Templates)) {
		at, t := "templates."+name, c.p.Templates[name]
		if len(t) > mostText {
			c.add(at, "text too long", fmt.Sprintf("at most %d bytes", mostText), strconv.Itoa(len(t)))
		}
		if !utf8.ValidString(t) {
			c.add(at, "no text", "UTF-8", "other bytes")
		}
		if strings.TrimSpace(t) == "" {
			c.add(at, "empty text", "what the model is told", strconv.Quote(t))
		}
		for _, ph := range placeholders(t) {
			if !slices.Contains(knownPlaceholders, ph) && !slices.Contains(knownTools, ph) {
				c.unknown(at, "unknown placeholder", ph, knownPlaceholders)
			}
		}
		c.named(at, name, t)
		plainOf := strings.TrimSuffix(name, PlainSuffix)
		if !slices.Contains(knownTemplates, plainOf) && !c.used(plainOf) {
			c.unknown(at, "text that no rule shows", name, knownTemplates)
		}
	}
	c.question()
}

// named checks the builtin tools that a text names: the policy offers them, and a text
// without them stands in where they are not offered.
func (c *checker) named(at, name, text string) {
	tools := ToolsIn(text)
	if name == TemplateDeferred { // shown only beside the tool that finds what is left out
		tools = slices.DeleteFunc(tools, func(tool string) bool { return tool == ToolSearch })
	}
	for _, tool := range tools {
		if !slices.Contains(c.p.Tools, tool) {
			c.add(at, "names a tool that the policy does not offer", oneOf(c.p.Tools), strconv.Quote("{"+tool+"}"))
		}
	}
	if len(tools) == 0 {
		return
	}
	plain, ok := c.p.Templates[name+PlainSuffix]
	switch {
	case strings.HasSuffix(name, PlainSuffix):
		c.add(at, "names a tool where none is offered", "no tool in braces", strconv.Quote("{"+tools[0]+"}"))
	case !ok:
		c.add(at, "no text for where the tool is not offered", "templates."+name+PlainSuffix+" beside it", "nothing")
	case slices.Contains(placeholders(text), "ref") && !slices.Contains(placeholders(plain), "ref"):
		c.add("templates."+name+PlainSuffix, "does not say where the content is stored", "{ref} in it", strconv.Quote(short([]byte(plain))))
	}
}

// question checks the texts that a summariser reads.
func (c *checker) question() {
	c.demand("summary_prompt", c.p.SummaryPrompt)
	if c.p.RetainPrompt != "" {
		c.demand("retain_prompt", c.p.RetainPrompt)
	} else if len(c.p.RetainDirectives) > 0 {
		c.add("retain_directives", "read by nobody", "retain_prompt beside it, or nothing", strconv.Itoa(len(c.p.RetainDirectives)))
	}
	for i, d := range c.p.SummaryDirectives {
		c.demand(fmt.Sprintf("summary_directives[%d]", i), d)
	}
	for i, d := range c.p.RetainDirectives {
		c.demand(fmt.Sprintf("retain_directives[%d]", i), d)
	}
}

// demand checks one of them. Braces in it are plain text.
func (c *checker) demand(at, text string) {
	switch {
	case strings.TrimSpace(text) == "":
		c.add(at, "empty text", "what the summariser is told", strconv.Quote(text))
	case len(text) > mostText:
		c.add(at, "text too long", fmt.Sprintf("at most %d bytes", mostText), strconv.Itoa(len(text)))
	case !utf8.ValidString(text):
		c.add(at, "no text", "UTF-8", "other bytes")
	}
}

func (c *checker) used(name string) bool {
	return slices.ContainsFunc(c.p.Rules, func(r Rule) bool { return r.Args.Template == name })
}

// order checks what holds between rules.
func (c *checker) order() {
	seen := map[string]int{}
	for i, r := range c.p.Rules {
		if first, ok := seen[r.Name]; ok {
			c.at(i, r)
			c.add("name", "repeated name", "one that no other rule has", fmt.Sprintf("the name of rules[%d]", first))
			continue
		}
		seen[r.Name] = i
		for j := range i {
			c.pair(j, i)
		}
	}
}

// pair checks rule j against the earlier rule i. A final Step is the last thing
// that happens at a moment; and of two rules that do the same, the one that does
// not wait has the higher threshold, else the other never matters where rules wait.
func (c *checker) pair(i, j int) {
	a, b := c.p.Rules[i], c.p.Rules[j]
	if a.At != b.At {
		return
	}
	spec, ok := specOf(b.Do)
	if a.Do == DoFinal && ok && spec.waits && (a.When == Condition{} || a.When.Measure == b.When.Measure) {
		c.at(j, b)
		c.add("do", "acts after the final Step is forced", fmt.Sprintf("it before rule %q", a.Name), strconv.Quote(string(b.Do)))
	}
	if a.Do != b.Do || a.Forced == b.Forced {
		return
	}
	waiting, forced := a, b
	if a.Forced {
		waiting, forced = b, a
	}
	if order, ok := waiting.When.compare(forced.When); ok && order > 0 {
		c.at(j, b)
		c.add("when", "contradicting thresholds where a rule waits", fmt.Sprintf("the forced rule %q at or above rule %q", forced.Name, waiting.Name), "it below")
	}
}

// compare orders two thresholds of one measure and base. It reports false if
// which one is lower depends on the window.
func (c Condition) compare(o Condition) (int, bool) {
	if c.Measure != o.Measure || c.Of != o.Of || c.Min != o.Min || c.Max != o.Max || (c.Permille == 0) != (o.Permille == 0) {
		return 0, false
	}
	return cmp.Or(
		cmp.Compare(c.Permille, o.Permille),
		cmp.Compare(c.Value, o.Value),
		cmp.Compare(len(o.Op), len(c.Op)), // ">=" holds earlier than ">"
	), true
}
