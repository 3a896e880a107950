package check

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// The dialects that are judged here, by the names that the codecs use. A body of any other dialect has one fault of the rule "dialect".
const (
	anthropic llm.Dialect = "anthropic"
	chat      llm.Dialect = "openai-chat"
	responses llm.Dialect = "openai-responses"
	gemini    llm.Dialect = "gemini"
	ollama    llm.Dialect = "ollama"
)

// A Fault is one rule that a body breaks.
type Fault struct {
	Rule    string // an id of the package comment's list
	Path    string // where, in the dialect's own way of naming places; empty for the body itself
	Message string // as the provider says it where its wording is known; it names the place where the provider does
}

// Error returns the message.
func (f Fault) Error() string { return f.Message }

// Options say what a body does not.
type Options struct {
	// Model is the model of the call where the body does not name one: in the Gemini
	// dialect, on Bedrock and on Vertex it stands in the URL. Rules that bind certain
	// models are left out where no model is known.
	Model string
}

// Request judges a request body by what it says itself. No fault means that no rule known here keeps the provider from accepting it.
func Request(d llm.Dialect, body []byte) []Fault { return Options{}.Request(d, body) }

// Request judges a request body.
func (o Options) Request(d llm.Dialect, body []byte) []Fault {
	return o.judge(d, body, map[llm.Dialect]func(*judge, node){
		anthropic: func(j *judge, n node) { messagesRequest(j, n, o.Model, false) },
		chat:      func(_ *judge, n node) { chatRequest(n, o.Model) },
		responses: responsesRequest,
		gemini:    func(j *judge, n node) { geminiRequest(j, n, o.Model) },
		ollama:    ollamaRequest,
	})
}

// CountTokens judges the body of a request to count tokens: a request that need not say how much may be written, nor carry what has no
// bearing on the count. Dialects without such a call have the fault "dialect".
func CountTokens(d llm.Dialect, body []byte) []Fault {
	return Options{}.judge(d, body, map[llm.Dialect]func(*judge, node){
		anthropic: func(j *judge, n node) { messagesRequest(j, n, "", true) },
		responses: responsesRequest,
		gemini:    geminiCount,
	})
}

// Response judges the body of a reply that was not streamed. An error body is not a reply.
func Response(d llm.Dialect, body []byte) []Fault {
	return Options{}.judge(d, body, map[llm.Dialect]func(*judge, node){
		anthropic: messagesReply,
		chat:      chatReply,
		responses: responsesReply,
		gemini:    geminiReply,
		ollama:    func(j *judge, n node) { ollamaLine(j, n, true) },
	})
}

// Stream judges a whole streamed reply, with its framing. A provider's error event is a legal end of a stream where the dialect has one.
func Stream(d llm.Dialect, stream []byte) []Fault {
	j := newJudge(d)
	switch d {
	case anthropic:
		messagesStream(j, stream)
	case chat:
		chatStream(j, stream)
	case responses:
		responsesStream(j, stream)
	case gemini:
		geminiStream(j, stream)
	case ollama:
		ollamaStream(j, stream)
	default:
		j.unknown(d)
	}
	return j.faults
}

// judge reads a body as one JSON object and hands it to the dialect's rules.
func (o Options) judge(d llm.Dialect, body []byte, rules map[llm.Dialect]func(*judge, node)) []Fault {
	j := newJudge(d)
	rule, known := rules[d]
	if !known {
		j.unknown(d)
		return j.faults
	}
	if n, ok := j.parse("", body); ok {
		rule(j, n)
	}
	return j.faults
}

// A judge collects the faults of one body.
type judge struct {
	voice  voice
	faults []Fault
}

func newJudge(d llm.Dialect) *judge {
	switch d {
	case anthropic:
		return &judge{voice: dots{}}
	case gemini:
		return &judge{voice: rpc{}}
	case ollama:
		return &judge{voice: gopher{}}
	}
	return &judge{voice: brackets{}}
}

// add records a fault.
func (j *judge) add(rule, at, format string, args ...any) {
	j.faults = append(j.faults, Fault{Rule: rule, Path: at, Message: fmt.Sprintf(format, args...)})
}

func (j *judge) unknown(d llm.Dialect) {
	j.add("dialect", "", "check: dialect, want one with rules for this kind of body, got %q", string(d))
}

// parse reads one JSON object, which is all of a body or of a payload.
func (j *judge) parse(at string, text []byte) (node, bool) {
	v, err := decode(text)
	if err != nil {
		j.add("json", at, "%s", j.voice.malformed(err))
		return node{}, false
	}
	if _, ok := v.(map[string]any); !ok {
		j.add("json", at, "%s", j.voice.malformed(fmt.Errorf("want an object, got %s", kindOf(v))))
		return node{}, false
	}
	return node{j: j, at: at, v: v}, true
}

// decode reads one JSON value and nothing after it; numbers keep their spelling.
func decode(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("want one value, got more after it")
	}
	return v, nil
}
