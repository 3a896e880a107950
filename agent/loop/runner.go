package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	core "github.com/plimsoll-dev/plimsoll/core/loop"
	"github.com/plimsoll-dev/plimsoll/core/token"
	"github.com/plimsoll-dev/plimsoll/store"
)

// Options say where and how a loop runs.
type Options struct {
	Store     store.Store
	Workspace string  // the folder that the agents work in
	Agents    []Agent // one iteration each, in turn; none: those of the loop that goes on
	Settings  Settings
	Counter   token.Counter // counts the prompts
	// ModelOf makes the model that the settings name for summaries; nil: there is none.
	ModelOf func(name string) (Model, error)
	// EmbedderOf makes the model that the settings name for vectors; nil: there is none.
	EmbedderOf func(name string) (Embedder, error)
	// Price says what a call costs that a model was named for, as provider/model; nil: nobody
	// knows.
	Price func(name string, u llm.Usage) catalog.Money
	// ProxyBy starts the proxy that the settings describe; nil: there is none.
	ProxyBy func(s Settings) (Proxy, error)
	// Timeout ends an iteration; 0: it may take any time.
	Timeout time.Duration
	// Inbox has messages read from the folder.
	Inbox bool
	// Watch has agents told what somebody else changes in the workspace between iterations.
	Watch bool
	// Poll is how often the folder is looked at; 0: every half second.
	Poll time.Duration
	// Output gets what the agents say; nil: nobody sees it. It is written to by one
	// goroutine at a time.
	Output io.Writer
	// Notify is told what happens, from one goroutine; nil: nobody is.
	Notify func(Notice)
	// Now tells the time; nil: the system's, without its jumps.
	Now func() int64
}

// A Model is asked once and answers once. Whoever makes it fills in which model that is.
type Model interface {
	// Complete returns the answer to a request.
	Complete(ctx context.Context, r llm.Request) (llm.Response, error)
}

// A Proxy stands between agents and their models. Whoever starts it ends it.
type Proxy interface {
	// Reach returns an agent that asks the proxy in place of its provider.
	Reach(a Agent) (Agent, error)
	// Spent returns what calls took since it was asked last. It waits for those that are
	// about to end.
	Spent() Spent
	// SpentSoFar returns the same without waiting: of calls that have ended. Either tells of a
	// call once.
	SpentSoFar() Spent
}

// A Notice tells what happens in a loop.
type Notice struct {
	Kind      string // begin, or the kind of an event of core/loop, or note
	Iteration int
	CLI       string
	Text      string
	Prompt    int // tokens, of begin
}

// Notices of the runner's own.
const (
	NoticeBegin = "begin" // an iteration begins
	NoticeNote  = "note"  // something a person may want to know
)

const defaultPoll = 500 * time.Millisecond

// A Runner runs one loop. Make one with [Start] or [Resume]; [Runner.Run] it once, and
// Close it.
type Runner struct {
	o       Options
	id      string
	folder  *folder
	inbox   *inbox
	machine *core.Machine
	journal *journal
	model   Model           // nil: code writes summaries
	proxy   Proxy           // nil: agents ask their models themselves
	memory  *Memory         // nil: nothing is remembered beyond the loop
	known   []core.Memo     // that the machine has of it
	outputs map[llm.Ref]int // iterations by their outputs
	vectors *vectors        // nil: older iterations are found by words alone
	watcher *watcher
	summary string // that was recorded last
	paused  bool
	stopped bool
}

// ErrInterrupted says that the context ended while a loop was running. It can be resumed.
var ErrInterrupted = errors.New("loop: interrupted")

// Start begins a loop on a goal. Nothing is written to the store before it is known that
// the loop can run: its workspace is held, and each agent's program is there.
func Start(ctx context.Context, o Options, goal string) (*Runner, error) {
	r, err := prepare(o)
	if err != nil {
		return nil, err
	}
	if err := r.agents(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.id, _, err = newID(ctx, r.o.Store, r.o.Workspace); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := r.helpers(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	task := core.Task{ID: r.id, Goal: goal}
	if r.machine, err = core.New(r.o.Settings.config(r.o.Counter), task); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.journal = &journal{store: r.o.Store, session: sessionPrefix + r.id}
	if err := r.hold(); err != nil {
		return nil, err
	}
	rec := r.first(kindStart)
	rec.Version, rec.Task = journalVersion, &task
	return r, r.opened(ctx, rec)
}

// Resume goes on with a loop. An iteration that was running when it ended is kept, marked
// as interrupted; what is left of its processes is ended. Settings that are not stated stay
// what they were.
func Resume(ctx context.Context, o Options, id string) (*Runner, error) {
	r, err := prepare(o)
	if err != nil {
		return nil, err
	}
	r.id = id
	if err := r.hold(); err != nil {
		return nil, err
	}
	old, err := replay(ctx, r.o.Store, r.o.Counter, id)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if err := runsIn(old.workspace, r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if len(r.o.Agents) == 0 {
		r.o.Agents = old.agents
	}
	if err := r.agents(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.o.Settings = r.o.Settings.over(old.settings)
	if err := r.helpers(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if r.machine, err = core.Restore(r.o.Settings.config(r.o.Counter), old.machine.Save()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.journal = &journal{store: r.o.Store, session: sessionPrefix + id, seq: old.seq, since: old.since}
	r.outputs = old.outputs
	if n := endLeftover(id); n > 0 {
		r.note("ended %d processes that were left of the last run", n)
	}
	r.delivered(old.letter)
	r.summary = r.machine.Context().Summary
	rec := r.first(kindResumed)
	rec.At = r.o.Now()
	if rec.Events, err = r.machine.Feed(core.Resumed{At: rec.At}); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	r.outcome(&rec)
	r.paused = r.machine.Ready().Do == core.DoWait
	return r, r.opened(ctx, rec)
}

// runsIn returns a *BusyError if the loop runs in a workspace that is not the one it is to go
// on in.
func runsIn(workspace string, r *Runner) error {
	if workspace == r.o.Workspace {
		return nil // it is held
	}
	h, held, err := HolderOf(workspace)
	if err != nil || !held || h.Loop != r.id { // a workspace that is gone holds nothing up
		return nil //nolint:nilerr // see above
	}
	return &BusyError{Workspace: workspace, Holder: h}
}

// prepare fills options and opens what a runner needs.
func prepare(o Options) (*Runner, error) {
	workspace, err := Workspace(o.Workspace)
	if err != nil {
		return nil, err
	}
	o.Workspace = workspace
	if o.Now == nil {
		start := time.Now()
		o.Now = func() int64 { return start.UnixMilli() + time.Since(start).Milliseconds() }
	}
	if o.Poll == 0 {
		o.Poll = defaultPoll
	}
	if o.Output == nil {
		o.Output = io.Discard
	}
	if o.Notify == nil {
		o.Notify = func(Notice) {}
	}
	f, err := openFolder(workspace)
	if err != nil {
		return nil, err
	}
	return &Runner{o: o, folder: f, inbox: newInbox(f), outputs: map[llm.Ref]int{}, watcher: newWatcher(workspace)}, nil
}

// agents checks that there are some, and that each one's program is there.
func (r *Runner) agents() error {
	if len(r.o.Agents) == 0 {
		return errors.New("loop: agents, want at least one, got none")
	}
	for _, a := range r.o.Agents {
		if err := a.found(r.o.Workspace); err != nil {
			return err
		}
	}
	return nil
}

// helpers makes the model that writes summaries, and starts the proxy.
func (r *Runner) helpers() (err error) {
	if name := r.o.Settings.SummaryModel; r.o.Settings.asks() {
		if r.o.ModelOf == nil {
			return fmt.Errorf("loop: model %s, want somebody who makes it, got none", name)
		}
		if r.model, err = r.o.ModelOf(name); err != nil {
			return err
		}
	}
	if r.o.Settings.Memory == On {
		if r.memory, err = OpenMemory(context.Background(), r.o.Store, r.o.Workspace); err != nil {
			return err
		}
	}
	if err := r.embeddings(); err != nil || !r.o.Settings.proxied() {
		return err
	}
	if r.o.ProxyBy == nil {
		return errors.New("loop: proxy, want somebody who starts it, got none")
	}
	if r.proxy, err = r.o.ProxyBy(r.o.Settings); err != nil {
		return err
	}
	for _, a := range r.o.Agents { // what cannot reach it is said before anything is begun
		if _, err := r.proxy.Reach(a); err != nil {
			return err
		}
	}
	return nil
}

// embeddings makes the model by whose vectors older iterations are found.
func (r *Runner) embeddings() error {
	name := r.o.Settings.Embeddings
	if name == "" || name == ByCode || r.o.Settings.Recall != On {
		return nil
	}
	if r.o.EmbedderOf == nil {
		return fmt.Errorf("loop: model %s, want somebody who makes it, got none", name)
	}
	e, err := r.o.EmbedderOf(name)
	if err == nil {
		r.vectors, err = openVectors(context.Background(), vectors{embedder: e, model: name, store: r.o.Store, session: vectorsPrefix + r.id})
	}
	return err
}

// Workspace returns a folder as loops name it: absolute, without links.
func Workspace(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("loop: workspace: %w", err)
	}
	return abs, nil
}

// A MissingError says that an agent's program is not there.
type MissingError struct {
	Agent   string
	Program string
	Err     error
}

// Error implements error.
func (e *MissingError) Error() string {
	return fmt.Sprintf("loop: agent %s: %s: %v", e.Agent, e.Program, e.Err)
}

// Unwrap returns what looking for it led to.
func (e *MissingError) Unwrap() error { return e.Err }

// found looks for the program of an agent.
func (a Agent) found(dir string) error {
	program := a.Command[0]
	if strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		program = filepath.Join(dir, program) // it is started from there
	}
	if _, err := exec.LookPath(program); err != nil && !errors.Is(err, exec.ErrDot) {
		if inner, ok := errors.AsType[*exec.Error](err); ok {
			err = inner.Err
		}
		return &MissingError{a.Name, a.Command[0], err}
	}
	return nil
}

// over returns s with what it does not state taken from under.
func (s Settings) over(under Settings) Settings {
	for _, f := range []struct{ own, old *int }{
		{&s.Window, &under.Window},
		{&s.SummarizeEvery, &under.SummarizeEvery},
		{&s.MaxSummaryTokens, &under.MaxSummaryTokens},
		{&s.MaxIterations, &under.MaxIterations},
		{&s.Threshold, &under.Threshold},
		{&s.StuckAfter, &under.StuckAfter},
		{&s.RecoveryBudget, &under.RecoveryBudget},
		{&s.RunawayAfter, &under.RunawayAfter},
	} {
		if *f.own == 0 {
			*f.own = *f.old
		}
	}
	if len(s.Upstreams) == 0 {
		s.Upstreams = under.Upstreams
	}
	if s.MaxTime == 0 {
		s.MaxTime = under.MaxTime
	}
	for _, f := range []struct{ own, old *string }{
		{&s.Promise, &under.Promise},
		{&s.SummaryModel, &under.SummaryModel},
		{&s.Proxy, &under.Proxy},
		{&s.BySense, &under.BySense},
		{&s.Recall, &under.Recall},
		{&s.Memory, &under.Memory},
		{&s.Adaptive, &under.Adaptive},
		{&s.Embeddings, &under.Embeddings},
		{&s.Policy, &under.Policy},
		{&s.Embeddings, &under.Embeddings},
	} {
		if *f.own == "" {
			*f.own = *f.old
		}
	}
	return s
}

// hold takes the workspace.
func (r *Runner) hold() error {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if err := r.folder.hold(Holder{Loop: r.id, PID: os.Getpid(), Host: host, Since: time.UnixMilli(r.o.Now())}); err != nil {
		return errors.Join(err, r.Close())
	}
	if r.folder.has(stopFile) {
		r.note("%s/%s is of an earlier run, and was removed", FolderName, stopFile)
		return r.folder.remove(stopFile)
	}
	return nil
}

// first returns the first record of a run.
func (r *Runner) first(kind string) record {
	rec := record{Kind: kind, At: r.o.Now(), opening: opening{Workspace: r.o.Workspace, Settings: &r.o.Settings}}
	for _, a := range r.o.Agents {
		rec.Agents = append(rec.Agents, a.String())
	}
	return rec
}

// opened writes it, with the whole state.
func (r *Runner) opened(ctx context.Context, rec record) error {
	err := r.journal.add(rec, r.machine.Save())
	if err == nil {
		err = r.journal.flush(ctx)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("loop: %s: %w", r.id, err), r.Close())
	}
	return nil
}

// ID returns the loop's id.
func (r *Runner) ID() string { return r.id }

// Close lets go of the workspace.
func (r *Runner) Close() error { return r.folder.close() }

func (r *Runner) note(format string, args ...any) {
	r.o.Notify(Notice{Kind: NoticeNote, Text: fmt.Sprintf(format, args...)})
}

// feed feeds the machine, and takes the record of it for the next write.
func (r *Runner) feed(in core.Input, rec record) error {
	_, err := r.fed(in, rec)
	return err
}

// fed does that, and returns what came of it.
func (r *Runner) fed(in core.Input, rec record) ([]core.Event, error) {
	events, err := r.machine.Feed(in)
	if err != nil {
		return nil, err
	}
	rec.Events = events
	r.outcome(&rec)
	for _, e := range events {
		r.o.Notify(Notice{Kind: string(e.Kind), Iteration: e.Iteration, Text: e.Text})
	}
	return events, r.journal.add(rec, r.machine.Save())
}

// outcome adds to a record what came of it.
func (r *Runner) outcome(rec *record) {
	c := r.machine.Context()
	recorded := func(e core.Event) bool { return e.Kind == core.EventIteration }
	if n := len(c.Iterations); n > 0 && slices.ContainsFunc(rec.Events, recorded) {
		rec.Iteration = &c.Iterations[n-1]
	}
	if c.Summary != r.summary {
		r.summary = c.Summary
		rec.Summary = &c.Summary
	}
	if ready := r.machine.Ready(); ready.Do == core.DoEnd {
		rec.End, rec.Why = ready.End, ready.Why
	}
}

// written feeds the machine and writes the record.
func (r *Runner) written(ctx context.Context, in core.Input, rec record) error {
	if err := r.feed(in, rec); err != nil {
		return fmt.Errorf("loop: %s: %w", r.id, err)
	}
	return r.flush(ctx)
}

// flush writes the records that are not written.
func (r *Runner) flush(ctx context.Context) error {
	if err := r.journal.flush(ctx); err != nil {
		return fmt.Errorf("loop: %s: %w", r.id, err)
	}
	return nil
}

// delivered moves the letter that was on record when the loop ended, and was not moved.
func (r *Runner) delivered(last record) {
	if last.File == "" || !r.o.Inbox {
		return
	}
	letters, _ := r.inbox.letters() // what is wrong is told when they are delivered
	for _, l := range letters {
		if l.name == last.File && l.text == last.Message {
			_ = r.inbox.taken(l) // told then, too
		}
	}
}
