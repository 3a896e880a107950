package loop

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/token"
)

// The allocation of a prompt, in tokens. The document's rows are goal, summary, raw
// iterations and instructions; what it does not list has small shares of its own. The
// sum is 43,500, so that a prompt is always below the document's 50,000.
const (
	goalTokens         = 1000
	summaryTokens      = 2000
	memoryTokens       = 1000
	earlierTokens      = 4000
	recentTokens       = 30_000
	iterationTokens    = 6000
	stateTokens        = 500
	messageTokens      = 4000
	recoveryTokens     = 500
	instructionsTokens = 500
)

// A layout collects the sections of a prompt.
type layout struct {
	counter  token.Counter
	sections []Section
}

// add puts a section behind the others, cut to at most so many tokens with its heading.
func (l *layout) add(name, heading, body string, most int) {
	text := fit(heading+"\n"+body, most, l.counter)
	l.sections = append(l.sections, Section{name, text, l.counter.Text(text)})
}

// prompt returns the sections as one text.
func (l *layout) prompt() *Prompt {
	texts := make([]string, len(l.sections))
	for i, s := range l.sections {
		texts[i] = s.Text
	}
	text := strings.Join(texts, "\n\n")
	return &Prompt{Text: text, Tokens: l.counter.Text(text), Sections: l.sections}
}

// writePrompt returns the next iteration's prompt, and how many messages it shows.
func writePrompt(s *state, c Config) (*Prompt, int) {
	l := layout{counter: c.Counter}
	l.add("goal", "# Goal", s.Context.Task.Goal, goalTokens)
	if c.Memory && len(s.Known) > 0 {
		l.add("memory", "# Memory of This Workspace", known(s.Known), memoryTokens)
	}
	if s.Context.Summary != "" {
		l.add("summary", fmt.Sprintf("# Progress Summary (iterations 1-%d)", s.Context.Folded()), s.Context.Summary, summaryTokens)
	}
	if r := s.Recalled; c.Recall && r != nil && len(r.Passages) > 0 {
		l.add("earlier", earlierHeading, earlier(r.Passages), earlierTokens)
	}
	if len(s.Context.Iterations) > 0 {
		l.add("recent", recentHeading, recent(s.Context.Iterations, c), recentTokens)
	}
	l.add("state", "# Current State", fmt.Sprintf("- Total iterations: %d\n- Current CLI: %s", s.Context.TotalIterations, s.Context.CurrentCLI), stateTokens)
	shown := 0
	if len(s.Messages) > 0 {
		body := ""
		body, shown = messages(s.Messages, c.Counter)
		l.add("messages", messagesHeading, body, messageTokens)
	}
	if s.Counters.Stuck >= c.StuckAfter {
		l.add("recovery", "# Recovery", recovery(s.Counters.Recovery), recoveryTokens)
	}
	l.add("instructions", "# Instructions", instructions(c), instructionsTokens)
	return l.prompt(), shown
}

const (
	earlierHeading  = "# Passages of Earlier Iterations"
	recentHeading   = "# Recent Iterations"
	messagesHeading = "# Messages"
)

// instructions are the document's, word for word, with the promise that ends this loop.
func instructions(c Config) string {
	text := "Continue working toward the goal. Output:\n" +
		"- `<progress>" + placeholder + "</progress>` for progress\n"
	if c.Memory {
		text += "- `<remember>" + lasting + "</remember>` for what later tasks in this workspace need to know\n"
	}
	return text + "- `<promise>" + c.Promise + "</promise>` when goal is fully achieved"
}

// known lists what is known of the workspace.
func known(list []Memo) string {
	lines := make([]string, len(list))
	for i, m := range list {
		lines[i] = "- " + m.Text
		if m.Source != "" {
			lines[i] += " (" + m.Source + ")"
		}
	}
	return strings.Join(lines, "\n")
}

// earlier shows passages of older iterations, the best first.
func earlier(list []Passage) string {
	texts := make([]string, len(list))
	for i, p := range list {
		texts[i] = fmt.Sprintf("## From iteration %d\n%s", p.Iteration, p.Text)
	}
	return strings.Join(texts, "\n\n")
}

// recent shows all raw iterations, each within the same share.
func recent(list []IterationContext, cfg Config) string {
	c := cfg.Counter
	most := recentTokens - c.Text(recentHeading+"\n")
	// A counter may give the whole a little more than its pieces.
	for share := min(iterationTokens, most/len(list)); share > 0; share = share * 9 / 10 {
		pieces := make([]string, len(list))
		for i, it := range list {
			text := fmt.Sprintf("## Iteration %d\n%s", it.Number, it.shown())
			if cfg.BySense {
				text = bySense(text, func(text string) bool { return c.Text(text) < share })
			}
			pieces[i] = fit(text, share-1, c) // 1: the blank line
		}
		if text := strings.Join(pieces, "\n\n"); c.Text(text) <= most {
			return text
		}
	}
	return ""
}

// shown returns what a prompt says of an iteration: its output, behind what went wrong.
func (it IterationContext) shown() string {
	var notes []string
	if it.Interrupted {
		notes = append(notes, "(interrupted)")
	}
	if it.Fault != "" {
		notes = append(notes, "("+it.Fault+")")
	}
	if blank(it.Output) {
		return strings.Join(append(notes, "(no output)"), "\n")
	}
	return strings.Join(append(notes, it.Output), "\n")
}

// messages returns the first messages that have room, and how many: at least one, which
// is cut if it must be.
func messages(list []Message, c token.Counter) (text string, shown int) {
	most := messageTokens - c.Text(messagesHeading+"\n")
	text = list[0].Text
	for shown = 1; shown < len(list); shown++ {
		more := text + "\n\n" + list[shown].Text
		if c.Text(more) > most {
			break
		}
		text = more
	}
	return text, shown
}
