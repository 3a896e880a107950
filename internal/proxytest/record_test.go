package proxytest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

const recorded = "window %d\noutput 500\nreply 12 times when tools\n  call read {\"path\": \"a.txt\"}\nreply always\n  text \"Done.\"\n"

// recordOf opens the one conversation of a folder.
func recordOf(t *testing.T, dir string) *sessionfile.Session {
	t.Helper()
	files, err := formats.Find([]string{dir})
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("want one file to stand for the conversation, got %d", len(files))
	}
	s, err := formats.Open(files[0])
	must(t, err)
	return s
}

// TestRecordIsRead: what the proxy records of a conversation is one session, with all its
// messages as the client has them and the usage of each call.
func TestRecordIsRead(t *testing.T) {
	for _, d := range testagent.Dialects() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s_stream_%t", d, stream), func(t *testing.T) {
				dir := t.TempDir()
				p := before(t, scripted(t, fmt.Sprintf(recorded, 100_000)), wide, func(o *proxy.Options) { o.Record = dir })
				a := testagent.New(p.url, d, stream)
				must(t, a.Run(t.Context()))
				p.close()
				s := recordOf(t, dir)
				if s.Format != sessionfile.FormatRecord || s.Dialect != d || len(s.Segments) != 1 || len(s.Problems) > 0 {
					t.Fatalf("want one segment and no problem, got %+v", s)
				}
				g := s.Segments[0]
				if g.Start != sessionfile.StartRoot || g.Steps() != 13 || len(g.Tools) != 1 {
					t.Errorf("want 13 Steps and a tool, from the beginning, got %d, %d, %s", g.Steps(), len(g.Tools), g.Start)
				}
				if got, want := textsOf(g.Entries), textsOfAll(a.History); !strings.HasSuffix(got, want) || strings.Count(got, want) != 1 { // of Chat and Ollama a system message stands before them
					t.Errorf("want the messages\n%s\ngot\n%s", want, got)
				}
				for i, e := range g.Entries {
					if e.Step != nil && (!e.Step.Reported || e.Step.Usage.Output == 0 || e.Step.Model != a.Model || e.Step.Time < e.Time || e.Time == 0) {
						t.Errorf("entry %d: got %+v", i, *e.Step)
					}
				}
			})
		}
	}
}

// TestRecordOfEdited: a conversation that left shorter is read as the client had it, and says
// so; it is forked, and each fork is one of its own; a file in the middle stands for what was
// before it.
func TestRecordOfEdited(t *testing.T) {
	dir := t.TempDir()
	p := before(t, scripted(t, fmt.Sprintf(recorded, window)), nil, func(o *proxy.Options) { o.Record = dir })
	a := testagent.New(p.url, "anthropic", false)
	must(t, a.Run(t.Context()))
	whole := len(a.History)
	fork := *a
	fork.History = append([]llm.Message(nil), a.History[:5]...)
	fork.Says("Something else.")
	must(t, fork.Run(t.Context()))
	p.close()
	files, err := formats.Find([]string{dir})
	must(t, err)
	if len(files) != 2 {
		t.Fatalf("want two files to stand for the conversation and its fork, got %d", len(files))
	}
	s, err := formats.Open(files[0])
	must(t, err)
	if len(s.Segments) != 1 || len(s.Segments[0].Entries) != whole || len(s.Problems) != 1 || !strings.Contains(s.Problems[0].What, "left shorter") {
		t.Errorf("want %d messages and a problem, got %d segments, %v", whole, len(s.Segments), s.Problems)
	}
	reported := 0
	for _, e := range s.Segments[0].Entries {
		if e.Step != nil && e.Step.Reported {
			reported++
		}
	}
	if reported == 0 || reported == 13 {
		t.Errorf("want some of 13 calls reported, got %d", reported)
	}
	s, err = formats.Open(files[1])
	must(t, err)
	messages := len(fork.History)
	if len(s.Segments) != 1 || s.Segments[0].Start != sessionfile.StartResumed || len(s.Segments[0].Entries) != messages || s.Segments[0].Steps() != 1 {
		t.Errorf("the fork: got %d segments, %s, %d of %d messages, %d Steps", len(s.Segments), s.Segments[0].Start, len(s.Segments[0].Entries), messages, s.Segments[0].Steps())
	}
	all, err := filepath.Glob(filepath.Join(dir, "*.json"))
	must(t, err)
	s, err = formats.Open(all[3])
	must(t, err)
	if len(s.Segments) != 1 || s.Segments[0].Steps() != 4 {
		t.Errorf("the fourth file: want four Steps, got %d segments, %d", len(s.Segments), s.Segments[0].Steps())
	}
}

// TestRecordOfPreviousResponses: where the provider holds the history the conversation is put
// together all the same. What was asked twice, and refused, is in it once.
func TestRecordOfPreviousResponses(t *testing.T) {
	dir := t.TempDir()
	model := scripted(t, "reply\n  text \"One.\"\nreply\n  status 529 \"full\"\nreply always\n  text \"Two.\"\n")
	p := before(t, model, wide, func(o *proxy.Options) { o.Record = dir })
	ask := func(body string) { post(t, p.url+"/v1/responses", nil, body) }
	ask(`{"model":"m","input":"First."}`)
	second := fmt.Sprintf(`{"model":"m","input":"Second.","previous_response_id":%q}`, gjson.GetBytes(model.Log()[0].Answer, "id").Str)
	ask(second)
	ask(second)
	p.close()
	s := recordOf(t, dir)
	if len(s.Segments) != 1 || s.Segments[0].Steps() != 2 || len(s.Segments[0].Entries) != 4 {
		t.Fatalf("want 4 messages and 2 Steps, got %+v", s.Segments)
	}
	if got := textsOf(s.Segments[0].Entries); got != "First.\nOne.\nSecond.\nTwo.\n" {
		t.Errorf("got %s", got)
	}
}

// TestRecordBroken: a file that is cut, or that another program has written, costs itself
// alone.
func TestRecordBroken(t *testing.T) {
	dir := t.TempDir()
	p := before(t, scripted(t, fmt.Sprintf(recorded, 100_000)), func(o *gateway.Options) { wide(o) }, func(o *proxy.Options) { o.Record = dir })
	a := testagent.New(p.url, "anthropic", true)
	must(t, a.Run(t.Context()))
	p.close()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	must(t, err)
	text, err := os.ReadFile(files[5])
	must(t, err)
	must(t, os.WriteFile(files[5], text[:len(text)/2], 0o600))
	s := recordOf(t, dir)
	if len(s.Segments) != 1 || s.Segments[0].Steps() != 12 || len(s.Segments[0].Entries) != len(a.History) || len(s.Problems) != 1 {
		t.Errorf("want all messages, 12 Steps and a problem, got %d segments, %d Steps, %v", len(s.Segments), s.Segments[0].Steps(), s.Problems)
	}
}

func textsOf(entries []sessionfile.Entry) string {
	var all []llm.Message
	for _, e := range entries {
		all = append(all, e.Message)
	}
	return textsOfAll(all)
}

// textsOfAll returns what messages say, a line each.
func textsOfAll(all []llm.Message) string {
	var b strings.Builder
	for _, m := range all {
		b.WriteString(m.Text())
		for _, p := range m.Parts {
			switch p := p.(type) {
			case llm.ToolCall:
				b.WriteString(p.Name + p.Args)
			case llm.ToolResult:
				b.WriteString(llm.Message{Parts: p.Content}.Text())
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
