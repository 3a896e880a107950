package replay

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/ground"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/token"
)

// A Grounding says how much of what the recorded agent's calls referred to was in what a run
// sent. Spans are those of package ground; one counts once in a Step. The agent acted with
// the recorded context: with less it would have acted otherwise.
type Grounding struct {
	Segments int `json:"segments"`  // with such a Step: 1, or how many were added up
	Steps    int `json:"steps"`     // with a span that was said before
	Complete int `json:"complete"`  // of them, those of which everything was visible
	MacroPPM int `json:"macro_ppm"` // mean over Steps of the share that was visible; of several segments the mean of theirs

	Share               // of all spans
	ByKind   []NamedSum `json:"by_kind"`   // by what a span is
	BySource []NamedSum `json:"by_source"` // by what said it last
	Hard     Sample     `json:"hard"`      // those said last more than one limit of tokens before

	Noted   int   `json:"noted"`    // spans visible only in what Plimsoll wrote
	LookUps int   `json:"look_ups"` // parts that would have to be read again, each once
	Cost    Units `json:"cost"`
}

// A Share is a number of spans and where they were found.
type Share struct {
	Spans     int `json:"spans"`
	Visible   int `json:"visible"`
	Reachable int `json:"reachable"` // not visible; what said them is shown as a stub or in part, with its Ref
	Archived  int `json:"archived"`  // in an archive of messages whose Ref is shown; strictly these are lost, too
	Lost      int `json:"lost"`
}

// A Sample is a Share that may be small, with how sure it is.
type Sample struct {
	Share
	LowPPM  int `json:"low_ppm"` // of what is visible, 95 % interval by Wilson, as if spans came one by one
	HighPPM int `json:"high_ppm"`
}

// A Missing is a span that a Step's calls referred to and its request did not say.
type Missing struct {
	Step   int    `json:"step"`
	Kind   string `json:"kind"` // of the span
	Text   string `json:"text"`
	Source string `json:"source"` // what said it last, as in Grounding.BySource
	Behind int    `json:"behind"` // tokens between that and the Step
	Where  string `json:"where"`  // "reachable", "archived" or "lost", as in a Share
	Edit   Change `json:"edit"`   // what took it out, with its tokens; zero: nobody knows
}

// A NamedSum is a Share with a name.
type NamedSum struct {
	Name string `json:"name"`
	Share
}

// Units are costs in thousandths of an uncached input token: what extends the request before
// is read at a tenth, the rest written at 1.25; messages alone, by chars/4.
type Units struct {
	Raw      int64 `json:"raw"` // of what the client sent at the Steps that were sent
	Sent     int64 `json:"sent"`
	LookUps  int64 `json:"look_ups"`  // of reading again what was not visible
	SharePPM int   `json:"share_ppm"` // Sent of Raw; of several segments the mean of theirs
}

// Prices in thousandths of an input token, and what a look-up adds: a call and at most so much
// of its output. They are those of the study that the policies are compared with.
const (
	unitsRead    = 100
	unitsWrite   = 1250
	lookUpCall   = 80
	lookUpMost   = 2000
	lookUpOutput = 300_000
)

// add books one span.
func (s *Share) add(f found) {
	s.Spans++
	switch f {
	case visible:
		s.Visible++
	case reachable:
		s.Reachable++
	case archived:
		s.Archived++
	default:
		s.Lost++
	}
}

// found is where a span was found.
type found uint8

// String returns the name of the field of a Share that counts it.
func (f found) String() string { return [...]string{"lost", "archived", "reachable", "visible"}[f] }

const (
	lost found = iota
	archived
	reachable
	visible
)

// grounds is what the calls of a segment refer to.
type grounds struct {
	index   ground.Index
	steps   [][]need        // by Step
	texts   [][]ground.Text // by message, by part
	tokens  []int           // by message
	sources map[llm.MessageID]string
	refs    map[ground.Place]llm.Ref // of outputs
	raw     []int64                  // units of what the client sent, by Step
	counter token.Counter
}

// A need is a span that a Step refers to.
type need struct {
	ground.Span
	last   ground.Place
	behind int // tokens between the end of the message that said it last and the Step
}

// groundsOf goes through a segment.
func groundsOf(raw *raw) (*grounds, error) {
	c, err := token.NewCounter(messagesEstimator, nil)
	if err != nil {
		return nil, err
	}
	g := &grounds{counter: c, sources: map[llm.MessageID]string{}, refs: map[ground.Place]llm.Ref{}}
	total := 0
	var ends []int // tokens up to the end of each message
	tools := map[string]string{}
	sent := 0 // tokens of the request before
	for i, e := range raw.segment.Entries {
		m := e.Message
		m.ID = llm.MessageID(i + 1)
		if e.Step != nil {
			g.steps = append(g.steps, nil)
			g.raw = append(g.raw, int64(sent)*unitsRead+int64(total-sent)*unitsWrite)
			sent = total
		}
		g.index.Add(m)
		if n := len(g.steps); n > 0 && m.Role == llm.RoleAssistant {
			g.steps[n-1] = g.needs(g.steps[n-1], m, ends, total)
		}
		g.sources[m.ID] = sourceOf(m, tools)
		texts := make([]ground.Text, len(m.Parts))
		for n := range texts {
			texts[n] = g.index.Text(ground.Place{Message: m.ID, Part: n})
			if r, ok := m.Parts[n].(llm.ToolResult); ok {
				g.refs[ground.Place{Message: m.ID, Part: n}] = llm.RefOf([]byte(r.Text()))
			}
		}
		g.texts = append(g.texts, texts)
		size := token.SizeOf(c, withoutThinking(m)).All()
		g.tokens = append(g.tokens, size)
		total += size
		ends = append(ends, total)
	}
	if raw.segment.Final { // a request without a reply refers to nothing
		g.steps, g.raw = append(g.steps, nil), append(g.raw, int64(sent)*unitsRead+int64(total-sent)*unitsWrite)
	}
	return g, nil
}

// needs adds the spans of a reply to those of its Step.
func (g *grounds) needs(have []need, m llm.Message, ends []int, total int) []need {
	for _, c := range m.Calls() {
		for _, s := range ground.Spans(c) {
			if slices.ContainsFunc(have, func(n need) bool { return n.Text == s.Text }) {
				continue
			}
			if at, ok := g.index.Last(s); ok {
				have = append(have, need{s, at, total - ends[at.Message-1]})
			}
		}
	}
	return have
}

// withoutThinking returns a message as it is counted here.
func withoutThinking(m llm.Message) llm.Message {
	if slices.ContainsFunc(m.Parts, func(p llm.Part) bool { _, is := p.(llm.Thinking); return is }) {
		return wordsOf(m)
	}
	return m
}

// What says a span, if it is not the output of a tool.
const (
	sourceCall  = "own call"
	sourceText  = "own text"
	sourceHuman = "human"
	sourceNote  = "note"
)

// Sources returns the names in Grounding.BySource that are not those of tools.
func Sources() []string { return []string{sourceCall, sourceText, sourceHuman, sourceNote} }

// sourceOf says what a message is, and remembers the tools of the calls in it.
func sourceOf(m llm.Message, tools map[string]string) string {
	for _, c := range m.Calls() {
		tools[c.CallID] = c.Name
	}
	switch {
	case len(m.Results()) > 0:
		return tools[m.Results()[0].CallID]
	case len(m.Calls()) > 0:
		return sourceCall
	case m.Role == llm.RoleAssistant:
		return sourceText
	case m.Origin == llm.Human:
		return sourceHuman
	}
	return sourceNote
}

// A grounder follows one run.
type grounder struct {
	*grounds
	run      *Grounding
	limit    int
	tell     bool // what was not visible
	missing  []Missing
	last     []edit.Item
	there    []int // of a request, by message: 1 + the number of its item; 0: it is not there
	shown    map[editedItem][]ground.Text
	sections map[string]ground.Text
	sizes    map[editedItem]int
	looked   map[ground.Place]bool
	fetched  []int // tokens of what would have to be read again at this Step, each
	macro    int64
	kinds    map[string]*Share
	from     map[string]*Share
}

func newGrounder(g *grounds, limit int) *grounder {
	return &grounder{
		grounds: g, run: &Grounding{}, limit: limit, shown: map[editedItem][]ground.Text{}, sections: map[string]ground.Text{}, sizes: map[editedItem]int{},
		looked: map[ground.Place]bool{}, kinds: map[string]*Share{}, from: map[string]*Share{},
	}
}

// step looks at the request of Step i, counted from 0.
func (g *grounder) step(i int, send *engine.Send, edits []edit.Edit) {
	view := g.pay(send)
	g.run.Cost.Raw += g.raw[i]
	needs := g.steps[i]
	if len(needs) == 0 {
		return
	}
	l := g.look(send, edits)
	seen := 0
	for _, n := range needs {
		h := l.find(n)
		g.book(n, h, view)
		if h.found == visible {
			seen++
		} else if g.tell {
			g.missing = append(g.missing, Missing{
				Step: i + 1, Kind: n.Kind.String(), Text: n.Text, Source: g.sources[n.last.Message], Behind: n.behind, Where: h.found.String(), Edit: h.by,
			})
		}
	}
	g.run.Steps++
	g.macro += int64(seen) * 1_000_000 / int64(len(needs))
	if seen == len(needs) {
		g.run.Complete++
	}
}

// book adds a span to the sums. view is the tokens of what was sent.
func (g *grounder) book(n need, h hit, view int) {
	f := h.found
	g.run.add(f)
	sumOf(g.kinds, n.Kind.String()).add(f)
	sumOf(g.from, g.sources[n.last.Message]).add(f)
	if n.behind > g.limit {
		g.run.Hard.add(f)
	}
	if h.noted {
		g.run.Noted++
	}
	if f != visible && !g.looked[n.last] {
		g.looked[n.last] = true
		g.run.LookUps++
		of := min(g.texts[n.last.Message-1][n.last.Part].Len()/4, lookUpMost)
		g.fetched = append(g.fetched, of)
		g.run.Cost.LookUps += int64(view)*unitsRead + int64(of+lookUpCall)*unitsWrite + lookUpOutput
	}
}

func sumOf(m map[string]*Share, name string) *Share {
	if m[name] == nil {
		m[name] = &Share{}
	}
	return m[name]
}

// pay books what a request costs, and returns its tokens.
func (g *grounder) pay(send *engine.Send) int {
	same := alike(g.last, send.Items)
	read, all := 0, 0
	for i, it := range send.Items {
		n := g.size(it)
		if all += n; i < same {
			read += n
		}
	}
	g.last = send.Items
	g.run.Cost.Sent += int64(read)*unitsRead + int64(all-read)*unitsWrite
	return all
}

func (g *grounder) size(it edit.Item) int {
	if len(it.Edits) == 0 && int(it.Message.ID) <= len(g.tokens) {
		return g.tokens[it.Message.ID-1]
	}
	key := editedItem{it.Message.ID, it.Before, digestOf(it.Edits)}
	n, ok := g.sizes[key]
	if !ok {
		n = token.SizeOf(g.counter, withoutThinking(it.Message)).All()
		g.sizes[key] = n
	}
	return n
}
