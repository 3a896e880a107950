package advice

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// A subject is what findings are about.
type subject struct {
	inspect.Report
	re *Replayed
}

// A measured is a figure with what is said about it. The zero value is that there is nothing.
type measured struct {
	figure int64
	tokens int
	cost   catalog.Money
	values map[string]string
}

// weight orders findings: a dollar weighs as much as a million tokens.
func (m measured) weight() int64 {
	const picoPerToken = 1_000_000
	if m.cost.Known {
		return m.cost.Pico
	}
	return int64(m.tokens) * picoPerToken
}

var measures = map[Measure]func(subject) measured{
	RefusedLength: subject.refusedLength, RefusedElse: subject.refusedElse, Full: subject.full, Fits: subject.fits, Saving: subject.saving,
	OneTool: subject.oneTool, WholeFiles: subject.wholeFiles, Again: subject.again, Lapsed: subject.lapsed, Changed: subject.changed,
	ColdCut: subject.coldCut, HiddenPart: subject.hiddenPart, Pictures: subject.pictures,
}

// values are those that every rule may name.
func (s subject) values() map[string]string {
	c, ok := clients[s.Client]
	switch {
	case slices.Contains(runners, s.Client):
		c = runner
	case !ok:
		c = anyClient
	}
	name := s.Client
	if name == "" {
		name = "the client"
	}
	v := map[string]string{"client": name, "resume": c.resume, "compact": c.compact, "own": c.own, "id": s.ID, "path": Quoted(s.Session), "policy": "balanced"}
	if c.command != "" {
		v["goon"] = c.command
	}
	if last, ok := s.last(); ok {
		v["step"] = strconv.Itoa(last.Number)
	}
	return v
}

// Quoted returns a path as a shell takes it, for commands that are to be pasted.
func Quoted(name string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+:@%,", r) || r > 127
	}
	if name != "" && strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) < 0 && (name[0] != '-' || name == "-") {
		return name
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// last returns the last Step of the session and, where that is known, its window.
func (s subject) last() (inspect.Step, bool) {
	for i := len(s.Segments) - 1; i >= 0; i-- {
		if steps := s.Segments[i].Steps; len(steps) > 0 {
			return steps[len(steps)-1], true
		}
	}
	return inspect.Step{}, false
}

// window returns that of the last segment.
func (s subject) window() int {
	if n := len(s.Segments); n > 0 {
		return s.Segments[n-1].Window
	}
	return 0
}

func (s subject) tooLong() bool {
	f := s.End.Failed
	return s.End.How == inspect.EndRefused && f != nil && (f.Class == wire.TooLong.String() || f.Class == wire.TooLarge.String())
}

func (s subject) refusedLength() measured {
	if !s.tooLong() {
		return measured{}
	}
	figures := ""
	if s.End.Tokens > 0 && s.End.Window > 0 {
		figures = fmt.Sprintf(": %s tokens of %s", edit.Thousands(s.End.Tokens), edit.Thousands(s.End.Window))
		if s.End.Kind != inspect.Reported {
			figures += " (" + s.End.Kind + "; the client keeps some room for the reply)"
		}
	}
	return measured{figure: 1, tokens: s.End.Tokens, values: map[string]string{"call": strconv.Itoa(s.End.Call), "figures": figures}}
}

// waits are what helps before the same call is made again, by the class of the error.
var waits = map[string]string{
	wire.RateLimited.String(): "wait until the limit is lifted", wire.Overloaded.String(): "wait a little", wire.Timeout.String(): "wait a little",
	wire.ServerFault.String(): "wait a little", wire.Billing.String(): "settle the account", wire.Auth.String(): "sign in again",
}

func (s subject) refusedElse() measured {
	if s.End.How != inspect.EndRefused || s.End.Failed == nil || s.tooLong() {
		return measured{}
	}
	wait, ok := waits[s.End.Failed.Class]
	if !ok {
		return measured{} // nothing is known that helps
	}
	again := ""
	if slices.Contains(runners, s.Client) {
		again = ": run it again"
	}
	return measured{figure: 1, values: map[string]string{"class": s.End.Failed.Class, "wait": wait, "again": again}}
}

func (s subject) full() measured {
	last, ok := s.last()
	if !ok || s.window() == 0 || last.Refused != nil || last.Tokens > s.window() {
		return measured{}
	}
	steps := s.Segments[len(s.Segments)-1].Own()
	if len(steps) < 2 {
		return measured{}
	}
	from := steps[max(0, len(steps)-recent)]
	grown := (last.Tokens - from.Tokens) / max(1, len(steps[max(0, len(steps)-recent):])-1)
	if grown <= 0 {
		return measured{}
	}
	left := (s.window() - last.Tokens) / grown
	return measured{figure: permille(last.Tokens, s.window()), tokens: last.Tokens, values: map[string]string{
		"share": percent(last.Tokens, s.window()), "window": edit.Thousands(s.window()), "left": plural(left, "call"),
	}}
}

// recent is by how many calls the rate is measured at which a context fills.
const recent = 10

// fits is measured where the policy would have made another request of what was refused: one
// that it finds to be within its limit it sends as it is.
func (s subject) fits() measured {
	if !s.tooLong() || s.re == nil || !s.re.Sent || !s.explained() || s.End.Tokens <= s.re.Limit {
		return measured{}
	}
	return measured{figure: 1, tokens: s.re.Peak, values: map[string]string{
		"policy": s.re.Policy, "peak": edit.Thousands(s.re.Peak), "limit": edit.Thousands(s.re.Limit),
	}}
}

// explained reports whether the file has what made the prompt as long as it was refused for:
// else a policy would have been sent that, too.
func (s subject) explained() bool {
	last, ok := s.last()
	if !ok {
		return false
	}
	hidden := s.Segments[len(s.Segments)-1].Hidden
	return permille(last.By["hidden"]-hidden.Tokens-hidden.Unrecorded, last.Tokens) <= 50
}

func (s subject) saving() measured {
	if s.re == nil || !s.re.Sent || !s.re.Paid.Known || !s.re.CostUSD.Known || s.re.Paid.Pico <= 0 {
		return measured{}
	}
	less := s.re.Paid.Pico - s.re.CostUSD.Pico
	if less < leastWorth {
		return measured{}
	}
	return measured{figure: int64(float64(less) * 1000 / float64(s.re.Paid.Pico)), cost: catalog.Dollars(less), values: map[string]string{
		"policy": s.re.Policy, "cost": s.re.CostUSD.String(), "paid": s.re.Paid.String(),
	}}
}

// leastWorth is the least money that a finding is about, in picodollars: ten cents.
const leastWorth = 100_000_000_000

func (s subject) oneTool() measured {
	if len(s.Tools) == 0 || s.Totals.Tokens < leastTokens {
		return measured{}
	}
	t := s.Tools[0]
	m := measured{figure: permille(t.Carried, s.Totals.Tokens), tokens: t.Carried, cost: t.CostUSD, values: map[string]string{
		"share": percent(t.Carried, s.Totals.Tokens), "tool": t.Tool, "outputs": plural(t.Outputs, "output"),
		"cost": edit.Thousands(t.Carried) + " tokens", "narrow": "fewer files, fewer lines",
	}}
	if t.CostUSD.Known {
		m.values["cost"] = t.CostUSD.String()
	}
	if t.Tool == "" || t.CostUSD.Known && t.CostUSD.Pico < leastFile || !t.CostUSD.Known && t.Carried < leastTokens*5 {
		return measured{}
	}
	return m
}

// leastTokens is the size of a session, in tokens of all its prompts, from which on shares of
// it are worth a word.
const leastTokens = 100_000

// readers are the tools that show a file, by their names in lower case.
var readers = map[string]bool{"read": true, "read_file": true, "readfile": true, "fs_read": true, "view": true, "open_file": true, "view_file": true}

// partly are arguments of these by which a part of a file is asked for.
var partly = []string{`"offset"`, `"limit"`, `"start_line"`, `"end_line"`, `"line_start"`, `"view_range"`, `"start"`, `"lines"`, `"ranges"`}

func (s subject) wholeFiles() measured {
	var files []inspect.Output
	for _, o := range s.Largest {
		if !readers[strings.ToLower(o.Tool)] || containsAny(o.Arguments, partly) || !o.CostUSD.Known || o.CostUSD.Pico < leastFile || nameIn(o.Arguments) == "" {
			continue
		}
		files = append(files, o)
	}
	if len(files) == 0 {
		return measured{}
	}
	m := measured{cost: catalog.Dollars(0)}
	var names []string
	files = files[:min(len(files), 3)]
	steps, n := 0, len(files)
	for _, o := range files {
		m.cost, m.tokens, steps = m.cost.Add(o.CostUSD), m.tokens+o.Carried, steps+o.Steps
		if name := nameIn(o.Arguments); !slices.Contains(names, name) {
			names = append(names, name)
		}
		m.figure = max(m.figure, o.CostUSD.Pico/1_000_000_000)
	}
	each := catalog.Dollars(m.cost.Pico / int64(n)).String()
	if n > 1 {
		each += " each"
	}
	m.values = map[string]string{
		"files": plural(n, "output"), "each": each, "steps": plural(steps/n, "step"), "names": strings.Join(names, ", "),
	}
	return m
}

// leastFile is the least that an output is worth a word for, in picodollars: 25 cents.
const leastFile = 250_000_000_000

// nameIn returns the last element of the path in the arguments of a call.
func nameIn(args string) string {
	for _, key := range []string{`"file_path":`, `"path":`, `"filePath":`, `"absolute_path":`, `"filename":`} {
		if _, rest, ok := strings.Cut(args, key); ok {
			if parts := strings.SplitN(rest, `"`, 3); len(parts) == 3 {
				return path.Base(strings.ReplaceAll(parts[1], `\\`, "/"))
			}
		}
	}
	return ""
}

func (s subject) again() measured {
	carried := 0
	cost := catalog.Dollars(0)
	for _, p := range s.Repeated {
		carried += p.Carried
		if p.CostUSD.Known {
			cost = cost.Add(p.CostUSD)
		}
	}
	if carried == 0 || s.Totals.Tokens < leastTokens {
		return measured{}
	}
	top := s.Repeated[0]
	m := measured{figure: permille(carried, s.Totals.Tokens), tokens: carried, cost: cost, values: map[string]string{
		"share": percent(carried, s.Totals.Tokens), "tool": top.Tool, "line": strconv.Itoa(top.Line), "earlier": strconv.Itoa(top.Earlier.Line), "cost": "",
	}}
	if cost.Pico > 0 {
		m.values["cost"] = ", " + cost.String()
	}
	return m
}

func (s subject) lapsed() measured { return s.breaks(inspect.CauseLapsed) }

// changed is measured only where the provider promises to keep what is marked: elsewhere a
// prefix may go at any time.
func (s subject) changed() measured { return s.breaks(inspect.CauseHidden) }

// breaks measures the breaks of one cause by what they cost of all.
func (s subject) breaks(cause string) measured {
	for _, c := range s.Causes {
		if c.Cause != cause || cause == inspect.CauseHidden && c.Kept == 0 || !c.CostUSD.Known || !s.Totals.CostUSD.Known || s.Totals.CostUSD.Pico <= 0 || c.CostUSD.Pico < leastWorth {
			continue
		}
		return measured{
			figure: int64(float64(c.CostUSD.Pico) * 1000 / float64(s.Totals.CostUSD.Pico)), tokens: c.Lost, cost: c.CostUSD,
			values: map[string]string{"times": times(c.Breaks), "tokens": edit.Thousands(c.Lost), "cost": c.CostUSD.String()},
		}
	}
	return measured{}
}

func (s subject) coldCut() measured {
	var worst *inspect.Cut
	for i := range s.Cuts {
		c := &s.Cuts[i]
		if c.ColdUSD != nil && c.ColdUSD.Known && (worst == nil || c.ColdUSD.Pico > worst.ColdUSD.Pico) {
			worst = c
		}
	}
	if worst == nil || worst.Segment < 2 || worst.Segment > len(s.Segments) {
		return measured{}
	}
	window := s.Segments[worst.Segment-2].Window
	if window == 0 {
		return measured{}
	}
	return measured{figure: worst.ColdUSD.Pico / 1_000_000_000, tokens: worst.Before, cost: *worst.ColdUSD, values: map[string]string{
		"share": percent(worst.Before, window), "late": span(worst.Cold), "cost": worst.ColdUSD.String(),
	}}
}

func (s subject) hiddenPart() measured {
	n := len(s.Segments)
	if n == 0 || s.window() == 0 || s.Segments[0].Hidden.Kind != inspect.Measured || s.Segments[0].Start != string(sessionfile.StartRoot) || len(s.Segments[0].Own()) < 2 {
		return measured{}
	}
	tokens := s.Segments[0].Hidden.Tokens
	for _, g := range s.Segments { // it is not the same in all of them
		if g.Hidden.Kind == inspect.Measured && len(g.Own()) > 0 {
			tokens = min(tokens, g.Hidden.Tokens)
		}
	}
	return measured{figure: permille(tokens, s.window()), tokens: tokens * s.Totals.Steps, values: map[string]string{
		"tokens": edit.Thousands(tokens), "share": percent(tokens, s.window()),
	}}
}

// leastPictures is how many tokens images and files take that are worth a word.
const leastPictures = 2_000

func (s subject) pictures() measured {
	last, ok := s.last()
	if !ok || last.Tokens == 0 {
		return measured{}
	}
	n := last.By["media"]
	if n < leastPictures {
		return measured{}
	}
	return measured{figure: permille(n, last.Tokens), tokens: n, values: map[string]string{
		"share": percent(n, last.Tokens), "tokens": edit.Thousands(n),
	}}
}
