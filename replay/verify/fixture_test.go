package verify_test

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/replay/verify"
)

const (
	anthropic = "anthropic"
	chat      = "openai-chat"
	responses = "openai-responses"
	gemini    = "gemini"
)

// store is where the tests keep blobs. It can be damaged.
type store map[string][]byte

func (s store) load(ref string) ([]byte, error) {
	b, ok := s[ref]
	if !ok {
		return nil, fmt.Errorf("no such blob")
	}
	return b, nil
}

func (s store) put(data string) string {
	ref := refOf(data)
	s[ref] = []byte(data)
	return ref
}

// refOf is written as DESIGN.md section 2 defines a Ref, once more.
func refOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return "r" + base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding).EncodeToString(sum[:])[:26]
}

// quote writes a JSON string.
func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// A part of a test conversation.
type part struct {
	kind string // text, thinking, call, result
	id   string
	name string
	text string
}

// A turn is one message of a test conversation.
type turn struct {
	role  string // user, assistant, tool
	parts []part
}

func human(s string) turn { return turn{"user", []part{{kind: "text", text: s}}} }
func reply(s string) turn { return turn{"assistant", []part{{kind: "text", text: s}}} }

func calls(ids ...string) turn {
	t := turn{role: "assistant"}
	for _, id := range ids {
		t.parts = append(t.parts, part{kind: "call", id: id, name: "look", text: `{"at":"` + id + `"}`})
	}
	return t
}

func result(id, s string) turn {
	return turn{"tool", []part{{kind: "result", id: id, text: s}}}
}

// bytes returns what an archive holds of a part: its own bytes on the wire.
func (p part) bytes(dialect string) string {
	switch dialect + " " + p.kind {
	case anthropic + " text":
		return `{"type":"text","text":` + quote(p.text) + `}`
	case anthropic + " thinking":
		return `{"type":"thinking","thinking":` + quote(p.text) + `,"signature":"c2ln"}`
	case anthropic + " call":
		return `{"type":"tool_use","id":` + quote(p.id) + `,"name":` + quote(p.name) + `,"input":` + p.text + `}`
	case anthropic + " result":
		return `{"type":"tool_result","tool_use_id":` + quote(p.id) + `,"content":` + quote(p.text) + `,"is_error":false}`
	case chat + " text", chat + " result":
		return quote(p.text)
	case chat + " thinking":
		return `"reasoning_content":` + quote(p.text)
	case chat + " call":
		return `{"id":` + quote(p.id) + `,"type":"function","function":{"name":` + quote(p.name) + `,"arguments":` + quote(p.text) + `}}`
	case responses + " text":
		return quote(p.text)
	case responses + " thinking":
		return `{"type":"reasoning","summary":[{"type":"summary_text","text":` + quote(p.text) + `}],"encrypted_content":"c2ln"}`
	case responses + " call":
		return `{"type":"function_call","call_id":` + quote(p.id) + `,"name":` + quote(p.name) + `,"arguments":` + quote(p.text) + `}`
	case responses + " result":
		return `{"type":"function_call_output","call_id":` + quote(p.id) + `,"output":` + quote(p.text) + `}`
	}
	switch p.kind {
	case "text":
		return `{"text":` + quote(p.text) + `}`
	case "thinking":
		return `{"text":` + quote(p.text) + `,"thought":true,"thoughtSignature":"c2ln"}`
	case "call":
		return `{"functionCall":{"id":` + quote(p.id) + `,"name":` + quote(p.name) + `,"args":` + p.text + `}}`
	case "result":
		return `{"functionResponse":{"id":` + quote(p.id) + `,"name":"look","response":{"output":` + quote(p.text) + `}}}`
	}
	panic("no part " + dialect + " " + p.kind)
}

// wire returns the wire messages of a turn.
func (t turn) wire(dialect string) string {
	switch dialect {
	case anthropic:
		return t.blocks()
	case chat:
		return t.chat()
	case gemini:
		return t.contents()
	}
	return t.items()
}

func (t turn) blocks() string {
	role := t.role
	if role == "tool" {
		role = "user"
	}
	var parts []string
	for _, p := range t.parts {
		parts = append(parts, p.bytes(anthropic))
	}
	return `{"role":"` + role + `","content":[` + strings.Join(parts, ",") + `]}`
}

func (t turn) contents() string {
	role := map[string]string{"assistant": "model"}[t.role]
	if role == "" {
		role = "user"
	}
	var parts []string
	for _, p := range t.parts {
		parts = append(parts, p.bytes(gemini))
	}
	return `{"role":"` + role + `","parts":[` + strings.Join(parts, ",") + `]}`
}

func (t turn) chat() string {
	out := []string{`"role":"` + t.role + `"`}
	var calls []string
	for _, p := range t.parts {
		switch p.kind {
		case "text":
			out = append(out, `"content":`+p.bytes(chat))
		case "thinking":
			out = append(out, p.bytes(chat))
		case "call":
			calls = append(calls, p.bytes(chat))
		case "result":
			out = append(out, `"tool_call_id":`+quote(p.id), `"content":`+p.bytes(chat))
		}
	}
	if calls != nil {
		out = append(out, `"tool_calls":[`+strings.Join(calls, ",")+`]`)
	}
	return "{" + strings.Join(out, ",") + "}"
}

func (t turn) items() string {
	var out []string
	for _, p := range t.parts {
		if p.kind == "text" {
			out = append(out, `{"role":"`+t.role+`","content":`+p.bytes(responses)+`}`)
			continue
		}
		out = append(out, p.bytes(responses))
	}
	return strings.Join(out, ",")
}

const (
	systemText = "You look things up."
	toolJSON   = `{"name":"look","description":"looks","input_schema":{"type":"object"}}`
)

// body writes a request.
func body(dialect string, turns ...turn) []byte { return bodyOf(dialect, systemText, turns...) }

func bodyOf(dialect, system string, turns ...turn) []byte {
	var list []string
	for _, t := range turns {
		list = append(list, t.wire(dialect))
	}
	all := strings.Join(list, ",")
	switch dialect {
	case anthropic:
		return []byte(`{"model":"m","system":` + quote(system) + `,"tools":[` + toolJSON + `],"messages":[` + all + `],"max_tokens":9}`)
	case chat:
		return []byte(`{"model":"m","messages":[{"role":"system","content":` + quote(system) + `},` + all + `],"tools":[` + toolJSON + `]}`)
	case gemini:
		return []byte(`{"model":"m","systemInstruction":{"parts":[{"text":` + quote(system) + `}]},"tools":[{"functionDeclarations":[` + toolJSON + `]}],"contents":[` + all + `]}`)
	}
	return []byte(`{"model":"m","instructions":` + quote(system) + `,"input":[` + all + `],"tools":[` + toolJSON + `]}`)
}

// archive writes an archive of the turns [from,to), counted from 1, as the package
// comment of core/edit states the format. stored are results that have been stored.
func archive(dialect string, turns []turn, from, to int, stored map[string]bool) string {
	lines := []string{fmt.Sprintf(`{"archive":1,"from":%d,"to":%d}`, from, to)}
	for i := from; i < to; i++ {
		t := turns[i-1]
		for n, p := range t.parts {
			kind := map[string]string{"text": "text", "thinking": "thinking", "call": "tool_call", "result": "tool_result"}[p.kind]
			head := `{"message":` + strconv.Itoa(i) + `,"role":"` + t.role + `","origin":"o","part":` + strconv.Itoa(n) + `,"kind":"` + kind + `",`
			if p.kind == "result" && stored[p.id] {
				lines = append(lines, head+`"ref":"`+refOf(p.text)+`"}`)
				continue
			}
			lines = append(lines, head+`"raw":`+quote(p.bytes(dialect))+`}`)
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

// check compares two bodies.
func check(t testing.TB, dialect string, raw, edited []byte, o verify.Options) verify.Findings {
	t.Helper()
	f, err := verify.Compare(dialect, raw, edited, o)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// want checks that there is one finding of each kind in wants, which contains the
// text, and none of any other kind.
func want(t testing.TB, f verify.Findings, wants ...string) {
	t.Helper()
	var got []string
	for _, s := range f.Orphans {
		got = append(got, "orphan: "+s)
	}
	for _, s := range f.Unresolved {
		got = append(got, "unresolved: "+s)
	}
	for _, s := range f.Uncovered {
		got = append(got, "uncovered: "+s.String())
	}
	for _, s := range f.Invented {
		got = append(got, "invented: "+s)
	}
	ok := len(got) == len(wants)
	for i := 0; ok && i < len(got); i++ {
		kind, text, _ := strings.Cut(wants[i], ": ")
		ok = strings.HasPrefix(got[i], kind+": ") && strings.Contains(got[i], text)
	}
	if !ok {
		t.Fatalf("findings:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), strings.Join(wants, "\n  "))
	}
}
