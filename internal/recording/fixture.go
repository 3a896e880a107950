package recording

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// export reads a JSON file: an HTTP replay, a nock recording, or one reply.
func export(name string, text []byte) ([]Exchange, error) {
	if first := bytes.TrimSpace(text); len(first) > 0 && first[0] == '[' {
		return nock(text)
	}
	var replay struct {
		Interactions []interaction
	}
	if err := json.Unmarshal(text, &replay); err != nil {
		return nil, err
	}
	if replay.Interactions == nil {
		return reply(name, text)
	}
	var out []Exchange
	for i, in := range replay.Interactions {
		e, err := in.exchange()
		if err != nil {
			return nil, fmt.Errorf("interaction %d: %w", i, err)
		}
		out = append(out, e)
	}
	return out, nil
}

// reply makes an exchange of a reply that was not streamed and of which nothing else is known. An error that does not state its status is a
// bad request.
func reply(name string, text []byte) ([]Exchange, error) {
	e := Exchange{Dialect: guess(name, text), Status: 200, Response: text}
	var body struct {
		Error *struct{ Code any }
	}
	if err := json.Unmarshal(text, &body); err != nil {
		return nil, err
	}
	if body.Error != nil && e.Dialect != Responses { // a response says "error": null or what went wrong after a good start
		e.Status = 400
		if code, ok := body.Error.Code.(float64); ok {
			e.Status = int(code)
		}
	}
	return []Exchange{e}, nil
}

// An interaction is one call of an HTTP replay; bodies come under two names.
type interaction struct {
	Request struct {
		URL      string
		Content  json.RawMessage
		Segments []json.RawMessage `json:"body_segments"`
	}
	Response struct {
		Status  int `json:"status_code"`
		Content *struct {
			Data     string
			Encoding string
		}
		Segments []json.RawMessage `json:"body_segments"`
	}
}

func (in interaction) exchange() (Exchange, error) {
	e := Exchange{Status: in.Response.Status, Request: in.Request.Content}
	e.address(in.Request.URL)
	var err error
	if e.Request == nil {
		e.Request, err = single(in.Request.Segments)
	}
	if err != nil {
		return e, fmt.Errorf("request: %w", err)
	}
	if content := in.Response.Content; content == nil {
		e.Response, err = single(in.Response.Segments)
	} else if content.Encoding == "base64" {
		e.Response, err = base64.StdEncoding.DecodeString(content.Data)
	} else {
		e.Response = []byte(content.Data)
	}
	if err != nil {
		return e, fmt.Errorf("response: %w", err)
	}
	return e, nil
}

// single returns the one segment of a body.
func single(segments []json.RawMessage) ([]byte, error) {
	if len(segments) != 1 {
		return nil, fmt.Errorf("body, want 1 segment, got %d", len(segments))
	}
	return segments[0], nil
}

// nock reads a list of calls. A response is JSON, or a string with the body's text.
func nock(text []byte) ([]Exchange, error) {
	var calls []struct {
		Scope, Path string
		Body        json.RawMessage
		Status      int
		Response    json.RawMessage
		Binary      bool   `json:"responseIsBinary"`
		Type        string `json:"contentType"`
	}
	if err := json.Unmarshal(text, &calls); err != nil {
		return nil, err
	}
	var out []Exchange
	for i, c := range calls {
		if c.Binary {
			return nil, fmt.Errorf("call %d: response, want text, got a binary one", i)
		}
		e := Exchange{Status: c.Status, Stream: isEventStream(c.Type)}
		e.address(c.Scope + c.Path)
		e.Request, e.Response = unquote(c.Body), unquote(c.Response)
		out = append(out, e)
	}
	return out, nil
}

// unquote returns the text of a JSON string, any other value as it is, and nil for an empty string.
func unquote(value json.RawMessage) []byte {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return value
	}
	if text == "" {
		return nil
	}
	return []byte(text)
}

// chunks reads the payloads of streams, one a line, and frames them again. A file may hold several streams, one after the other.
func chunks(name string, text []byte) ([]Exchange, error) {
	var payloads []json.RawMessage
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !json.Valid(line) {
			return nil, fmt.Errorf("line %d, want JSON, got %.40q", len(payloads)+1, line)
		}
		payloads = append(payloads, json.RawMessage(line))
	}
	if len(payloads) == 0 {
		return nil, fmt.Errorf("payloads, want some, got none")
	}
	dialect := guess(name, payloads[0])
	var out []Exchange
	for _, one := range split(payloads) {
		out = append(out, Exchange{Dialect: dialect, Status: 200, Response: frame(dialect, one), Stream: true})
	}
	return out, nil
}

// split cuts a list of payloads after each that ends a stream, if another that begins one follows.
func split(payloads []json.RawMessage) [][]json.RawMessage {
	var out [][]json.RawMessage
	start := 0
	for i := 1; i < len(payloads); i++ {
		begins := payloadType(payloads[i]) == payloadType(payloads[0])
		switch payloadType(payloads[i-1]) {
		case "message_stop", "response.completed", "response.incomplete", "response.failed":
			if begins {
				out = append(out, payloads[start:i])
				start = i
			}
		}
	}
	return append(out, payloads[start:])
}

// payloadType returns the type that a payload names; empty if it names none.
func payloadType(payload []byte) string {
	var p struct{ Type string }
	if json.Unmarshal(payload, &p) != nil {
		return ""
	}
	return p.Type
}

// frame writes payloads as server-sent events, as the dialect does.
func frame(dialect llm.Dialect, payloads []json.RawMessage) []byte {
	var out []byte
	for _, p := range payloads {
		if kind := payloadType(p); kind != "" && (dialect == Anthropic || dialect == Responses) {
			out = append(out, "event: "+kind+"\n"...)
		}
		out = append(append(append(out, "data: "...), p...), "\n\n"...)
	}
	if dialect == Chat {
		out = append(out, "data: [DONE]\n\n"...)
	}
	return out
}

// replies reads the recorded replies of a client's calls, one a line.
func replies(text []byte) ([]Exchange, error) {
	var out []Exchange
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		var call struct {
			Method   string
			Response json.RawMessage
		}
		if err := json.Unmarshal(line, &call); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(out)+1, err)
		}
		e := Exchange{Dialect: Gemini, Status: 200, Response: call.Response}
		if call.Method == "generateContentStream" {
			var payloads []json.RawMessage
			if err := json.Unmarshal(call.Response, &payloads); err != nil {
				return nil, fmt.Errorf("line %d: response, want a list of payloads: %w", len(out)+1, err)
			}
			e.Stream, e.Response = true, frame(Gemini, payloads)
		}
		out = append(out, e)
	}
	return out, nil
}
