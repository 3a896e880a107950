package ollama

import (
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
	"github.com/plimsoll-dev/plimsoll/wire/internal/setting"
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

// streamForm and optionsForm name the settings in the body and in its options.
var (
	streamForm  = setting.Form{Stream: "stream"}
	optionsForm = setting.Form{Temperature: "temperature", TopP: "top_p", Stop: "stop"}
)

// settingsOf reads options.
func settingsOf(options []byte) (llm.Settings, int) {
	v := raw.Values(options, "num_predict", "temperature", "top_p", "stop")
	limit, _ := raw.Int(v[0]) // -1 is no limit, anything else the server's to refuse
	return llm.Settings{Temperature: raw.Number(v[1]), TopP: raw.Number(v[2]), Stop: raw.Texts(v[3])}, max(limit, 0)
}

// putSettings changes those settings of the body that are others in r, also to nothing. A
// body that does not say so asks for a stream.
func putSettings(b *raw.Body, r llm.Request) {
	_, options := b.Find("options")
	b.PutFields(raw.Field{Name: "options", Value: withSettings(options, r)})
	_, stream := b.Find("stream")
	b.PutFields(streamForm.Changes(llm.Settings{Stream: string(stream) != "false"}, r.Settings)...)
}

// withSettings returns options with what r says and the options so far do not.
func withSettings(options []byte, r llm.Request) []byte {
	old, limit := settingsOf(options)
	var fields []raw.Field
	if r.MaxOutput > 0 && r.MaxOutput != limit {
		fields = append(fields, raw.Field{Name: "num_predict", Value: raw.Digits(r.MaxOutput)})
	}
	fields = append(fields, optionsForm.Changes(old, r.Settings)...)
	switch {
	case len(fields) == 0:
		return options
	case raw.IsNone(options):
		options = []byte("{}")
	}
	return raw.SetFields(options, fields...)
}
