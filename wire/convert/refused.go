package convert

import (
	"slices"
	"strconv"
	"strings"

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
		if *f.value == "" || !slices.Contains(c.refused.Settings, f.name) {
			continue
		}
		if n, err := strconv.ParseFloat(*f.value, 64); err != nil || n != 1 {
			c.note(Loss{Fate: catalog.Drop, What: f.name, Name: *f.value, How: "left out: the model refuses it"})
		}
		*f.value = ""
	}
	if slices.Contains(c.refused.Settings, "stop") {
		for _, text := range s.Stop {
			c.note(Loss{Fate: catalog.Drop, What: "stop sequence", Name: strconv.Quote(text), How: "left out: the model refuses it"})
		}
		s.Stop = nil
	}
	return s
}

// prefill says that the model refuses to go on with a text of its own. Nothing stands for
// that: the text is part of the conversation.
func (c *converter) prefill(msgs []llm.Message) {
	if len(msgs) == 0 || !c.refused.Prefill || msgs[len(msgs)-1].Role != llm.RoleAssistant {
		return
	}
	c.message, c.part = nowhere, nowhere
	c.note(Loss{Fate: catalog.Note, What: "prefill", How: "is refused by the model: a conversation has to end with the user"})
}

// taken returns an image in a type that the provider takes, or a line of text in its place.
// A type that is wrong or misspelt becomes that of the bytes.
func (c *converter) taken(p llm.Media, s media.Source) llm.Part {
	types := c.refused.Images
	if !s.IsImage() || len(s.Data) == 0 || len(types) == 0 {
		return p
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
		c.note(Loss{Fate: catalog.Note, What: "image", Name: s.Type, How: "left out: the provider takes " + strings.Join(types, ", ")})
		return llm.Text{Text: media.Placeholder(p)}
	}
	if s.Type != media.AnyImage {
		c.note(Loss{Fate: catalog.Note, What: "image", Name: s.Type, How: "sent as " + seen})
	}
	s.Type = seen
	p.Type, p.Raw = seen, llm.Raw{Data: media.Block(s)}
	return p
}
