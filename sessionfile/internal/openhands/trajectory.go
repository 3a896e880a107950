package openhands

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// A trajectory is one conversation.
type trajectory struct {
	*chatlog.Log
	line    func(value []byte) int
	harness bool   // no person takes part
	model   string // of the run

	summary *summary // of what was forgotten; nil: nothing was
	lost    bool     // too much was to be carried over: what is left is not known

	past   []*event // that a model saw, in order
	at     *event   // being read
	spoken bool     // a message came
	asked  bool     // the agent's message waits for an answer

	replies map[string]int  // positions of the replies of this segment, by response id
	paid    map[string]bool // response ids whose usage a Step has
	spent   int64           // picodollars so far, as last reported
}

// An event is one of those that made the messages of a conversation.
type event struct {
	id       string // as the file has it, else its place
	response string // of an action: the reply that it is of
	messages []sessionfile.Entry
	calls    []string // of an action
	forgot   bool
}

func newTrajectory(r *read.Reading, name string, line func([]byte) int) *trajectory {
	return &trajectory{Log: chatlog.New(r, name), line: line, replies: map[string]int{}, paid: map[string]bool{}}
}

// read takes in a history: an array of events, or of pairs of them.
func (t *trajectory) read(history []byte) {
	read.EachElement(history, func(value []byte) bool {
		if len(value) > 0 && value[0] == '[' {
			t.read(value)
			return true
		}
		t.event(t.line(value), read.FieldsOf(value))
		return !t.Stopped()
	})
}

// event takes in one event.
func (t *trajectory) event(line int, f read.Fields) {
	id := string(f["id"])
	if id == "" {
		id = fmt.Sprintf("event-%d", len(t.past)+1)
	}
	t.at = &event{id: id}
	begin := len(t.Segment.Entries)
	e := incoming{Fields: f, line: line, time: t.Time(line, zoned(f["timestamp"])), args: f.Of("args"), call: f.Of("tool_call_metadata")}
	e.response = e.call.Of("model_response")
	if e.args == nil {
		e.args = f // early versions have the arguments beside the action
	}
	switch action, observation := f.Str("action"), f.Str("observation"); {
	case action == "condensation":
		t.condense(line, e.args)
		return
	case action != "":
		t.action(e, action)
	case observation != "":
		t.observation(e, observation)
	default:
		t.Problem(line, "an event, skipped: want an action or an observation")
	}
	t.at.messages = t.Segment.Entries[begin:len(t.Segment.Entries):len(t.Segment.Entries)]
	if len(t.at.messages) > 0 || t.at.response != "" {
		t.past = append(t.past, t.at)
	}
}

// zoned adds the zone to a time without one, which is local; UTC is taken.
func zoned(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' {
		return value
	}
	text := value[1 : len(value)-1]
	if at := bytes.IndexByte(text, 'T'); at > 0 && !bytes.ContainsAny(text[at:], "Z+-") {
		return append(slices.Clip(value[:len(value)-1]), `Z"`...)
	}
	return value
}

// An incoming event with what is looked at more than once.
type incoming struct {
	read.Fields
	line     int
	time     int64
	args     read.Fields
	call     read.Fields // what the client noted about a call of the model
	response read.Fields // of the reply that the call is of
}

// silent are the actions and observations that no model sees.
var silent = map[string]bool{
	"null": true, "change_agent_state": true, "agent_state_changed": true, "recall": true,
	"condensation_request": true, "pause": true, "resume": true, "start": true, "init": true,
}

// action takes in an action of the agent, or a message.
func (t *trajectory) action(e incoming, action string) {
	switch {
	case silent[action]:
	case action == "system":
		t.system(e)
	case action == "message" && t.fromAgent(e):
		t.asked = true
		t.reply(e, assistant(e.args.Str("content")))
	case action == "message":
		t.message(e)
	case e.Str("source") == "user":
		t.add(e, chatlog.Note(argument(e.args)))
	case action == "finish":
		t.reply(e, assistant(final(e)))
	case e.call != nil:
		t.called(e)
	default:
		t.acted(e)
	}
}

// add appends a message. The entry may be nil.
func (t *trajectory) add(e incoming, m llm.Message) *sessionfile.Entry {
	entry := t.Add(e.line, m)
	if entry != nil {
		entry.Time = e.time
	}
	return entry
}

// system takes in the system prompt and the tools.
func (t *trajectory) system(e incoming) {
	t.Section(e.args.Str("content"))
	if tools := e.args["tools"]; len(tools) > 0 && tools[0] == '[' {
		t.Segment.Tools = t.Tools(e.line, tools)
	}
}

// fromAgent reports whether the agent said a message. Early versions do not say who
// did: the first is the instruction, and what answers a message of the agent is the
// client's.
func (t *trajectory) fromAgent(e incoming) bool {
	if e.Has("source") {
		return e.Str("source") == "agent"
	}
	return t.spoken && !t.asked
}

// message takes in what was said to the agent.
func (t *trajectory) message(e incoming) {
	t.spoken, t.asked = true, false
	urls := e.args["image_urls"]
	if len(urls) == 0 {
		urls = e.args["images_urls"]
	}
	images := t.Images(e.line, urls)
	m := llm.Message{Role: llm.RoleUser, Origin: llm.Note}
	if text := e.args.Str("content"); text != "" {
		m.Parts = append(m.Parts, llm.Text{Text: text})
	}
	if m.Parts = append(m.Parts, images...); len(images) > 0 {
		m.Dialect = chatlog.Dialect
	}
	if !t.harness && e.Str("source") == "user" {
		m = read.UserMessage(m.Parts, m.Dialect)
	}
	t.add(e, m)
}

func assistant(text string) llm.Message {
	m := llm.Message{Role: llm.RoleAssistant, Origin: llm.Model}
	if text != "" {
		m.Parts = []llm.Part{llm.Text{Text: text}}
	}
	return m
}

// final returns what is sent back of a finish: the text of the reply, else the last
// thought.
func final(e incoming) string {
	for _, text := range []string{e.recorded().Str("content"), e.args.Str("thought"), e.args.Str("final_thought"), e.args.Of("outputs").Str("content")} {
		if text != "" {
			return text
		}
	}
	return ""
}

// recorded returns the message of the recorded reply, nil if there is none.
func (e incoming) recorded() read.Fields {
	return firstOf(e.response["choices"]).Of("message")
}

// reply appends a message of the agent as a Step.
func (t *trajectory) reply(e incoming, m llm.Message) {
	t.spoken = true
	step := &sessionfile.Step{Model: t.model, Time: e.time}
	if model := t.Name(e.response["model"]); model != "" {
		step.Model = model
	}
	t.pay(e, step)
	m.Parts = read.Said(m.Parts, step)
	entry := t.add(e, m)
	if entry == nil {
		return
	}
	entry.Step = step
	t.at.response = e.response.Str("id")
	if id := t.at.response; id != "" {
		t.replies[id] = len(t.Segment.Entries) - 1
	}
}

// called takes in an action that the recorded reply asked for. The first of a reply
// brings the whole reply.
func (t *trajectory) called(e incoming) {
	t.at.calls = []string{e.call.Str("tool_call_id")}
	id := e.response.Str("id")
	if _, ok := t.replies[id]; ok && id != "" {
		t.at.response = id
		return
	}
	m, ok := t.Decode(e.line, e.recorded())
	if !ok {
		return
	}
	t.reply(e, m)
}

// acted takes in an action of which no reply is recorded: what the agent thought, and
// what it did.
func (t *trajectory) acted(e incoming) {
	text := e.args.Str("thought")
	if done := argument(e.args); text == "" {
		text = done
	} else if done != "" {
		text += "\n\n" + done
	}
	t.asked = false
	t.reply(e, assistant(text))
}

// besides are the fields of an action that are no arguments of it.
var besides = map[string]bool{
	"action": true, "thought": true, "id": true, "timestamp": true, "source": true, "message": true, "cause": true,
	"is_confirmed": true, "confirmation_state": true, "action_risk": true, "keep_prompt": true, "kernel_init_code": true,
	"hidden": true, "security_risk": true, "impl_source": true, "llm_metrics": true, "tool_call_metadata": true, "timeout": true,
}

// argument returns the texts among the arguments of an action, which say what it does:
// in most cases there is one.
func argument(args read.Fields) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(args)) {
		if text := args.Str(name); text != "" && !besides[name] {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// observation takes in what came of an action.
func (t *trajectory) observation(e incoming, kind string) {
	if kind == "recall" {
		t.recalled(e)
		return
	}
	if kind == "agent_state_changed" {
		t.state(e)
	}
	if silent[kind] {
		return
	}
	text := e.Str("content")
	if shell := e.Of("extras").Of("metadata"); shell != nil {
		text = shell.Str("prefix") + text + shell.Str("suffix")
	}
	id := e.call.Str("tool_call_id")
	if id == "" && kind == "error" && strings.HasPrefix(e.Of("extras").Str("error_id"), "STATUS$") {
		t.Fail(read.Outcome{Line: e.line, Time: e.time, Words: text, Code: e.Of("extras").Str("error_id")})
		return
	}
	if id == "" {
		t.add(e, chatlog.Note(text))
		return
	}
	m := chatlog.Result(id, text)
	if result := m.Parts[0].(llm.ToolResult); kind == "error" || kind == "user_rejected" {
		result.IsError = true
		m.Parts[0] = result
	}
	t.add(e, m)
}

// state takes in what became of the agent. What went wrong is said with it.
func (t *trajectory) state(e incoming) {
	extras := e.Of("extras")
	switch extras.Str("agent_state") {
	case "error", "rate_limited":
		t.Fail(read.Outcome{Line: e.line, Time: e.time, Words: extras.Str("reason")})
	case "stopped":
		t.Fail(read.Outcome{Line: e.line, Time: e.time, Words: extras.Str("reason"), Stopped: true})
	}
}

// recalled takes in what the client remembered: the repository's instructions and the
// knowledge that a word set off.
func (t *trajectory) recalled(e incoming) {
	extras := e.Of("extras")
	var texts []string
	rules := extras.Str("repo_instructions")
	for _, text := range []string{rules, extras.Str("additional_agent_instructions"), extras.Str("conversation_instructions")} {
		if text != "" {
			texts = append(texts, text)
		}
	}
	read.EachElement(extras["microagent_knowledge"], func(value []byte) bool {
		if text := read.FieldsOf(value).Str("content"); text != "" {
			texts = append(texts, text)
		}
		return true
	})
	if len(texts) == 0 {
		return
	}
	m := chatlog.Note(strings.Join(texts, "\n\n"))
	if rules != "" {
		m.Flags |= llm.FlagRules
	}
	t.add(e, m)
}

// stated takes in what the client counted of a run: a cost for each call, and in later versions
// the tokens.
func (t *trajectory) stated(line, from int, metrics read.Fields) {
	sum := read.Sum{Cost: chatlog.Cost(metrics["accumulated_cost"])}
	read.EachElement(metrics["costs"], func([]byte) bool {
		sum.Calls++
		return true
	})
	if usage := metrics["accumulated_token_usage"]; len(usage) > 0 {
		sum.Usage = t.used(line, gjson.ParseBytes(usage))
	}
	t.State(line, "metrics", from, sum)
}

// used returns a count of tokens as the client keeps it.
func (t *trajectory) used(line int, count gjson.Result) llm.Usage {
	u := chatlog.Disjoint(t.Tokens(line, count, "prompt_tokens"), t.Tokens(line, count, "cache_read_tokens"), t.Tokens(line, count, "cache_write_tokens"))
	u.Output = t.Tokens(line, count, "completion_tokens")
	return u
}

// pay gives a step what the reply or the client's own count says that it used.
func (t *trajectory) pay(e incoming, step *sessionfile.Step) {
	metrics := e.Of("llm_metrics")
	if total := chatlog.Cost(metrics["accumulated_cost"]); total > t.spent {
		step.Cost = total - t.spent
		t.spent = total
	}
	id := e.response.Str("id")
	if usage := e.response["usage"]; len(usage) > 0 {
		chatlog.Pay(step, t.Usage(e.line, gjson.ParseBytes(usage)))
		t.paid[id] = true
	}
	var last gjson.Result
	for _, use := range gjson.ParseBytes(metrics["token_usages"]).Array() {
		if of := use.Get("response_id").String(); of == id || id == "" && !t.paid[of] {
			last = use
		}
	}
	if !last.IsObject() {
		return
	}
	t.paid[last.Get("response_id").String()] = true
	if w := t.Tokens(e.line, last, "context_window"); w > 0 {
		t.Segment.Window = w
	}
	if step.Model == "" {
		step.Model = last.Get("model").String()
	}
	if !step.Reported {
		chatlog.Pay(step, t.used(e.line, last))
	}
}
