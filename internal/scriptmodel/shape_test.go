package scriptmodel

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/recording"
)

// A shape is which paths JSON texts have: all of them, and those that each has. The elements
// of a list share one path, with their kind in it where they name one.
type shape struct {
	some  map[string]map[string]bool // by path: the types that were seen
	every map[string]bool
	texts int
}

// add takes one more text.
func (s *shape) add(text []byte) {
	seen := map[string]map[string]bool{}
	paths(seen, "", gjson.ParseBytes(text))
	if s.texts++; s.texts == 1 {
		s.some, s.every = map[string]map[string]bool{}, map[string]bool{}
		for p := range seen {
			s.every[p] = true
		}
	}
	for p, types := range seen {
		if s.some[p] == nil {
			s.some[p] = map[string]bool{}
		}
		maps.Copy(s.some[p], types)
	}
	maps.DeleteFunc(s.every, func(p string, _ bool) bool { return seen[p] == nil })
}

// free are members whose contents are a tool's or a client's, not the dialect's.
var free = []string{"input", "args", "arguments", "parameters", "input_schema", "parametersJsonSchema", "metadata", "tools", "tool_choice", "text", "reasoning"}

func paths(out map[string]map[string]bool, at string, v gjson.Result) {
	if out[at] == nil {
		out[at] = map[string]bool{}
	}
	out[at][typeOf(v)] = true
	name := at[strings.LastIndexByte(at, '.')+1:]
	if v.Type != gjson.JSON || slices.Contains(free, name) && !v.IsArray() || name == "tools" {
		return
	}
	v.ForEach(func(key, item gjson.Result) bool {
		switch {
		case v.IsArray():
			kind := item.Get("type").String()
			if kind == "" && item.IsObject() { // where parts have no type, their one member names them
				kind = memberKind(item)
			}
			paths(out, at+"["+kind+"]", item)
		default:
			paths(out, at+"."+key.String(), item)
		}
		return true
	})
}

// memberKind names a part by what it holds.
func memberKind(item gjson.Result) string {
	for _, name := range []string{"functionCall", "text"} {
		if item.Get(name).Exists() {
			return name
		}
	}
	return ""
}

func typeOf(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "object"
	case v.IsArray():
		return "array"
	}
	return v.Type.String()
}

// differs returns what text has that the shape does not know, and what it lacks that all
// have. null stands for any type.
func (s *shape) differs(text []byte) (out []string) {
	seen := map[string]map[string]bool{}
	paths(seen, "", gjson.ParseBytes(text))
	for p, types := range seen {
		for kind := range types {
			known := s.some[p]
			if bools := kind == "True" && known["False"] || kind == "False" && known["True"]; known == nil || kind != "Null" && !known[kind] && !bools {
				out = append(out, fmt.Sprintf("%s is a %s, want %v", p, kind, slices.Sorted(maps.Keys(known))))
			}
		}
	}
	for p := range s.every {
		parent := p[:max(strings.LastIndexAny(p, ".["), 0)]
		if seen[p] == nil && seen[parent] != nil {
			out = append(out, p+" is not there, want it: every recording has it")
		}
	}
	slices.Sort(out)
	return out
}

// shapes of a dialect: of whole replies, of the payloads of streams by their kind, of errors;
// and which payload follows which.
type shapes struct {
	reply, fault shape
	chunk        shape // of all payloads together, where they are of one type
	payloads     map[string]*shape
	follows      map[string]map[string]bool
	firsts       map[string]bool
}

// edge is what a stream ends with.
const edge = "the end"

// recorded returns the shapes of the corpus.
func recorded(t *testing.T) map[llm.Dialect]*shapes {
	t.Helper()
	dir := os.Getenv("PLIMSOLL_CORPUS")
	if dir == "" {
		t.Skip("PLIMSOLL_CORPUS is not set: no recordings to compare with")
	}
	all, err := recording.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	out := map[llm.Dialect]*shapes{}
	for _, x := range all {
		if x.Dialect == "" || len(x.Response) == 0 || strings.Contains(x.Path, "count") || strings.Contains(x.Path, "compact") {
			continue
		}
		s := out[x.Dialect]
		if s == nil {
			s = &shapes{payloads: map[string]*shape{}, follows: map[string]map[string]bool{}, firsts: map[string]bool{}}
			out[x.Dialect] = s
		}
		switch {
		case x.Status >= 400:
			s.fault.add(x.Response)
		case x.Stream:
			s.stream(x.Dialect, x.Response)
		case isReply(x.Dialect, x.Response):
			s.reply.add(x.Response)
		}
	}
	return out
}

func isReply(d llm.Dialect, body []byte) bool {
	member := map[llm.Dialect]string{messages: "content", chat: "choices", responses: "output", generate: "candidates"}[d]
	return gjson.GetBytes(body, member).IsArray()
}

func (s *shapes) stream(d llm.Dialect, stream []byte) {
	last := ""
	for _, p := range payloads(stream) {
		kind := payloadKind(d, p)
		if s.payloads[kind] == nil {
			s.payloads[kind] = &shape{}
		}
		s.payloads[kind].add(p)
		if d == chat || d == generate { // all payloads are of one type: what one may have, all may
			s.chunk.add(p)
			s.payloads[kind].some = s.chunk.some
		}
		if last == "" {
			s.firsts[kind] = true
		} else {
			s.follow(last, kind)
		}
		last = kind
	}
	s.follow(last, edge)
}

func (s *shapes) follow(a, b string) {
	if s.follows[a] == nil {
		s.follows[a] = map[string]bool{}
	}
	s.follows[a][b] = true
}

// payloads returns the payloads of a stream of server-sent events.
func payloads(stream []byte) (out [][]byte) {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			out = append(out, bytes.TrimSpace(data))
		}
	}
	return out
}

// payloadKind names what a payload tells.
func payloadKind(d llm.Dialect, p []byte) string {
	v := gjson.ParseBytes(p)
	switch d {
	case messages:
		kind := v.Get("type").String()
		return strings.TrimSpace(kind + " " + v.Get("content_block.type").String() + v.Get("delta.type").String())
	case responses:
		return strings.TrimSpace(v.Get("type").String() + " " + v.Get("item.type").String())
	case chat:
		switch {
		case string(p) == "[DONE]":
			return "[DONE]"
		case len(v.Get("choices").Array()) == 0:
			return "usage"
		case v.Get("choices.0.finish_reason").String() != "":
			return "finish"
		}
		for _, name := range []string{"tool_calls", "reasoning_content", "content", "role"} {
			if x := v.Get("choices.0.delta." + name); x.Exists() && x.Type != gjson.Null && x.String() != "" {
				return name
			}
		}
		return "other"
	}
	if v.Get("candidates.0.finishReason").Exists() {
		return "finish"
	}
	return "part"
}

// What our answers have and no recording shows, or lack though every recording has it. The
// reference of each provider has the first as fields and the second as optional ones.
var known = map[llm.Dialect][]string{
	messages: {
		".message.usage.server_tool_use", ".usage.server_tool_use", // null unless a server tool ran
		".usage.output_tokens_details", ".usage.output_tokens_details.thinking_tokens", // newer than the recordings
	},
	chat: {
		".system_fingerprint", ".usage.prompt_tokens_details.audio_tokens", ".usage.completion_tokens_details.audio_tokens",
		".usage.completion_tokens_details.accepted_prediction_tokens", ".usage.completion_tokens_details.rejected_prediction_tokens",
	},
	responses: {".obfuscation", ".name"}, // of response.function_call_arguments.delta and .done
	generate: {
		".usageMetadata", // of each payload before the last
		".candidates[].content.parts[functionCall].functionCall.id", // newer than the recordings
		".error.details",
	},
}

// Orders that no recording happens to show: a call after a text.
var knownOrders = []string{"response.output_item.done message > response.output_item.added function_call"}

const everything = "reply always\n  thinking \"I look first, then I act on what I saw.\"\n  text \"I run it now, and tell you then.\"\n  call bash {\"command\":\"ls\"}\n"

// TestShapes: what the server answers has what every recording of the dialect has, and
// nothing that no recording has.
func TestShapes(t *testing.T) {
	for d, s := range recorded(t) {
		report := func(t *testing.T, what string, faults []string) {
			t.Helper()
			for _, f := range faults {
				if !slices.ContainsFunc(known[d], func(p string) bool { return strings.HasPrefix(f, p+" ") }) {
					t.Errorf("%s: %s", what, f)
				}
			}
		}
		t.Run(string(d)+"/reply", func(t *testing.T) {
			r := start(t, d, everything)
			report(t, "reply", s.reply.differs(r.send("POST", r.path(false), r.opening("x", false)).body))
		})
		t.Run(string(d)+"/stream", func(t *testing.T) {
			r := start(t, d, everything)
			last := ""
			for _, p := range payloads(r.send("POST", r.path(true), r.opening("x", true)).body) {
				kind := payloadKind(d, p)
				one := s.payloads[kind]
				if one == nil {
					t.Errorf("payload, want a kind that was recorded, got %s: %s", kind, p)
					continue
				}
				report(t, kind, one.differs(p))
				recorded := s.follows[last][kind] || last == "" && s.firsts[kind] || slices.Contains(knownOrders, last+" > "+kind)
				if !recorded {
					t.Errorf("payload, want a recorded order, got %s after %q", kind, last)
				}
				last = kind
			}
			if !s.follows[last][edge] {
				t.Errorf("stream, want a recorded end, got %s", last)
			}
		})
		t.Run(string(d)+"/error", func(t *testing.T) {
			if s.fault.texts == 0 {
				t.Skip("no recording of an error")
			}
			r := start(t, d, "reply always\n  status 400 \"no\"\n")
			report(t, "error", s.fault.differs(r.send("POST", r.path(false), r.opening("x", false)).body))
		})
	}
}
