package journal

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

type section struct {
	Name      string  `json:"name,omitempty"`
	Kind      string  `json:"kind,omitempty"`
	Text      string  `json:"text,omitempty"`
	Cacheable bool    `json:"cacheable,omitempty"`
	Tokens    int     `json:"tokens,omitempty"`
	Data      *string `json:"data,omitempty"`
	Base      *string `json:"base,omitempty"`
	B64       odd     `json:"b64,omitempty"`
}

func sectionsOf(sections []llm.Section) ([]section, error) {
	if sections == nil {
		return nil, nil
	}
	out := make([]section, 0, len(sections))
	for i, s := range sections {
		kind, err := nameOf(s.Kind, "kind", sectionNames)
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", i, err)
		}
		w := section{Kind: kind, Cacheable: s.Cacheable, Tokens: s.Tokens}
		w.Name, w.Text = w.B64.put("name", s.Name), w.B64.put("text", s.Text)
		w.Data, w.Base = w.B64.putBytes("data", s.Data), w.B64.putBytes("base", s.Base)
		out = append(out, w)
	}
	return out, nil
}

func readSections(ws []section) ([]llm.Section, error) {
	if ws == nil {
		return nil, nil
	}
	out := make([]llm.Section, 0, len(ws))
	for i, w := range ws {
		kind, err := valueOf[llm.SectionKind](w.Kind, "kind", sectionNames)
		if err != nil {
			return nil, fmt.Errorf("section %d: %w", i, err)
		}
		out = append(out, llm.Section{
			Name: w.B64.get("name", w.Name), Kind: kind, Text: w.B64.get("text", w.Text),
			Cacheable: w.Cacheable, Tokens: w.Tokens,
			Raw: llm.Raw{Data: w.B64.getBytes("data", w.Data), Base: w.B64.getBytes("base", w.Base)},
		})
	}
	return out, nil
}

type tool struct {
	Name        string  `json:"name,omitempty"`
	Description string  `json:"description,omitempty"`
	Schema      string  `json:"schema,omitempty"`
	Custom      bool    `json:"custom,omitempty"`
	Builtin     bool    `json:"builtin,omitempty"`
	Kind        string  `json:"kind,omitempty"`
	Deferred    bool    `json:"deferred,omitempty"`
	Finder      bool    `json:"finder,omitempty"`
	Data        *string `json:"data,omitempty"`
	Base        *string `json:"base,omitempty"`
	B64         odd     `json:"b64,omitempty"`
}

func toolsOf(tools []llm.Tool) ([]tool, error) {
	if tools == nil {
		return nil, nil
	}
	out := make([]tool, 0, len(tools))
	for i, t := range tools {
		kind, err := nameOf(t.Kind, "kind", toolNames)
		if err != nil {
			return nil, fmt.Errorf("tool %d: %w", i, err)
		}
		w := tool{Custom: t.Custom, Builtin: t.Builtin, Kind: kind, Deferred: t.Deferred, Finder: t.Finder}
		w.Name, w.Description, w.Schema = w.B64.put("name", t.Name), w.B64.put("description", t.Description), w.B64.put("schema", t.Schema)
		w.Data, w.Base = w.B64.putBytes("data", t.Data), w.B64.putBytes("base", t.Base)
		out = append(out, w)
	}
	return out, nil
}

func readTools(ws []tool) ([]llm.Tool, error) {
	if ws == nil {
		return nil, nil
	}
	out := make([]llm.Tool, 0, len(ws))
	for i, w := range ws {
		kind, err := valueOf[llm.ToolKind](w.Kind, "kind", toolNames)
		if err != nil {
			return nil, fmt.Errorf("tool %d: %w", i, err)
		}
		out = append(out, llm.Tool{
			Name: w.B64.get("name", w.Name), Description: w.B64.get("description", w.Description),
			Schema: w.B64.get("schema", w.Schema), Custom: w.Custom, Builtin: w.Builtin, Kind: kind,
			Deferred: w.Deferred, Finder: w.Finder,
			Raw: llm.Raw{Data: w.B64.getBytes("data", w.Data), Base: w.B64.getBytes("base", w.Base)},
		})
	}
	return out, nil
}

// runsOf writes places as runs of those that follow on one another: the first of each, and
// the one behind its last.
func runsOf(places []int) []place {
	if places == nil {
		return nil
	}
	out := []place{}
	for _, at := range places {
		if n := len(out); n > 0 && out[n-1][1] == at {
			out[n-1][1]++
			continue
		}
		out = append(out, place{at, at + 1})
	}
	return out
}

// mostPlaces bounds how many places a record can name: far more tools than any client has.
const mostPlaces = 1 << 16

func readRuns(runs []place) ([]int, error) {
	if runs == nil {
		return nil, nil
	}
	out := []int{}
	for _, r := range runs {
		if r[0] < 0 || r[1] <= r[0] || r[1]-r[0] > mostPlaces-len(out) {
			return nil, fmt.Errorf("run, want a first place and one behind it, %d places at most, got %d and %d", mostPlaces, r[0], r[1])
		}
		for at := r[0]; at < r[1]; at++ {
			out = append(out, at)
		}
	}
	return out, nil
}

// FrontOf names what stands before all messages: what a model reads of the system prompt and of
// the tools that are offered. It does not read of a deferred one before something names it. What it
// reads of a tool that is the provider's own follows from the bytes of its definition.
func FrontOf(sections []llm.Section, offered []llm.Tool) llm.Digest {
	var m llm.Message
	say := func(texts ...string) {
		for _, text := range texts {
			m.Parts = append(m.Parts, llm.Text{Text: text})
		}
	}
	for _, s := range sections {
		say("section", s.Text)
	}
	for _, t := range offered {
		if t.Deferred {
			continue
		}
		say("tool", t.Name, t.Description, t.Schema)
		if t.Custom {
			say("free text")
		}
		if t.Description == "" && t.Schema == "" {
			say(string(t.Data))
		}
	}
	return llm.DigestOf(m)
}
