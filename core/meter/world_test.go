package meter_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/meter"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
)

// A world is a session that several meters count, each with a twin that was restored
// from its state at some moment.
type world struct {
	t       *rapid.T
	offline bool
	of      map[string]bench
	models  []string

	messages []llm.Message
	journal  []edit.Edit
	view     edit.View
	sections []llm.Section
	tools    []llm.Tool
	calls    []string // without a result

	meters []*meter.Meter
	twins  []*meter.Meter
	awaits []int                   // output that each was told of, of the reply to come
	known  []map[llm.MessageID]int // and of those that came
	states []string                // of each meter, as it was after the last departure or usage
	left   []token.Estimate        // what each counted the request that left last as
}

// mostState is the largest state in bytes: some 400 of them are 32 ratios.
const mostState = 800

// A bench is what meters of one model are made of.
type bench struct {
	family  catalog.Family
	counter token.Counter
}

// benches returns those of some models: one whose tokens are counted exactly, one whose
// thinking leaves the prompt, one that nobody knows, two whose chat templates are known.
func benches(t testing.TB) map[string]bench {
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bench{}
	known = known.With(catalog.Model{ID: "framed", Family: "chatml", Estimator: "tiktoken:o200k_base"})
	known = known.With(catalog.Model{ID: "joined", Family: "ollama-chatml", Estimator: "tiktoken:o200k_base"})
	for _, model := range []string{"gpt-4", "claude-opus-4-5", "mystery", "framed", "joined"} {
		f := known.FamilyOf(model)
		c, err := token.ForFamily(f, bpe.Load)
		if err != nil {
			t.Fatal(err)
		}
		out[model] = bench{f, c}
	}
	return out
}

func newWorld(t *rapid.T, of map[string]bench) *world {
	w := &world{t: t, of: of, models: slices.Sorted(maps.Keys(of)), offline: rapid.IntRange(0, 3).Draw(t, "offline") == 0}
	for _, model := range w.models {
		w.meters = append(w.meters, w.meter(model))
	}
	w.meters = append(w.meters, w.meter("")) // a policy's own estimator
	for range w.meters {
		w.awaits, w.known = append(w.awaits, 0), append(w.known, map[llm.MessageID]int{})
	}
	w.states, w.left = make([]string, len(w.meters)), make([]token.Estimate, len(w.meters))
	for i := range w.meters {
		w.meters[i].Measure(meter.Past{Prompt: w.prompt()})
		w.states[i] = w.state(i)
	}
	w.twins = make([]*meter.Meter, len(w.meters))
	w.restart()
	return w
}

// meter returns a new meter for a model, or, without one, of an estimator.
func (w *world) meter(model string) *meter.Meter {
	if model == "" {
		c, err := token.NewCounter("chars/4", bpe.Load)
		w.must(err)
		m := meter.New(meter.Options{Key: "chars/4", Counter: c, Offline: w.offline})
		m.TellOutputs(w.view)
		return m
	}
	cal := token.NewCalibration(w.of[model].family)
	cal.DropsThinking(model == "claude-opus-4-5")
	return meter.New(meter.Options{Key: model, Counter: w.of[model].counter, Calibration: cal, Offline: w.offline})
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) draw(n int, what string) int { return rapid.IntRange(0, n-1).Draw(w.t, what) }

func (w *world) prompt() meter.Prompt {
	return meter.Prompt{View: w.view, Sections: slices.Concat(w.sections, w.view.Sections), Tools: w.tools}
}

func (w *world) border() meter.Border {
	b := meter.Border{Messages: len(w.messages)}
	if n := len(w.journal); n > 0 {
		b.Edit = w.journal[n-1].ID
	}
	return b
}

// all does something to every meter and to its twin.
func (w *world) all(f func(*meter.Meter)) {
	for i := range w.meters {
		f(w.meters[i])
		f(w.twins[i])
	}
}

func (w *world) text(what string) string {
	return strings.Repeat(what+" and so on. ", []int{0, 1, 3, 20, 60, 200}[w.draw(6, what)])
}

func (w *world) append(m llm.Message) {
	m.ID = llm.MessageID(len(w.messages)) + 1
	w.messages = append(w.messages, m)
	w.view.Append(m)
	it := w.view.Items[len(w.view.Items)-1]
	for i, n := range w.awaits {
		if n > 0 && m.Origin == llm.Model && !m.Flags.Has(llm.FlagSynthetic) {
			w.known[i][m.ID], w.awaits[i] = n, 0
		}
	}
	w.all(func(m *meter.Meter) { m.Append(it) })
}

func (w *world) human() {
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: "do " + w.text("it")}}}
	if w.draw(4, "image") == 0 {
		m.Parts = append(m.Parts, llm.Media{Type: "image/png", Width: 800, Height: 600, Size: 5000})
	}
	if w.draw(4, "note") == 0 {
		m.Origin = llm.Note
	}
	w.append(m)
}

// reply appends what a model says, with some calls.
func (w *world) reply() {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "so " + w.text("say")}}}
	if w.draw(2, "thinks") == 0 {
		m.Parts = append(m.Parts, llm.Thinking{Text: w.text("hm"), Signature: "signed"})
	}
	for range w.draw(4, "calls") {
		id := fmt.Sprint("c", len(w.messages), ".", len(m.Parts))
		w.calls = append(w.calls, id)
		m.Parts = append(m.Parts, llm.ToolCall{CallID: id, Name: "read", Args: w.text("args")})
	}
	switch w.draw(12, "kind") {
	case 0:
		m.Flags = llm.FlagSynthetic
	case 1:
		m.Parts = append(m.Parts, llm.ToolCall{CallID: "h", Name: "web", Hosted: true})
	case 2:
		m.Parts = append(m.Parts, llm.Media{Type: "image/png", Size: 9000})
	}
	w.append(m)
}

// results appends one message that answers all open calls.
func (w *world) results() {
	if len(w.calls) == 0 {
		return
	}
	m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
	for _, id := range w.calls {
		m.Parts = append(m.Parts, llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: id + w.text("out")}}})
	}
	w.calls = nil
	w.append(m)
	if len(m.Parts) > 1 { // looked at one after the other
		w.all(func(m *meter.Meter) { m.Ahead(w.messages[len(w.messages)-1]) })
		for _, r := range m.Results() {
			w.check("some are ahead")
			w.all(func(m *meter.Meter) { m.Reach(r) })
		}
	}
}

// edit books edits, if they make a view.
func (w *world) edit(edits ...edit.Edit) {
	next := edit.ID(1)
	if n := len(w.journal); n > 0 {
		next = w.journal[n-1].ID + 1 + edit.ID(w.draw(2, "gap"))
	}
	for i := range edits {
		edits[i].ID = next + edit.ID(i)
	}
	journal := slices.Concat(w.journal, edits)
	view, err := edit.Fold(w.messages, edit.Holding(journal))
	if err != nil {
		return
	}
	w.try(next)
	old := w.view
	w.journal, w.view = journal, view
	change := meter.Compare(old, view, edits...)
	p := w.prompt()
	for i, m := range w.meters {
		trial := m.Trial()
		trial.Edited(change)
		trial.SetFront(p.Sections, p.Tools)
		for _, m := range []*meter.Meter{m, w.twins[i]} {
			m.Edited(change)
			m.SetFront(p.Sections, p.Tools)
		}
		if a, b := trial.Report(), m.Report(); a != b {
			w.t.Fatalf("a trial of %q reports\n%+v, then it is\n%+v", m.Key(), a, b)
		}
	}
}

// try tries edits out that never come, although others will have their numbers.
func (w *world) try(id edit.ID) {
	if len(w.view.Items) == 0 || w.draw(2, "try") == 0 {
		return
	}
	other := w.view
	other.Items = slices.Clone(w.view.Items[:len(w.view.Items)-1])
	for i := range other.Items {
		it := &other.Items[i]
		it.Message = it.Message.WithParts([]llm.Part{llm.Text{Text: "tried out"}})
		it.Edits = append(slices.Clip(it.Edits), id)
	}
	change := meter.Compare(w.view, other)
	for _, m := range w.meters {
		m.Trial().Edited(change)
		trial := m.Trial().Trial()
		trial.Edited(change)
		if tokens, messages := trial.Total(), trial.Size(token.History).Messages; tokens >= m.Total()+20*len(other.Items) || messages > m.Size(token.History).Messages {
			w.t.Fatalf("a trial of %q has %d tokens and %d messages, the meter %+v", m.Key(), tokens, messages, m.Report())
		}
	}
}

// shorter shows parts of some messages as a line each.
func (w *world) shorter() {
	var edits []edit.Edit
	for range 1 + w.draw(3, "parts") {
		if len(w.messages) == 0 {
			return
		}
		m := w.messages[w.draw(len(w.messages), "message")]
		e := edit.Edit{Op: edit.Replace, Span: edit.Span{From: m.ID, To: m.ID + 1}, Part: w.draw(len(m.Parts), "part")}
		if w.draw(3, "newest") == 0 {
			m = w.messages[len(w.messages)-1]
			e.Span, e.Part = edit.Span{From: m.ID, To: m.ID + 1}, w.draw(len(m.Parts), "part of the newest")
		}
		line := fmt.Sprint("line", w.draw(1000, "line"))
		switch p := m.Parts[e.Part].(type) {
		case llm.ToolResult:
			e.Replacement = p.WithContent(llm.Stub{Text: line})
		case llm.Text, llm.Media:
			e.Replacement = llm.Text{Text: line}
		default:
			continue
		}
		for _, old := range w.view.Edits() {
			if old.Op == edit.Replace && old.Span == e.Span && old.Part == e.Part && w.draw(2, "supersede") == 0 {
				e.Supersedes = append(e.Supersedes, old.ID)
			}
		}
		edits = append(edits, e)
	}
	w.edit(edits...)
}

func (w *world) note(text string) llm.Message {
	m := edit.NoteOf(llm.Text{Text: text})
	if w.draw(2, "summary") == 0 {
		m.Flags |= llm.FlagSummary
	}
	return m
}

// archive takes a span out, with the archives that it covers.
func (w *world) archive() {
	if len(w.messages) == 0 {
		return
	}
	from := llm.MessageID(1 + w.draw(len(w.messages), "from"))
	e := edit.Edit{Op: edit.Archive, Span: edit.Span{From: from, To: from + 1 + llm.MessageID(w.draw(len(w.messages)-int(from)+1, "to"))}}
	if w.draw(2, "from the beginning") == 0 {
		e.Span.From = 1
	}
	for _, old := range w.view.Edits() {
		if old.Op != edit.Insert && e.Span.Covers(old.Span) {
			e.Supersedes = append(e.Supersedes, old.ID)
		}
	}
	for range w.draw(3, "notes") {
		e.Notes = append(e.Notes, w.note("gone: "+w.text("note")))
	}
	if w.draw(3, "section") == 0 {
		e.Sections = []llm.Section{{Name: "summary", Kind: llm.SectionSummary, Text: w.text("summary")}}
	}
	w.edit(e)
}

// insert puts notes at the end.
func (w *world) insert() {
	end := llm.MessageID(len(w.messages)) + 1
	e := edit.Edit{Op: edit.Insert, Span: edit.Span{From: end, To: end}}
	for range 1 + w.draw(2, "notes") {
		e.Notes = append(e.Notes, w.note("by the way"))
	}
	w.edit(e)
}

// undo takes edits back, in any order.
func (w *world) undo() {
	var edits []edit.Edit
	for range 1 + w.draw(2, "edits") {
		held := w.view.Edits()
		if len(held) == 0 {
			return
		}
		old := held[w.draw(len(held), "which")]
		edits = append(edits, edit.Edit{Op: edit.Undo, Span: old.Span, Supersedes: []edit.ID{old.ID}})
	}
	w.edit(edits...)
}

// front sets other sections and tools.
func (w *world) front() {
	w.sections, w.tools = []llm.Section{{Name: "system", Text: w.text("system")}}, nil
	if w.draw(3, "hidden") == 0 {
		w.sections = append(w.sections, llm.Section{Name: "client", Tokens: 100 * w.draw(9, "hidden tokens")})
	}
	for i := range w.draw(3, "tools") {
		w.tools = append(w.tools, llm.Tool{Name: fmt.Sprint("t", i), Description: w.text("tool"), Schema: "{}"})
	}
	p := w.prompt()
	w.all(func(m *meter.Meter) { m.SetFront(p.Sections, p.Tools) })
}

func (w *world) leave() {
	w.all(func(m *meter.Meter) { m.Leave(w.border(), w.view) })
	for i, m := range w.meters {
		w.left[i], w.awaits[i] = m.Count(), 0
	}
	w.keep()
}

// exchange is a request with its usage and its reply.
func (w *world) exchange() {
	if w.draw(2, "after an edit") == 0 {
		w.archive()
	}
	w.leave()
	if w.draw(3, "restart in between") == 0 {
		w.restart()
	}
	w.usage()
	w.reply()
}

// keep keeps the states, as a host does that writes them down.
func (w *world) keep() {
	for i := range w.meters {
		w.states[i] = w.state(i)
	}
}

// usage reports about the request that left last, to the meter of one model.
func (w *world) usage() {
	i := max(w.draw(len(w.meters)+4, "model")-4, 0) // mostly the first
	e := w.left[i]
	u := meter.Usage{Reported: w.draw(6, "reported") > 0}
	u.Input = []int{e.Point, e.Point, e.Bound, e.Point * 9 / 10, e.Point + 37, e.Point * 2, 0, 5}[w.draw(8, "prompt")]
	u.Output = []int{0, 30, 500, 4000}[w.draw(4, "output")]
	u.OutputUnknown = u.Output == 0
	u.Reasoning = u.Output / 2 * w.draw(2, "reasoning")
	w.awaits[i] = 0
	if !u.OutputUnknown && i < len(w.models) {
		w.awaits[i] = u.Output
	}
	for _, m := range []*meter.Meter{w.meters[i], w.twins[i]} {
		m.Usage(u, w.border(), w.view)
	}
	w.keep()
}

// state returns what is kept of a meter, as it is written.
func (w *world) state(i int) string {
	b, err := json.Marshal(w.meters[i].State())
	w.must(err)
	return string(b)
}

// restart makes every twin anew, from the state of now or of the last departure or usage.
func (w *world) restart() {
	old := w.draw(2, "an older state") == 0
	for i := range w.meters {
		model := ""
		if i < len(w.models) {
			model = w.models[i]
		}
		text := w.state(i)
		if old {
			text = w.states[i]
		}
		var s meter.State
		w.must(json.Unmarshal([]byte(text), &s))
		p := meter.Past{Prompt: w.prompt(), Messages: w.messages, Journal: w.journal, Known: w.known[i]}
		w.twins[i] = w.meter(model)
		w.must(w.twins[i].Restore(s, p))
	}
}

// check compares each meter with its twin and with a measure made from scratch.
func (w *world) check(after string) {
	w.t.Helper()
	for i, m := range w.meters {
		if a, b := m.Report(), w.twins[i].Report(); a != b {
			w.t.Fatalf("after %s: meter %q reports\n%+v, its twin\n%+v", after, m.Key(), a, b)
		}
		if a, b := w.state(i), w.twins[i].State(); a != marshalled(w.t, b) {
			w.t.Fatalf("after %s: the state of %q is\n%s, its twin's\n%s", after, m.Key(), a, marshalled(w.t, b))
		} else if len(a) > mostState {
			w.t.Fatalf("after %s: want a state of at most %d bytes, got %d: %s", after, mostState, len(a), a)
		}
		if len(w.messages)%4 == 0 { // it counts everything anew
			w.fromScratch(i, after)
		}
	}
}

func marshalled(t *rapid.T, v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// frame returns the chat template that a meter may know.
func (w *world) frame(i int) catalog.Frame {
	if i < len(w.models) {
		return w.of[w.models[i]].family.Frame
	}
	return catalog.Frame{}
}

// fromScratch holds what a meter has booked against a measure of what is shown.
func (w *world) fromScratch(i int, after string) {
	w.t.Helper()
	m := w.meters[i]
	var want [token.NumComponents]token.Size
	add := func(c token.Component, size token.Size) { want[c] = want[c].Add(size) }
	for _, sec := range w.prompt().Sections {
		if sec.Text != "" {
			add(token.ComponentOfSection(sec), token.SizeOfSection(m.Counter(), sec))
		}
	}
	if len(w.tools) > 0 {
		add(token.Tools, token.SizeOfTools(m.Counter(), w.tools))
	}
	for _, it := range w.view.Items {
		size := token.SizeOf(m.Counter(), it.Message)
		if n, ok := w.known[i][it.Message.ID]; ok && w.frame(i).Message == 0 { // else replies are counted by their text
			size.Tokens, size.MediaTokens, size.Plain, size.Calls, size.Known = 0, 0, 0, 0, n
		}
		add(token.ComponentOf(it.Message), size)
	}
	for c := range want {
		if got := m.Size(token.Component(c)); got != want[c] {
			w.t.Fatalf("after %s: meter %q has booked %+v of %s, the view has %+v", after, m.Key(), got, token.Component(c), want[c])
		}
	}
}
