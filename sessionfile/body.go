package sessionfile

import (
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// requestFormats are the request bodies that are read here, by their dialect.
var requestFormats = map[llm.Dialect]Format{
	anthropic.Dialect: FormatAnthropicRequest, openai.DialectChat: FormatChatRequest, openai.DialectResponses: FormatResponsesRequest,
}

// requestFormat returns which request body an object is, or "".
func requestFormat(body []byte) Format {
	data := gjson.ParseBytes(body)
	if !data.Get("model").Exists() && !data.Get("anthropic_version").Exists() {
		return "" // many programs write lists of messages
	}
	dialect, kind, err := codecs.Detect(body)
	if err != nil || kind != codecs.KindRequest {
		return ""
	}
	return requestFormats[dialect]
}

// readBody reads one request body.
func readBody(r *reading, body []byte) error {
	var request llm.Request
	var err error
	switch r.session.Format {
	case FormatAnthropicRequest:
		request, err = anthropic.DecodeRequest(body)
	case FormatChatRequest:
		request, err = openai.DecodeChat(body)
	default:
		request, err = openai.DecodeResponses(body)
	}
	if err != nil {
		return &FormatError{
			File: r.session.Path, Known: Formats(),
			Seen: fmt.Sprintf("what looks like %s but: %v", r.session.Format, err),
		}
	}
	r.session.Dialect = request.Dialect
	segment := Segment{Start: StartRoot, Sections: request.Sections, Tools: request.Tools, Model: request.Model, Final: true}
	entries := make([]Entry, len(request.Messages))
	for i, m := range request.Messages {
		if m.Origin == llm.Human {
			if m.Origin = originOf(m.Parts); m.Origin == llm.Note {
				m.Flags |= rulesIn(m.Parts)
			}
		}
		entries[i] = Entry{Message: m}
	}
	segment.Entries = r.pair(entries)
	r.session.Segments = []Segment{segment}
	return nil
}
