package summary

import (
	"slices"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/turn"
)

// Facts is what happened in a span of messages. Lists are in the order of first
// appearance. All texts but Human, Instruction and Answer are single lines,
// shortened to a few hundred bytes.
type Facts struct {
	Human       []Statement // human words, verbatim
	Instruction Statement   // the first instruction where no person wrote one; else zero
	Answer      Statement   // the model's newest text, verbatim
	Files       []File
	Commands    []Command
	Errors      []Fault
	Decisions   []Statement
	Plan        []Statement // open steps of the newest plan
	Todos       []Statement // stated in texts, not done as far as they say
	Done        []Statement // finished steps of a plan or list
	Open        []Statement // calls that have no result yet
}

// A Statement is a text and the message that says it.
type Statement struct {
	Text    string
	Message llm.MessageID // 0 if the message had none
}

// A File is a path that tools read or changed, spelled as in their arguments.
// Only calls that succeeded count.
type File struct {
	Path                     string
	Reads, Writes, Deletions int  // how often
	Deleted                  bool // its newest change was a deletion
}

// A Command is a shell command, counted once for each text and folder.
type Command struct {
	Line      string // its first line
	Dir       string // the folder it ran in; empty if not stated
	Times     int
	Exit      int    // of the newest run
	ExitKnown bool   // whether the output states the exit code
	Failed    bool   // the newest run failed: marked as an error, or an exit code other than 0
	Running   bool   // the newest run had not ended when its output was written
	Result    string // the last line of the newest output, or the one that names the fault
}

// A Fault is a tool call that failed.
type Fault struct {
	Subject  string // the command, or tool and path
	Text     string // the first line that names the fault
	Times    int
	Resolved bool // the same call succeeded later
}

// A Collector gathers Facts. The zero Collector is ready. It is not safe for
// concurrent use. Each Add is linear in the size of the message.
type Collector struct {
	facts   Facts
	index   turn.Index
	pending map[place]action

	files    map[string]int
	commands map[string]int
	faults   map[string]int   // subject and text → Facts.Errors
	tried    map[string][]int // key of an action → its unresolved faults
	stated   map[string]int   // kind and text → its list
	finished map[string]bool  // texts of finished todos and steps
	passed   map[string]bool  // subjects whose newest call succeeded
	planned  bool             // a plan was made
	spoken   bool             // the model has written something
}

type place struct{ position, part int }

// Add takes the next message into account.
func (c *Collector) Add(m llm.Message) {
	c.prepare()
	position := c.index.Len()
	// An orphan result pairs with nothing and states nothing about a call; a
	// duplicate id still pairs. Both are the caller's to report, not ours.
	_ = c.index.Append(m)
	for i, p := range m.Parts {
		switch p := p.(type) {
		case llm.ToolCall:
			if !p.Hosted {
				c.pending[place{position, i}] = recognise(p)
			}
		case llm.ToolResult:
			call, ok := c.index.CallFor(position, i)
			if !ok {
				continue
			}
			at := place{call.Position, call.Part}
			if a, ok := c.pending[at]; ok {
				delete(c.pending, at)
				c.settle(a, p, m.ID)
			}
		}
	}
	c.words(m)
	c.spoken = c.spoken || m.Role == llm.RoleAssistant
}

func (c *Collector) prepare() {
	if c.pending != nil {
		return
	}
	c.pending = map[place]action{}
	c.files, c.commands, c.faults = map[string]int{}, map[string]int{}, map[string]int{}
	c.tried, c.stated = map[string][]int{}, map[string]int{}
	c.finished, c.passed = map[string]bool{}, map[string]bool{}
}

// Facts returns what is known so far. The result is the caller's own.
func (c *Collector) Facts() Facts {
	f := c.facts
	f.Human = slices.Clone(f.Human)
	f.Files = slices.Clone(f.Files)
	f.Commands = slices.Clone(f.Commands)
	f.Errors = slices.Clone(f.Errors)
	f.Decisions = slices.Clone(f.Decisions)
	f.Done = slices.Clone(f.Done)
	f.Plan = slices.Clone(f.Plan)
	f.Todos = nil
	for _, s := range c.facts.Todos {
		if !c.finished[fold(s.Text)] {
			f.Todos = append(f.Todos, s)
		}
	}
	if len(f.Human) > 0 {
		f.Instruction = Statement{}
	}
	for _, call := range c.index.OpenCalls() {
		if a, ok := c.pending[place{call.Position, call.Part}]; ok {
			f.Open = append(f.Open, Statement{Text: a.subject})
		}
	}
	return f
}

// settle takes the result of a call into account.
func (c *Collector) settle(a action, r llm.ToolResult, id llm.MessageID) {
	out := outcomeOf(r.Text(), a.shell, r.IsError)
	if a.command != "" {
		c.addCommand(a, out)
	}
	c.passed[a.subject] = !out.failed
	if out.failed {
		c.addFault(a, out)
		return
	}
	for _, i := range c.tried[a.key] {
		c.facts.Errors[i].Resolved = true
	}
	delete(c.tried, a.key)
	for _, t := range a.touches {
		c.touch(t)
	}
	if a.steps != nil {
		c.setPlan(a.steps, id)
	}
}

func (c *Collector) addCommand(a action, out outcome) {
	i, ok := c.commands[a.key]
	if !ok {
		i = len(c.facts.Commands)
		c.commands[a.key] = i
		c.facts.Commands = append(c.facts.Commands, Command{Line: a.subject, Dir: a.dir})
	}
	cmd := &c.facts.Commands[i]
	cmd.Times++
	cmd.Exit, cmd.ExitKnown, cmd.Failed, cmd.Running = out.exit, out.known, out.failed, out.running
	cmd.Result = oneLine(out.last, maxResult)
	if out.failed {
		cmd.Result = oneLine(out.fault, maxResult)
	}
}

func (c *Collector) addFault(a action, out outcome) {
	if out.fault == "" { // such as a search without a hit: the exit code says it all
		return
	}
	key := a.subject + "\x00" + out.fault
	i, ok := c.faults[key]
	if !ok {
		i = len(c.facts.Errors)
		c.faults[key] = i
		c.facts.Errors = append(c.facts.Errors, Fault{Subject: a.subject, Text: out.fault})
	}
	f := &c.facts.Errors[i]
	if f.Resolved || f.Times == 0 {
		f.Resolved = false
		c.tried[a.key] = append(c.tried[a.key], i)
	}
	f.Times++
}

func (c *Collector) touch(t touch) {
	if t.path == "" {
		return
	}
	i, ok := c.files[t.path]
	if !ok {
		i = len(c.facts.Files)
		c.files[t.path] = i
		c.facts.Files = append(c.facts.Files, File{Path: t.path})
	}
	f := &c.facts.Files[i]
	switch t.how {
	case reads:
		f.Reads++
	case writes:
		f.Writes++
		f.Deleted = false
	case deletes:
		f.Deletions++
		f.Deleted = true
	}
}

// setPlan replaces the plan: each call of a planning tool carries all its steps.
func (c *Collector) setPlan(steps []step, id llm.MessageID) {
	c.facts.Plan, c.planned = nil, true
	for _, s := range steps {
		text := oneLine(s.text(), maxLine)
		switch {
		case text == "":
		case s.finished():
			c.finished[fold(text)] = true
			c.state("done", &c.facts.Done, Statement{text, id})
		default:
			c.facts.Plan = append(c.facts.Plan, Statement{text, id})
		}
	}
}

// words takes the texts of a message into account.
func (c *Collector) words(m llm.Message) {
	text := m.Text()
	if blank(text) {
		return
	}
	s := Statement{Text: text, Message: m.ID}
	switch {
	case m.Origin == llm.Human:
		c.facts.Human = append(c.facts.Human, s)
	case m.Origin == llm.Model && !m.Flags.Has(llm.FlagSynthetic):
		c.facts.Answer = s
	case c.instructs(m):
		c.facts.Instruction = s
		return
	default:
		return
	}
	for _, l := range markedLines(text) {
		switch l.kind {
		case markDecision:
			c.state("decision", &c.facts.Decisions, Statement{l.text, m.ID})
		case markTodo:
			delete(c.finished, fold(l.text))
			c.state("todo", &c.facts.Todos, Statement{l.text, m.ID})
		case markDone:
			c.finished[fold(l.text)] = true
			c.state("done", &c.facts.Done, Statement{l.text, m.ID})
		}
	}
}

// instructs reports whether a note is the first instruction of a session in which
// no person writes.
func (c *Collector) instructs(m llm.Message) bool {
	return m.Origin == llm.Note && m.Role == llm.RoleUser && !c.spoken &&
		c.facts.Instruction.Text == "" && m.Flags&(llm.FlagSummary|llm.FlagRules) == 0
}

// state adds a statement to a list, or notes that it was said again.
func (c *Collector) state(kind string, list *[]Statement, s Statement) {
	key := kind + "\x00" + fold(s.Text)
	if i, ok := c.stated[key]; ok {
		(*list)[i].Message = s.Message
		return
	}
	c.stated[key] = len(*list)
	*list = append(*list, s)
}
