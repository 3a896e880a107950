package formats

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"

	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

// TestScenarios reads the session file of each scenario and compares what was
// read, written by show, with what the scenario wants.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no scenarios found: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/"), ".txt")
		t.Run(name, func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if len(archive.Files) != 2 || archive.Files[1].Name != "want" {
				t.Fatalf("want the files session.jsonl and want, got %d files", len(archive.Files))
			}
			in := archive.Files[0]
			s, err := Read(in.Name, bytes.NewReader(in.Data))
			got := ""
			if err != nil {
				got = "error: " + withoutKnown(err.Error()) + "\n"
			} else {
				got = show(s)
				checkSession(t, s)
			}
			if diff := cmp.Diff(strings.Split(string(archive.Files[1].Data), "\n"), strings.Split(got, "\n")); diff != "" {
				t.Errorf("read differs (-want +got):\n%s", diff)
			}
		})
	}
}

// withoutKnown leaves the list of formats out of an error: it grows.
func withoutKnown(text string) string {
	before, rest, listed := strings.Cut(text, "want one of ")
	_, after, _ := strings.Cut(rest, ", got ")
	if !listed {
		return text
	}
	return before + "want one of …, got " + after
}

// checkSession checks what holds for every session: in every segment calls and
// results fit together, only the last Round has open calls, and problems are named.
func checkSession(t *testing.T, s *sessionfile.Session) {
	t.Helper()
	for i, segment := range s.Segments {
		var x turn.Index
		for _, e := range segment.Entries {
			if len(e.Message.Parts) == 0 && !segment.Final { // a request body may hold one
				t.Errorf("segment %d, line %d: a message without parts", i, e.Line)
			}
			if err := x.Append(e.Message); err != nil {
				t.Errorf("segment %d, line %d: %v", i, e.Line, err)
			}
		}
		for _, c := range x.OpenCalls() {
			for _, e := range segment.Entries[c.Position+1:] {
				if e.Message.Role == llm.RoleAssistant || e.Message.Origin == llm.Human {
					t.Errorf("segment %d: call %q at %d has no result although line %d goes on", i, c.CallID, c.Position, e.Line)
				}
			}
		}
	}
	for _, p := range s.Problems {
		if p.What == "" || p.File != s.Path || p.Line < 0 {
			t.Errorf("problem %+v does not say what or where", p)
		}
	}
}

// show writes a session for people to read.
func show(s *sessionfile.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s", s.Format, s.ID)
	if s.Parent != "" {
		fmt.Fprintf(&b, " parent %s", s.Parent)
		if s.Kin != "" {
			fmt.Fprintf(&b, " (%s)", s.Kin)
		}
	}
	fmt.Fprintf(&b, " by %s %s\n", s.Client, s.ClientVersion)
	for _, segment := range s.Segments {
		showSegment(&b, segment)
	}
	for _, a := range s.Abandoned {
		fmt.Fprintf(&b, "branch %d-%d, %d messages: %s\n", a.First, a.Last, a.Messages, a.Why)
	}
	for _, stated := range s.Stated {
		fmt.Fprintf(&b, "stated %d: %s of segments %d-%d", stated.Line, stated.What, stated.From, stated.To)
		if stated.ToStep > 0 {
			fmt.Fprintf(&b, ", steps %d-%d", stated.FromStep, stated.ToStep)
		}
		if stated.Model != "" {
			fmt.Fprintf(&b, ", %s", stated.Model)
		}
		b.WriteString(":")
		for _, f := range stated.Figures {
			fmt.Fprintf(&b, " %s %d", f.Name, f.Value)
			if f.Round > 1 {
				fmt.Fprintf(&b, "/%d", f.Round)
			}
		}
		b.WriteString("\n")
	}
	for _, d := range s.Check() {
		fmt.Fprintf(&b, "difference %s\n", d)
	}
	for _, p := range s.Problems {
		what, _, cut := strings.Cut(p.What, ", skipped: ")
		if cut {
			what += ", skipped: …" // the decoder's words are its own
		}
		fmt.Fprintf(&b, "problem %d: %s\n", p.Line, what)
	}
	return b.String()
}

func showSegment(b *strings.Builder, segment sessionfile.Segment) {
	fmt.Fprintf(b, "segment %s", segment.Start)
	if segment.Name != "" {
		fmt.Fprintf(b, " of %s", segment.Name)
	}
	if segment.Window > 0 {
		fmt.Fprintf(b, ", window %d", segment.Window)
	}
	if segment.Final {
		b.WriteString(", final")
	}
	if segment.Cut > 0 {
		fmt.Fprintf(b, ", cut at %d", segment.Cut)
	}
	if segment.NotRun != "" {
		fmt.Fprintf(b, ", not run: %s", segment.NotRun)
	}
	b.WriteString("\n")
	for _, section := range segment.Sections {
		fmt.Fprintf(b, "  section %s %q\n", section.Name, section.Text)
	}
	for _, tool := range segment.Tools {
		fmt.Fprintf(b, "  tool %s\n", tool.Name)
	}
	for _, e := range segment.Entries {
		m := e.Message
		fmt.Fprintf(b, "  %d %s/%s", e.Line, m.Role, m.Origin)
		for i, flag := range []string{"summary", "rules", "synthetic", "interrupted"} {
			if m.Flags.Has(1 << i) {
				b.WriteString(" " + flag)
			}
		}
		b.WriteString(":")
		for _, p := range m.Parts {
			if r, ok := p.(llm.ToolResult); ok && m.Flags.Has(llm.FlagInterrupted) {
				fmt.Fprintf(b, " stated(%s)", r.CallID)
				continue
			}
			b.WriteString(" " + showPart(p))
		}
		b.WriteString("\n")
		if e.Step != nil {
			showStep(b, *e.Step)
		}
	}
	for _, f := range segment.Failures {
		fmt.Fprintf(b, "  failed %d after %d: %s\n", f.Line, f.After, showFailure(f))
	}
}

// showFailure writes what a file says about a call that came to nothing.
func showFailure(f sessionfile.Failure) string {
	switch {
	case f.Stopped:
		return fmt.Sprintf("stopped: %q", f.Error.Message)
	case f.Limit:
		return fmt.Sprintf("limit: %q", f.Error.Message)
	}
	text := f.Error.Class.String()
	if f.Error.Status > 0 {
		text += fmt.Sprintf(" (%d)", f.Error.Status)
	}
	if f.Error.Used > 0 || f.Error.Window > 0 {
		text += fmt.Sprintf(" %d of %d", f.Error.Used, f.Error.Window)
	}
	return text + fmt.Sprintf(": %q", f.Error.Message)
}

func showStep(b *strings.Builder, s sessionfile.Step) {
	fmt.Fprintf(b, "    step %s", s.Model)
	if s.Effort != "" {
		fmt.Fprintf(b, "/%s", s.Effort)
	}
	u := s.Usage
	fmt.Fprintf(b, " in %d, read %d, written %d+%d, out %d", u.Input, u.CacheRead, u.CacheWrite5m, u.CacheWrite1h, u.Output)
	if u.Reasoning > 0 {
		fmt.Fprintf(b, " (%d reasoning)", u.Reasoning)
	}
	if s.Cost > 0 {
		fmt.Fprintf(b, ", cost %d", s.Cost)
	}
	for _, v := range []struct{ name, text string }{{"message", s.MessageID}, {"request", s.RequestID}, {"copied from", s.Copied}} {
		if v.text != "" {
			fmt.Fprintf(b, ", %s %s", v.name, v.text)
		}
	}
	if s.Unpriced != "" {
		fmt.Fprintf(b, ", no list price: %s", s.Unpriced)
	}
	switch {
	case s.OutputReported:
		b.WriteString(", reported\n")
	case s.Reported:
		b.WriteString(", prompt reported\n")
	case s.ClientCount:
		b.WriteString(", the client's count\n")
	default:
		b.WriteString(", not reported\n")
	}
}

func showPart(p llm.Part) string {
	switch p := p.(type) {
	case llm.Text:
		return fmt.Sprintf("%q", p.Text)
	case llm.Thinking:
		return fmt.Sprintf("thinking(%q)", p.Text)
	case llm.ToolCall:
		if p.Hosted {
			return fmt.Sprintf("hosted(%s %s)", p.CallID, p.Name)
		}
		return fmt.Sprintf("call(%s %s %s)", p.CallID, p.Name, p.Args)
	case llm.ToolResult:
		var b strings.Builder
		fmt.Fprintf(&b, "result(%s", p.CallID)
		if p.IsError {
			b.WriteString(" error")
		}
		for _, c := range p.Content {
			b.WriteString(" " + showPart(c))
		}
		return b.String() + ")"
	case llm.Media:
		return "media(" + p.Type + ")"
	case llm.Opaque:
		return "opaque(" + p.Kind + ")"
	}
	return fmt.Sprintf("%T", p)
}
