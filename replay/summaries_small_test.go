package replay_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
)

const (
	bySmall     = "the small model"
	smallWindow = 2048   // of the small model, in tokens
	smallPast   = 16_000 // bytes of the newest messages before a compaction that it summarises: five parts or so
	smallAnswer = 300    // tokens
)

// A smallModel is a model on an Ollama server.
type smallModel struct{ url, name string }

// Complete implements plimsoll.Model.
func (s smallModel) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	var said []message
	for _, sec := range r.Sections {
		said = append(said, message{"system", sec.Text})
	}
	for _, m := range r.Messages {
		said = append(said, message{m.Role.String(), m.Text()})
	}
	body, err := json.Marshal(map[string]any{
		"model": s.name, "messages": said, "stream": false,
		"options": map[string]any{"num_ctx": smallWindow, "num_predict": smallAnswer, "temperature": 0},
	})
	if err != nil {
		return llm.Response{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+"/api/chat", bytes.NewReader(body))
	if err != nil {
		return llm.Response{}, err
	}
	reply, err := http.DefaultClient.Do(req)
	if err != nil {
		return llm.Response{}, err
	}
	defer func() { _ = reply.Body.Close() }()
	var got struct {
		Message message `json:"message"`
		Error   string  `json:"error"`
	}
	if err := json.NewDecoder(reply.Body).Decode(&got); err != nil {
		return llm.Response{}, err
	}
	if got.Error != "" {
		return llm.Response{}, fmt.Errorf("ollama: %s", got.Error)
	}
	return llm.Response{Message: llm.AssistantText(got.Message.Content)}, nil
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
	model := smallModel{strings.TrimRight(os.Getenv("PLIMSOLL_OLLAMA"), "/"), os.Getenv("PLIMSOLL_OLLAMA_MODEL")}
	if model.url == "" || model.name == "" {
		t.Skip("PLIMSOLL_OLLAMA and PLIMSOLL_OLLAMA_MODEL are not set: no server to ask (scripts/ollama starts one)")
	}
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
	kinds := []string{}
	for _, k := range ground.Kinds() {
		kinds = append(kinds, k.String())
	}
	for _, kind := range append(kinds, "all") {
		if n := sums[kind]; n != nil {
			row := fmt.Sprintf("| %s | %d |", kind, n.spans)
			for _, by := range []string{bySmall, byCode, byReferences, byBoth} {
				row += fmt.Sprintf(" %d (%.0f %%) |", n.said[by], 100*float64(n.said[by])/float64(n.spans))
			}
			t.Log(row)
		}
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
	says := map[string]*ground.Texts{}
	for by, text := range texts {
		says[by] = &ground.Texts{}
		says[by].Add(ground.TextOfString(text))
	}
	var past ground.Texts
	for _, m := range said {
		for _, part := range m.Parts {
			past.Add(ground.TextOf(part))
		}
	}
	known := map[string]bool{}
	for _, e := range seg.Entries {
		if e.Message.Flags.Has(llm.FlagSummary) {
			continue
		}
		for _, c := range e.Message.Calls() {
			for _, s := range ground.Spans(c) {
				if !known[s.Text] && past.Says(s) {
					known[s.Text] = true
					bookSpan(sums, s, says)
				}
			}
		}
	}
}
