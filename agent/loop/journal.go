package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/store"
)

// sessionPrefix is what the sessions of loops begin with in a store.
const sessionPrefix = "loop/"

// journalVersion is the form of the records. It rises when an older program would read
// them wrongly.
const journalVersion = 1

// Kinds of records.
const (
	kindStart    = "start"    // a loop begins
	kindResumed  = "resumed"  // it goes on, with these settings
	kindSelect   = "select"   // which agent comes next
	kindBegan    = "began"    // an iteration begins
	kindOutput   = "output"   // it has ended
	kindMessage  = "message"  // a person's, from the inbox
	kindStop     = "stop"     // a person's
	kindPause    = "pause"    // a person's
	kindContinue = "continue" // a person's
	kindFatal    = "fatal"    // the host cannot go on
	kindTick     = "tick"     // time that has ended the loop, or that passed until calls had taken something
	kindAnswer   = "answer"   // a model has written a summary
	kindNoAnswer = "noanswer" // it has not
	kindRecalled = "recalled" // passages were looked for
	kindKnown    = "known"    // what is known of the workspace
)

// A record is an input of the machine and what came of it. Fed the inputs again, from the
// last state on, a machine is what it was.
type record struct {
	Version int    `json:"v,omitempty"` // of the first one
	Kind    string `json:"kind"`
	At      int64  `json:"at,omitempty"`
	opening
	starting
	ending
	message
	answering
	knowing
	effect
	State json.RawMessage `json:"state,omitempty"` // the whole of it, in some

	size int // bytes, of one that was read
}

// An opening is what a run of a loop begins with.
type opening struct {
	Workspace string     `json:"workspace,omitempty"`
	Agents    []string   `json:"agents,omitempty"` // as ParseAgent reads them
	Task      *core.Task `json:"task,omitempty"`   // of the first one
	Settings  *Settings  `json:"settings,omitempty"`
}

// A starting is how an iteration begins.
type starting struct {
	CLI      string      `json:"cli,omitempty"`
	Model    string      `json:"model,omitempty"`
	Env      envSnapshot `json:"env,omitempty"`
	Tokens   int         `json:"tokens,omitempty"`   // of the prompt
	Sections []Share     `json:"sections,omitempty"` // of it
}

// An ending is how it ends.
type ending struct {
	Text        llm.Ref          `json:"text,omitempty"`  // what the agent wrote
	Bytes       int64            `json:"bytes,omitempty"` // of all that it wrote
	Answer      llm.Ref          `json:"answer,omitempty"`
	Structured  bool             `json:"structured,omitempty"`
	Fault       string           `json:"fault,omitempty"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Files       []core.FileEvent `json:"files,omitempty"`
}

// said returns the content that has the agent's words.
func (e ending) said() llm.Ref {
	if e.Structured {
		return e.Answer
	}
	return e.Text
}

// A message is one from the inbox.
type message struct {
	Message  string `json:"message,omitempty"`
	Priority int    `json:"priority,omitempty"`
	File     string `json:"file,omitempty"`
}

// An answering is what a model said when it was asked for a summary.
type answering struct {
	Question int      `json:"question,omitempty"` // its number
	Reply    string   `json:"reply,omitempty"`
	Stop     llm.Stop `json:"stop,omitempty"`
	Failed   string   `json:"failed,omitempty"` // why it said nothing
}

// A knowing is what a prompt has from elsewhere.
type knowing struct {
	Passages []core.Passage `json:"passages,omitempty"`
	Known    []core.Memo    `json:"known,omitempty"`
}

// A Spent is what calls of models took.
type Spent struct {
	Calls     int           `json:"calls"`
	Input     int           `json:"input"`      // tokens of all prompts, cached or not
	CacheRead int           `json:"cache_read"` // tokens of them that came from a cache
	Output    int           `json:"output"`     // tokens
	Cost      catalog.Money `json:"cost"`       // by list prices; not known if that of one call is not
}

// Add returns the sum of both.
func (s Spent) Add(more Spent) Spent {
	switch {
	case s.Calls == 0:
		return more
	case more.Calls == 0:
		return s
	}
	return Spent{s.Calls + more.Calls, s.Input + more.Input, s.CacheRead + more.CacheRead, s.Output + more.Output, s.Cost.Add(more.Cost)}
}

// An effect is what came of an input, for whoever reads the loop.
type effect struct {
	Iteration *core.IterationContext `json:"iteration,omitempty"`
	Summary   *string                `json:"summary,omitempty"` // where it changed
	Events    []core.Event           `json:"events,omitempty"`
	End       core.Reason            `json:"end,omitempty"`
	Why       string                 `json:"why,omitempty"` // of the end; also why the host cannot go on
	Spent     *Spent                 `json:"spent,omitempty"`
}

// A Share is how much of a prompt a section takes.
type Share struct {
	Name   string `json:"name"`
	Tokens int    `json:"tokens"`
}

// Settings are what a loop goes by, as its records keep them; core/loop's Config says what
// each is. A 0 stands for its default.
type Settings struct {
	Window           int    `json:"raw_window_size,omitempty"`
	SummarizeEvery   int    `json:"summarize_every,omitempty"`
	MaxSummaryTokens int    `json:"max_summary_tokens,omitempty"`
	MaxIterations    int    `json:"max_iterations,omitempty"`
	MaxTime          int64  `json:"max_time_ms,omitempty"` // in milliseconds
	Threshold        int    `json:"progress_threshold,omitempty"`
	StuckAfter       int    `json:"stuck_after,omitempty"`
	RecoveryBudget   int    `json:"recovery_budget,omitempty"`
	RunawayAfter     int    `json:"runaway_after,omitempty"`
	IgnoreAlerts     bool   `json:"ignore_alerts,omitempty"`
	Promise          string `json:"promise,omitempty"`
	// SummaryModel is the model that writes summaries, as provider/model; [ByCode]: code does.
	SummaryModel string `json:"summary_model,omitempty"`
	// Proxy is where the proxy listens that stands between the agents and their models, as
	// host:port; [NoProxy]: there is none.
	Proxy string `json:"proxy,omitempty"`
	// Policy is a preset, or a file with a policy, that the proxy goes by; Upstreams are where
	// it asks models, as NAME=URL.
	Policy    string   `json:"policy,omitempty"`
	Upstreams []string `json:"upstreams,omitempty"`

	// What core/loop calls BySense, Recall, Memory and Adaptive; [On], or [Off].
	BySense  string `json:"by_sense,omitempty"`
	Recall   string `json:"recall,omitempty"`
	Memory   string `json:"memory,omitempty"`
	Adaptive string `json:"adaptive_window,omitempty"`
	// Embeddings is the model by whose vectors Recall finds passages, too, as provider/model;
	// [ByCode]: by words alone.
	Embeddings string `json:"embeddings,omitempty"`
}

// What a switch of Settings says. One that says nothing is as it was, and off at first.
const (
	On  = "on"
	Off = "off"
)

// NoProxy is the Proxy of a loop whose agents ask their models themselves.
const NoProxy = "off"

// proxied reports whether there is a proxy.
func (s Settings) proxied() bool { return s.Proxy != "" && s.Proxy != NoProxy }

// ByCode is the SummaryModel of a loop whose summaries code writes.
const ByCode = "none"

// asks reports whether a model writes summaries.
func (s Settings) asks() bool { return s.SummaryModel != "" && s.SummaryModel != ByCode }

// config returns what a machine is made with.
func (s Settings) config(c token.Counter) core.Config {
	return core.Config{
		Window: s.Window, SummarizeEvery: s.SummarizeEvery, MaxSummaryTokens: s.MaxSummaryTokens,
		MaxIterations: s.MaxIterations, MaxTime: s.MaxTime, Threshold: s.Threshold, StuckAfter: s.StuckAfter,
		RecoveryBudget: s.RecoveryBudget, RunawayAfter: s.RunawayAfter, IgnoreAlerts: s.IgnoreAlerts, Promise: s.Promise,
		AskModel: s.asks(), BySense: s.BySense == On, Recall: s.Recall == On, Memory: s.Memory == On, Adaptive: s.Adaptive == On, Counter: c,
	}
}

// input returns what the machine was fed.
func (r record) input(ctx context.Context, st store.Store, session string) (core.Input, error) {
	switch r.Kind {
	case kindResumed:
		return core.Resumed{At: r.At}, nil
	case kindSelect:
		return core.Select{CLI: r.CLI, Model: r.Model}, nil
	case kindBegan:
		return core.Began{At: r.At, Env: r.Env}, nil
	case kindOutput:
		text, err := content(ctx, st, session, r.Text)
		if err != nil {
			return nil, err
		}
		answer, err := content(ctx, st, session, r.Answer)
		return core.Output{At: r.At, Text: text, Answer: answer, Structured: r.Structured, Fault: r.Fault, Interrupted: r.Interrupted, Files: r.Files}, err
	case kindMessage:
		return core.Message{Text: r.Message, Priority: r.Priority}, nil
	case kindStop:
		return core.Stop{}, nil
	case kindPause:
		return core.Pause{}, nil
	case kindContinue:
		return core.Continue{}, nil
	case kindFatal:
		return core.Fatal{At: r.At, Why: r.Why}, nil
	case kindTick:
		return core.Tick{At: r.At}, nil
	case kindAnswer:
		return core.Answer{ID: r.Question, Text: r.Reply, Stop: r.Stop}, nil
	case kindRecalled:
		return core.Recalled{Passages: r.Passages}, nil
	case kindKnown:
		return core.Known{Facts: r.Known}, nil
	case kindNoAnswer:
		return core.NoAnswer{ID: r.Question, Why: r.Failed}, nil
	}
	return nil, fmt.Errorf("want a kind that is known, got %q", r.Kind)
}

// content returns what a Ref stands for; no Ref stands for nothing.
func content(ctx context.Context, st store.Store, session string, ref llm.Ref) (string, error) {
	if ref == "" {
		return "", nil
	}
	data, err := st.Get(ctx, session, ref)
	return string(data), err
}

// A journal writes the records of a loop.
type journal struct {
	store   store.Store
	session string
	seq     int      // records that are written
	pending [][]byte // that are not
	since   int      // bytes since the last state
}

// put keeps a text and returns its Ref; none for no text.
func (j *journal) put(ctx context.Context, text string) (llm.Ref, error) {
	if text == "" {
		return "", nil
	}
	data := []byte(text)
	ref := llm.RefOf(data)
	return ref, j.store.Put(ctx, j.session, []edit.Blob{{Ref: ref, Data: data}})
}

// add takes a record for the next write. The state goes with it once the records since the
// last one are as long, so that neither reading nor writing grows with the loop.
func (j *journal) add(r record, state []byte) error {
	if r.Kind == kindStart || r.Kind == kindResumed || j.since > len(state) {
		r.State = state
	}
	text, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("loop: record: %w", err)
	}
	j.since += len(text)
	if r.State != nil {
		j.since = 0
	}
	j.pending = append(j.pending, text)
	return nil
}

// flush writes what is pending: all of it or nothing.
func (j *journal) flush(ctx context.Context) error {
	if len(j.pending) == 0 {
		return nil
	}
	if err := j.store.Append(ctx, j.session, j.seq, j.pending); err != nil {
		return err
	}
	j.seq, j.pending = j.seq+len(j.pending), nil
	return nil
}

// records yields the records of a loop, with its workspace's and settings' first. It ends
// after the first error.
func records(ctx context.Context, st store.Store, id string) func(yield func(record, error) bool) {
	return func(yield func(record, error) bool) {
		n := 0
		for data, err := range st.Records(ctx, sessionPrefix+id, 0) {
			var r record
			if err == nil {
				err, r.size = json.Unmarshal(data, &r), len(data)
			}
			if err == nil && n == 0 && (r.Kind != kindStart || r.Task == nil || r.Version != journalVersion) {
				err = fmt.Errorf("record 0, want a start of version %d, got %s of version %d", journalVersion, r.Kind, r.Version)
			}
			if err != nil {
				yield(r, fmt.Errorf("loop: read %s: %w", id, err))
				return
			}
			if n++; !yield(r, nil) {
				return
			}
		}
	}
}

// ErrUnknown says that a store has no such loop.
var ErrUnknown = errors.New("no such loop")

// replayed is what the records of a loop amount to.
type replayed struct {
	machine   *core.Machine
	workspace string
	settings  Settings
	agents    []Agent
	seq       int
	since     int
	letter    record // the last message of the inbox
	outputs   map[llm.Ref]int
}

// replay makes the machine that has written the records of a loop.
func replay(ctx context.Context, st store.Store, c token.Counter, id string) (replayed, error) {
	var all []record
	last := 0 // the newest record with a state
	for r, err := range records(ctx, st, id) {
		if err != nil {
			return replayed{}, err
		}
		if r.State != nil {
			last = len(all)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		return replayed{}, fmt.Errorf("loop: %s: %w", id, ErrUnknown)
	}
	out := replayed{seq: len(all), outputs: map[llm.Ref]int{}}
	for i, r := range all {
		if r.Settings != nil {
			out.workspace, out.settings = r.Workspace, *r.Settings
			out.agents = parsed(r.Agents)
		}
		if r.Kind == kindMessage {
			out.letter = r
		}
		if r.Iteration != nil {
			out.outputs[r.said()] = r.Iteration.Number
		}
		var err error
		if i == last {
			out.machine, err = core.Restore(out.settings.config(c), r.State)
		} else if i > last {
			out.since += r.size
			err = again(ctx, st, out.machine, r, id)
		}
		if err != nil {
			return replayed{}, fmt.Errorf("loop: read %s: record %d: %w", id, i, err)
		}
	}
	return out, nil
}

// parsed returns the agents of a record. One that is known no more has to be named anew.
func parsed(texts []string) []Agent {
	var out []Agent
	for _, text := range texts {
		if a, err := ParseAgent(text); err == nil {
			out = append(out, a)
		}
	}
	return out
}

// again feeds a machine what a record says it was fed.
func again(ctx context.Context, st store.Store, m *core.Machine, r record, id string) error {
	in, err := r.input(ctx, st, sessionPrefix+id)
	if err != nil {
		return err
	}
	_, err = m.Feed(in)
	return err
}

// newID returns an id for the next loop of a workspace: the ids of one begin alike, and
// count up.
func newID(ctx context.Context, st store.Store, workspace string) (next, newest string, err error) {
	sum := sha256.Sum256([]byte(workspace))
	for n := 1; ; n++ {
		next = fmt.Sprintf("%s-%d", hex.EncodeToString(sum[:4]), n)
		there := false
		for _, err := range st.Records(ctx, sessionPrefix+next, 0) {
			if err != nil {
				return "", "", fmt.Errorf("loop: read %s: %w", next, err)
			}
			there = true
			break
		}
		if !there {
			return next, newest, nil
		}
		newest = next
	}
}

// Newest returns the id of the last loop that was begun in a workspace, as [Workspace]
// writes it; empty if there is none.
func Newest(ctx context.Context, st store.Store, workspace string) (string, error) {
	_, newest, err := newID(ctx, st, workspace)
	return newest, err
}
