package gateway

import (
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/summary"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

// passedCompaction is why a client's own compaction passes without a session.
const passedCompaction = "the client compacts its conversation"

// Clients have their conversations summarised in two shapes. Some put an instruction behind the
// conversation as they sent it, which begins with one of these texts, mostly after a warning to
// call no tools. Sources: Claude Code (in a recorded session, and its two later wordings), Codex
// (core/templates/compact), opencode (session/compaction.ts), pi (compaction.ts).
var instructions = []string{
	"Your task is to create a detailed summary of the",
	"Your task is to create a detailed summary of this",
	"You are performing a CONTEXT CHECKPOINT COMPACTION",
	"Provide a detailed prompt for continuing our conversation above",
	"The messages above are a conversation to summarize",
}

// The others send the conversation with a system prompt that is for that alone. Sources: Claude
// Code and opencode (agent/prompt/compaction.txt), Gemini CLI and Qwen Code (getCompressionPrompt).
var summarisers = []string{
	"You are a helpful AI assistant tasked with summarizing conversations",
	"You are the component that summarizes internal chat history into a given structure",
}

const (
	codexTurn     = "X-Codex-Turn-Metadata" // JSON with what a request is for
	codexSubagent = "X-Openai-Subagent"
	// mostPreamble is how far into an instruction its own words may begin, in bytes.
	mostPreamble = 2000
)

// compacts reports whether a request is a client's own compaction: what it says there is not
// part of the conversation, and what it gets takes the conversation's place.
func compacts(c Call, r llm.Request) bool {
	if gjson.Get(c.header(codexTurn), "request_kind").String() == "compaction" || c.header(codexSubagent) == "compact" {
		return true
	}
	for _, s := range r.Sections {
		if beginsWithOne(s.Text, summarisers, 0) {
			return true
		}
	}
	if len(r.Messages) == 0 {
		return false
	}
	if first := r.Messages[0]; first.Role == llm.RoleSystem && beginsWithOne(first.Text(), summarisers, 0) {
		return true
	}
	last := r.Messages[len(r.Messages)-1]
	if last.Role != llm.RoleUser || len(last.Parts) == 0 {
		return false
	}
	text, ok := last.Parts[len(last.Parts)-1].(llm.Text)
	return ok && beginsWithOne(text.Text, instructions, mostPreamble)
}

// beginsWithOne reports whether a line that begins within so many bytes of a text begins with
// one of others.
func beginsWithOne(text string, others []string, within int) bool {
	text = strings.TrimSpace(text)
	for at := 0; ; {
		for _, o := range others {
			if strings.HasPrefix(text[at:], o) {
				return true
			}
		}
		next := strings.IndexByte(text[at:], '\n')
		if at += next + 1; next < 0 || at > within {
			return false
		}
	}
}

// compaction is what becomes of a client's own compaction: it goes as it came and belongs to no
// session, or is answered here.
func (x *Exchange) compaction() (*Exchange, error) {
	if x.gateway.options.AnswerCompactions {
		if err := x.summarise(); err == nil {
			x.report.Answered = true
			return x, nil
		}
	}
	return x.pass(passedCompaction)
}

// mostAnswer is the tokens of an answer to a client's compaction, by four bytes each.
const mostAnswer = 4000

// summarise answers a request with a summary by code of the messages before its last one.
func (x *Exchange) summarise() error {
	if err := x.readWhole(); err != nil {
		return err
	}
	msgs := x.request.Messages
	text := summary.Write(msgs[:len(msgs)-1], summary.Options{MaxTokens: mostAnswer})
	r := llm.Response{
		ID: "plimsoll-compaction", Model: x.request.Model, Stop: llm.StopEnd,
		Message: llm.AssistantText("<summary>\n" + text + "\n</summary>"),
	}
	streamed := x.streams() || x.call.List
	switch {
	case !streamed || x.call.List:
		x.given.Kind = "application/json"
	case x.call.Dialect == ollama.Dialect:
		x.given.Kind = "application/x-ndjson"
	default:
		x.given.Kind = "text/event-stream"
	}
	var err error
	x.given.Body, err = x.encoded(r, streamed)
	return err
}

// An Answer is one that no provider gave, with status 200.
type Answer struct {
	Kind string // of its content
	Body []byte
}

// Answer returns the answer to the request, where it is given here and nothing is sent.
func (x *Exchange) Answer() (a Answer, ok bool) { return x.given, x.report.Answered }
