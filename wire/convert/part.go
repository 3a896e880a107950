package convert

import (
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire/internal/media"
	"github.com/plimsoll-dev/plimsoll/wire/internal/raw"
)

// parts returns the parts of m that the format can carry. m is foreign.
func (c *converter) parts(m llm.Message) []llm.Part {
	out := make([]llm.Part, 0, len(m.Parts))
	native := m.Dialect == c.to.Name
	for i, p := range m.Parts {
		c.part = i
		if native {
			p = c.proven(p)
		} else {
			p = c.carried(p, m.Dialect == "")
		}
		if p != nil {
			out = append(out, p)
		}
	}
	c.part = nowhere
	return out
}

// proven returns p unless it proves something to a provider that did not write it.
func (c *converter) proven(p llm.Part) llm.Part {
	if t, ok := p.(llm.Thinking); ok && t.Signature != "" {
		c.lose(catalog.Drop, "thinking", "")
		return nil
	}
	return p
}

// carried returns p in a form that the format has, or nil. made says that p was made
// here and never was on a wire.
func (c *converter) carried(p llm.Part, made bool) llm.Part {
	switch p := p.(type) {
	case llm.Thinking:
		c.lose(catalog.Drop, "thinking", "")
		return nil
	case llm.Opaque:
		c.lose(catalog.Drop, "opaque part", p.Kind)
		return nil
	case llm.Text:
		c.within(p.Data)
	case llm.ToolCall:
		return c.call(p, made)
	case llm.ToolResult:
		return c.result(p)
	case llm.Media:
		return c.media(p, false)
	}
	return p
}

func (c *converter) call(p llm.ToolCall, made bool) llm.Part {
	if p.Hosted && !made {
		c.lose(catalog.Drop, "hosted call", p.Name)
		return nil
	}
	c.within(p.Data)
	if p.Custom {
		c.lose(c.to.FreeText, "free-text call", p.Name)
	} else if stands := c.args[p.Name]; len(stands) > 0 {
		if args, err := raw.CheckObject([]byte(p.Args)); err == nil {
			p.Args = string(renamedKeys(args, stands, nil))
		}
	}
	p.CallID, p.Name = c.callID(p.CallID), c.name(p.Name)
	return p
}

func (c *converter) result(p llm.ToolResult) llm.Part {
	p.CallID = c.resultID(p.CallID)
	c.within(p.Data)
	if p.IsError {
		c.lose(c.to.ErrorFlag, "error flag of a result", "")
	}
	content := make([]llm.Part, 0, len(p.Content))
	for _, x := range p.Content {
		switch x := x.(type) {
		case llm.Media:
			content = append(content, c.resultMedia(x, p.CallID))
		case llm.Opaque:
			c.lose(catalog.Note, "opaque content of a result", x.Kind)
			content = append(content, llm.Text{Text: "[" + kindOr(x.Kind) + " left out: it cannot be sent to this provider]"})
		default:
			c.within(x.Bytes())
			content = append(content, x)
		}
	}
	p.Content = content
	return p
}

func kindOr(kind string) string {
	if kind == "" {
		return "content"
	}
	return kind
}

// media returns p, or a line of text where the place cannot have it.
func (c *converter) media(p llm.Media, inResult bool) llm.Part {
	s := media.Read(p.Bytes())
	c.within(p.Data)
	if s.Text != "" {
		return llm.Text{Text: s.Text} // a document of plain text is text
	}
	if fate := c.mediaFate(s, inResult); fate != catalog.Keep {
		c.lose(fate, mediaKind(s), p.Type)
		return llm.Text{Text: media.Placeholder(p)}
	}
	return c.taken(p, s)
}

// resultMedia returns a media part of a result, or a line of text. An image that a result
// cannot have and a message can follows in a message of its own.
func (c *converter) resultMedia(p llm.Media, call string) llm.Part {
	s := media.Read(p.Bytes())
	if !s.IsImage() || c.mediaFate(s, true) == catalog.Keep || c.mediaFate(s, false) != catalog.Keep {
		return c.media(p, true)
	}
	fit := c.media(p, false)
	if _, ok := fit.(llm.Media); !ok {
		return fit
	}
	c.note(Loss{Fate: catalog.Note, What: "image", Name: p.Type, How: "of a result sent in a message behind the results"})
	c.behind = append(c.behind, llm.Text{Text: "[image of the result of call " + call + "]"}, fit)
	return llm.Text{Text: "[the image follows behind the results]"}
}

// mediaKind is what people call a media part.
func mediaKind(s media.Source) string {
	switch {
	case s.IsImage():
		return "image"
	case strings.HasPrefix(s.Type, "audio"):
		return "sound"
	}
	return "document"
}

func (c *converter) mediaFate(s media.Source, inResult bool) catalog.Fate {
	image := s.IsImage()
	switch {
	case len(s.Data) == 0 && s.URL == "":
		return catalog.Note // a file of one provider's own, or a shape not known here
	case image && len(s.Data) == 0 && c.to.LinkTyped && media.TypeOf(s) == "":
		return catalog.Note
	case image:
		fate := c.to.Image
		if len(s.Data) == 0 {
			fate = min(fate, c.to.ImageLink)
		}
		if inResult {
			fate = min(fate, c.to.ResultImage)
		}
		return fate
	case len(s.Data) == 0:
		return c.to.DocumentLink
	case s.Type != "application/pdf":
		return c.to.Audio
	case inResult:
		return min(c.to.ResultDocument, c.to.Document)
	}
	return c.to.Document
}

// name returns the name of a tool as the format takes it.
func (c *converter) name(name string) string {
	alias := c.aliases.tool(name, c.to.ToolName)
	c.renamed("tool", name, alias)
	return alias
}

// renamed says once that another name stands for one, or another id.
func (c *converter) renamed(what, name, alias string) {
	if key := what + "\x00" + name + "\x00" + alias; name != "" && name != alias && !c.told[key] {
		c.told[key] = true
		c.note(Loss{Fate: catalog.Note, What: what, Name: name, How: "sent as " + alias})
	}
}

// callID returns the id of a call as the format takes it. An id that an earlier call had
// gets another one: some formats have no ids, and what their codecs derive may repeat.
func (c *converter) callID(id string) string {
	c.calls[id]++
	alias := c.aliases.call(id, c.to.CallID)
	if n := c.calls[id]; n > 1 {
		alias = c.aliases.repeated(id, n, c.to.CallID)
	}
	c.renamed("call", id, alias)
	c.open[id] = append(c.open[id], alias)
	c.last[id] = alias
	return alias
}

// resultID returns the id of a result: that of the first call with its id that has none
// yet, else of the last one.
func (c *converter) resultID(id string) string {
	if waiting := c.open[id]; len(waiting) > 0 {
		c.open[id] = waiting[1:]
		return waiting[0]
	}
	if alias, ok := c.last[id]; ok {
		return alias
	}
	alias := c.aliases.call(id, c.to.CallID)
	c.renamed("call", id, alias)
	return alias
}
