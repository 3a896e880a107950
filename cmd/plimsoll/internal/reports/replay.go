package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// Segment writes one segment with a row for each run.
func Segment(res replay.Result, width int) string {
	w := &replayWriter{console.NewWriter(width)}
	w.heading(res)
	w.file(res)
	if res.NotRun != "" {
		w.Para(w.Style.Plain, "not run: "+console.Safe(res.NotRun))
		return w.String() + agentsText(res, width)
	}
	w.Para(w.Style.Dim, facts(res))
	if a := res.Accepted; a != nil {
		w.Para(w.Style.Bad, acceptedText(*a, strconv.Itoa(a.Step)))
	}
	if len(res.Runs) > 0 {
		w.WriteString(tableText(rows.Runs(res.Runs), width, ""))
	}
	for _, l := range res.LeftOut {
		w.Para(w.Style.Dim, fmt.Sprintf("not run at %s: %s", windowName(l.Window), console.Safe(l.Why)))
	}
	w.notes(res)
	return w.String() + commonText(res.Runs, width) + batchesText(res.Runs, width) + groundingText(res.Runs, width) + agentsText(res, width)
}

// agentsText says what a session took together with its sub-agents, behind its last segment.
func agentsText(res replay.Result, width int) string {
	if res.WithAgents == nil {
		return ""
	}
	w := console.NewWriter(width)
	w.Para(w.Style.Plain, fmt.Sprintf("the session with its %s: %s; the policies were run without them", console.Plural(len(res.Agents), "sub-agent"), familyText(*res.WithAgents)))
	return w.String()
}

// A replayWriter writes what was replayed of one segment.
type replayWriter struct{ *console.Writer }

func (w *replayWriter) heading(res replay.Result) {
	name := w.Style.Head.Render(w.Named(res.Session))
	if res.Steps == 0 && res.Messages == 0 {
		w.WriteString(name + "\n")
		return
	}
	if strings.HasSuffix(res.Format, "-request") {
		w.WriteString(name + "  a single request\n")
		w.Para(w.Style.Plain, fmt.Sprintf("%s, %s", modelName(res.Model), console.Plural(res.Messages, "message")))
		return
	}
	fmt.Fprintf(&w.Builder, "%s  segment %d\n", name, res.Segment)
	w.Para(w.Style.Plain, fmt.Sprintf("%s; %s, %s, %s", startOf(res.Start), modelName(res.Model), console.Plural(res.Steps, "step"), console.Plural(res.Messages, "message")))
}

// startOf says in words where a segment starts.
func startOf(start string) string {
	switch sessionfile.Start(start) {
	case sessionfile.StartRoot:
		return "from its beginning"
	case sessionfile.StartCompaction:
		return "after a compaction"
	case sessionfile.StartMicrocompaction:
		return "after old outputs were cleared"
	case sessionfile.StartRollback:
		return "after something was taken back"
	case sessionfile.StartResumed:
		return "from somewhere in the middle"
	}
	return console.Safe(start)
}

// file writes what is known about the file beside its messages.
func (w *replayWriter) file(res replay.Result) {
	if res.Parent != "" {
		w.Para(w.Style.Dim, kinOf(res.Parent, res.Kin, res.Copied > 0))
	}
	if res.Copied > 0 {
		w.Para(w.Style.Dim, console.Plural(res.Copied, "step")+" copied from another session: they are in no sum")
	}
	if text := leftText(res.Abandoned); text != "" {
		w.Para(w.Style.Dim, text)
	}
	w.List(lines(rows.Branches(res.Abandoned), noPart))
	w.List(lines(rows.RunProblems(res), ""))
}

// facts says what the figures stand on.
func facts(res replay.Result) string {
	if res.Base == replay.BaseMessages {
		return "messages alone, by chars/4: no system prompt, tools, thinking or overhead"
	}
	text := fmt.Sprintf("overhead %s tokens (%s)", edit.Thousands(res.Overhead.Tokens), res.Overhead.Kind)
	if n := res.Overhead.Unrecorded; n > 0 {
		text += fmt.Sprintf(" and %s unrecorded", edit.Thousands(n))
	}
	if res.Reported.Peak > 0 {
		text = fmt.Sprintf("reported peak %s, %s", edit.Thousands(res.Reported.Peak), text)
	}
	if e := res.Estimate; e.Pairs > 0 {
		text += fmt.Sprintf("; next prompt predicted to %s (median), %s (p95)", console.PPM(e.P50PPM), console.PPM(e.P95PPM))
	}
	return text
}

// notes writes what a row has no room for. Runs of which the same is to be said
// share a line.
func (w *replayWriter) notes(res replay.Result) {
	var texts []string
	who := map[string][]string{}
	for _, r := range rows.ByWindow(res.Runs) {
		for _, text := range runNotes(r, res.Steps) {
			if who[text] == nil {
				texts = append(texts, text)
			}
			who[text] = append(who[text], runName(r))
		}
	}
	for _, text := range texts {
		w.Para(w.Style.Dim, strings.Join(who[text], ", ")+": "+text)
	}
	if windowGuessed(res) {
		text := fmt.Sprintf("the window of %s is not known, %s tokens are assumed; state it with --window", console.Safe(res.Model), edit.Thousands(budget.DefaultCapacity))
		if res.Model == noModel {
			text = fmt.Sprintf("no model is named, a window of %s tokens is assumed; state one with --model or --window", edit.Thousands(budget.DefaultCapacity))
		}
		w.Para(w.Style.Bad, text)
	}
	if text := billingNote(res); text != "" {
		w.Para(w.Style.Dim, text)
	}
}

// windowGuessed reports whether the model's own window was asked for and nobody
// knows it.
func windowGuessed(res replay.Result) bool {
	return res.WindowGuessed && slices.ContainsFunc(res.Runs, func(r replay.Run) bool {
		return r.Window == replay.WindowSpec{}.String() && r.Capacity == budget.DefaultCapacity
	})
}

// commonText judges all policies by one limit, for windows on which their own
// limits differ.
func commonText(runs []replay.Run, width int) string {
	w := console.NewWriter(width)
	over, said := map[string]bool{}, map[string]bool{}
	for _, r := range runs {
		over[r.Window] = over[r.Window] || r.OverCommon > 0
	}
	differs := func(window string) bool {
		return slices.ContainsFunc(runs, func(o replay.Run) bool { return o.Window == window && o.Limit != o.CommonLimit })
	}
	for _, r := range rows.ByWindow(runs) {
		if differs(r.Window) && !over[r.Window] && !said[r.Window] {
			w.Para(w.Style.Dim, fmt.Sprintf("at %s no policy is over the lowest of their limits, %s", windowName(r.Window), edit.Thousands(r.CommonLimit)))
			said[r.Window] = true
		}
	}
	if text := tableText(rows.OneLimit(runs, func(window string) bool { return differs(window) && over[window] }), width, ""); text != "" {
		w.WriteString("\n" + text)
	}
	return w.String()
}
