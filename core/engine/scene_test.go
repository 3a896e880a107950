package engine_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// What a scene says: the results in testdata.

func (s *scene) blob(args []string) error {
	for ref, data := range s.h.blobs {
		if s.named(string(ref)) == args[0] {
			s.lines(string(data))
			return nil
		}
	}
	return broken("nothing is stored under %s", args[0])
}

// lines says the first lines of a text.
func (s *scene) lines(text string) {
	const most = 6
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return l == "" })
	for i, line := range lines {
		if i == most {
			s.say("… %d lines in all", len(lines))
			return
		}
		s.say("%s", long(s.named(line)))
	}
}

// show says what stands in the view, in full: message args[0], or all that edits put in.
func (s *scene) show(args []string) error {
	v := s.h.m.View()
	for _, sec := range v.Sections {
		if args[0] == "sections" {
			s.lines(sec.Text)
		}
	}
	for _, it := range v.Items {
		if it.IsNote() && args[0] != "notes" || !it.IsNote() && int(it.Message.ID) != number(args, 0) {
			continue
		}
		for _, text := range textsOf(it.Message) {
			s.lines(text)
		}
	}
	return nil
}

// question says what the oldest ask without an answer wants to know, and of what.
func (s *scene) question() error {
	if len(s.h.asks) == 0 {
		return broken("nobody asked")
	}
	a := s.h.asks[0]
	for _, m := range a.Messages {
		for _, l := range viewLines(edit.View{Items: []edit.Item{{Message: m, Before: m.ID}}}) {
			s.say("%s", l)
		}
	}
	s.lines(a.Prompt)
	return nil
}

// long cuts a line of an archive.
func long(line string) string {
	const most = 260
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}

// ready writes a Ready.
func (s *scene) ready(r engine.Ready, failed string) {
	for _, b := range r.Blobs {
		s.say("blob %s, %d bytes", b.Ref, len(b.Data))
	}
	if failed != "" {
		s.say("! %s", failed)
		return
	}
	s.records(r.Records)
	if a := r.Ask; a != nil {
		how := "the call waits"
		if a.Background {
			how = "in the background"
		}
		s.say("ask %d by %s about messages %d to %d (%d messages, %d bytes of an earlier summary), %s",
			a.ID, a.Rule, a.Span.From, a.Span.To-1, len(a.Messages), len(a.Previous), how)
	}
	if r.Refused != nil {
		s.say("refused: %v", r.Refused)
	}
	if r.Send != nil {
		s.send(r.Send)
	}
	if r.Grant != "" {
		s.say("grant %s", r.Grant)
	}
	for _, e := range r.Edits {
		s.edit(e)
	}
	for _, e := range r.Events {
		s.say("event %s: %s", e.Kind, e.Text)
	}
}

// records lists what is written, but messages, of which every append has one.
func (s *scene) records(records []journal.Record) {
	var kinds []string
	for _, r := range records {
		kind := string(r.Kind)
		if r.Kind == journal.KindEdit {
			kind = fmt.Sprintf("edit %d", r.Edit.ID)
		}
		if r.Kind != journal.KindMessage && r.Kind != journal.KindState {
			kinds = append(kinds, kind)
		}
	}
	if len(kinds) > 0 {
		s.say("records %s", strings.Join(kinds, ", "))
	}
}

func (s *scene) send(d *engine.Send) {
	about := []string{fmt.Sprintf("send %d to %s: %d tokens, at most %d of %d, %s; policy counts %d; %d messages",
		d.Seq, d.Target.Model, d.Count.Point, d.Count.Bound, d.Limit, d.Count.Kind, s.h.m.Gauge(), len(d.Items))}
	if d.Verdict.Decision != budget.OK || len(d.Verdict.Entries) > 1 {
		about = append(about, "verdict "+d.Verdict.Decision.String())
	}
	if d.Final != engine.ReasonNone {
		var names []string
		for _, t := range d.Tools {
			names = append(names, t.Name)
		}
		about = append(about, fmt.Sprintf("final (%s) with tools [%s]", d.Final, strings.Join(names, " ")))
	}
	for text, ok := range map[string]bool{"still over": d.StillOver} {
		if ok {
			about = append(about, text)
		}
	}
	if d.DropBrokenThinking {
		about = append(about, "drop broken thinking")
	}
	if !d.Edited {
		about = append(about, "unedited")
	}
	s.say("%s", strings.Join(about, ", "))
}

func (s *scene) edit(e edit.Edit) {
	what := fmt.Sprintf("of %d.%d", e.Span.From, e.Part)
	switch e.Op {
	case edit.Archive:
		what = fmt.Sprintf("of %d-%d", e.Span.From, e.Span.To-1)
	case edit.Insert:
		what = fmt.Sprintf("before %d", e.Span.From)
	}
	s.say("edit %d %s %s %s by %s: %d to %d tokens, %s", e.ID, e.Op, e.Kind, what, e.Rule, e.Before, e.After, e.Why)
}

// named writes the refs of outputs and archives as <c1> and <2-5>.
func (s *scene) named(text string) string {
	if s.h == nil {
		return text
	}
	var pairs []string
	for _, e := range s.h.m.Journal() {
		if e.Op == edit.Archive {
			pairs = append(pairs, string(e.Refs[0]), fmt.Sprintf("<%d-%d>", e.Span.From, e.Span.To-1))
		}
	}
	for _, m := range s.h.m.Messages() {
		for _, r := range m.Results() {
			ref := llm.RefOf(edit.Stored(r))
			if stub, ok := edit.StubOf(r); ok {
				ref = stub.Ref
			}
			pairs = append(pairs, string(ref), "<"+r.CallID+">")
		}
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
