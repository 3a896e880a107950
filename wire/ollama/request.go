package ollama

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeRequest reads a body: its messages, one for each wire message, and its tools. The
// frame holds body itself, which nobody may write to from here on. The error says what is
// wrong and where: not JSON, nested too deep, no message list, a message without a known
// role, content that is no string.
func DecodeRequest(body []byte) (llm.Request, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Request{}, fmt.Errorf("ollama: decode request: %w", err)
	}
	r, err := decodeRequest(raw.NewCursor(body))
	if err != nil {
		return llm.Request{}, fmt.Errorf("ollama: decode request: %w", err)
	}
	r.Dialect, r.Frame.Raw = Dialect, body
	return r, nil
}

func decodeRequest(c *raw.Cursor) (llm.Request, error) {
	var r llm.Request
	var toolsErr error
	var options []byte
	stream := true // where the body does not say
	messagesErr := error(&raw.Fault{What: "want an array, got nothing"})
	c.Object(func(name []byte) {
		// A member that is wrong is passed over for now: it may come again, and the last one counts.
		start := c.Pos()
		switch string(name) {
		case "model":
			r.Model = raw.Unquote(c.Value())
		case "stream":
			stream = string(c.Value()) != "false"
		case "options":
			options = c.Value()
		case "tools":
			r.Tools, toolsErr = decodeTools(c)
			r.Frame.Tools = c.Past(start, toolsErr)
		case "messages":
			r.Messages, r.Frame.Each, messagesErr = decodeMessages(c)
			r.Frame.Messages = c.Past(start, messagesErr)
		}
	})
	r.Settings, r.MaxOutput = settingsOf(options)
	r.Settings.Stream = stream
	switch {
	case toolsErr != nil:
		return r, raw.In(toolsErr, "tools")
	case messagesErr != nil:
		return r, raw.In(messagesErr, "messages")
	}
	return r, nil
}

// settingsOf reads options.
func settingsOf(options []byte) (llm.Settings, int) {
	v := raw.Values(options, "num_predict", "temperature", "top_p", "stop")
	limit, _ := raw.Int(v[0]) // -1 is no limit, anything else the server's to refuse
	s := llm.Settings{Temperature: number(v[1]), TopP: number(v[2])}
	if raw.IsString(v[3]) {
		s.Stop = []string{raw.Unquote(v[3])}
	}
	for _, e := range raw.Elements(v[3]) {
		s.Stop = append(s.Stop, raw.Unquote(raw.Slice(v[3], e)))
	}
	return s, max(limit, 0)
}

func number(value []byte) string {
	if raw.KindOf(value) != "number" {
		return ""
	}
	return string(value)
}

// withSettings returns options with what r states and the options so far do not. nil if
// there is nothing to state.
func withSettings(options []byte, r llm.Request) []byte {
	old, limit := settingsOf(options)
	out := options
	if raw.IsNone(out) {
		out = []byte("{}")
	}
	s := r.Settings
	if r.MaxOutput > 0 && r.MaxOutput != limit {
		out = raw.Set(out, "num_predict", strconv.AppendInt(nil, int64(r.MaxOutput), 10))
	}
	if s.Temperature != "" && s.Temperature != old.Temperature {
		out = raw.Set(out, "temperature", []byte(s.Temperature))
	}
	if s.TopP != "" && s.TopP != old.TopP {
		out = raw.Set(out, "top_p", []byte(s.TopP))
	}
	if len(s.Stop) > 0 && !slices.Equal(s.Stop, old.Stop) {
		values := make([][]byte, len(s.Stop))
		for i, t := range s.Stop {
			values[i] = raw.Quote(t)
		}
		out = raw.Set(out, "stop", raw.Array(values))
	}
	if raw.IsNone(options) && string(out) == "{}" {
		return options
	}
	return out
}
