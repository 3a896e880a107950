package catalog

import "slices"

// A clientWindow is the window that a client takes by default for some models.
type clientWindow struct {
	client string
	models []string // beginnings of names
	window int
}

// A SessionWindow is the window that a recorded session went by.
type SessionWindow struct {
	Tokens int // 0: not known
	// Exceeded is a window that is known and was wrong for this session: a prompt of
	// more was accepted. 0: none was.
	Exceeded int
}

// WindowOf returns the window of a session of a client with a model, of which the largest
// prompt that the provider accepted had so many tokens. It is what the session's file
// states (0: nothing), else the client's default, else the model's at its maker's API; where
// a prompt of more was accepted, the next of these, and in the end that prompt.
func (c Catalog) WindowOf(client, model string, stated, accepted int) SessionWindow {
	var w SessionWindow
	m, _ := c.Lookup(model)
	known := []int{stated}
	if stated == 0 {
		known = []int{c.defaultWindow(client, model), m.Window}
	}
	for _, n := range known {
		switch {
		case n == 0 || n <= w.Exceeded:
		case n < accepted:
			w.Exceeded = n
		default:
			w.Tokens = n
			return w
		}
	}
	if w.Exceeded > 0 {
		w.Tokens = accepted
	}
	return w
}

// defaultWindow returns the window that a client takes for a model by default; 0 if it is
// not known to differ from the model's. A name that asks for the long window has none.
func (c Catalog) defaultWindow(client, model string) int {
	m, ok := c.Lookup(model)
	if _, long := clean(model); long || !ok {
		return 0
	}
	for _, w := range c.windows {
		if w.client == client && slices.ContainsFunc(w.models, func(text string) bool { return begins(m.ID, text) }) {
			return w.window
		}
	}
	return 0
}
