package reports

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/cmd/plimsoll/internal/console"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/internal/rows"
	"github.com/plimsoll-dev/plimsoll/replay"
)

// PolicyOff is the preset that is there for comparison only.
const PolicyOff = rows.Off

// windowName is a window in a sentence.
func windowName(window string) string { return console.Safe(rows.Window(window)) }

// runName is a run in a sentence.
func runName(r replay.Run) string { return console.Safe(r.Policy) + " at " + windowName(r.Window) }

// runNotes returns what there is to say about one run.
func runNotes(r replay.Run, steps int) []string {
	var out []string
	if r.EndedAtStep > 0 {
		out = append(out, fmt.Sprintf("ended at step %d of %d: %s", r.EndedAtStep, max(steps, r.EndedAtStep), console.Safe(engine.Reason(r.EndReason).Sentence())))
	}
	if r.StillOver > 0 {
		out = append(out, engine.StillOverText+": its last call was sent all the same")
	}
	if len(r.Irreducible) > 0 {
		out = append(out, irreducible(r.Irreducible))
	}
	if r.BackstopEdits > 0 {
		out = append(out, "the last resort below all policies acted: "+console.Plural(r.BackstopEdits, "edit"))
	}
	if r.Orphans > 0 {
		out = append(out, console.Plural(r.Orphans, "call or result")+" without the other")
	}
	if n := len(r.RuleBreaks); n > 0 {
		first := r.RuleBreaks[0]
		out = append(out, fmt.Sprintf("%s of the provider's rules, the first at call %d: %s", console.Plural(n, "break"), first.Step, console.Safe(first.Message)))
	}
	if n := r.UnresolvedRefs + r.Uncovered; n > 0 {
		out = append(out, console.Plural(n, "removed part")+" that cannot be read back")
	}
	if r.Note != "" {
		out = append(out, console.Safe(r.Note))
	}
	return out
}

// irreducible says of the first of some calls why it could not be sent.
func irreducible(list []replay.Irreducible) string {
	first := list[0]
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(first.Parts)) {
		if n := first.Parts[name]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", strings.ReplaceAll(console.Safe(name), "_", " "), edit.Thousands(n)))
		}
	}
	text := fmt.Sprintf("step %d cannot go below %s tokens (%s)", first.Step, edit.Thousands(first.Floor), strings.Join(parts, ", "))
	if len(list) > 1 {
		text += fmt.Sprintf("; %d more are like it", len(list)-1)
	}
	return text
}
