package crosscheck

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// step is one thing that happens in a run: mostly a call of a model with what belongs to it.
func (r *run) step() {
	if r.odds(60) && r.file == nil && !slices.ContainsFunc(r.twins, func(a *actor) bool { return a.kind != "restart" }) {
		r.pulled = true
		for _, a := range append(slices.Clone(r.twins), r.main) {
			if r.seed%2 == 0 {
				a.st.failPuts++
			} else {
				a.st.failAdds++
			}
		}
		r.note("the store fails next")
	}
	switch r.rng.IntN(24) {
	case 0:
		r.setTools()
	case 1:
		r.setSections()
	case 2, 3:
		r.undo()
	case 4:
		r.compact()
	case 5:
		r.finish()
	case 6, 7:
		r.restart()
	case 8:
		r.forkHere()
	case 9:
		r.forkBack()
	case 10:
		r.places = append(r.places[1:len(r.places):len(r.places)], r.places[0])
		r.note("another order of targets")
	case 11:
		r.say(r.aside())
	default:
		r.exchange()
	}
}

// exchange is what a person says, if it is a person's turn, and a call of a model.
func (r *run) exchange() {
	if n := len(r.said); n == 0 || r.said[n-1].Role == llm.RoleAssistant && len(r.said[n-1].Calls()) == 0 || r.odds(12) {
		r.say(r.human())
	}
	if !r.request() {
		return
	}
	m := r.reply()
	r.report(m)
	if calls := m.Calls(); !r.say(m) {
		return
	} else if len(calls) > 0 {
		r.outputs(calls)
	} else if r.odds(2) {
		r.act("TurnEnd", func(a *actor) error { return a.s.TurnEnd(r.ctx) })
	}
}

// act does what may fail only where the store does. It reports whether it was done.
func (r *run) act(what string, f func(*actor) error) bool {
	var err error
	r.each(what, func(a *actor) string {
		e := f(a)
		if a == r.main {
			err = e
		}
		return errText(e)
	})
	if err != nil && !(errors.Is(err, errStore) && r.pulled) {
		r.fail("law 12", "%s: %v", what, err)
	}
	return err == nil
}

// say appends a message.
func (r *run) say(m llm.Message) bool {
	var err error
	want := r.each(fmt.Sprintf("Append %s %s", m.Role, m.Origin), func(a *actor) string {
		e := a.s.Append(r.ctx, m)
		if a == r.main {
			err = e
			if e == nil {
				r.told(m)
			}
		}
		return errText(e)
	})
	var orphan *turn.OrphanError
	switch {
	case err == nil:
		return true
	case errors.Is(err, errStore) && r.pulled:
	case errors.As(err, &orphan) && m.Role == llm.RoleTool:
	default:
		r.fail("law 12", "append: %s", want)
	}
	return false
}

func (r *run) human() llm.Message {
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Human}
	if !r.odds(20) {
		m.Parts = append(m.Parts, llm.Text{Text: r.saying()})
	}
	for r.odds(10) || len(m.Parts) == 0 {
		m.Dialect = "anthropic"
		m.Parts = append(m.Parts, picture(r.rng, 300+r.rng.IntN(4_000)))
		r.counts.images++
	}
	return m
}

func (r *run) saying() string {
	s := r.w.texts.says[r.rng.IntN(len(r.w.texts.says))]
	switch r.rng.IntN(20) {
	case 0:
		s += "\n" + r.w.texts.outputs[r.rng.IntN(len(r.w.texts.outputs))]
	case 1:
		s = strings.Repeat(s+"\n", 1+r.rng.IntN(20))
	}
	if strings.TrimSpace(s) == "" {
		return "go on"
	}
	return s
}

// aside is a note of the host's.
func (r *run) aside() llm.Message {
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note, Parts: []llm.Part{llm.Text{Text: "<reminder>" + r.saying() + "</reminder>"}}}
	if r.odds(3) {
		m.Flags = llm.FlagRules
	}
	return m
}

// reply is what a model answers.
func (r *run) reply() llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Dialect: r.now.dialect}
	if r.now.dialect == "anthropic" && r.odds(2) {
		th := llm.Thinking{Text: r.saying(), Signature: strings.Repeat("c2ln", 10+r.rng.IntN(40))}
		if r.odds(5) {
			th = llm.Thinking{Signature: th.Signature, Redacted: true}
		}
		m.Parts = append(m.Parts, th)
	}
	n := 0
	if !r.plain && !r.odds(3) {
		n = []int{1, 1, 1, 2, 3, 5}[r.rng.IntN(6)]
	}
	if n == 0 || r.odds(2) {
		m.Parts = append(m.Parts, llm.Text{Text: r.saying()})
	}
	for range n {
		r.calls++
		m.Parts = append(m.Parts, llm.ToolCall{
			CallID: fmt.Sprintf("call_%d", r.calls), Name: r.toolName(),
			Args: fmt.Sprintf(`{"path":"pkg/file_%d.go","why":%q}`, r.rng.IntN(40), r.w.texts.says[r.rng.IntN(290)]),
		})
	}
	return m
}

func (r *run) toolName() string {
	if len(r.tools) == 0 || r.odds(30) {
		return "read_file"
	}
	return r.tools[r.rng.IntN(len(r.tools))].Name
}

// outputs hands in what the calls put out, one way or another.
func (r *run) outputs(calls []llm.ToolCall) {
	calls = slices.Clone(calls)
	if r.odds(3) {
		r.rng.Shuffle(len(calls), func(i, j int) { calls[i], calls[j] = calls[j], calls[i] })
	}
	if r.odds(12) {
		calls = calls[:r.rng.IntN(len(calls)+1)] // the rest is interrupted
	}
	if len(calls) > 1 && r.odds(3) { // all in one message
		m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun}
		for _, c := range calls {
			m.Parts = append(m.Parts, r.result(c))
			r.dialect(&m)
		}
		r.say(m)
		return
	}
	for _, c := range calls {
		switch r.rng.IntN(4) {
		case 0:
			m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{r.result(c)}}
			r.dialect(&m)
			r.say(m)
		default:
			r.stream(c)
		}
		if r.odds(30) {
			r.say(r.human()) // steers while tools run
		}
		if r.odds(40) {
			r.restart()
		}
	}
}

// dialect marks a message whose images are written in one.
func (r *run) dialect(m *llm.Message) {
	for _, res := range m.Results() {
		for _, p := range res.Content {
			if _, ok := p.(llm.Media); ok {
				m.Dialect = "anthropic"
			}
		}
	}
}

func (r *run) text() string {
	s := r.w.texts.outputs[r.rng.IntN(len(r.w.texts.outputs))]
	if r.odds(25) {
		s = strings.Repeat(s, 1+r.rng.IntN(12))
	}
	return s
}

func (r *run) result(c llm.ToolCall) llm.ToolResult {
	res := llm.ToolResult{CallID: c.CallID, IsError: r.odds(9)}
	res.Content = []llm.Part{llm.Text{Text: r.text()}}
	for r.odds(8) {
		res.Content = append(res.Content, picture(r.rng, 300+r.rng.IntN(3_000)))
		r.counts.images++
	}
	return res
}

// stream runs a tool whose output comes as a stream.
func (r *run) stream(c llm.ToolCall) {
	out, failed := r.text(), r.odds(9)
	if r.odds(300) {
		out = r.text() + "\nmore of it\n"
		out = strings.Repeat(out, 1+5<<20/len(out))
		out = out[:min(len(out), 5<<20)]
		out = strings.ToValidUTF8(out, "")
	}
	reserve, may := 0, r.main.s.Budget().CanExecute(c.Name)
	r.each("CanExecute", func(a *actor) string { return fmt.Sprint(a.s.Budget().CanExecute(c.Name)) })
	if !may {
		r.each("Skip", func(a *actor) string {
			err := a.s.Skip(r.ctx, c.CallID)
			if got := a.s.Messages(); a == r.main && err == nil {
				r.told(got[len(got)-1]) // the policy's words
			}
			return errText(err)
		})
		return
	}
	if r.odds(4) {
		want := r.main.s.Budget().Count(out)
		if !r.preset {
			want += 20 // some estimators count more of an output than its text
		}
		r.each(fmt.Sprintf("Reserve %d", want), func(a *actor) string {
			held, err := a.s.Budget().Reserve(r.ctx, want)
			a.held = append(a.held[:0], held)
			var full *plimsoll.BudgetError
			if err == nil {
				reserve = want
			} else {
				if !errors.Is(err, errStore) && !errors.As(err, &full) {
					r.fail("law 12", "reserve: %v", err)
				}
			}
			return errText(err)
		})
	}
	var placed plimsoll.Placement
	var err error
	r.each(fmt.Sprintf("ToolResult of %d bytes", len(out)), func(a *actor) string {
		res := plimsoll.Result{CallID: c.CallID, Body: strings.NewReader(out), IsError: failed}
		if len(a.held) > 0 {
			res.Reserved = a.held[0]
		}
		p, e := a.s.ToolResult(r.ctx, res)
		if e != nil && len(a.held) > 0 {
			a.s.Budget().Release(a.held[0])
		}
		a.held = a.held[:0]
		if a == r.main {
			placed, err = p, e
			if e == nil {
				r.placed(c, out, failed, p)
			}
		}
		return fmt.Sprintf("%+v %s", p, errText(e))
	})
	var orphan *turn.OrphanError
	if err != nil && !errors.As(err, &orphan) && !(errors.Is(err, errStore) && r.pulled) {
		r.fail("law 12", "tool result: %v", err)
	}
	if err == nil && reserve > 0 && (placed.Shown == plimsoll.ShownFailed || placed.Reason == plimsoll.ReasonTokenBudget) {
		r.fail("R000-22", "an output of %d tokens for which there was a reservation has no room: %+v", reserve, placed)
	}
}

// placed checks what became of an output when it came.
func (r *run) placed(c llm.ToolCall, out string, failed bool, p plimsoll.Placement) {
	if p.Bytes != int64(len(out)) {
		r.fail("law 2", "a placement of %d bytes, want %d", p.Bytes, len(out))
	}
	kept := r.seed%3 > 0 && out != "" // each as it comes
	if p.Shown == plimsoll.ShownWhole && p.Ref != "" && !kept || (p.Shown != plimsoll.ShownWhole || kept && !r.pulled) && p.Ref == "" {
		r.fail("law 2", "a placement %+v", p)
	}
	if p.Ref != "" {
		got, err := r.main.s.Blob(r.ctx, p.Ref)
		if err != nil || string(got) != out {
			r.fail("law 2", "the output under %s: %v, %s", p.Ref, err, difference(string(got), out))
		}
	}
	m := llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{llm.ToolResult{CallID: c.CallID, IsError: failed, Content: []llm.Part{llm.Text{Text: out}}}}}
	if len(out) > 4<<20 {
		got := r.main.s.Messages()
		m.Parts = got[len(got)-1].Parts // what it says of what the store has
	}
	r.told(m)
}

func (r *run) setTools() {
	var tools []llm.Tool
	for i := range r.rng.IntN(7) {
		tools = append(tools, llm.Tool{
			Name: []string{"read_file", "bash", "grep", "edit", "fetch", policy.ToolFinalReport, "read_result"}[i], Description: r.saying(),
			Schema: `{"type":"object","properties":{"path":{"type":"string","description":"where"},"why":{"type":"string"}}}`,
		})
	}
	if r.act("SetTools", func(a *actor) error { return a.s.SetTools(r.ctx, tools) }) {
		r.tools = slices.Clone(tools)
		for i := range tools { // nothing that is changed later may be sent
			tools[i].Description = strings.Repeat("changed in place ", 500)
		}
		r.anew = true
	}
}

func (r *run) setSections() {
	var sections []llm.Section
	for i := range 1 + r.rng.IntN(3) {
		sections = append(sections, llm.Section{Name: fmt.Sprintf("part %d", i), Text: r.saying(), Cacheable: r.odds(2), Kind: []llm.SectionKind{llm.SectionSystem, llm.SectionSkills}[r.rng.IntN(2)]})
	}
	if r.act("SetSections", func(a *actor) error { return a.s.SetSections(r.ctx, sections) }) {
		r.sections = slices.Clone(sections)
		for i := range sections {
			sections[i].Text = strings.Repeat("changed in place ", 500)
		}
		r.anew = true
	}
}

func (r *run) undo() {
	all := r.main.s.Edits()
	if len(all) == 0 {
		return
	}
	var at []int
	for range 1 + r.rng.IntN(3) {
		at = append(at, r.rng.IntN(len(all)))
	}
	r.each(fmt.Sprintf("Undo of those at %v", at), func(a *actor) string {
		var ids []edit.ID // a fork's own have other numbers
		for _, i := range at {
			ids = append(ids, a.s.Edits()[i].ID)
		}
		err := a.s.Undo(r.ctx, ids...)
		if err != nil && !errors.Is(err, errStore) {
			return "error"
		}
		return errText(err)
	})
	r.counts.undos++
}

func (r *run) compact() {
	focus := []string{"", "the failing test"}[r.rng.IntN(2)]
	r.each("Compact", func(a *actor) string {
		c, err := a.s.Compact(r.ctx, focus)
		if err != nil && !(errors.Is(err, errStore) && r.pulled) {
			r.fail("law 12", "compact: %v", err)
		}
		if err == nil && len(c.Edits) == 0 && c.Why == "" {
			r.fail("law 7", "a compaction that did nothing does not say why: %+v", c)
		}
		return fmt.Sprintf("%v %v %d %s %s", c.Before, c.After, len(c.Edits), c.Why, errText(err))
	})
}

func (r *run) finish() {
	reason := r.reason()
	r.act("Finish "+string(reason), func(a *actor) error { return a.s.Finish(r.ctx, reason) })
}
