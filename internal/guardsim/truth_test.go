package guardsim

import (
	"encoding/json"
	"fmt"
	"sync"

	"github.com/tiktoken-go/tokenizer"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A weight is how a model's own server counts.
type weight struct {
	encoding string // o200k or cl100k
	permille int    // true tokens in 1,000 of the encoding's
	hidden   int    // tokens that stand in every prompt and that no request shows
	message  int    // tokens that a message adds; likewise a call and a result
	call     int
	result   int
}

// published is OpenAI's rule for its own models (OpenAI Cookbook, "How to count tokens with
// tiktoken": three tokens a message, one for its role, three that open the reply). Calls and
// their results are not in it; they are taken for a message with one more field.
func published(encoding string) weight {
	return weight{encoding: encoding, permille: 1000, hidden: 3, message: 4, call: 7, result: 7}
}

// imageTokens is what the server takes for an image: OpenAI's figure for one in low detail.
// It is below what any counter here takes, since the sessions are about bytes.
const imageTokens = 85

// What the same source adds for functions on the models of o200k_base: to begin one, to begin
// its properties, for each, for an enumeration and each value of it, and to end.
const (
	toolStart, toolProps, toolProp, toolEnum, toolValue, toolEnd = 7, 3, 3, -3, 3, 12
)

// tokens is a count by another project's tokenizer that remembers what it counted. Texts of
// the pool, which many sessions use, are shared; the others are a session's own.
type tokens struct {
	codec tokenizer.Codec
	own   map[string]int
	pool  *sync.Map // of the process: string → int, for texts that are in it
}

func (t *tokens) count(s string) (int, error) {
	if s == "" {
		return 0, nil
	}
	if n, ok := t.own[s]; ok {
		return n, nil
	}
	if n, ok := t.pool.Load(s); ok {
		return n.(int), nil
	}
	n, err := t.codec.Count(s)
	if err != nil {
		return 0, err
	}
	if pooled(s) {
		t.pool.Store(s, n)
	} else {
		t.own[s] = n
	}
	return n, nil
}

var (
	codecs = map[string]func() (tokenizer.Codec, error){
		"o200k":  sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.O200kBase) }),
		"cl100k": sync.OnceValues(func() (tokenizer.Codec, error) { return tokenizer.Get(tokenizer.Cl100kBase) }),
	}
	pools = map[string]*sync.Map{"o200k": {}, "cl100k": {}}
)

// A truth is what the providers of one session count. It is a scriptmodel.Scale.
type truth struct {
	weights map[string]weight // by model
	by      map[string]*tokens
	faults  []error // bodies that it could not read
}

func newTruth(models []model) (*truth, error) {
	t := &truth{weights: map[string]weight{}, by: map[string]*tokens{}}
	for _, m := range models {
		t.weights[m.name] = m.weight
		e := m.weight.encoding
		if t.by[e] != nil {
			continue
		}
		codec, err := codecs[e]()
		if err != nil {
			return nil, err
		}
		t.by[e] = &tokens{codec: codec, own: map[string]int{}, pool: pools[e]}
	}
	return t, nil
}

// Prompt implements scriptmodel.Scale.
func (t *truth) Prompt(d llm.Dialect, name string, body []byte) int {
	r, err := readBody(d, body)
	if err != nil {
		t.fault(err)
	}
	w := t.weights[name]
	n := w.share(t.sum(w, r.texts)) + w.hidden + w.message*r.messages + w.call*r.calls + w.result*r.results + imageTokens*r.images
	for _, f := range r.tools {
		n += w.share(t.tool(w, f))
	}
	return n
}

// Reply implements scriptmodel.Scale.
func (t *truth) Reply(name string, m llm.Message) int {
	var r reading
	for _, p := range m.Parts {
		switch p := p.(type) {
		case llm.Text:
			r.text(p.Text)
		case llm.ToolCall:
			r.calls++
			r.text(p.Name)
			r.text(p.Args)
		default:
			t.fault(fmt.Errorf("guardsim: reply: %T, want a text or a call", p))
		}
	}
	w := t.weights[name]
	return w.share(t.sum(w, r.texts)) + w.call*r.calls
}

func (w weight) share(n int) int { return (n*w.permille + 999) / 1000 }

func (t *truth) fault(err error) { t.faults = append(t.faults, err) }

func (t *truth) sum(w weight, texts []string) (n int) {
	for _, s := range texts {
		c, err := t.by[w.encoding].count(s)
		if err != nil {
			t.fault(err)
		}
		n += c
	}
	return n
}

// A schema is as much of a JSON schema as the published rule looks at.
type schema struct {
	Type        string            `json:"type"`
	Description string            `json:"description"`
	Enum        []string          `json:"enum"`
	Properties  map[string]schema `json:"properties"`
}

func (t *truth) tool(w weight, f tool) int {
	var s schema
	if len(f.Parameters) > 0 {
		if err := json.Unmarshal(f.Parameters, &s); err != nil {
			t.fault(err)
		}
	}
	n := toolStart + toolEnd + t.sum(w, []string{f.Name + ":" + f.Description})
	if len(s.Properties) > 0 {
		n += toolProps
	}
	for _, name := range sortedKeys(s.Properties) {
		p := s.Properties[name]
		n += toolProp + t.sum(w, []string{name + ":" + p.Type + ":" + p.Description})
		if len(p.Enum) > 0 {
			n += toolEnum
		}
		for _, value := range p.Enum {
			n += toolValue + t.sum(w, []string{value})
		}
	}
	return n
}
