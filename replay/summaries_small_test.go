package replay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

const (
	bySmall     = "the small model"
	smallWindow = 2048   // of the small model, in tokens
	smallPast   = 16_000 // bytes of the newest messages before a compaction that it summarises: five parts or so
	smallAnswer = 300    // tokens
)

// A smallModel is a model on an Ollama server, which is asked for its window.
type smallModel struct {
	*client.Client
	name string
}

// Complete implements plimsoll.Model.
func (s smallModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	codec, _ := codecs.For(ollama.Dialect)
	full, err := codec.DecodeRequest(fmt.Appendf(nil, `{"model":%q,"messages":[],"options":{"num_ctx":%d,"temperature":0}}`, s.name, smallWindow))
	if err != nil {
		return llm.Response{}, err
	}
	full.Sections, full.Messages, full.MaxOutput = r.Sections, r.Messages, smallAnswer
	return s.Client.Complete(ctx, full)
}

// smallModelOf returns the model that the environment names, or skips the test.
func smallModelOf(t *testing.T) smallModel {
	t.Helper()
	url, name := os.Getenv("PLIMSOLL_OLLAMA"), os.Getenv("PLIMSOLL_OLLAMA_MODEL")
	if url == "" || name == "" {
		t.Skip("PLIMSOLL_OLLAMA and PLIMSOLL_OLLAMA_MODEL are not set: no server to ask (scripts/ollama starts one)")
	}
	provider, ok := client.Lookup("ollama")
	if !ok {
		t.Fatal("provider ollama: want one that is built in")
	}
	c, err := client.New(provider, client.Options{Env: func(variable string) string { return map[string]string{"OLLAMA_HOST": url}[variable] }})
	if err != nil {
		t.Fatal(err)
	}
	return smallModel{c, name}
}

// newest returns the last messages of at most so many bytes of text, calls and outputs.
func newest(said []llm.Message, most int) []llm.Message {
	at, n := len(said), 0
	for at > 0 {
		m := said[at-1]
		n += len(m.Text())
		for _, r := range m.Results() {
			n += len(r.Text())
		}
		for _, c := range m.Calls() {
			n += len(c.Args)
		}
		if n > most {
			break
		}
		at--
	}
	return said[at:]
}

// TestGroundingOfSmallSummaries sets beside what a small model writes of the newest messages before
// each compaction of the corpus what code writes of the same messages at the same size. It
// holds no share, as a model of 135 million parameters is what it is; with -v it prints the rows.
func TestGroundingOfSmallSummaries(t *testing.T) {
	model := smallModelOf(t)
	sums, compactions := map[string]*summarySum{}, 0
	for _, file := range corpusSessions(t) {
		s, err := formats.Open(file)
		if err != nil {
			continue // other tests say so
		}
		var said []llm.Message
		for i, seg := range s.Segments {
			if i > 0 && seg.Start == sessionfile.StartCompaction && whole(s.Segments[:i], said) {
				if part := newest(said, smallPast); len(part) > 4 {
					compactions++
					smallGround(t, model, filepath.Base(file), part, seg, sums)
				}
			}
			for _, e := range seg.Entries {
				said = append(said, e.Message)
			}
		}
	}
	if compactions == 0 {
		t.Error("no compaction was looked at")
	}
	t.Logf("%d compactions", compactions)
	for _, row := range summaryRows("|", []string{bySmall, byCode, byReferences, byBoth}, sums) {
		t.Log(row)
	}
}

func smallGround(t *testing.T, model smallModel, name string, said []llm.Message, seg sessionfile.Segment, sums map[string]*summarySum) {
	t.Helper()
	p, err := policy.Preset("balanced")
	if err != nil {
		t.Fatal(err)
	}
	ask := engine.Ask{Messages: summary.Prepare(said), MaxTokens: smallAnswer}
	ask.Question = summary.PromptOptions{SummaryPrompt: p.SummaryPrompt, SummaryDirectives: p.SummaryDirectives, MaxTokens: smallAnswer}
	ask.Prompt = summary.Prompt(ask.Question)
	target := budget.Target{Provider: "ollama", Model: model.name, Window: budget.Window{Capacity: smallWindow, Buffer: budget.None, OutputReserve: smallAnswer}}
	wrote, err := plimsoll.ModelSummariser{Model: model, Target: target}.Summarise(t.Context(), ask)
	if err != nil {
		t.Logf("%s: no summary: %v", name, err)
		return
	}
	texts := standInsOf(t, said, wrote.Text)
	texts[bySmall] = wrote.Text
	t.Logf("%s: %d messages, a summary of %d bytes: %.300q", name, len(said), len(wrote.Text), wrote.Text)
	bookSummary(said, seg, texts, sums, map[string]*summarySum{})
}
