package scriptmodel

import (
	"path"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// pick returns the first block that answers the request and is not used up, else what is
// thought of it.
func (x *exchange) pick() (Block, *wire.Error) {
	for i, b := range x.script.Replies {
		if b.Times > 0 && x.state.used[i] >= b.Times || !x.fits(b.When) {
			continue
		}
		x.state.used[i]++
		x.call.Line = b.Line
		return b, nil
	}
	if x.think != nil {
		return Block{Reply: x.think(x.r)}, nil
	}
	return Block{}, x.fault(500, "script: no reply is left for this request")
}

func (x *exchange) fits(when []Condition) bool {
	for _, c := range when {
		if x.is(c) == c.Not {
			return false
		}
	}
	return true
}

func (x *exchange) is(c Condition) bool {
	switch c.Kind {
	case WhenUser:
		return strings.Contains(x.userText(), c.Text)
	case WhenSystem:
		return strings.Contains(x.systemText(), c.Text)
	case WhenResult:
		results := x.results()
		return len(results) > 0 && strings.Contains(strings.Join(results, "\n"), c.Text)
	case WhenTools:
		return len(x.r.Tools) > 0
	case WhenTool:
		for _, t := range x.r.Tools {
			if t.Name == c.Text {
				return true
			}
		}
	case WhenModel:
		ok, err := path.Match(c.Text, x.r.Model)
		return ok && err == nil
	case WhenDialect:
		return string(x.route.dialect) == c.Text
	case WhenStream:
		return x.streams()
	case WhenJSON:
		return x.wantsJSON()
	}
	return false
}

// newest returns the messages since the model last spoke.
func (x *exchange) newest() []llm.Message {
	for i := len(x.r.Messages) - 1; i >= 0; i-- {
		if x.r.Messages[i].Role == llm.RoleAssistant {
			return x.r.Messages[i+1:]
		}
	}
	return x.r.Messages
}

// results returns the texts of the results that the request brings.
func (x *exchange) results() []string {
	var texts []string
	for _, m := range x.newest() {
		for _, r := range m.Results() {
			texts = append(texts, r.Text())
		}
	}
	return texts
}

// userText returns the newest text of the user.
func (x *exchange) userText() string {
	for i := len(x.r.Messages) - 1; i >= 0; i-- {
		m := x.r.Messages[i]
		if m.Role == llm.RoleUser || m.Role == llm.RoleTool {
			if text := m.Text(); text != "" {
				return text
			}
		}
	}
	return ""
}

// systemText returns the system prompt, with the messages of that role.
func (x *exchange) systemText() string {
	var texts []string
	for _, s := range x.r.Sections {
		texts = append(texts, s.Text)
	}
	for _, m := range x.r.Messages {
		if m.Role == llm.RoleSystem {
			texts = append(texts, m.Text())
		}
	}
	return strings.Join(texts, "\n")
}

// wantsJSON reports whether the request asks for an answer in JSON.
func (x *exchange) wantsJSON() bool {
	for _, path := range []string{"response_format.type", "text.format.type", "output_config.format.type", "format"} {
		if strings.Contains(x.field(path).Raw, "json") {
			return true
		}
	}
	config := either(x.field("@this"), "generationConfig", "generation_config")
	if strings.Contains(either(config, "responseMimeType", "response_mime_type").String(), "json") {
		return true
	}
	return x.field("format").IsObject()
}
