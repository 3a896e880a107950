package replay_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/replay"
	"github.com/plimsoll-dev/plimsoll/sessionfile/formats"
	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	recallWindow = "25%"
	recallEvery  = 6 // of so many sessions one is looked at, unless all are asked for
	recallHits   = 5
)

// TestCorpusRecall runs sessions under every preset in a quarter of their window. Each output
// that a session was given can be had again in the end, byte for byte. Of the lines that an agent
// quotes when it edits a file it counts how many the model sees, and how many of the others a
// search finds that knows no more than the call.
func TestCorpusRecall(t *testing.T) {
	files := corpusSessions(t)
	if all := len(files); os.Getenv("PLIMSOLL_ALL") == "" {
		files = slices.Collect(func(yield func(string) bool) {
			for i := 0; i < all && yield(files[i]); i += recallEvery {
			}
		})
		t.Logf("%d of %d sessions; PLIMSOLL_ALL=1 takes all", len(files), all)
	}
	sum := map[string]*recalled{}
	var mu sync.Mutex
	t.Run("sessions", func(t *testing.T) {
		for _, file := range files {
			for _, name := range policy.Presets() {
				t.Run(filepath.Base(file)+"/"+name, func(t *testing.T) {
					t.Parallel()
					got := recallOf(t, file, name)
					mu.Lock()
					defer mu.Unlock()
					if sum[name] == nil {
						sum[name] = &recalled{}
					}
					sum[name].add(got)
				})
			}
		}
	})
	t.Logf("%-14s %8s %8s %11s %8s %8s %8s  found: by the call, by its new text; in the passage, in the content", "policy", "outputs", "left", "bytes left", "quoted", "in view", "others")
	for _, name := range policy.Presets() {
		if s := sum[name]; s != nil {
			t.Logf("%-14s %8d %8d %11d %8d %8d %8d  %d %d %d %d", name, s.outputs, s.left, s.bytes, s.quoted, s.seen, s.quoted-s.seen, s.found, s.foundNew, s.near, s.named)
		}
	}
}

// recalled are figures of one preset.
type recalled struct {
	outputs, left, bytes int // outputs, those that the view does not show whole, and their bytes
	quoted, seen         int // lines that edits quote, and those that the model saw
	found, foundNew      int // of the others: a search shows them that has the call's identifiers, or those of its new text
	near, named          int // they stand near what the first of these shows, or anywhere in a content that it names
}

func (r *recalled) add(o recalled) {
	r.outputs += o.outputs
	r.left += o.left
	r.bytes += o.bytes
	r.quoted += o.quoted
	r.seen += o.seen
	r.found += o.found
	r.foundNew += o.foundNew
	r.near += o.near
	r.named += o.named
}

// recallOf runs one session under one preset.
func recallOf(t *testing.T, file, name string) recalled {
	p, err := policy.Preset(name)
	if err != nil {
		t.Fatal(err)
	}
	window, err := replay.ParseWindow(recallWindow)
	if err != nil {
		t.Fatal(err)
	}
	s, err := formats.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{t: t}
	r, err := replay.New(replay.Options{Policies: []policy.Policy{p}, Windows: []replay.WindowSpec{window}, Store: w})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Session(t.Context(), s, func(res replay.Result) error {
		for _, run := range res.Runs { // one
			w.run(res.Segment).outputsCanBeHad(t, outputsOf(s.Segments[res.Segment-1]), run.EndedAtStep > 0)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range w.runs {
		w.sum.add(run.sum)
	}
	return w.sum
}

// A watched is a store that looks at what is recorded.
type watched struct {
	store.Memory
	t    *testing.T
	runs []*watchedRun
	sum  recalled
}

// A watchedRun is one session of the store.
type watchedRun struct {
	*watched
	session string
	msgs    []llm.Message
	edits   []edit.Edit
	sum     recalled
}

// Append implements store.Store.
func (w *watched) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	i := slices.IndexFunc(w.runs, func(r *watchedRun) bool { return r.session == session })
	if i < 0 {
		i = len(w.runs)
		w.runs = append(w.runs, &watchedRun{watched: w, session: session})
	}
	run := w.runs[i]
	for _, data := range records {
		rec, err := journal.Decode(data)
		if err != nil {
			return err
		}
		switch rec.Kind {
		case journal.KindEdit:
			run.edits = append(run.edits, rec.Edit)
		case journal.KindMessage:
			run.quotes(rec.Message)
			rec.Message.ID = llm.MessageID(len(run.msgs) + 1)
			run.msgs = append(run.msgs, rec.Message)
		}
	}
	return w.Memory.Append(ctx, session, seq, records)
}

// view is what the model sees.
func (r *watchedRun) view() edit.View {
	v, err := edit.Fold(r.msgs, edit.Holding(r.edits))
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}
