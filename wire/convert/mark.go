package convert

import "github.com/plimsoll-dev/plimsoll/core/llm"

// move carries the mark of a piece of the request, if it has one, to where the piece stands
// now, or where that has gone to the nearest one before it. at is below 0 where none is.
func (c *converter) move(on llm.Piece, from int, to llm.Piece, at int) {
	c.put = c.put.With(llm.Place{On: to, At: at, Mark: c.marks.On(on, from)})
}

// stay keeps the marks of tools and sections where they are.
func (c *converter) stay() {
	for _, p := range c.marks {
		if p.On != llm.OnMessage {
			c.move(p.On, p.At, p.On, p.At)
		}
	}
}

// moved returns the marks of a request that has so many messages now.
func (c *converter) moved(messages int) (out llm.Marks) {
	for _, p := range c.put {
		if p.On == llm.OnMessage {
			p.At = min(p.At, messages-1)
		}
		out = out.With(p)
	}
	return out
}
