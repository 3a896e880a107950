package convert

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
)

// sampling returns s without the settings that the model refuses. One that states what
// holds anyhow is left out without a loss.
func (c *converter) sampling(s llm.Settings) llm.Settings {
	stated := []struct {
		name  string
		value *string
	}{{"temperature", &s.Temperature}, {"top_p", &s.TopP}}
	either := "" // of two settings, the one that is kept
	for _, name := range c.refused.Either {
		for _, f := range stated {
			if f.name != name || *f.value == "" {
				continue
			}
			if either != "" {
				c.note(Loss{Fate: catalog.Drop, What: f.name, Name: *f.value, How: "left out: the model takes it or " + either + ", not both"})
				*f.value = ""
				continue
			}
			either = f.name
		}
	}
	for _, f := range stated {
		if *f.value == "" || !c.refused.Refuses(f.name, s.Effort.Word) {
			continue
		}
		if n, err := strconv.ParseFloat(*f.value, 64); err != nil || n != 1 {
			c.note(Loss{Fate: catalog.Drop, What: f.name, Name: *f.value, How: "left out: the model refuses it"})
		}
		*f.value = ""
	}
	if c.refused.Refuses("stop", "") {
		for _, text := range s.Stop {
			c.note(Loss{Fate: catalog.Drop, What: "stop sequence", Name: strconv.Quote(text), How: "left out: the model refuses it"})
		}
		s.Stop = nil
	}
	s.Stop = c.stops(s.Stop)
	return s
}

// stops returns the stop sequences without those of white space, where they are refused.
func (c *converter) stops(all []string) []string {
	if !c.refused.BlankStop {
		return all
	}
	out := make([]string, 0, len(all))
	for _, text := range all {
		if strings.TrimSpace(text) != "" {
			out = append(out, text)
			continue
		}
		c.note(Loss{Fate: catalog.Drop, What: "stop sequence", Name: strconv.Quote(text), How: "left out: the provider refuses white space alone"})
	}
	return out
}

// prefill returns msgs, with what the model is to go on with as it is taken: without white
// space at its end. That a model refuses any such text is only said: nothing stands for it,
// for the text is part of the conversation.
func (c *converter) prefill(msgs []llm.Message) []llm.Message {
	c.message, c.part = nowhere, nowhere
	if c.refused.PrefillSpace {
		trimmed, had := withoutSpace(msgs)
		if had {
			c.note(Loss{Fate: catalog.Note, What: "prefill", How: "sent without the white space at its end, which the provider refuses"})
		}
		msgs = trimmed
	}
	if c.refused.Prefill && len(msgs) > 0 && msgs[len(msgs)-1].Role == llm.RoleAssistant {
		c.note(Loss{Fate: catalog.Note, What: "prefill", How: "is refused by the model: a conversation has to end with the user"})
	}
	return msgs
}

// withoutSpace returns msgs without white space at the end of what the model says last. A
// part of nothing else goes, and so does a message. had says whether there was any.
func withoutSpace(msgs []llm.Message) (out []llm.Message, had bool) {
	for len(msgs) > 0 && msgs[len(msgs)-1].Role == llm.RoleAssistant {
		end := len(msgs) - 1
		m := msgs[end]
		last := len(m.Parts) - 1
		if last < 0 {
			return msgs, had
		}
		t, ok := m.Parts[last].(llm.Text)
		text := strings.TrimRightFunc(t.Text, unicode.IsSpace)
		if !ok || text == t.Text && text != "" {
			return msgs, had
		}
		had = had || text != t.Text
		m.Envelope = llm.Envelope{}
		m.Parts = slices.Clone(m.Parts[:last])
		if text != "" {
			m.Parts = append(m.Parts, llm.Text{Text: text})
		}
		msgs = slices.Clone(msgs[:end])
		if len(m.Parts) > 0 {
			msgs = append(msgs, m)
		}
	}
	return msgs, had
}

// taken returns an image in a type that the provider takes, or a line of text in its place.
// A type that is wrong or misspelt becomes that of the bytes.
func (c *converter) taken(p llm.Media, s media.Source) llm.Part {
	types := c.refused.Images
	if !s.IsImage() || len(types) == 0 {
		return p
	}
	if len(s.Data) == 0 {
		return c.addressed(p, media.TypeOf(s))
	}
	seen := media.Seen(s.Data)
	right := !c.refused.ImageStated || seen == "" || seen == s.Type
	if slices.Contains(types, s.Type) && right {
		return p
	}
	if seen == "" && (s.Type == "image/jpg" || s.Type == "image/pjpeg") {
		seen = "image/jpeg"
	}
	if !slices.Contains(types, seen) {
		return c.untaken(p, s.Type)
	}
	if s.Type != media.AnyImage {
		c.note(Loss{Fate: catalog.Note, What: "image", Name: s.Type, How: "sent as " + seen})
	}
	s.Type = seen
	p.Type, p.Raw = seen, llm.Raw{Data: media.Block(s)}
	return p
}

// addressed returns an image that is an address, or a line of text in its place where its type
// is known and not taken.
func (c *converter) addressed(p llm.Media, kind string) llm.Part {
	known := strings.HasPrefix(kind, "image/") && kind != media.AnyImage && kind != "image/jpg" && kind != "image/pjpeg"
	if !known || slices.Contains(c.refused.Images, kind) {
		return p
	}
	return c.untaken(p, kind)
}

// untaken returns a line of text in the place of an image of a type that is not taken.
func (c *converter) untaken(p llm.Media, kind string) llm.Part {
	c.note(Loss{Fate: catalog.Note, What: "image", Name: kind, How: "left out: the provider takes " + strings.Join(c.refused.Images, ", ")})
	p.Type = kind
	return llm.Text{Text: media.Placeholder(p)}
}
