package sweagent

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// Reader returns the reader of both programs' trajectories.
func Reader() read.Reader {
	return read.Reader{
		Formats:  []sessionfile.Format{sessionfile.FormatSWEAgent, sessionfile.FormatMiniSWEAgent},
		Document: detect,
		Read:     readFile,
	}
}

// detect tells a trajectory by its fields, and the bare list of messages that
// mini-swe-agent wrote at first by the shape of its messages.
func detect(d *read.Document) sessionfile.Format {
	if d.Bytes[0] == '[' {
		if isBare(d.Bytes) {
			return sessionfile.FormatMiniSWEAgent
		}
		return ""
	}
	f := d.Fields()
	info := f.Of("info")
	switch {
	case isArray(f["trajectory"]) && isArray(f["history"]) && info != nil:
		return sessionfile.FormatSWEAgent
	case !isArray(f["messages"]) || info == nil:
	case strings.HasPrefix(f.Str("trajectory_format"), "mini-swe-agent"), info.Has("mini_version"):
		return sessionfile.FormatMiniSWEAgent
	}
	return ""
}

func isArray(value []byte) bool { return len(value) > 0 && value[0] == '[' }

// opening are the roles with which a bare list begins.
var opening = []string{"system", "user", "assistant"}

// command begins the block of the one command that each reply of a bare list has.
const command = "```"

// isBare reports whether a list holds nothing but messages of role and content, and
// begins with an instruction and a reply that has a command.
func isBare(list []byte) bool {
	n, all := 0, true
	read.EachElement(list, func(value []byte) bool {
		f := read.FieldsOf(value)
		all = len(f) == 2 && f.Str("role") != "" && f.Has("content")
		if all && n < len(opening) {
			all = f.Str("role") == opening[n] && (n < 2 || strings.Contains(f.Str("content"), command))
		}
		n++
		return all
	})
	return all && n >= len(opening)
}

// readFile reads the one conversation of a file.
func readFile(r *read.Reading, in *read.Input) error {
	d, err := chatlog.Document(r, in)
	if err != nil {
		return err
	}
	t := &trajectory{Log: chatlog.New(r, ""), document: d}
	if r.Session.Format == sessionfile.FormatMiniSWEAgent {
		t.mini()
	} else {
		t.full()
	}
	t.failed(d)
	t.Close()
	t.stated(d.Fields().Of("info")["model_stats"])
	return nil
}

// stated takes in what the program counted of the run. Where it could not, there are zeros.
func (t *trajectory) stated(stats []byte) {
	if len(stats) == 0 {
		return
	}
	line, sums := t.document.Line(stats), gjson.ParseBytes(stats)
	tokens := func(name string) int { return t.Tokens(line, sums, name) }
	t.State(line, "model_stats", 0, read.Sum{
		Calls: tokens("api_calls"), Cost: chatlog.Cost([]byte(sums.Get("instance_cost").Raw)),
		Usage: llm.Usage{Input: tokens("tokens_sent"), Output: tokens("tokens_received")},
	})
}

// An exit is what a word for the end of a run says of the call that came last.
type exit struct {
	word, code string
	status     int  // that the provider's library takes it from
	limit      bool // the program's own
}

// exits are the words for a run that a limit or an error of a call ended: SWE-agent's own, and
// the names of errors that mini-swe-agent ends with. One that stands in another stands behind it.
var exits = []exit{
	{word: "exit_context", code: "context_length_exceeded"},
	{word: "ContextWindowExceededError", code: "context_length_exceeded"},
	{word: "exit_api", code: "api_error"},
	{word: "exit_cost", limit: true},
	{word: "exit_total_execution_time", limit: true},
	{word: "LimitsExceeded", limit: true},
	{word: "TimeExceeded", limit: true},
	{word: "RateLimitError", code: "rate_limit_error", status: 429},
	{word: "AuthenticationError", code: "authentication_error", status: 401},
	{word: "PermissionDeniedError", code: "permission_error", status: 403},
	{word: "NotFoundError", code: "not_found_error", status: 404},
	{word: "BadRequestError", code: "invalid_request_error", status: 400},
	{word: "ServiceUnavailableError", code: "overloaded_error", status: 503},
	{word: "InternalServerError", code: "api_error", status: 500},
	{word: "APIConnectionError", code: "api_error"},
	{word: "APIError", code: "api_error"},
}

// exitOf returns what a word for the end of a run says of its last call, if anything.
func exitOf(status string) (exit, bool) {
	i := slices.IndexFunc(exits, func(e exit) bool { return strings.Contains(status, e.word) })
	if i < 0 {
		return exit{}, false
	}
	return exits[i], true
}

// failed notes a run that ended because a call came to nothing.
func (t *trajectory) failed(d *read.Document) {
	info := d.Fields()["info"]
	f := read.FieldsOf(info)
	status := cmp.Or(f.Str("exit_status"), t.exit)
	e, ok := exitOf(status)
	if !ok {
		return
	}
	o := read.Outcome{Line: d.Line(info), Words: status, Code: e.code, Status: e.status, Limit: e.limit}
	if said := cmp.Or(t.last, f.Str("submission")); said != "" && !e.limit && t.Session.Format == sessionfile.FormatMiniSWEAgent {
		o.Words = status + ": " + said
	}
	t.Fail(o)
}

// A trajectory is one run.
type trajectory struct {
	*chatlog.Log
	document *read.Document
	model    string // of the run
	agent    string // that the conversation is of
	exit     string // how mini-swe-agent says that the run ended, in its last message
	last     string // what it says there
	other    sessionfile.Branch
}

// step makes an entry a reply of the model.
func (t *trajectory) step(e *sessionfile.Entry) *sessionfile.Step {
	e.Step = &sessionfile.Step{Model: t.model}
	return e.Step
}

// add appends a message of the run: what is in the user's role nobody typed.
func (t *trajectory) add(line int, m llm.Message) *sessionfile.Entry {
	if m.Role == llm.RoleUser {
		m.Origin = llm.Note
	}
	return t.Add(line, m)
}

// full reads a trajectory of SWE-agent.
func (t *trajectory) full() {
	f := t.document.Fields()
	t.Session.Client = "swe-agent"
	t.model = modelOf(f["replay_config"])
	read.EachElement(f["history"], func(value []byte) bool {
		t.historic(t.document.Line(value), read.FieldsOf(value))
		return true
	})
	if t.other.Messages > 0 {
		t.Session.Abandoned = append(t.Session.Abandoned, t.other)
	}
	t.shortened(f["history"], f["trajectory"])
}

// noModels are what SWE-agent calls its model where there is none.
var noModels = map[string]bool{"replay": true, "human": true, "human_thought": true, "instant_empty_submit": true}

// modelOf returns the model of a configuration, which is an object or the text of one.
func modelOf(config []byte) string {
	if len(config) > 0 && config[0] == '"' {
		config = []byte(read.Str(config))
	}
	if !read.IsJSON(config) {
		return ""
	}
	name := read.FieldsOf(bytes.TrimSpace(config)).Of("agent").Of("model").Str("name")
	if noModels[name] {
		return ""
	}
	return name
}

// historic takes in one message of the history.
func (t *trajectory) historic(line int, f read.Fields) {
	if name := f.Str("agent"); name != "" && t.agent == "" {
		t.agent = name
	} else if name != "" && name != t.agent {
		t.otherAgent(line)
		return
	}
	if ids := f["tool_call_ids"]; !f.Has("tool_call_id") && isArray(ids) {
		read.EachElement(ids, func(id []byte) bool {
			f["tool_call_id"] = id
			return false
		})
	}
	m, ok := t.Decode(line, f)
	if !ok {
		return
	}
	if e := t.add(line, m); e != nil && m.Origin == llm.Model && !read.IsTrue(f["is_demo"]) {
		t.step(e)
	}
}

// otherAgent counts a message of another agent's conversation.
func (t *trajectory) otherAgent(line int) {
	if t.other.Messages == 0 {
		t.other = sessionfile.Branch{First: line, Why: sessionfile.WhySubAgent}
	}
	t.other.Last = line
	t.other.Messages++
}

// shortened reports what the prompt of the last step shows to have been sent shorter
// than the history has it.
func (t *trajectory) shortened(history, steps []byte) {
	var last []byte
	read.EachElement(steps, func(value []byte) bool {
		last = value
		return true
	})
	step := read.FieldsOf(last)
	prompt := step["query"]
	if !isArray(prompt) {
		prompt = step["messages"]
	}
	var whole [][]byte
	read.EachElement(history, func(value []byte) bool {
		whole = append(whole, read.FieldsOf(value)["content"])
		return true
	})
	i, shorter := 0, 0
	read.EachElement(prompt, func(value []byte) bool {
		if i < len(whole) && len(read.FieldsOf(value)["content"]) < len(whole[i]) {
			shorter++
		}
		i++
		return i < len(whole)
	})
	if shorter > 0 {
		t.Problem(t.document.Line(prompt), "%d messages were sent shortened at the last step; they are read whole", shorter)
	}
}

// mini reads a trajectory of mini-swe-agent.
func (t *trajectory) mini() {
	t.Session.Client = "mini-swe-agent"
	list, result := t.document.Bytes, ""
	if f := t.document.Fields(); f != nil {
		info := f.Of("info")
		list, result = f["messages"], info.Str("submission")
		t.Session.ID, t.Session.ClientVersion = f.Str("instance_id"), info.Str("mini_version")
		t.model = info.Of("config").Of("model").Str("model_name")
	}
	var messages [][]byte
	read.EachElement(list, func(value []byte) bool {
		messages = append(messages, value)
		return true
	})
	if n := len(messages); n > 0 && isResult(messages[n-1], result) {
		messages = messages[:n-1]
	}
	for _, value := range messages {
		t.brief(t.document.Line(value), read.FieldsOf(value))
	}
}

// isResult reports whether a message says what the run came to, as the first versions wrote it
// behind the others: nobody was sent it.
func isResult(value []byte, result string) bool {
	f := read.FieldsOf(value)
	return result != "" && f.Str("role") == "user" && f.Str("content") == result
}

// brief takes in one message of mini-swe-agent. One in the role exit says how the run
// ended and was never sent.
func (t *trajectory) brief(line int, f read.Fields) {
	if f.Str("role") == "exit" {
		t.exit, t.last = f.Of("extra").Str("exit_status"), f.Str("content")
		return
	}
	m, ok := t.Decode(line, f)
	if !ok {
		return
	}
	extra := f.Of("extra")
	response := extra.Of("response")
	paid := sessionfile.Step{Cost: chatlog.Cost(extra["cost"])}
	if usage := response["usage"]; len(usage) > 0 {
		chatlog.Pay(&paid, t.Usage(line, gjson.ParseBytes(usage)))
	}
	if m.Role == llm.RoleAssistant {
		m.Parts = read.Said(m.Parts, &paid)
	}
	e := t.add(line, m)
	if e == nil {
		return
	}
	e.Time = t.Time(line, extra["timestamp"])
	if m.Origin != llm.Model {
		return
	}
	step := t.step(e)
	paid.Model, paid.Time = cmp.Or(t.Name(response["model"]), step.Model), e.Time
	*step = paid
}
