package openai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// DecodeChat reads a Chat Completions body: its messages, one for each wire message, and
// its tools. The frame holds body itself, which nobody may write to from here on. The
// error says what is wrong and where: not JSON, nested too deep, no message list, a
// message without a known role, a tool message without call id (or a function message
// without a name) or content.
func DecodeChat(body []byte) (llm.Request, error) {
	if _, err := raw.CheckObject(body); err != nil {
		return llm.Request{}, fmt.Errorf("openai: decode chat: %w", err)
	}
	r, err := decodeChat(raw.NewCursor(body))
	if err != nil {
		return llm.Request{}, fmt.Errorf("openai: decode chat: %w", err)
	}
	r.Dialect, r.Frame.Raw = DialectChat, body
	return r, nil
}

func decodeChat(c *raw.Cursor) (llm.Request, error) {
	var r llm.Request
	var older int
	var toolsErr error
	messagesErr := error(&raw.Fault{What: "want an array, got nothing"})
	c.Object(func(name []byte) {
		// A member that is wrong is passed over for now: it may come again, and the last one counts.
		start := c.Pos()
		switch string(name) {
		case "model":
			r.Model = raw.Unquote(c.Value())
		case "max_completion_tokens":
			r.MaxOutput, _ = raw.Int(c.Value()) // anything else is the provider's to refuse
		case "max_tokens":
			older, _ = raw.Int(c.Value())
		case "tools":
			r.Tools, toolsErr = decodeTools(c)
			r.Frame.Tools = c.Past(start, toolsErr)
		case "messages":
			r.Messages, r.Frame.Each, messagesErr = decodeChatMessages(c)
			r.Frame.Messages = c.Past(start, messagesErr)
		default:
			if isSetting(name) {
				readSetting(&r.Settings, string(name), c.Value())
			}
		}
	})
	if r.MaxOutput <= 0 {
		r.MaxOutput = older
	}
	switch {
	case toolsErr != nil:
		return r, raw.In(toolsErr, "tools")
	case messagesErr != nil:
		return r, raw.In(messagesErr, "messages")
	}
	return r, nil
}

// decodeChatMessages reads the message list at c; each is where its elements lie.
func decodeChatMessages(c *raw.Cursor) (msgs []llm.Message, each []llm.Span, err error) {
	if !raw.IsArray(c.Next()) {
		return nil, nil, c.Wrong("an array")
	}
	start := c.Pos()
	var reader chatReader
	c.Array(func(i int) bool {
		var m llm.Message
		var at llm.Span
		if !raw.IsObject(c.Next()) {
			err = c.Wrong("an object")
		} else {
			m, at, err = reader.message(c)
		}
		if err != nil {
			err = raw.In(err, index(i))
			return false
		}
		msgs, each = append(grown(msgs, c, start), m), append(grown(each, c, start), at)
		return true
	})
	return msgs, each, err
}

// EncodeChat returns the Chat Completions body of r. A request that was decoded here and
// not changed gives the very bytes (the same slice) that it was decoded from; else only
// what differs is written anew: the message list, the tool list, the model, the output
// limit, the settings (also to nothing), each by itself. A request without a frame of this dialect is written from the
// start. Results always follow their calls directly. The error says that the frame does
// not describe its body.
func EncodeChat(r llm.Request) ([]byte, error) { return encodeChat(r, newerLimit) }

// The names of the member that limits the output.
const (
	newerLimit = "max_completion_tokens"
	olderLimit = "max_tokens"
)

// encodeChat is EncodeChat; limit is the name of the output's limit where none is there.
func encodeChat(r llm.Request, limit string) ([]byte, error) {
	r = wire.Loaded(r, DialectChat)
	if r.Dialect != DialectChat || len(r.Frame.Raw) == 0 {
		return freshChat(r, limit), nil
	}
	b, err := raw.NewBody(r.Frame)
	if err != nil {
		return nil, fmt.Errorf("openai: encode chat: %w", err)
	}
	b.PutText("model", r.Model)
	b.PutInt(outputLimit(b, limit), r.MaxOutput)
	putSettings(b, r, DialectChat)
	tools := b.List(r.Frame.Tools, nil)
	b.PutList("tools", r.Frame.Tools, tools, toolElements(r, tools, DialectChat))
	list := b.List(r.Frame.Messages, r.Frame.Each)
	b.PutElements("messages", r.Frame.Messages, list, chatElements(r, list))
	return b.Bytes(), nil
}

// outputLimit names the member that limits the output: the one that does, the newer one
// before the older, else the name given.
func outputLimit(b *raw.Body, name string) string {
	for _, used := range []string{newerLimit, olderLimit} {
		_, value := b.Find(used)
		if n, _ := raw.Int(value); n > 0 {
			return used
		}
	}
	return name
}

func freshChat(r llm.Request, limit string) []byte {
	none := raw.NewList(nil, nil)
	o := new(raw.Object).Stated("model", r.Model)
	addOutputLimit(o, limit, r.MaxOutput)
	for _, f := range changes(llm.Settings{}, r, DialectChat) {
		o.Raw(f.Name, f.Value)
	}
	if word := r.Settings.Effort.Word; word != "" {
		o.Text("reasoning_effort", word)
	}
	if r.Settings.Stream { // else no chunk tells the usage
		o.Raw("stream_options", []byte(`{"include_usage":true}`))
	}
	if tools := toolElements(r, none, DialectChat); len(tools) > 0 {
		o.Raw("tools", none.With(tools))
	}
	return o.Raw("messages", none.With(chatElements(r, none))).Bytes()
}

// chatElements returns the message list of r: the messages, and its sections as one
// system message behind the leading system messages.
func chatElements(r llm.Request, list *raw.List) []raw.Element {
	system := systemContent(r)
	if framed := framedElements(r.Messages); system == nil && len(framed) == len(r.Messages) && list.Same(framed) {
		return framed
	}
	units := make([]chatUnit, 0, len(r.Messages)+1)
	legacy := legacyCalls(r.Messages)
	for _, m := range joinReplies(r.Messages) {
		if system != nil && m.Role != llm.RoleSystem {
			units = append(units, systemUnit(system))
			system = nil
		}
		framed := m.Dialect == DialectChat && raw.Fits(m)
		for _, u := range chatWire(m, legacy) {
			if framed {
				u.at = list.Find(m.Envelope.Raw)
				framed = false
			}
			units = append(units, u)
		}
	}
	if system != nil {
		units = append(units, systemUnit(system))
	}
	units = closeRounds(units)
	elements := make([]raw.Element, len(units))
	for i, u := range units {
		elements[i] = raw.Element{Bytes: u.bytes, At: u.at}
	}
	return elements
}

// framedElements returns the elements that msgs came as, up to the first one that was
// edited or came another way.
func framedElements(msgs []llm.Message) []raw.Element {
	elements := make([]raw.Element, 0, len(msgs))
	for i, m := range msgs {
		if m.Dialect != DialectChat || !raw.Fits(m) || !raw.Untouched(m) {
			break
		}
		elements = append(elements, raw.Element{Bytes: m.Envelope.Raw, At: i})
	}
	return elements
}

func systemUnit(content []byte) chatUnit {
	o := new(raw.Object).Text("role", "system").Raw("content", content)
	return chatUnit{bytes: o.Bytes(), user: true, at: -1}
}

// systemContent returns the sections of r as the content of a system message: one text, or,
// where there are marks that this format has, a part for each section with what stands
// between two of them at its start. nil if there are none.
func systemContent(r llm.Request) []byte {
	text := sectionText(r.Sections)
	marked := slices.ContainsFunc(r.Marks, func(p llm.Place) bool {
		return p.On == llm.OnSection && p.At >= 0 && p.At < len(r.Sections) && p.Mark != llm.NoMark
	})
	switch {
	case text == "":
		return nil
	case !marked || r.Settings.CacheKey == "":
		return raw.Quote(text)
	}
	var parts [][]byte
	for i, s := range r.Sections {
		if s.Text == "" {
			continue
		}
		if len(parts) > 0 {
			s.Text = between + s.Text
		}
		o := new(raw.Object).Text("type", "text").Text("text", s.Text)
		if r.Marks.On(llm.OnSection, i) != llm.NoMark {
			o.Raw("prompt_cache_breakpoint", []byte(`{"mode":"explicit"}`))
		}
		parts = append(parts, o.Bytes())
	}
	return raw.Array(parts)
}

// between stands between the texts of two sections.
const between = "\n\n"

// sectionText returns the texts of sections, an empty line between them.
func sectionText(sections []llm.Section) string {
	var texts []string
	for _, s := range sections {
		if s.Text != "" {
			texts = append(texts, s.Text)
		}
	}
	return strings.Join(texts, between)
}
