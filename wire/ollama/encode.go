package ollama

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// EncodeRequest returns the body of r. A request that was decoded here and not changed
// gives the very bytes (the same slice) that it was decoded from; else only what differs
// is written anew: the message list, the tool list, the model, the options and stream (also
// to nothing), each by itself.
// A request without a frame of this dialect is written from the start. The error says that
// the frame does not describe its body.
func EncodeRequest(r llm.Request) ([]byte, error) {
	r = wire.Loaded(r, Dialect)
	if r.Dialect != Dialect || len(r.Frame.Raw) == 0 {
		return fresh(r), nil
	}
	b, err := raw.NewBody(r.Frame)
	if err != nil {
		return nil, fmt.Errorf("ollama: encode request: %w", err)
	}
	b.PutText("model", r.Model)
	tools := b.List(r.Frame.Tools, nil)
	b.PutList("tools", r.Frame.Tools, tools, toolElements(r, tools))
	putSettings(b, r)
	list := b.List(r.Frame.Messages, r.Frame.Each)
	b.PutElements("messages", r.Frame.Messages, list, messageElements(r, list))
	return b.Bytes(), nil
}

func fresh(r llm.Request) []byte {
	none := raw.NewList(nil, nil)
	o := new(raw.Object).Stated("model", r.Model)
	if tools := toolElements(r, none); len(tools) > 0 {
		o.Raw("tools", none.With(tools))
	}
	o.Raw("messages", none.With(messageElements(r, none))).Raw("options", withSettings(nil, r))
	stream := "false"
	if r.Settings.Stream {
		stream = "true"
	}
	return o.Raw("stream", []byte(stream)).Raw("truncate", []byte("false")).Raw("shift", []byte("false")).Bytes()
}

// A unit is one wire message to be.
type unit struct {
	bytes  []byte
	calls  []string // the calls that wait for a result
	result string   // the call that it answers
	user   bool     // not of the assistant
	at     int      // the element of the body that it was; -1 if none
}

// messageElements returns the message list of r: the messages, and its sections as one
// system message behind the leading system messages.
func messageElements(r llm.Request, list *raw.List) []raw.Element {
	units := make([]unit, 0, len(r.Messages)+1)
	system := sectionText(r.Sections)
	for i, m := range r.Messages {
		if system != "" && m.Role != llm.RoleSystem {
			units, system = append(units, systemUnit(system)), ""
		}
		framed := m.Dialect == Dialect && raw.Fits(m)
		for _, u := range wireMessages(m, r.Messages[:i]) {
			if framed {
				u.at = list.Find(m.Envelope.Raw)
				framed = false
			}
			units = append(units, u)
		}
	}
	if system != "" {
		units = append(units, systemUnit(system))
	}
	closeRounds(units)
	elements := make([]raw.Element, len(units))
	for i, u := range units {
		elements[i] = raw.Element{Bytes: u.bytes, At: u.at}
	}
	return elements
}

func systemUnit(text string) unit {
	return unit{bytes: new(raw.Object).Text("role", "system").Text("content", text).Bytes(), user: true, at: -1}
}

// sectionText returns the texts of sections, an empty line between them.
func sectionText(sections []llm.Section) string {
	var texts []string
	for _, s := range sections {
		if s.Text != "" {
			texts = append(texts, s.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}

// closeRounds moves the results that follow a message with calls to right behind it, where
// something that is not a result stands between. Messages that all came in the body stay as
// they came.
func closeRounds(units []unit) {
	for i, u := range units {
		if len(u.calls) == 0 {
			continue
		}
		end := i + 1
		last := -1
		for ; end < len(units) && units[end].user; end++ {
			if slices.Contains(u.calls, units[end].result) {
				last = end
			}
		}
		if last < 0 {
			continue
		}
		round := units[i+1 : last+1]
		if slices.ContainsFunc(round, func(u unit) bool { return u.at < 0 }) {
			slices.SortStableFunc(round, resultsFirst)
		}
	}
}

func resultsFirst(a, b unit) int {
	switch {
	case a.result != "" && b.result == "":
		return -1
	case a.result == "" && b.result != "":
		return 1
	}
	return 0
}
