package convert

import (
	"strconv"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// Options say how far a conversation is away from where it goes.
type Options struct {
	// Foreign says that another account or another provider than the one that will be
	// asked wrote what is in this format already, so that its thinking proves nothing.
	Foreign bool
	// Refused is what the provider refuses of requests to the model, although the format
	// has a place for it ([catalog.Refusals]). It counts where a request is brought into
	// another format; one that is of the format already stays as it is.
	Refused catalog.Refused
}

// A Fit is a request that another format can carry.
type Fit struct {
	Request llm.Request
	Losses  []Loss // the request's own first, then by message; empty if nothing was lost
	Aliases Aliases
}

// Request makes r fit for the format d. Messages that are of that format already, and
// not foreign, stay as they are, with their bytes; so does the body around them, where r
// is of that format. r is not changed; what stays is shared.
func Request(r llm.Request, d catalog.Dialect, o Options) Fit {
	c := newConverter(d, o)
	c.marks = r.Marks
	out, lead := r, 0
	if r.Dialect != d.Name {
		out.Dialect, out.Frame = "", llm.Frame{}
		c.spelling(r.Frame.Raw)
		c.fields(r)
		out.Tools = c.tools(r)
		out.Settings = c.settings(r.Settings)
		lead = leading(r.Messages)
		c.limits(&out)
		out.Sections = c.sections(r, lead)
	} else {
		c.stay()
	}
	out.Messages = c.messages(r.Messages, lead)
	if r.Dialect != d.Name {
		out.Messages = c.prefill(out.Messages)
	}
	out.Marks = c.moved(len(out.Messages))
	return Fit{Request: out, Losses: c.losses, Aliases: c.aliases}
}

// A FitReply is a reply that another format can carry. Its aliases lead back from what a
// client answers to.
type FitReply struct {
	Response llm.Response
	Losses   []Loss
	Aliases  Aliases
}

// Response makes a reply fit for the format d, as [Request] does with a request.
func Response(r llm.Response, d catalog.Dialect) FitReply {
	if r.Dialect == d.Name {
		return FitReply{Response: r, Aliases: newAliases()}
	}
	c := newConverter(d, Options{})
	c.message = 0
	out := r
	out.Dialect, out.Raw, out.Reason = "", nil, ""
	out.Message.Parts = c.parts(r.Message)
	return FitReply{Response: out, Losses: c.losses, Aliases: c.aliases}
}

// A converter goes through one request.
type converter struct {
	to      catalog.Dialect
	refused catalog.Refused
	foreign bool
	message int // the message at hand
	part    int // the part at hand
	losses  []Loss
	aliases Aliases
	calls   map[string]int               // how many calls have had an id
	open    map[string][]string          // what stands for the ids of calls that wait for a result
	last    map[string]string            // what stands for the id of the last call with it
	args    map[string]map[string]string // what stands for names of arguments, by tool
	told    map[string]bool              // names and ids of which it was said that another stands for them
	behind  []llm.Part                   // images of results, which follow in a message of their own
	marks   llm.Marks                    // of the request
	put     llm.Marks                    // where they are now

	behindFrom llm.Dialect // which wrote those images
}

func newConverter(d catalog.Dialect, o Options) *converter {
	return &converter{
		to: d, refused: o.Refused, foreign: o.Foreign, message: nowhere, part: nowhere,
		aliases: newAliases(), calls: map[string]int{}, open: map[string][]string{}, last: map[string]string{}, args: map[string]map[string]string{}, told: map[string]bool{},
	}
}

// limits states the output's limit where the format wants one stated.
func (c *converter) limits(r *llm.Request) {
	if r.MaxOutput <= 0 && c.to.Output > 0 {
		r.MaxOutput = c.to.Output
		c.note(Loss{Fate: catalog.Note, What: "output limit", How: "set to " + strconv.Itoa(c.to.Output) + " tokens: this format wants one"})
	}
}

// leading returns the number of system messages before the first other message. A
// conversation of nothing else keeps the last one: no format sends a system prompt alone.
func leading(msgs []llm.Message) int {
	n := 0
	for n < len(msgs) && msgs[n].Role == llm.RoleSystem {
		n++
	}
	if n == len(msgs) && n > 0 {
		n--
	}
	return n
}

// sections returns the system prompt of r, with its leading system messages behind it:
// formats that have a place for the system prompt want them there.
func (c *converter) sections(r llm.Request, lead int) []llm.Section {
	out := make([]llm.Section, 0, len(r.Sections)+lead)
	for i, s := range r.Sections {
		c.members(s.Data, "system.", carriedMembers)
		s.Raw = llm.Raw{}
		out = append(out, s)
		c.move(llm.OnSection, i, llm.OnSection, i)
	}
	for i, m := range r.Messages[:lead] {
		if text := m.Text(); text != "" {
			out = append(out, llm.Section{Name: "system", Text: text, Cacheable: true})
		}
		c.move(llm.OnMessage, i, llm.OnSection, len(out)-1)
	}
	return out
}

// messages returns the messages from lead on, with what the format can carry.
func (c *converter) messages(in []llm.Message, lead int) []llm.Message {
	out := make([]llm.Message, 0, len(in)-lead)
	for i := lead; i < len(in); i++ {
		if len(c.behind) > 0 && len(in[i].Results()) == 0 {
			out = c.follow(out) // all results of a Round stand together
		}
		c.message, c.part, c.behindFrom = i, nowhere, in[i].Dialect
		if m, ok := c.oneMessage(in[i]); ok {
			out = append(out, m)
		}
		c.move(llm.OnMessage, i, llm.OnMessage, len(out)-1)
	}
	return c.follow(out)
}

// oneMessage returns m as the format can carry it; false if nothing is left of it.
func (c *converter) oneMessage(m llm.Message) (llm.Message, bool) {
	native := m.Dialect == c.to.Name
	if native && !c.foreign {
		return m, true
	}
	if m.Role == llm.RoleSystem && !native {
		c.lose(c.to.MidSystem, "system message", "")
	}
	if !native {
		c.around(m)
	}
	parts := c.parts(m)
	if len(parts) == 0 && len(m.Parts) > 0 {
		return m, false // each of its parts is a loss
	}
	if saysNothing(parts) && !native {
		c.lose(catalog.Drop, "message without content", "")
		return m, false
	}
	if len(parts) != len(m.Parts) || !native {
		m.Parts, m.Envelope = parts, llm.Envelope{}
	}
	return m, true
}

// follow adds a message with the images of the results before it, where the format has no
// place for them in a result.
func (c *converter) follow(out []llm.Message) []llm.Message {
	if len(c.behind) == 0 {
		return out
	}
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Dialect: c.behindFrom, Parts: c.behind}
	c.behind = nil
	return append(out, m)
}

// settings returns the settings that the format has.
func (c *converter) settings(s llm.Settings) llm.Settings {
	switch {
	case s.Choice.Mode == llm.ChoiceUnset || s.Choice.Mode == llm.ChoiceAuto && c.to.ToolChoice == catalog.Drop:
		s.Choice = llm.Choice{} // what is not said is auto everywhere
	case s.Choice.Mode == llm.ChoiceOther || c.to.ToolChoice == catalog.Drop:
		c.lose(catalog.Drop, "tool choice", s.Choice.Tool)
		s.Choice = llm.Choice{}
	case c.refused.ForcedTool && (s.Choice.Mode == llm.ChoiceAny || s.Choice.Mode == llm.ChoiceTool):
		c.note(Loss{Fate: catalog.Drop, What: "tool choice", Name: s.Choice.Tool, How: "left out: the model refuses it"})
		s.Choice = llm.Choice{}
	case s.Choice.Tool != "":
		s.Choice.Tool = c.name(s.Choice.Tool)
	}
	s = c.sampling(s)
	if most := c.to.Stops; most >= 0 && len(s.Stop) > most {
		for _, text := range s.Stop[most:] {
			c.lose(catalog.Drop, "stop sequence", strconv.Quote(text))
		}
		s.Stop = s.Stop[:most:most]
	}
	if t, err := strconv.ParseFloat(s.Temperature, 64); err == nil && c.to.Temperature > 0 && t*1000 > float64(c.to.Temperature) {
		most := strconv.FormatFloat(float64(c.to.Temperature)/1000, 'g', -1, 64)
		c.note(Loss{Fate: catalog.Note, What: "temperature", Name: s.Temperature, How: "set to " + most + ", the highest that this format has"})
		s.Temperature = most
	}
	return s
}

// saysNothing reports whether an encoder would leave a message with these parts out.
func saysNothing(parts []llm.Part) bool {
	for _, p := range parts {
		if t, ok := p.(llm.Text); !ok || t.Text != "" {
			return false
		}
	}
	return true
}
