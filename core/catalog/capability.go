package catalog

// Capabilities are what a model, or its maker's API with that model, can do or
// demands. False is also what is not known.
type Capabilities struct {
	Reasoning bool // it can think before it answers
	Vision    bool // it takes images
	// PrefixThinking: thinking is bound to all that stood before it, and is
	// refused, or left out, where any of that has changed.
	PrefixThinking bool
	AccountBound   bool // thinking is bound to the account too that it was written for
	DropBlock      bool // the provider can be asked to leave broken thinking out
	// MidSystem: messages with the role system are taken inside the conversation.
	MidSystem      bool
	NativeDeferral bool // tools can be declared and loaded later, without a cache break
	ToolChanges    bool // tools can be added inside the conversation, without a cache break
	ContextEditing bool // the provider clears old results itself, if it is asked to
	Compaction     bool // the provider summarises by itself, if it is asked to
	NoForcedTool   bool // a demand that a tool is called is refused
	NoPrefill      bool // a conversation that ends with the model's own words is refused
	// StopsAtWindow: where prompt and output limit exceed the window together, the
	// model writes until it is full; else such a request is refused.
	StopsAtWindow bool
}

// capabilityWords are the words of the tables, in the order in which they are
// shown. Pointers lead to the field.
func (p *Capabilities) words() []capability {
	return []capability{
		{"reasoning", &p.Reasoning},
		{"vision", &p.Vision},
		{"prefix-thinking", &p.PrefixThinking},
		{"account-bound", &p.AccountBound},
		{"drop-block", &p.DropBlock},
		{"mid-system", &p.MidSystem},
		{"native-deferral", &p.NativeDeferral},
		{"tool-changes", &p.ToolChanges},
		{"context-editing", &p.ContextEditing},
		{"compaction", &p.Compaction},
		{"no-forced-tool", &p.NoForcedTool},
		{"no-prefill", &p.NoPrefill},
		{"stops-at-window", &p.StopsAtWindow},
	}
}

type capability struct {
	word string
	has  *bool
}

// Words returns the words for what p has, such as "reasoning" and
// "prefix-thinking".
func (p Capabilities) Words() []string {
	var out []string
	for _, w := range p.words() {
		if *w.has {
			out = append(out, w.word)
		}
	}
	return out
}

// and returns what either has.
func (p Capabilities) and(q Capabilities) Capabilities {
	mine, other := p.words(), q.words()
	for i, w := range mine {
		*w.has = *w.has || *other[i].has
	}
	return p
}

// Limits are what a request to a model may hold beside tokens. 0: none known.
type Limits struct {
	Bytes  int // of the body
	Images int // images and pages
}
