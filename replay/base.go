package replay

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// A Base says what a replay looks at.
type Base string

// The bases.
const (
	// BaseFull is what a client pays for: system prompt, tools, thinking, overhead, by the
	// count and the model's own prices.
	BaseFull Base = "full"
	// BaseMessages is the messages alone, without thinking, by a fixed estimator, so that
	// policies can be compared with what was published of others.
	BaseMessages Base = "messages"
)

// Bases returns all bases.
func Bases() []Base { return []Base{BaseFull, BaseMessages} }

// messagesEstimator counts in [BaseMessages].
const messagesEstimator = "chars/4"

// measureMessages looks at the messages of a segment alone, number n of its session.
func (r *Replayer) measureMessages(s *sessionfile.Session, seg sessionfile.Segment, n int) (*raw, error) {
	c, err := token.NewCounter(messagesEstimator, nil)
	if err != nil {
		return nil, fmt.Errorf("replay: base %s: %w", BaseMessages, err)
	}
	seg = messagesOf(seg)
	out := &raw{
		session: s.Path, id: s.ID, number: n, dialect: s.Dialect, segment: seg, model: r.about().ModelOf(seg), notRun: seg.NotRun,
		overhead: Overhead{Kind: inspect.None}, counter: c, exactly: messagesEstimator,
	}
	if out.dialect == "" {
		out.dialect = openai.DialectChat
	}
	tokens := 0
	step := func(s *sessionfile.Step) {
		out.steps = append(out.steps, rawStep{
			MeasuredCall: inspect.MeasuredCall{Step: s, Tokens: tokens, Kind: token.Estimated.String()},
			cal:          token.NewCalibration(r.catalog.FamilyOf(s.Model)), model: s.Model, copied: s.Copied != "",
		})
		out.peak = max(out.peak, tokens)
	}
	for _, e := range seg.Entries {
		if e.Step != nil {
			step(e.Step)
		}
		size := token.ContentsOf(c, e.Message, false)
		out.contents, out.counted = append(out.contents, size), append(out.counted, size.Total())
		tokens += size.Total()
	}
	if seg.Final {
		step(&sessionfile.Step{Model: out.model})
	}
	out.window = out.peak
	return out, nil
}

// messagesOf returns a segment of messages alone: no system prompt, no tools, no thinking,
// of an image or of thinking alone one word, and no usage, which is of more than that.
func messagesOf(seg sessionfile.Segment) sessionfile.Segment {
	apart := len(seg.Sections) > 0 // so that what comes first among the messages is no system prompt
	seg.Sections, seg.Tools = nil, nil
	entries := make([]sessionfile.Entry, len(seg.Entries))
	for i, e := range seg.Entries {
		e.Message = wordsOf(e.Message)
		if apart && e.Message.Role == llm.RoleSystem {
			e.Message.Role = llm.RoleUser
		}
		if e.Step != nil {
			step := *e.Step
			step.Usage, step.Reported, step.OutputReported = llm.Usage{}, false, false
			e.Step = &step
		}
		entries[i] = e
	}
	seg.Entries = entries
	return seg
}

// wordsOf returns what a message says in words.
func wordsOf(m llm.Message) llm.Message {
	parts := make([]llm.Part, 0, len(m.Parts))
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Thinking:
			continue
		case llm.Media:
			parts = append(parts, llm.Text{Text: "image"})
			continue
		case llm.ToolResult:
			parts = append(parts, worded(p))
			continue
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 { // a message says something
		parts = append(parts, llm.Text{Text: "thinking"})
	}
	return m.WithParts(parts)
}

// worded returns an output as one text, with a word for each image; one without images as it is.
func worded(r llm.ToolResult) llm.ToolResult {
	if !slices.ContainsFunc(r.Content, func(p llm.Part) bool { _, is := p.(llm.Media); return is }) {
		return r
	}
	texts := make([]string, 0, len(r.Content))
	for _, p := range r.Content {
		switch p := p.(type) {
		case llm.Media:
			texts = append(texts, "image")
		case llm.Text:
			texts = append(texts, p.Text)
		}
	}
	r.Content, r.Raw = []llm.Part{llm.Text{Text: strings.Join(texts, "\n")}}, llm.Raw{} // written anew, as what takes its place is
	return r
}
