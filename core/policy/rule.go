package policy

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// at makes rule i the one whose fields are meant.
func (c *checker) at(i int, r Rule) {
	c.rules, c.name = fmt.Sprintf("rules[%d].", i), r.Name
}

// rule checks one rule by itself.
func (c *checker) rule(i int, r Rule) {
	c.at(i, r)
	if !isName(r.Name) {
		c.add("name", "no name", nameForm, strconv.Quote(r.Name))
	}
	moment := c.known("at", "moment", string(r.At), knownMoments)
	if moment {
		c.condition(r)
	}
	spec, ok := specOf(r.Do)
	if !ok {
		c.known("do", "action", string(r.Do), actionNames())
		return
	}
	if moment && !slices.Contains(spec.at, r.At) {
		c.add("do", fmt.Sprintf("%s does nothing at %s", r.Do, r.At), "it at "+oneOf(words(spec.at)), strconv.Quote(string(r.At)))
	}
	if r.Forced && !spec.waits {
		c.add("forced", fmt.Sprintf("%s never waits", r.Do), "false", "true")
	}
	if r.Do == DoPreview && (c.p.Economy.Horizon == 0 || r.Forced) {
		c.add("do", "acts only where it pays, and nobody reckons", "economy.horizon, and a rule that is not forced", strconv.Quote(string(r.Do)))
	}
	c.args(r, spec)
	c.template(r, spec)
	c.until(r, spec)
	c.lowWater(r)
}

// condition checks the threshold of a rule.
func (c *checker) condition(r Rule) {
	w := r.When
	if w == (Condition{}) {
		return
	}
	if !isMeasure(w.Measure) {
		all := append(measuredAt(AtTool), MeasureUsage)
		c.known("when.measure", "measure", string(w.Measure), words(all))
		return
	}
	if at := measuredAt(r.At); !slices.Contains(at, w.Measure) {
		c.add("when.measure", fmt.Sprintf("%s has no value at %s", w.Measure, r.At), oneOf(words(at)), strconv.Quote(string(w.Measure)))
	}
	c.known("when.op", "operator", w.Op, knownOps)
	c.between("when.value", w.Value, 0, mostFigure)
	c.between("when.min", w.Min, 0, mostFigure)
	c.between("when.max", w.Max, 0, mostFigure)
	if w.Measure == MeasureGuard {
		c.verdict(w)
		return
	}
	c.share(w)
}

// verdict checks a condition on the guard: 1 is "skip", 2 is "final".
func (c *checker) verdict(w Condition) {
	if w.Op != ">=" || w.Value < 1 || w.Value > 2 {
		c.add("when", "no verdict", ">= 1 (skip) or >= 2 (final)", fmt.Sprintf("%s %d", w.Op, w.Value))
	}
	c.onlyValue(w)
}

// onlyValue checks that nothing of a share is set.
func (c *checker) onlyValue(w Condition) {
	if w.Permille != 0 || w.Of != "" || w.Min != 0 || w.Max != 0 {
		c.add("when", fmt.Sprintf("share of a window for %s", w.Measure), "a value", fmt.Sprintf("%d permille of %q", w.Permille, w.Of))
	}
}

// share checks that a condition has a value or a share, and not both.
func (c *checker) share(w Condition) {
	switch {
	case w.Permille == 0 && w.Value == 0:
		c.add("when", "no threshold", "value or permille", "neither")
	case w.Permille != 0 && w.Value != 0:
		c.add("when", "two thresholds", "value or permille", fmt.Sprintf("%d and %d permille", w.Value, w.Permille))
	case w.Permille == 0, w.Measure.Unit() != UnitTokens:
		c.onlyValue(w)
	default:
		c.between("when.permille", w.Permille, 1, 1000)
		c.known("when.of", "base", string(w.Of), knownBases)
		if w.Max != 0 && w.Min > w.Max {
			c.add("when.min", "above max", fmt.Sprintf("at most %d", w.Max), strconv.Itoa(w.Min))
		}
	}
}

// args checks that a rule gives its action what it reads and nothing else.
func (c *checker) args(r Rule, spec actionSpec) {
	set := r.Args.set()
	for _, name := range set {
		if !slices.Contains(spec.args, name) {
			c.unknown("args."+name, fmt.Sprintf("not read by %s", r.Do), name, spec.args)
		}
	}
	needed := func(name string) bool { return slices.Contains(set, name) }
	if len(spec.required) > 0 && !slices.ContainsFunc(spec.required, needed) {
		c.add("args", fmt.Sprintf("%s says not what to do", r.Do), oneOf(spec.required), "none")
	}
	a := r.Args
	for _, n := range []struct {
		name  string
		value int
		most  int
	}{
		{"lines", a.Lines, mostFigure},
		{"chars", a.Chars, mostFigure},
		{"line_length", a.LineLength, mostFigure},
		{"bytes", a.Bytes, mostFigure},
		{"permille", a.Permille, 1000},
		{"to", a.To, 999},
		{"min", a.Min, mostFigure},
		{"max_tokens", a.MaxTokens, mostFigure},
		{"tokens", a.Tokens, mostFigure},
	} {
		c.between("args."+n.name, n.value, 0, n.most)
	}
	c.tail("args.keep", a.Keep)
	c.show(r)
	if a.Background && (r.Forced || r.At == AtRejected) {
		c.add("args.background", "a call waits for this summary", "false, or a rule that is neither forced nor at rejected", "true")
	}
}

// show checks what a cap keeps, and where a note stands.
func (c *checker) show(r Rule) {
	a, forms := r.Args, knownShows
	if r.Do == DoNote {
		forms = []string{ShowSection}
	}
	if a.Show == "" || !c.known("args.show", "form", a.Show, forms) || a.Show != ShowEnds {
		return
	}
	if a.Lines != 0 {
		c.add("args.lines", "not read by show ends", "bytes or permille", strconv.Itoa(a.Lines))
	}
	if a.Bytes == 0 && a.Permille == 0 {
		c.add("args.show", "ends of no bounded length", "bytes or permille beside it", "neither")
	}
}

// template checks the texts that a rule shows.
func (c *checker) template(r Rule, spec actionSpec) {
	if r.Do == DoProvider { // which has words of its own
		c.asked(r)
		return
	}
	if r.Do == DoDemote {
		for _, t := range demoteTexts {
			c.text("do", t.name, actionSpec{action: DoDemote, texts: t.texts, ref: refAlways})
		}
		c.oneLine("do", TemplateTrim)
		return
	}
	if r.Args.Template == "" {
		c.add("args.template", "no text", "the name of one of the policy's templates", `""`)
		return
	}
	c.text("args.template", r.Args.Template, spec)
	if r.Do == DoTrim {
		c.oneLine("args.template", r.Args.Template)
	}
	if r.Do == DoSummarise && r.Args.Retain {
		c.text("args.retain", TemplateRetain, actionSpec{action: DoSummarise, texts: spec.texts})
	}
}

// asked checks what a provider is asked for, and from where on.
func (c *checker) asked(r Rule) {
	if !r.When.Always() {
		c.add("when", "what a provider is asked it is asked with every request", "no condition; args.permille or args.tokens says from where on", string(r.When.Measure))
	}
	a, what := r.Args, r.Asks()
	if !c.known("args.what", "thing to ask for", what, knownAsked) {
		return
	}
	for _, other := range c.p.Rules {
		if other.Asks() == what && other.Name != r.Name {
			c.add("args.what", fmt.Sprintf("rule %s asks for it, too", other.Name), "one rule for each", strconv.Quote(what))
			break
		}
	}
	from := a.Permille != 0 || a.Tokens != 0
	switch {
	case a.Permille != 0 && a.Tokens != 0:
		c.add("args", "two sizes from where on a provider acts", "permille or tokens", fmt.Sprintf("%d and %d permille", a.Tokens, a.Permille))
	case what == ProviderThinking && from:
		c.add("args", "thinking is left out whatever the size of the prompt", "keep alone", "permille or tokens")
	case what != ProviderThinking && !from:
		c.add("args", fmt.Sprintf("%s says not what to do", r.Do), "permille or tokens", "none")
	}
	if a.To != 0 && what != ProviderOutputs {
		c.add("args.to", fmt.Sprintf("not read where what is %s", what), "0", strconv.Itoa(a.To))
	}
	if a.Keep != (Tail{}) && what == ProviderCompact {
		c.add("args.keep", fmt.Sprintf("not read where what is %s", what), "none", fmt.Sprintf("%d %s", a.Keep.N, a.Keep.Unit))
	}
}

// text checks that the policy has the text called name, and that an action can
// fill it.
func (c *checker) text(at, name string, spec actionSpec) {
	if _, ok := c.p.Templates[name+PlainSuffix]; ok && len(ToolsIn(c.p.Templates[name])) > 0 {
		c.text(at, name+PlainSuffix, spec)
	}
	t, ok := c.p.Templates[name]
	if !ok {
		have := slices.Sorted(mapKeys(c.p.Templates))
		c.unknown(at, "no such text in templates", name, have)
		return
	}
	used := placeholders(t)
	for _, ph := range used {
		if slices.Contains(knownPlaceholders, ph) && !slices.Contains(spec.texts, ph) {
			c.add(at, fmt.Sprintf("templates.%s has a placeholder that %s does not fill", name, spec.action), oneOf(spec.texts), strconv.Quote("{"+ph+"}"))
		}
	}
	needs := spec.ref == refAlways || spec.ref == refOwnWords && c.p.Source == ""
	if needs && !slices.Contains(used, "ref") {
		c.add(at, fmt.Sprintf("templates.%s does not say where the content is stored", name), "{ref} in it", strconv.Quote(short([]byte(t))))
	}
}

// oneLine checks the text of an output that is not shown at all any more: by its
// one line it is told from a preview, which may still be trimmed.
func (c *checker) oneLine(at, name string) {
	if t := c.p.Templates[name] + c.p.Templates[name+PlainSuffix]; strings.Contains(t, "\n") {
		c.add(at, fmt.Sprintf("templates.%s has several lines", name), "one line", strconv.Quote(short([]byte(t))))
	}
}

// until checks that an action which goes on until its measure holds has one.
func (c *checker) until(r Rule, spec actionSpec) {
	if spec.measures == nil || slices.Contains(spec.measures, r.When.Measure) {
		return
	}
	if r.When != (Condition{}) && !isMeasure(r.When.Measure) {
		return // reported by condition
	}
	got := strconv.Quote(string(r.When.Measure))
	c.add("when.measure", fmt.Sprintf("%s does not know when to stop", r.Do), oneOf(words(spec.measures)), got)
}

// lowWater checks that a batch or compaction ends below what starts it (law 7).
func (c *checker) lowWater(r Rule) {
	compaction := slices.Contains([]Action{DoDemote, DoSummarise, DoTruncate, DoDropTurns}, r.Do)
	if r.Do == DoDemote && c.p.LowWater == 0 {
		c.add("do", "a batch without a low-water mark", "low_water above 0", "0")
		return
	}
	whole := c.p.Window.Buffer == 0 && !c.p.Window.ReserveOutput // then the limit is the capacity
	comparable := r.When.Of == OfLimit || r.When.Of == OfCapacity && whole
	if !compaction || !comparable || r.When.Permille == 0 || r.When.Measure != MeasureView {
		return
	}
	low := c.p.LowWater
	if r.Do == DoDemote {
		low = max(low, c.p.FirstBatch)
		low += c.p.References.Permille // the note comes on top
	}
	if r.When.Permille <= low {
		c.add("when.permille", "trigger not above the low-water mark (law 7)", fmt.Sprintf("more than %d", low), strconv.Itoa(r.When.Permille))
	}
}

// knownPlaceholders are those of core/edit's Fill.
var knownPlaceholders = []string{
	"ref", "source", "tool", "bytes", "bytes,", "lines", "tokens", "text", "preview", "n", "used",
}

// placeholders returns what stands in braces in a text: one word of lower-case
// letters, digits and _, perhaps with a comma after it. Other braces are plain text.
func placeholders(text string) []string {
	var out []string
	for {
		_, rest, ok := strings.Cut(text, "{")
		if !ok {
			return out
		}
		text = rest
		if word, _, ok := strings.Cut(rest, "}"); ok && isPlaceholder(word) {
			out = append(out, word)
		}
	}
}

func isPlaceholder(word string) bool {
	word = strings.TrimSuffix(word, ",")
	for i := range len(word) {
		if ch := word[i]; (ch < 'a' || ch > 'z') && (ch < '0' || ch > '9') && ch != '_' {
			return false
		}
	}
	return word != "" && (word[0] < '0' || word[0] > '9')
}

func mapKeys(m map[string]string) iter.Seq[string] { return maps.Keys(m) }

// estimatorForm says what is wrong with the form of an estimator's name, or "".
func estimatorForm(s string) string {
	const longest = 200
	if s == "" {
		return "no estimator"
	}
	if len(s) > longest || !utf8Printable(s) {
		return "no estimator's name"
	}
	rest, ok := estimator(s)
	if !ok || rest != "" {
		return "unbalanced max(a,b)"
	}
	return ""
}

// estimator reads one name, or max(a,b), from the beginning of s.
func estimator(s string) (rest string, ok bool) {
	if inner, isMax := strings.CutPrefix(s, "max("); isMax {
		if inner, ok = estimator(inner); !ok || !strings.HasPrefix(inner, ",") {
			return s, false
		}
		if inner, ok = estimator(strings.TrimLeft(inner[1:], " ")); !ok || !strings.HasPrefix(inner, ")") {
			return s, false
		}
		return inner[1:], true
	}
	end := strings.IndexAny(s, "(),")
	if end < 0 {
		end = len(s)
	}
	return s[end:], strings.TrimSpace(s[:end]) != ""
}

// utf8Printable reports whether s has no control characters and no invalid bytes.
func utf8Printable(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f || r == '\uFFFD' })
}
