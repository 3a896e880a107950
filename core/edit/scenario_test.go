package edit_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// TestScenarios runs the files of testdata. A file is one behaviour: after some
// words on it come sections, each with a heading "== NAME":
//
//	conversation   messages that are appended (notation_test.go)
//	do             transforms, one a line: NAME KEY=VALUE ...: TEMPLATE
//	view           what the view has to be now
//	edits          what the journal has to be now; tokens are bytes
//	stored NAME    what is stored under the Ref written <NAME>
//
// After every section all laws are checked.
func TestScenarios(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("testdata: want scenarios, got %d (%v)", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, rest, ok := strings.Cut(string(text), "\n== ")
			if !ok {
				t.Fatal("want a section, got none")
			}
			w := newWorld()
			for _, section := range strings.Split(rest, "\n== ") {
				name, body, _ := strings.Cut(section, "\n")
				if err := play(w, name, strings.TrimRight(body, "\n")); err != nil {
					t.Fatalf("== %s\n%v", name, err)
				}
				if err := w.laws(); err != nil {
					t.Fatalf("after == %s\n%v", name, err)
				}
			}
		})
	}
}

// play runs one section.
func play(w *world, name, body string) error {
	switch word, arg, _ := strings.Cut(name, " "); word {
	case "conversation":
		messages, err := parseMessages(body, w.next())
		for _, m := range messages {
			w.say(m)
		}
		return err
	case "do":
		for line := range strings.Lines(body) {
			if err := do(w, strings.TrimRight(line, "\n")); err != nil {
				return fmt.Errorf("%s: %w", line, err)
			}
		}
		return nil
	case "view":
		return differ(render(w, w.view), body)
	case "edits":
		return differ(renderEdits(w), body)
	case "stored":
		for ref, data := range w.blobs {
			if w.named(string(ref)) == "<"+arg+">" {
				return differ(w.named(string(data)), body)
			}
		}
		return fmt.Errorf("nothing is stored under <%s>", arg)
	}
	return fmt.Errorf("unknown section")
}

// differ compares but for the last newlines.
func differ(got, want string) error {
	if got = strings.TrimRight(got, "\n"); got != want {
		return fmt.Errorf("got\n%s\ndifference (- want, + got)\n%s", got, cmp.Diff(want, got))
	}
	return nil
}

// args are the words of a line under "do".
type args struct {
	words map[string]string
	err   error
}

func (a *args) num(key string) int {
	s, ok := a.words[key]
	if !ok {
		return 0
	}
	n, err := strconv.Atoi(s)
	if err != nil && a.err == nil {
		a.err = err
	}
	return n
}

// do plans one transform and adopts it.
func do(w *world, line string) error {
	head, template, _ := strings.Cut(line, ": ")
	words := strings.Fields(head)
	a := &args{words: map[string]string{}}
	for _, word := range words[1:] {
		key, value, ok := strings.Cut(word, "=")
		if !ok {
			key, value = "at", word
		}
		a.words[key] = value
	}
	s := w.scene(strings.ReplaceAll(template, `\n`, "\n"))
	if keep := a.num("keep"); keep > 0 {
		s.Keep = llm.MessageID(keep)
	}
	pins := strings.Split(a.words["pin"], ",")
	s.Pinned = func(m llm.Message) bool { return slices.Contains(pins, strconv.Itoa(int(m.ID))) }
	p, err := plan(w, s, words[0], a)
	if err == nil {
		err = a.err
	}
	if err != nil {
		return err
	}
	return w.adopt(p)
}

func plan(w *world, s edit.Scene, transform string, a *args) (edit.Plan, error) {
	sp, there := outputOf(s, a.words["at"])
	if a.words["at"] != "" && !there {
		return edit.Plan{}, fmt.Errorf("no output of call %q", a.words["at"])
	}
	kind := edit.Kind(a.words["kind"])
	span := edit.Span{From: llm.MessageID(a.num("from")), To: llm.MessageID(a.num("to")) + 1}
	switch transform {
	case "dedup":
		return s.Dedup(sp, shownLines(s, a.num("lines"), sp), edit.DedupArgs{
			Lines: a.num("lines"), Chars: a.num("chars"), Gain: edit.Gain{Tokens: a.num("gain"), Permille: a.num("permille")},
		}), nil
	case "cap":
		return s.Cap(sp, edit.CapArgs{LineLength: a.num("line"), Bytes: a.num("bytes"), Tokens: a.num("tokens")}), nil
	case "stub":
		return s.Stub(sp, kind, edit.Beginning{Chars: a.num("preview")}, "too big"), nil
	case "trim":
		return s.Trim(a.num("need")), nil
	case "clear":
		return s.Clear(edit.ClearArgs{Permille: a.num("permille"), Bytes: a.num("bytes"), Errors: a.words["errors"] == "yes"}), nil
	case "dropuntil":
		return s.DropUntil(a.num("need"), kind, "no room"), nil
	case "drop":
		return s.Drop(span, kind, "no room"), nil
	case "demote":
		return s.Demote(a.num("need"), edit.DemoteArgs{
			Preview: a.num("preview"), Stub: "[{tool}, {bytes} bytes, {ref}]", Archive: a.archive(),
			Kind: edit.KindStub, KindDrop: edit.KindDrop,
		}), nil
	case "note":
		return edit.Plan{Edits: []edit.Edit{{
			Op: edit.Insert, Kind: edit.KindNote, Span: edit.Span{From: w.next(), To: w.next()},
			Notes: []llm.Message{edit.NoteOf(llm.Text{Text: s.Template})}, After: len(s.Template),
		}}}, nil
	}
	return edit.Plan{}, fmt.Errorf("unknown transform %q", transform)
}

// archive is the template of a batch's archives, none if it may not go so far.
func (a *args) archive() string {
	if a.words["archive"] == "no" {
		return ""
	}
	return "[{n} messages, {ref}]"
}
