package drive_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
	"github.com/plimsoll-dev/plimsoll/store"
)

var errFull = errors.New("disk full")

// A watched store notes what it is asked for, and can fail.
type watched struct {
	store.Memory
	calls   []string
	records bool // it takes none
	blobs   bool
}

func (w *watched) Put(ctx context.Context, session string, blobs []edit.Blob) error {
	w.calls = append(w.calls, "put")
	if w.blobs {
		return errFull
	}
	return w.Memory.Put(ctx, session, blobs)
}

func (w *watched) Append(ctx context.Context, session string, at int, lines [][]byte) error {
	w.calls = append(w.calls, "append")
	if w.records {
		return errFull
	}
	return w.Memory.Append(ctx, session, at, lines)
}

// A summariser notes that it was asked, where the store notes what it is.
type summariser struct{ w *watched }

func (s summariser) Summarise(_ context.Context, ask engine.Ask) (drive.Summary, error) {
	if ask.Background {
		s.w.calls = append(s.w.calls, "ask in the background")
	} else {
		s.w.calls = append(s.w.calls, "ask")
	}
	return drive.Summary{Text: "<summary>" + strings.Repeat("They read the file of numbers. ", 40) + "</summary>"}, nil
}

// policyOf returns a preset or a policy of examples/policies.
func policyOf(t *testing.T, name string) policy.Policy {
	t.Helper()
	if slices.Contains(policy.Presets(), name) {
		p, err := policy.Preset(name)
		must(t, err)
		return p
	}
	data, err := os.ReadFile(filepath.Join("..", "..", "examples", "policies", name+".json"))
	must(t, err)
	p, err := policy.Parse(data)
	must(t, err)
	return p
}

func config(t *testing.T, preset string, limit int, w *watched) drive.Config {
	t.Helper()
	p := policyOf(t, preset)
	c, err := catalog.Load()
	must(t, err)
	return drive.Config{
		ID: "s", Store: w, Summariser: summariser{w},
		Done: func(r engine.Ready) {
			if r.Send != nil {
				w.calls = append(w.calls, "send")
			}
		},
		Engine: engine.Config{Policy: p, Catalog: c, Encodings: bpe.Load, Targets: []budget.Target{{
			Model: "mystery", Window: budget.Window{Capacity: limit, Buffer: budget.None, OutputReserve: budget.None},
		}}},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func feed(t *testing.T, d *drive.Driver, in engine.Input) drive.Done {
	t.Helper()
	done, err := d.Feed(t.Context(), in)
	must(t, err)
	return done
}

func open(t *testing.T, c drive.Config) *drive.Driver {
	t.Helper()
	d, err := drive.Open(t.Context(), c)
	must(t, err)
	return d
}

func human(text string) engine.Append {
	return engine.Append{Message: llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: text}}}}
}

func reply(parts ...llm.Part) engine.Append {
	return engine.Append{Message: llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: parts}}
}

// work is a Round whose output has that many lines.
func work(t *testing.T, d *drive.Driver, lines int) drive.Done {
	t.Helper()
	feed(t, d, reply(call()))
	return feed(t, d, output(lines))
}

func call() llm.ToolCall { return llm.ToolCall{CallID: "c", Name: "read", Args: "{}"} }

func output(lines int) engine.Append {
	return engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: "c", Content: []llm.Part{llm.Text{Text: strings.Repeat("one more line of numbers\n", lines)}}},
	}}}
}

// TestOrder is law 2: contents, then the records that name them, then what leaves.
func TestOrder(t *testing.T) {
	w := &watched{}
	d := open(t, config(t, "guard", 20_000, w))
	feed(t, d, human("Read it."))
	w.calls = nil
	done := work(t, d, 1_000)
	if len(done.Placements) != 1 || done.Placements[0].Shown != engine.ShownHandle {
		t.Errorf("placed %+v, want one handle", done.Placements)
	}
	if done.Send != nil || done.Grant != "" {
		t.Errorf("got %+v, want neither a request nor a grant", done)
	}
	if done := feed(t, d, engine.Reserve{Tokens: 10}); done.Grant != engine.GrantHeld {
		t.Errorf("got %+v, want room held", done)
	}
	if done := feed(t, d, engine.Prepare{}); done.Send == nil || done.Grant != "" {
		t.Errorf("got %+v, want a request alone", done)
	}
	if got, want := strings.Join(w.calls, ", "), "append, put, append, append, send"; got != want {
		t.Errorf("calls %s, want %s", got, want)
	}
	data, err := d.Blob(t.Context(), done.Placements[0].Ref)
	if err != nil || len(data) != 25_000 {
		t.Errorf("stored %d bytes, %v, want 25,000", len(data), err)
	}
}

// TestLateAnswer: an answer that nobody had to wait for is fed before the next request.
func TestLateAnswer(t *testing.T) {
	w := &watched{}
	d := open(t, config(t, "summary-ahead", 20_000, w))
	for range 40 {
		feed(t, d, human(strings.Repeat("What of it? ", 60)))
		feed(t, d, reply(llm.Text{Text: strings.Repeat("So it is. ", 60)}))
		feed(t, d, engine.Prepare{})
	}
	shown := false
	for _, it := range d.Machine().View().Items {
		shown = shown || strings.Contains(it.Message.Text(), "They read the file of numbers.")
	}
	if got := strings.Join(w.calls, ", "); !shown || !strings.Contains(got, "ask in the background") || strings.Contains(got, "ask, ") {
		t.Errorf("the summary is shown: %v, after %s, want it, and nobody to wait for it", shown, got)
	}
}

// TestStops: where no records can be written, nothing goes on but from what the store has.
func TestStops(t *testing.T) {
	w := &watched{}
	d := open(t, config(t, "balanced", 20_000, w))
	feed(t, d, human("One."))
	w.records = true
	if _, err := d.Feed(t.Context(), reply(llm.Text{Text: "Two."})); !errors.Is(err, errFull) || !d.Stopped() {
		t.Errorf("got %v, stopped %v, want %v and a stop", err, d.Stopped(), errFull)
	}
	w.records = false
	if _, err := d.Feed(t.Context(), human("Three.")); !errors.Is(err, engine.ErrStopped) {
		t.Errorf("got %v, want %v", err, engine.ErrStopped)
	}
	must(t, d.Resume(t.Context()))
	if n := len(d.Machine().Messages()); n != 1 || d.Stopped() || d.Records() != 1 {
		t.Errorf("%d messages of %d records, stopped %v, want one that goes on", n, d.Records(), d.Stopped())
	}
	feed(t, d, reply(llm.Text{Text: "Two."}))
}

// TestNothingPutAway: the store that took nothing is named by the refusal (law 12).
func TestNothingPutAway(t *testing.T) {
	w := &watched{}
	d := open(t, config(t, "balanced", 4_000, w))
	feed(t, d, human(strings.Repeat("What of it? ", 900)))
	feed(t, d, reply(llm.Text{Text: strings.Repeat("So it is. ", 900)}))
	feed(t, d, human("And now?"))
	w.blobs = true
	_, err := d.Feed(t.Context(), engine.Prepare{})
	var over *budget.OverError
	if !errors.Is(err, drive.ErrRefused) || !errors.As(err, &over) || !errors.Is(err, errFull) {
		t.Errorf("got %v, want a refusal that names %v", err, errFull)
	}
}

// TestTakenUp: a session is taken up from its records, an ephemeral one has none, and a
// fork has its parent's until there. Who reads along is shown each of them.
func TestTakenUp(t *testing.T) {
	w := &watched{}
	c := config(t, "balanced", 20_000, w)
	d := open(t, c)
	feed(t, d, human("One."))
	feed(t, d, reply(llm.Text{Text: "Two."}))

	var read []journal.Kind
	c.Read = func(rec journal.Record) { read = append(read, rec.Kind) }
	if again := open(t, c); len(again.Machine().Messages()) != 2 || again.Records() != 2 || len(read) != 2 {
		t.Errorf("%d messages of %d records, shown %v, want 2", len(again.Machine().Messages()), again.Records(), read)
	}
	must(t, w.Fork(t.Context(), "s", "child", d.Records()))
	c.ID = "child"
	child, err := drive.Fork(t.Context(), c, "s", 1)
	must(t, err)
	if n := len(child.Machine().Messages()); n != 1 || child.Records() != 3 {
		t.Errorf("the fork has %d messages of %d records, want 1 of 3", n, child.Records())
	}
	c.ID, c.Ephemeral = "gone", true
	gone := open(t, c)
	feed(t, gone, human("One."))
	if again := open(t, c); len(again.Machine().Messages()) != 0 || gone.Records() != 0 {
		t.Errorf("an ephemeral session has %d records, want none", gone.Records())
	}
}
