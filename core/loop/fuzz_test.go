package loop_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/loop"
)

// FuzzEcho has an agent that says nothing but its prompt, or a part of it, in lines of any
// width: whatever the goal says, this is no promise.
func FuzzEcho(f *testing.F) {
	const promise = "<promise>COMPLETE</promise>"
	f.Add("Port the parser. End with\n"+promise+"\nand stop.", uint16(9000), uint8(0))
	f.Add(promise, uint16(40), uint8(0))
	f.Add("a\n"+promise+"\nb", uint16(36), uint8(0))
	f.Add("Print "+promise, uint16(300), uint8(26))
	f.Add("```\n"+promise, uint16(200), uint8(27))
	f.Fuzz(func(t *testing.T, goal string, cut uint16, width uint8) {
		m, err := loop.New(loop.Config{Counter: chars4()}, loop.Task{Goal: goal})
		if err != nil {
			return // it is no goal
		}
		echo := begin(t, m).Prompt.Text
		if int(cut) < len(echo) {
			echo = echo[:cut]
		}
		if width > 0 {
			var lines []string
			for line := range strings.Lines(echo) {
				for line = strings.TrimSuffix(line, "\n"); len(line) > int(width); line = line[width:] {
					lines = append(lines, line[:width])
				}
				lines = append(lines, line)
			}
			echo = strings.Join(lines, "\n")
		}
		iterate(t, m, loop.Output{Text: echo})
		if r := m.Ready(); r.End == loop.GoalComplete {
			t.Errorf("want no end by an echo:\n%s", echo)
		}
	})
}

// FuzzOutput has an agent and a summariser that write anything: nothing panics, a restart
// reads back what was saved, and what is kept is text.
func FuzzOutput(f *testing.F) {
	f.Add("first", "second", "a summary of some words", true)
	f.Add("\xff\x00\x1b[", "```\n<progress>", "</promise><promise>", false)
	f.Add("- [x] a\n1. b. c.\n", "| a | b |\n2026-01-01 x\n. . . ", "\n\n", true)
	f.Fuzz(func(t *testing.T, one, two, summary string, ask bool) {
		cfg := loop.Config{Counter: chars4(), Window: 1, AskModel: ask}
		m := start(t, cfg)
		for _, text := range []string{one, two, one + two} {
			if m.Ready().Do != loop.DoBegin {
				break
			}
			iterate(t, m, loop.Output{Text: text, Fault: summary, Files: []loop.FileEvent{{Path: two, Op: one}}})
			if r := m.Ready(); r.Do == loop.DoAsk {
				feed(t, m, loop.Answer{ID: r.Ask.ID, Text: summary})
			}
			r, err := loop.Restore(cfg, m.Save())
			if err != nil || !bytes.Equal(r.Save(), m.Save()) {
				t.Fatalf("want the state read back, got %v", err)
			}
			if r := m.Ready(); r.Do == loop.DoBegin && (!utf8.ValidString(r.Prompt.Text) || r.Prompt.Tokens >= 50_000) {
				t.Errorf("got %q", r.Prompt.Text)
			}
		}
	})
}
