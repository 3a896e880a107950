// Package body reads single recorded request bodies: one segment without Steps
// that has Final set. It is for sessionfile/formats only.
package body

import (
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
	"github.com/plimsoll-dev/plimsoll/wire/anthropic"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
	"github.com/plimsoll-dev/plimsoll/wire/gemini"
	"github.com/plimsoll-dev/plimsoll/wire/openai"
)

// requestFormats are the request bodies that are read here, by their dialect.
var requestFormats = map[llm.Dialect]sessionfile.Format{
	anthropic.Dialect: sessionfile.FormatAnthropicRequest, openai.DialectChat: sessionfile.FormatChatRequest, openai.DialectResponses: sessionfile.FormatResponsesRequest,
}

// Reader returns the reader of request bodies.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatAnthropicRequest, sessionfile.FormatChatRequest, sessionfile.FormatResponsesRequest, sessionfile.FormatGeminiRequest},
		Document: func(d *read.Document) sessionfile.Format { return detect(d.Bytes) },
		Read:     readFile,
	}
}

// detect returns which request body a document is, or "".
func detect(body []byte) sessionfile.Format {
	f := read.FieldsOf(body)
	if isGemini(f) || isGemini(f.Of("request")) {
		return sessionfile.FormatGeminiRequest // the model is often in the address only
	}
	if !f.Has("model") && !f.Has("anthropic_version") {
		return "" // many programs write lists of messages
	}
	dialect, kind, err := codecs.Detect(body)
	if err != nil || kind != codecs.KindRequest {
		return ""
	}
	return requestFormats[dialect]
}

// isGemini reports whether an object has contents of which the first has parts.
func isGemini(f read.Fields) bool {
	found := false
	read.EachElement(f["contents"], func(value []byte) bool {
		parts := read.FieldsOf(value)["parts"]
		found = len(parts) > 0 && parts[0] == '['
		return false
	})
	return found
}

// readFile reads one request body.
func readFile(r *read.Reading, in *read.Input) error {
	d, err := in.Document()
	if err != nil {
		return err
	}
	request, err := decode(r.Session.Format, d.Bytes)
	if err != nil {
		return r.NotFormat(err)
	}
	r.Session.Dialect = request.Dialect
	segment := sessionfile.Segment{Start: sessionfile.StartRoot, Sections: request.Sections, Tools: request.Tools, Model: request.Model, Final: true}
	segment.Entries = make([]sessionfile.Entry, len(request.Messages))
	for i, m := range request.Messages {
		segment.Entries[i] = sessionfile.Entry{Message: m}
	}
	r.Emit(segment)
	return nil
}

func decode(format sessionfile.Format, body []byte) (llm.Request, error) {
	switch format {
	case sessionfile.FormatAnthropicRequest:
		return anthropic.DecodeRequest(body)
	case sessionfile.FormatChatRequest:
		return openai.DecodeChat(body)
	case sessionfile.FormatGeminiRequest:
		return gemini.DecodeRequest(body)
	}
	return openai.DecodeResponses(body)
}
