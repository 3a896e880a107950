package recording

import (
	"bytes"
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// address fills what the URL of a call says: URL, Path and Dialect.
func (e *Exchange) address(rawURL string) {
	e.URL = rawURL
	if u, err := url.Parse(rawURL); err == nil {
		e.Path = u.Path
	} else {
		e.Path, _, _ = strings.Cut(rawURL, "?") // a recording may have put a placeholder in the host's place
	}
	e.Dialect = byPath(e.Path)
}

// byPath tells a dialect from the path of a URL.
func byPath(p string) llm.Dialect {
	switch {
	case strings.HasSuffix(p, "/messages"), strings.HasSuffix(p, "/messages/count_tokens"):
		return Anthropic
	case strings.HasSuffix(p, "/chat/completions"):
		return Chat
	case strings.HasSuffix(p, "/responses"), strings.HasSuffix(p, "/responses/compact"):
		return Responses
	case strings.HasSuffix(p, ":generateContent"), strings.HasSuffix(p, ":streamGenerateContent"), strings.HasSuffix(p, ":countTokens"):
		return Gemini
	}
	return ""
}

// guess tells a dialect from a payload, else, for an error, from the name of the file.
func guess(name string, payload []byte) llm.Dialect {
	var p struct {
		Type       string
		Object     string
		Choices    json.RawMessage
		Candidates json.RawMessage
		Error      json.RawMessage
	}
	if err := json.Unmarshal(payload, &p); err != nil {
		return ""
	}
	switch {
	case p.Type == "message", p.Type == "message_start":
		return Anthropic
	case p.Object == "chat.completion", p.Object == "chat.completion.chunk", p.Choices != nil:
		return Chat
	case p.Object == "response", strings.HasPrefix(p.Type, "response."):
		return Responses
	case p.Candidates != nil:
		return Gemini
	case p.Error != nil:
		return byName(name)
	}
	return ""
}

// byName tells the dialect of an error body, which has nothing else to tell it by.
func byName(name string) llm.Dialect {
	for prefix, dialect := range map[string]llm.Dialect{"anthropic-": Anthropic, "google-": Gemini, "openai-": Chat} {
		if strings.HasPrefix(path.Base(name), prefix) {
			return dialect
		}
	}
	return ""
}

// payload returns the first payload of a stream.
func payload(stream []byte) []byte {
	for line := range bytes.Lines(stream) {
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			return bytes.TrimSpace(data)
		}
	}
	return nil
}
