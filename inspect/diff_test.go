package inspect_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/inspect"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
)

func TestStepNames(t *testing.T) {
	l := newLog()
	for range 3 {
		l.human("Go.")
		l.reply(cached(0, 10_000), text("Gone."))
	}
	l.segment(sessionfile.StartResumed)
	l.segment(sessionfile.StartRollback, l.s.Segments[0].Entries[:2]...)
	l.human("Stay.")
	l.reply(cached(0, 10_000), text("Staid."))
	if ref, err := inspect.StepAt(&l.s, 4); err != nil || ref.Name() != "3.1" {
		t.Errorf("the fourth step: want 3.1, got %v, %v", ref, err)
	}
	if ref, ok := inspect.Before(&l.s, inspect.StepRef{Segment: 3, Step: 1}); !ok || ref.Name() != "1.3" {
		t.Errorf("before 3.1: want 1.3, got %v", ref)
	}
	if ref, ok := inspect.Before(&l.s, inspect.StepRef{Segment: 1, Step: 1}); ok {
		t.Errorf("before the first: want none, got %v", ref)
	}
	for _, n := range []int{-1, 0, 5} {
		if _, err := inspect.StepAt(&l.s, n); err == nil {
			t.Errorf("step %d: want an error", n)
		}
	}
	for _, ref := range []inspect.StepRef{{}, {Segment: 1, Step: 4}, {Segment: 2, Step: 1}, {Segment: 4, Step: 1}, {Segment: -1, Step: 1}, {Segment: 1, Step: -1}} {
		_, err := inspect.Contents(&l.s, ref, withShip(t))
		var no *inspect.NoStepError
		if !errors.As(err, &no) || no.Ref != ref {
			t.Errorf("contents of %v: want a NoStepError, got %v", ref, err)
		}
	}
}

func TestContents(t *testing.T) {
	l := newLog()
	l.human("Read \x1b[31mthe log.")
	l.reply(cached(0, 10_000), llm.Thinking{Text: "Hm.", Signature: "sig"}, call("c1", "read", `{"path":"log"}`))
	long := "first\n\n" + strings.Repeat("line ", 100)
	l.result("c1", long)
	l.reply(cached(10_000, 400), text("Read."))
	got, err := inspect.Contents(&l.s, inspect.StepRef{Segment: 1, Step: 2}, withShip(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 4 || got.Tokens != 10_400 || got.Items[0].What != inspect.ItemHidden {
		t.Fatalf("want what is hidden and three messages of 10,400 tokens, got %+v", got)
	}
	human, reply, result := got.Items[1], got.Items[2], got.Items[3]
	if p := human.Parts[0]; human.Message != 1 || human.Index != 2 || human.Origin != "human" || human.Line != 1 || p.Preview != `Read \u001b[31mthe log.` || p.Text != "Read \x1b[31mthe log." {
		t.Errorf("want the first message with its escape shown, got %+v", human)
	}
	if len(reply.Parts) != 2 || reply.Parts[0].Kind != "thinking" || reply.Parts[1].Name != "read" || reply.Parts[1].CallID != "c1" {
		t.Errorf("want thinking and a call, got %+v", reply.Parts)
	}
	p := result.Parts[0]
	if p.Kind != "result" || p.Name != "read" || p.Text != long || p.Ref != string(llm.RefOf([]byte(long))) {
		t.Errorf("want the whole output under the Ref of its text, got %+v", p)
	}
	if n := len([]rune(p.Preview)); n != 120 || !strings.HasPrefix(p.Preview, "first line line") || !strings.HasSuffix(p.Preview, "…") {
		t.Errorf("want one line of 120 characters, got %d: %q", n, p.Preview)
	}
}

func TestCompare(t *testing.T) {
	l := newLog()
	l.human("Read the log.")
	l.reply(cached(0, 10_000), call("c1", "read", "{}"))
	l.result("c1", strings.Repeat("a line of the log\n", 50))
	l.reply(cached(10_000, 400), text("Read."))
	kept := slices.Clone(l.seg.Entries)
	kept[2].Message.Parts = []llm.Part{llm.ToolResult{CallID: "c1", Content: []llm.Part{text("[cleared]")}}}
	l.segment(sessionfile.StartMicrocompaction, kept[1:]...)
	l.human("And now?")
	l.reply(cached(9_000, 1_100), text("Nothing."))
	at := func(segment, step int) inspect.StepRef { return inspect.StepRef{Segment: segment, Step: step} }
	compare := func(a, b inspect.StepRef) inspect.Diff {
		t.Helper()
		d, err := inspect.Compare(&l.s, a, b, withShip(t))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	lines := func(items []inspect.Item) string {
		var out []string
		for _, it := range items {
			out = append(out, fmt.Sprint(it.Line))
		}
		return strings.Join(out, " ")
	}
	d := compare(at(1, 1), at(1, 2))
	if d.Prefix != 1 || d.Same != 1 || lines(d.Added) != "2 3" || len(d.Removed)+len(d.Changed) != 0 || d.A.Tokens != 10_000 || d.B.Tokens != 10_400 {
		t.Errorf("1.1 to 1.2: want lines 2 and 3 added, got %+v", d)
	}
	d = compare(at(1, 2), at(2, 1))
	if lines(d.Removed) != "1" || lines(d.Added) != "4 5" || len(d.Changed) != 1 || d.Changed[0].Before.Line != 3 || d.Prefix != 0 || d.Same != 1 {
		t.Errorf("1.2 to 2.1: want line 1 removed, 4 and 5 added, 3 changed, got %+v", d)
	}
	if c := d.Changed[0]; c.Before.Tokens <= c.After.Tokens || c.After.Parts[0].Text != "[cleared]" {
		t.Errorf("1.2 to 2.1: want the cleared output to be smaller, got %+v", c)
	}
	d = compare(at(1, 2), at(1, 1))
	if lines(d.Removed) != "2 3" || len(d.Added) != 0 {
		t.Errorf("1.2 to 1.1: want lines 2 and 3 removed, got %+v", d)
	}
	if _, err := inspect.Compare(&l.s, at(1, 2), at(3, 1), withShip(t)); err == nil {
		t.Error("1.2 to 3.1: want an error")
	}
}
