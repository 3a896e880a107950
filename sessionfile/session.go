package sessionfile

import (
	"fmt"
	"strings"

	"github.com/plimsoll-dev/plimsoll/core/llm"
)

// A Format names a kind of session file.
type Format string

// The formats that can be read.
const (
	FormatClaudeCode       Format = "claude-code"
	FormatCodex            Format = "codex"
	FormatAnthropicRequest Format = "anthropic-request"
	FormatChatRequest      Format = "openai-chat-request"
	FormatResponsesRequest Format = "openai-responses-request"
	FormatGeminiRequest    Format = "gemini-request"
	FormatAider            Format = "aider"
	FormatSWEAgent         Format = "swe-agent"
	FormatMiniSWEAgent     Format = "mini-swe-agent"
	FormatTauBench         Format = "tau-bench"
	FormatOpenHands        Format = "openhands"
	FormatInspect          Format = "inspect"
	FormatGeminiCLI        Format = "gemini-cli"
	FormatCopilot          Format = "copilot-cli"
	FormatPi               Format = "pi"
	FormatCline            Format = "cline"
	FormatOpenCode         Format = "opencode"
	FormatQwen             Format = "qwen-code"
	FormatContinue         Format = "continue"
	FormatRecord           Format = "plimsoll-record"
)

// A Problem is something in a file that could not be read as it should be.
// Reading went on.
type Problem struct {
	File string
	Line int // from 1; 0 for the file as a whole
	What string
}

// String returns the problem in the form "file:line: what".
func (p Problem) String() string {
	if p.Line == 0 {
		return p.File + ": " + p.What
	}
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.What)
}

// A Session is one session file, read.
type Session struct {
	// ID is the session's own id, for a file of a Claude Code sub-agent "agent-" and
	// the agent's id, and where the file has none its name without the ending. It may
	// hold any text.
	ID     string
	Parent string // id of the session that this one began from, if any
	Kin    Kin    // how it began from Parent; empty without one
	Path   string // the name it was read from
	Format Format
	// Client is the program that wrote it, as in "claude-code" and "codex"; empty
	// for a bare request body.
	Client        string
	ClientVersion string      // the last one named in the file
	Dialect       llm.Dialect // of the messages' raw bytes
	Segments      []Segment   // in the order they happened
	Abandoned     []Branch    // conversation lines that do not lead to the end
	Stated        []Stated    // what the file itself says about its sums, by line
	Problems      []Problem   // by line
}

// Kin says how a session began from another one.
type Kin string

// The kinds of kin.
const (
	KinAgent Kin = "sub-agent" // a call of the parent started it; its cost is part of the parent's
	KinFork  Kin = "fork"      // it begins with a copy of the parent, and goes on by itself
)

// A Stated is what a file itself says about a whole, such as the line with which a
// client ends a run. Sums over what was read are checked against it.
type Stated struct {
	Line  int    // where it stands, from 1
	What  string // what states it, as in "result line" and "session.shutdown"
	Model string // whose calls alone it sums up; empty for all
	From  int    // first segment that it sums up, from 0
	To    int    // the segment after the last one; From if the file has none of them
	// FromStep and ToStep are, where it sums up some of the Steps of these segments alone, the
	// first one of them, from 0, and the one after the last; ToStep is 0 where it sums up all.
	FromStep, ToStep int
	Figures          []Figure
	// Why is what the file's own lines show to make the figures other ones than the sum of
	// its calls; empty if nothing does.
	Why string
}

// Sums reports whether s sums up a Step of its segments, by its place among all of them, from 0.
func (s Stated) Sums(step int) bool {
	return s.ToStep == 0 || s.FromStep <= step && step < s.ToStep
}

// A Figure is one number of a [Stated].
type Figure struct {
	Name  FigureName
	Value int64 // Steps, tokens, or picodollars (10^-12 USD)
	// Round is the width of the rounding that the file wrote it with, as in 1000 for
	// "12k"; 0 or 1 if it is exact.
	Round int64
}

// FigureName says what a [Figure] counts.
type FigureName string

// The figures that files state. Parts of a prompt are disjoint, as in llm.Usage.
const (
	FigureCalls      FigureName = "calls"       // model calls
	FigurePrompt     FigureName = "prompt"      // tokens of all prompts, cached or not
	FigureInput      FigureName = "input"       // of these, those in full price
	FigureCacheRead  FigureName = "cache_read"  // read from the provider's cache
	FigureCacheWrite FigureName = "cache_write" // written to it, of any lifetime
	FigureOutput     FigureName = "output"      // tokens of all replies
	FigureReasoning  FigureName = "reasoning"   // of these, thinking
	FigureCost       FigureName = "cost"        // picodollars
)

// A Branch is a range of lines that does not lead to the end of the session.
type Branch struct {
	First, Last int // lines, from 1, both included
	Messages    int // user and assistant lines in it
	Why         string
	// Agent is what the file calls the sub-agent that said this, such as the id of the call
	// that started it; empty if nothing does, and of other branches.
	Agent string
	// Calls are the model calls in it that are Steps of no segment, each once.
	Calls []Step
}

// The reasons of a Branch.
const (
	WhyAbandoned  = "abandoned: the session went on from an earlier message"
	WhySubAgent   = "a sub-agent's conversation"
	WhyRolledBack = "taken back by the user"
)

// Start says why a segment starts where it does.
type Start string

// The kinds of start. Only StartRoot shows the client's own first request, so only
// there can the size of what the file does not have be derived.
const (
	StartRoot            Start = "root"            // the session's own beginning
	StartCompaction      Start = "compaction"      // the client summarised what came before
	StartMicrocompaction Start = "microcompaction" // the client cleared old tool results
	StartRollback        Start = "rollback"        // the user took Turns back
	StartResumed         Start = "resumed"         // the file starts in the middle
)

// A Segment is a stretch of the session in which every request extends the one
// before. What the client changed in between starts a new segment.
type Segment struct {
	Name     string // of the conversation, in a file that holds several
	Start    Start
	NotRun   string        // why no request of this segment can be rebuilt; empty if they can
	Sections []llm.Section // the system prompt as far as the file has it
	Tools    []llm.Tool    // as far as the file has them
	Entries  []Entry
	Window   int    // tokens, as the file reports it; 0 if it does not
	Model    string // of a request body; elsewhere each Step has its own
	// Final says that the segment ends with a request that has no reply: it is nothing else,
	// or the request was refused for its length.
	Final    bool
	Failures []Failure // model calls that came to nothing, in their order
	// Cut is when the client changed the conversation, in Unix milliseconds; 0 if the
	// file does not say, or if the segment is no change.
	Cut int64
}

// Steps returns the number of model calls that the segment made.
func (s Segment) Steps() int {
	n := 0
	for _, e := range s.Entries {
		if e.Step != nil {
			n++
		}
	}
	return n
}

// An Entry is one message and where it was found.
type Entry struct {
	Message llm.Message
	// Line is where it begins in the file, from 1; for a stated result the line of its
	// call; 0 in a request body and in an archive.
	Line int
	// Step is set on the reply of a model call that this segment made. It is nil on
	// messages that a segment carries over from earlier.
	Step *Step
	// Time is when the message was written, in Unix milliseconds; 0 if the file does
	// not say.
	Time int64
}

// A Step is what the file says about one model call.
type Step struct {
	Model     string
	Effort    string // the reasoning effort asked for; empty if not stated
	MessageID string // the provider's id of the reply; empty if the file has none
	RequestID string // the provider's id of the request; empty if the file has none
	// Copied is the id of the session that this call was copied from, whose tokens and
	// money it is; empty for a call that this session made.
	Copied string
	Usage  llm.Usage
	// Reported says that Usage tells the size of the prompt: it is not zero, and no
	// hosted tool added hidden requests to it.
	Reported bool
	// ClientCount says that Usage is what the client itself counted, such as the sums
	// that aider prints, and not a provider's report. Reported is false then.
	ClientCount bool
	// OutputReported says that Usage.Output is the final figure and not one that was
	// written while the reply was still arriving.
	OutputReported bool
	// Time is when the reply was complete as far as the file says, in Unix
	// milliseconds; 0 if it does not.
	Time int64
	// Cost is what the file says the call cost, in picodollars (10^-12 USD); 0 if it
	// does not.
	Cost int64
	// Unpriced says why list prices do not hold for this call, such as a service tier
	// that is charged otherwise; empty if nothing is known against them.
	Unpriced string
}

// A FormatError says that a file is of no known format, or holds nothing.
type FormatError struct {
	File  string
	Seen  string // what was found instead
	Known []Format
}

// Error names the file, what was found and the known formats.
func (e *FormatError) Error() string {
	known := make([]string, len(e.Known))
	for i, f := range e.Known {
		known[i] = string(f)
	}
	return fmt.Sprintf("sessionfile: read: %s, want one of %s, got %s", e.File, strings.Join(known, ", "), e.Seen)
}

// NotInFile returns the line that stands in a message for what a file does not have, such
// as a medium that it only names.
func NotInFile(what string) string { return "[" + what + notInFile }

const notInFile = ", not in the session file]"

// NotInFile returns the lines of the segment that stand for what the file does not have.
func (s Segment) NotInFile() []string {
	var all []string
	var look func(parts []llm.Part)
	look = func(parts []llm.Part) {
		for _, p := range parts {
			switch p := p.(type) {
			case llm.Text:
				if strings.HasPrefix(p.Text, "[") && strings.HasSuffix(p.Text, notInFile) {
					all = append(all, p.Text)
				}
			case llm.ToolResult:
				look(p.Content)
			}
		}
	}
	for _, e := range s.Entries {
		look(e.Message.Parts)
	}
	return all
}

// What clients put in the place of tool results that they cleared. The file has the
// results themselves, so no line of it says this.
const (
	ClearedByClaudeCode = "[Old tool result content cleared]"
	ClearedByOpenCode   = "[old tool result cleared]"
)
