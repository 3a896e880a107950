package aider

import (
	"bytes"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/sessionfile"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/chatlog"
	"github.com/plimsoll-dev/plimsoll/sessionfile/internal/read"
)

// The marks of the lines.
const (
	markStart = "# aider chat started at "
	markUser  = "####"
	markTool  = ">"

	counts   = "Tokens: "
	restored = "Restored previous conversation history."
	lint     = "# Fix any errors below, if possible."
)

// Reader returns the reader of chat histories.
func Reader() read.Reader {
	return read.Reader{Formats: []sessionfile.Format{sessionfile.FormatAider}, Text: detect, Read: readFile}
}

// detect looks for the line that begins a chat.
func detect(head []byte) sessionfile.Format {
	if bytes.HasPrefix(head, []byte(markStart)) || bytes.Contains(head, []byte("\n"+markStart)) {
		return sessionfile.FormatAider
	}
	return ""
}

// A history is the file being read.
type history struct {
	*read.Reading
	log     *chatlog.Log // the conversation that goes on; nil before the first chat
	outer   *chatlog.Log // the architect's while the editor's goes on, else nil
	editors []*chatlog.Log
	name    string // of the chat
	first   int    // the chat's first segment
	fresh   bool   // the chat has not said what it cost
	total   total

	model, editor string // that answer, by aider's own words
	architect     bool   // an architect plans what an editor does, by aider's own words
	asks          string // the command that the newest words of the user stand behind; empty if none does
	planned       bool   // these words asked an architect
	breaks        bool   // the file has the two spaces that end each marked line

	block   block             // what is being read
	blank   bool              // the line before was empty
	open    bool              // an output has begun whose last line has not come
	sent    bool              // what aider says now is sent to the model
	paid    *sessionfile.Step // of the line before, if it is a count of tokens
	said    lines             // by the user, not yet added
	text    lines             // that may be the reply
	output  lines             // of a command, up to the reply
	command string            // that the text follows; empty if the user said something
	counted bool              // the text follows a reply: another one answers what aider said of it
	reply   int               // position of the newest entry that has no usage, or none
}

// A block is a run of lines of one kind.
type block int

const (
	blockNone block = iota
	blockUser
	blockTool
	blockText
)

// none is no position.
const none = -1

// lines are the lines of a message.
type lines struct {
	first int // line of the file; 0 if there are none
	text  []string
}

func (l *lines) add(no int, line string) {
	if l.first == 0 {
		l.first = no
	}
	l.text = append(l.text, line)
}

// join moves the lines of m behind those of l.
func (l *lines) join(m *lines) {
	for i, line := range m.text {
		l.add(m.first+i, line)
	}
	*m = lines{}
}

// take returns the text without empty lines around it, and empties l.
func (l *lines) take() (no int, text string) {
	no, text = l.first, strings.Trim(strings.Join(l.text, "\n"), "\n")
	*l = lines{}
	if strings.TrimSpace(text) == "" {
		text = ""
	}
	return no, text
}

// readFile reads a history.
func readFile(r *read.Reading, in *read.Input) error {
	r.Session.Client, r.Session.Dialect = "aider", chatlog.Dialect
	h := &history{Reading: r, reply: none}
	in.Each(r, h.line)
	h.finish()
	h.state()
	return nil
}

// line takes in one line.
func (h *history) line(l read.Line) {
	if len(l.Bytes) > 0 && !utf8.Valid(l.Bytes) {
		h.Problem(l.No, "invalid UTF-8, replaced by U+FFFD")
	}
	line := strings.TrimSuffix(strings.ToValidUTF8(string(l.Bytes), "\uFFFD"), "\r")
	if when, ok := strings.CutPrefix(line, markStart); ok {
		h.start(strings.TrimSpace(when))
		return
	}
	if h.log == nil {
		return // the end of a chat whose beginning was cut off
	}
	h.kind(l.No, line)
	h.blank = line == ""
}

// kind takes in a line of a chat by what it is. Each line that aider marks ends in two
// spaces, but for outputs of several lines, of which the last one does; a reply has an
// empty line before it, and may hold lines that only look marked. In a file that lost the
// spaces every mark counts.
func (h *history) kind(no int, line string) {
	said, isSaid := marked(line, markUser)
	told, isTold := marked(line, markTool)
	ends := strings.HasSuffix(line, "  ")
	h.breaks = h.breaks || ends && (isSaid || isTold)
	ends = ends || !h.breaks
	switch {
	case h.open || h.more(line) && !isTold && !isSaid:
		h.open = h.open && !ends
		h.on(no, line)
	case isSaid && ends:
		h.user(no, said)
	case isTold && (ends || strings.HasPrefix(told, counts) || h.block != blockText && !h.blank):
		h.open = !ends
		h.tool(no, told)
	default:
		h.plain(no, line)
	}
}

// more reports whether a line without a mark goes on with what aider said before it.
func (h *history) more(line string) bool {
	return h.paid != nil && strings.HasPrefix(line, "Cost: $") || h.breaks && h.block == blockTool && !h.blank && line != ""
}

// marked returns what stands behind a mark and a space, without the two spaces that
// break the line in Markdown.
func marked(line, mark string) (string, bool) {
	rest, ok := strings.CutPrefix(line, mark)
	if !ok || rest != "" && rest[0] != ' ' {
		return "", false
	}
	return strings.TrimRight(strings.TrimPrefix(rest, " "), " "), true
}

// start begins a chat.
func (h *history) start(when string) {
	h.finish()
	h.name, h.first, h.fresh = "chat "+when, h.Emitted(), true
	h.architect = false // a chat begins with what it is
	h.begin(h.name)
}

func (h *history) begin(name string) {
	h.log = chatlog.New(h.Reading, name)
	h.block, h.command, h.reply = blockNone, "", none
	h.blank, h.open, h.paid, h.planned = false, false, nil, false
}

// close ends the conversation, and those of the editors that it called.
func (h *history) close() {
	h.back()
	h.log.Close()
	for _, e := range h.editors {
		e.Close()
	}
	h.editors = nil
}

// finish ends the chat. What it has not said the cost of is in no total.
func (h *history) finish() {
	if h.log == nil {
		return
	}
	h.turn()
	h.close()
	h.log = nil
	if !h.fresh {
		h.total.to = h.Emitted()
	}
}

// user takes in a line that the user said. The first of several tells what they are.
func (h *history) user(no int, said string) {
	if h.block != blockUser {
		h.turn()
		h.back()
		h.block = blockUser
		h.command, h.asks = "", ""
		if strings.HasPrefix(said, "/") || strings.HasPrefix(said, "!") {
			said = h.typed(no, said)
		}
	}
	if h.command == "" {
		h.said.add(no, said)
	}
}

// askArchitect is the command that asks the architect once, in whatever mode the chat is.
const askArchitect = "/architect"

// asking are the commands whose words are sent to the model.
var asking = map[string]bool{"/ask": true, "/code": true, askArchitect: true, "/help": true}

// typed takes in a command and returns what of it is sent.
func (h *history) typed(no int, line string) string {
	name, words, _ := strings.Cut(line, " ")
	words = strings.TrimSpace(words)
	if asking[name] && words != "" {
		h.total.asking = question{line: no, paid: h.total.all}
		h.asks = name
		return words
	}
	if name == "/clear" || name == "/reset" {
		h.close()
		h.begin(h.name + ", after " + name)
		h.block = blockUser
	}
	h.command = name
	return ""
}

// tool takes in a line that aider wrote.
func (h *history) tool(no int, told string) {
	if h.block == blockUser {
		h.speak()
	}
	h.block, h.sent, h.paid = blockTool, false, nil
	h.failed(no, told)
	switch {
	case h.told(told):
	case strings.HasPrefix(told, counts):
		h.answer(true)
		h.usage(no, told)
		h.command, h.output, h.counted = "", lines{}, true
	case h.command != "":
		h.output.join(&h.text)
		h.output.add(no, told)
		h.sent = true
	case h.counted && len(h.text.text) == 0 && !isNews(told):
		h.output.add(no, told)
		h.sent = true
	}
}

// on takes in a further line of what aider said.
func (h *history) on(no int, line string) {
	switch {
	case h.paid != nil:
		h.cost(no, strings.TrimPrefix(line, "Cost: "))
		h.paid = nil
	case h.sent:
		h.output.add(no, line)
	}
}

// isNews reports whether aider says what it did with a reply, which the model is not
// told.
func isNews(told string) bool {
	for _, begin := range []string{"Applied edit to ", "Commit ", "You can use /undo "} {
		if strings.HasPrefix(told, begin) {
			return true
		}
	}
	return false
}

// told takes in what aider says about itself.
func (h *history) told(line string) bool {
	if v, ok := strings.CutPrefix(line, "Aider v"); ok {
		h.Session.ClientVersion = v
		return true
	}
	if line == restored {
		if len(h.log.Segment.Entries) == 0 {
			h.log.Segment.Start = sessionfile.StartResumed
		}
		return true
	}
	for _, label := range []string{"Models: ", "Model: ", "Main model: "} {
		if rest, ok := strings.CutPrefix(line, label); ok {
			model, mode, _ := strings.Cut(rest, " with ")
			h.model, h.editor, h.architect = model, model, strings.HasPrefix(mode, "architect ")
			return true
		}
	}
	if rest, ok := strings.CutPrefix(line, "Editor model: "); ok {
		h.editor, _, _ = strings.Cut(rest, " with ")
		h.architect = true // no other mode has one
		return true
	}
	return false
}

// plain takes in a line of a reply or of an output.
func (h *history) plain(no int, line string) {
	if h.block == blockUser {
		h.speak()
	}
	h.block, h.paid = blockText, nil
	if len(h.text.text) > 0 || line != "" {
		h.text.add(no, line)
	}
}

// turn ends what was said and answered so far.
func (h *history) turn() {
	h.speak()
	if h.command == "" {
		h.answer(false)
	}
	h.text, h.output, h.counted = lines{}, lines{}, false
}

// speak adds what the user said.
func (h *history) speak() {
	no, text := h.said.take()
	if text == "" {
		return
	}
	m := chatlog.Note(text)
	switch {
	case h.planned && h.answered(text):
		h.edit()
	case !strings.HasPrefix(text, lint):
		m.Origin = llm.Human
		h.planned = h.asks == askArchitect || h.architect && h.asks == ""
	}
	h.add(no, m)
}

// answer adds a reply, if there is one. A reply answers something: text that stands
// behind nothing that was said is one only if a count of tokens says that it was asked for.
func (h *history) answer(counted bool) {
	no, text := h.text.take()
	if sent, output := h.output.take(); text != "" && output != "" {
		h.add(sent, chatlog.Note(output))
	}
	if text == "" || len(h.log.Segment.Entries) == 0 && !counted {
		return
	}
	h.replied(no, text)
}

// replied adds a reply.
func (h *history) replied(no int, text string) {
	if len(h.log.Segment.Entries) == 0 {
		h.log.Segment.Start = sessionfile.StartResumed
		h.Problem(no, "the first message answers something that is not in the file")
		h.add(no, chatlog.Note(sessionfile.NotInFile("what was asked")))
	}
	e := h.add(no, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: text}}})
	e.Step = &sessionfile.Step{Model: h.model}
	if h.outer != nil {
		e.Step.Model = h.editor
	}
	h.reply = len(h.log.Segment.Entries) - 1
}

func (h *history) add(no int, m llm.Message) *sessionfile.Entry {
	e := h.log.Add(no, m)
	if len(h.log.Segment.Entries) == 1 {
		e.Time = started(h.name)
	}
	return e
}

// started returns when a chat began, as its name says; the file does not say in which
// zone, UTC is taken.
func started(name string) int64 {
	t, err := time.Parse("chat 2006-01-02 15:04:05", name)
	if err != nil || t.Unix() <= 0 {
		return 0
	}
	return t.UnixMilli()
}
