package web

import (
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
)

// WriteLoop writes a page about a loop to w. It needs no script. The error is that of w.
func WriteLoop(w io.Writer, l Loop, o Options) error {
	if o.Redact {
		l = redactedLoop(l)
	}
	p := &loopPage{sheet: sheet{Kind: "loop", Title: "Loop " + clean(l.ID)}, Lead: clean(l.State), Facts: loopFacts(l), Chart: charted(l.Iterations)}
	p.set(o)
	if !o.Redact {
		p.Goal = lines(l.Goal)
		for _, s := range slices.Backward(l.Summaries) {
			p.Summaries = append(p.Summaries, loopSummary{count(s.Iteration), clean(s.Model), lines(s.Text), clean(s.Failed)})
			if p.Newest == nil && s.Failed == "" {
				newest := p.Summaries[len(p.Summaries)-1]
				p.Newest = &newest
			}
		}
	}
	p.Tables = loopTables(l)
	if err := p.load([]string{"page.css", "chart.css", "said.css", "loop.css"}); err != nil {
		return err
	}
	t, err := template.ParseFS(assets, "assets/page.html", "assets/loop.html")
	if err != nil {
		return fmt.Errorf("web: template: %w", err)
	}
	if err := t.ExecuteTemplate(w, "loop.html", p); err != nil {
		return fmt.Errorf("web: write page: %w", err)
	}
	return nil
}

// A loopPage is what the template gets.
type loopPage struct {
	sheet
	Lead, Goal string
	Facts      []fact
	Chart      *loopChart // nil: nothing was done
	Newest     *loopSummary
	Summaries  []loopSummary // the newest first
	Tables     []table
}

// A loopSummary is one that unfolds.
type loopSummary struct{ Iteration, Model, Text, Failed string }

// mostLines bounds a text of several lines, in bytes.
const mostLines = 1 << 20

// lines makes a foreign text of several lines fit to be shown as it stands.
func lines(s string) string {
	var b strings.Builder
	for line := range strings.Lines(s[:min(len(s), mostLines)]) {
		for len(line) > maxText { // a line is cleaned in pieces, so that none is cut
			cut := maxText / 4
			for cut > 0 && line[cut]&0xC0 == 0x80 {
				cut--
			}
			b.WriteString(clean(strings.TrimRight(line[:max(cut, 1)], "\n")))
			line = line[max(cut, 1):]
		}
		b.WriteString(clean(strings.TrimRight(line, "\r\n")) + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

// redactedLoop returns what has no text, name or path of the loop.
func redactedLoop(l Loop) Loop {
	out := Loop{Resumed: l.Resumed, Folded: l.Folded, State: "Texts, names and paths were left out."}
	agents := map[string]string{}
	name := func(agent string) string {
		if agents[agent] == "" {
			agents[agent] = fmt.Sprintf("agent %d", len(agents)+1)
		}
		return agents[agent]
	}
	for _, a := range l.Agents {
		out.Agents = append(out.Agents, name(a))
	}
	for _, it := range l.Iterations {
		it.Agent = name(it.Agent)
		it.Sections = slices.Clone(it.Sections)
		for i, s := range it.Sections {
			if sectionClass(s.Name) == otherSection {
				it.Sections[i].Name = other
			}
		}
		it.Files, it.Marks = make([]string, len(it.Files)), make([]string, len(it.Marks))
		if it.Fault != "" {
			it.Fault = "a fault"
		}
		out.Iterations = append(out.Iterations, it)
	}
	for i, s := range l.Spent {
		s.What = fmt.Sprintf("models %d", i+1)
		out.Spent = append(out.Spent, s)
	}
	out.Summaries = make([]LoopSummary, 0, len(l.Summaries))
	for _, s := range l.Summaries {
		if s.Failed != "" {
			s.Failed = "a fault"
		}
		out.Summaries = append(out.Summaries, LoopSummary{Iteration: s.Iteration, Failed: s.Failed})
	}
	out.Messages = make([]string, len(l.Messages))
	return out
}

func loopFacts(l Loop) []fact {
	var largest, marks, interrupted, faults, spent int
	var took int64
	for _, it := range l.Iterations {
		largest, marks, took = max(largest, it.Prompt), marks+len(it.Marks), took+it.Milliseconds
		if it.Interrupted {
			interrupted++
		} else if it.Fault != "" {
			faults++
		}
	}
	cost := catalog.Dollars(0)
	for _, s := range l.Spent {
		spent += s.Input + s.Output
		cost = cost.Add(s.Cost)
	}
	facts := []fact{
		{"Iterations", count(len(l.Iterations)), fmt.Sprintf("%s interrupted, %s with a fault; resumed %s times", count(interrupted), count(faults), count(l.Resumed))},
		{"Time", (time.Duration(took) * time.Millisecond).Round(time.Second).String(), "of its agents: " + clean(strings.Join(l.Agents, ", "))},
		{"Largest prompt", count(largest), "tokens, of 50,000 at most"},
		{"Progress", count(marks), "marks of progress"},
		{"Summary", count(l.Folded), "iterations in it, written " + count(len(l.Summaries)) + " times"},
	}
	if len(l.Spent) > 0 {
		facts = append(facts, fact{"Models", cost.String(), count(spent) + " tokens"})
	}
	return facts
}

func loopTables(l Loop) []table {
	var rows, spent [][]cell
	for _, it := range l.Iterations {
		what := text(strings.Join(it.Marks, "; "))
		if it.Fault != "" {
			what = cell{Text: clean(it.Fault), Mark: "bad"}
		}
		if it.Interrupted {
			what = cell{Text: strings.TrimSuffix("interrupted: "+clean(it.Fault), ": "), Mark: "bad"}
		}
		row := []cell{number(it.Number), text(it.Agent), {Text: decimals(it.Score)}, number(int(it.Milliseconds / 1000)), number(it.Prompt)}
		for _, class := range sectionClasses {
			row = append(row, number(it.section(class)))
		}
		row = append(row, number(int(it.Output)), number(len(it.Files)))
		if len(l.Spent) > 0 {
			row = append(row, number(it.In), number(it.Out), cell{Text: it.Cost.String()})
		}
		rows = append(rows, append(row, what))
	}
	head := slices.Concat(numbers("Iteration"), words("Agent"), numbers("Score", "Seconds", "Prompt"), numbers(sectionClasses...), numbers("Output bytes", "Files"))
	if len(l.Spent) > 0 {
		head = append(head, numbers("Tokens in", "Tokens out", "Cost")...)
	}
	tables := []table{{Title: "Iterations", Open: true, Bodies: []body{{Rows: rows}}, Head: append(head, words("What")...), Note: "Tokens of a prompt by section."}}
	for _, s := range l.Spent {
		spent = append(spent, []cell{text(s.What), number(s.Calls), number(s.Input), number(s.CacheRead), number(s.Output), {Text: s.Cost.String()}})
	}
	if len(spent) > 0 {
		tables = append(tables, table{
			Title: "Models", Open: true, Bodies: []body{{Rows: spent}}, Note: "By list prices.",
			Head: slices.Concat(words("What"), numbers("Calls", "Tokens in", "From a cache", "Tokens out", "Cost")),
		})
	}
	var told [][]cell
	for i, m := range l.Messages {
		told = append(told, []cell{number(i + 1), text(m)})
	}
	if len(told) > 0 {
		tables = append(tables, table{Title: "Messages", Bodies: []body{{Rows: told}}, Head: slices.Concat(numbers("Number"), words("Text"))})
	}
	return tables
}

// decimals writes permille as a number with three places.
func decimals(permille int) string { return fmt.Sprintf("%d.%03d", permille/1000, permille%1000) }
