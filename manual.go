package plimsoll

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plimsoll-dev/plimsoll/builtin"
	"github.com/plimsoll-dev/plimsoll/core/deferral"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A CompactResult is what a compaction did, in the terms of the document that has it.
type CompactResult struct {
	BeforeTokens, AfterTokens     int      // of the view, by the count
	BeforeMsgCount, AfterMsgCount int      // messages of the view, notes included
	StrategiesRun                 []string // the means that made the view smaller, each once, in their order: the kinds of their edits
	Why                           string   // why nothing was done, or no summary is among it; empty: neither
}

// ForceCompact is [Session.Compact] with nothing to be kept above all.
func (s *Session) ForceCompact(ctx context.Context) (CompactResult, error) {
	c, err := s.Compact(ctx, "")
	return c.Result(), err
}

// Result returns c in figures.
func (c Compaction) Result() CompactResult {
	r := CompactResult{
		BeforeTokens: c.Before.Point, AfterTokens: c.After.Point,
		BeforeMsgCount: c.MessagesBefore, AfterMsgCount: c.MessagesAfter, Why: c.Why,
	}
	for _, e := range c.Edits {
		if kind := string(e.Kind); e.Before > e.After && !slices.Contains(r.StrategiesRun, kind) {
			r.StrategiesRun = append(r.StrategiesRun, kind)
		}
	}
	return r
}

// String says what was done in a sentence, for a person and for a model.
func (r CompactResult) String() string {
	if len(r.StrategiesRun) == 0 {
		if r.Why == "" {
			return "Nothing was compacted."
		}
		return "Nothing was compacted: " + r.Why + "."
	}
	text := fmt.Sprintf("Compacted from %s to %s tokens (%d%% less), from %d to %d messages, by %s.",
		grouped(r.BeforeTokens), grouped(r.AfterTokens), percentLess(r.BeforeTokens, r.AfterTokens),
		r.BeforeMsgCount, r.AfterMsgCount, strings.Join(r.StrategiesRun, ", "))
	if r.Why != "" {
		text += " There is no summary among it: " + r.Why + "."
	}
	return text
}

func percentLess(before, after int) int {
	if before <= 0 {
		return 0
	}
	return (before - after) * 100 / before
}

// grouped writes a number with separators of thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// compactCommand is what a person types to have a conversation compacted.
const compactCommand = "/compact"

// ParseCompact reports whether what a person typed asks for a compaction, as in "/compact" and
// "/compact the failing test", and returns what is to be kept above all. Such a text is for
// [Session.Compact], and is not appended.
func ParseCompact(typed string) (focus string, ok bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(typed), compactCommand)
	if !ok || rest != "" && !strings.ContainsAny(rest[:1], " \t\n") {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

// ownContents are what the tools of a session read from, which can make room in it, too.
type ownContents struct {
	contents
	s *Session
}

var (
	_ builtin.Compacter = ownContents{}
	_ builtin.Finder    = ownContents{}
)

// Compact implements builtin.Compacter.
func (o ownContents) Compact(ctx context.Context) (string, error) {
	r, err := o.s.ForceCompact(ctx)
	return r.String(), err
}

// FindTools implements builtin.Finder.
func (o ownContents) FindTools(query string, limit int) []llm.Tool {
	out := o.s.LeftOut()
	var found []llm.Tool
	for _, at := range deferral.NewIndex(out).Search(query, limit) {
		found = append(found, out[at])
	}
	return found
}

// OfferTools implements builtin.Finder.
func (o ownContents) OfferTools(ctx context.Context, names []string) error {
	if o.s.declares() { // the answer itself loads them
		return nil
	}
	return o.s.OfferTools(ctx, names...)
}
