package drive_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/internal/drive"
)

// A paged store remembers what is done with snapshots, and can be without, damage or refuse
// them.
type paged struct {
	watched
	put  []int                             // by number of records
	from []int                             // the first record that was read, each time
	serv func(seq int, data []byte) []byte // what is read of one; nil: what was kept
	full bool                              // none is taken
}

func (p *paged) PutSnapshot(ctx context.Context, session string, seq int, data []byte) error {
	if p.full {
		return errFull
	}
	p.put = append(p.put, seq)
	return p.Memory.PutSnapshot(ctx, session, seq, data)
}

func (p *paged) Snapshot(ctx context.Context, session string) (int, []byte, error) {
	seq, data, err := p.Memory.Snapshot(ctx, session)
	if err == nil && p.serv != nil {
		data = p.serv(seq, data)
	}
	return seq, data, err
}

func (p *paged) SnapshotAt(ctx context.Context, session string, seq int) ([]byte, error) {
	data, err := p.Memory.SnapshotAt(ctx, session, seq)
	if err == nil && p.serv != nil {
		data = p.serv(seq, data)
	}
	return data, err
}

func (p *paged) Records(ctx context.Context, session string, from int) iter.Seq2[[]byte, error] {
	p.from = append(p.from, from)
	return p.Memory.Records(ctx, session, from)
}

func pagedConfig(t *testing.T, preset string, limit int) (drive.Config, *paged) {
	t.Helper()
	p := &paged{}
	c := config(t, preset, limit, &p.watched)
	c.Store, c.Snapshots = p, true
	return c, p
}

// A stepper makes Steps in a session; each says something else.
type stepper struct {
	t      fataler
	d      *drive.Driver
	n      int
	failed error // why a snapshot was not kept
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func (s *stepper) feed(in engine.Input) drive.Done {
	s.t.Helper()
	done, err := s.d.Feed(context.Background(), in)
	if err != nil {
		s.t.Fatal(err)
	}
	if done.SnapshotErr != nil {
		s.failed = done.SnapshotErr
	}
	return done
}

// step sends a request, whose answer is a call with an output of that many lines; 0 ends the
// Turn and begins another one.
func (s *stepper) step(lines int) {
	s.t.Helper()
	s.n++
	sent := s.feed(engine.Prepare{}).Send
	s.feed(engine.Usage{Usage: llm.Usage{Input: sent.Count.Point, Output: 30}, Reported: true, Target: "mystery"})
	if lines == 0 {
		s.feed(reply(llm.Text{Text: fmt.Sprint("That was number ", s.n)}))
		s.feed(engine.TurnEnd{})
		s.feed(human(fmt.Sprint("And number ", s.n+1, "?")))
		return
	}
	id := fmt.Sprint("c", s.n)
	s.feed(reply(llm.ToolCall{CallID: id, Name: "read", Args: fmt.Sprintf(`{"path":"src/file%d.go"}`, s.n%7)}))
	s.feed(engine.Append{Message: llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
		llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: strings.Repeat(fmt.Sprintf("line of file %d, which src/file%d.go calls\n", s.n, s.n%5), lines)}}},
	}}})
}

// sentBy is the next request of a driver as far as it goes out, and what it comes from.
func sentBy(t fataler, d *drive.Driver) (wire, behind any) {
	done, err := d.Feed(context.Background(), engine.Prepare{})
	if err != nil {
		t.Fatal(err)
	}
	s, m := done.Send, d.Machine()
	return []any{s.Target.Name(), s.Sections, s.Messages(), s.Tools, s.Edited, s.Final}, []any{s.Count, m.Journal(), m.Guard(), m.Messages()}
}

// copied takes a copy of a session up anew.
func copied(t fataler, c drive.Config, records int, name string) *drive.Driver {
	if err := c.Store.Fork(context.Background(), c.ID, name, records); err != nil {
		t.Fatal(err)
	}
	c.ID = name
	d, err := drive.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// damages are what may have become of a snapshot, the newest of which has so many records.
var damages = map[string]func(newest int) func(seq int, data []byte) []byte{
	"whole": func(int) func(int, []byte) []byte { return nil },
	"none":  func(int) func(int, []byte) []byte { return func(int, []byte) []byte { return nil } },
	"half": func(newest int) func(int, []byte) []byte {
		return damagedAt(newest, func(d []byte) []byte { return d[:len(d)/2] })
	},
	"version": func(newest int) func(int, []byte) []byte { return changedAt(newest, `"plimsoll":2`, `"plimsoll":9`) },
	"line":    func(newest int) func(int, []byte) []byte { return changedAt(newest, `"kind":"m`, `"kind":"x`) },
	"place":   func(newest int) func(int, []byte) []byte { return changedAt(newest, `"to":`, `"to":1`) },
}

func damagedAt(seq int, with func([]byte) []byte) func(int, []byte) []byte {
	return func(n int, data []byte) []byte {
		if n != seq {
			return data
		}
		return with(data)
	}
}

func changedAt(seq int, old, with string) func(int, []byte) []byte {
	return damagedAt(seq, func(d []byte) []byte { return bytes.Replace(d, []byte(old), []byte(with), 1) })
}

// TestResumedAlike is R002-19 and law 4: what a session sends that is taken up from its
// snapshot is what it sends when it is taken up from its records, and what it sends when it
// goes on; also where a snapshot is old, missing, damaged or of another version.
func TestResumedAlike(t *testing.T) {
	for _, preset := range []string{"balanced", "lean", "layered", "turn-budget", "cache-compact"} {
		t.Run("R002-19_"+preset, func(t *testing.T) {
			c, _ := pagedConfig(t, preset, 12_000)
			rapid.Check(t, func(t *rapid.T) { resumedAlike(t, c) })
		})
	}
}

func resumedAlike(t *rapid.T, c drive.Config) {
	p := &paged{}
	c.Store, c.Summariser = p, summariser{&p.watched}
	d, err := drive.Open(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	s := &stepper{t: t, d: d}
	s.feed(human("Read all files."))
	for range rapid.IntRange(5, 40).Draw(t, "steps") {
		s.step(rapid.SampledFrom([]int{0, 3, 20, 60, 120}).Draw(t, "lines"))
	}
	newest := slices.Max(append(p.put, 0))
	plain := c
	plain.Snapshots = false
	wire, behind := sentBy(t, copied(t, plain, d.Records(), "records"))
	for name, damage := range damages {
		p.serv = damage(newest)
		gotWire, gotBehind := sentBy(t, copied(t, c, d.Records(), name))
		if !reflect.DeepEqual(gotWire, wire) || !reflect.DeepEqual(gotBehind, behind) {
			t.Fatalf("%s: taken up from a snapshot of %d records it sends\n%+v\nfrom its records\n%+v", name, newest, gotWire, wire)
		}
	}
	if got, _ := sentBy(t, d); !reflect.DeepEqual(got, wire) {
		t.Fatalf("it goes on with\n%+v\ntaken up it sends\n%+v", got, wire)
	}
}

// TestSnapshots: one is taken after each compaction, once its request has left, and read
// before the records, of which only those after it are.
func TestSnapshots(t *testing.T) { t.Run("R002-20_after each compaction", snapshots) }

func snapshots(t *testing.T) {
	c, p := pagedConfig(t, "layered", 12_000)
	d := open(t, c)
	s := &stepper{t: t, d: d}
	s.feed(human("Read all files."))
	for len(p.put) == 0 && s.n < 100 {
		before := len(d.Machine().Journal())
		s.step(40)
		if after := len(d.Machine().Journal()); after == before && len(p.put) > 0 {
			t.Fatal("R002-20: a snapshot without a compaction")
		}
	}
	if len(p.put) == 0 {
		t.Fatal("R002-20: no snapshot after a compaction")
	}
	for range 100 {
		s.step(40)
	}
	newest := slices.Max(p.put)
	p.from = nil
	if again := open(t, c); again.Records() != d.Records() || !slices.Equal(p.from, []int{newest}) {
		t.Errorf("R002-19: taken up from records %v on, want %d", p.from, newest)
	}
	seen := 0
	c.Read, c.Restart = func(journal.Record) { seen++ }, func() { seen = 0 }
	p.serv = damages["line"](newest)
	if p.from = nil; open(t, c).Records() != seen || !slices.Equal(p.from, []int{newest, 0}) {
		t.Errorf("a damaged snapshot: read from %v, %d records shown, want all %d", p.from, seen, d.Records())
	}
}

// TestSnapshotAtTheEndOfATurn: what was compacted once is kept again when a Turn ends; what
// never was is not (R002-19, R002-20).
func TestSnapshotAtTheEndOfATurn(t *testing.T) {
	c, p := pagedConfig(t, "layered", 12_000)
	s := &stepper{t: t, d: open(t, c)}
	s.feed(human("Read all files."))
	s.step(3)
	s.step(0)
	if len(p.put) > 0 {
		t.Errorf("snapshots of a session that was never compacted: %v", p.put)
	}
	for range 40 {
		s.step(40)
	}
	s.step(0)
	// After the end of the Turn there is one more record: the next Turn's message.
	if newest := slices.Max(append(p.put, 0)); newest != s.d.Records()-1 {
		t.Errorf("the newest snapshot has %d records, want %d", newest, s.d.Records()-1)
	}
	pages := 0
	for _, seq := range p.put {
		if data, err := p.Memory.SnapshotAt(t.Context(), "s", seq); err == nil && len(data) > 0 {
			pages++
		}
	}
	for range 20 {
		s.step(0)
	}
	again := 0
	for _, seq := range p.put {
		if data, err := p.Memory.SnapshotAt(t.Context(), "s", seq); err == nil && len(data) > 0 {
			again++
		}
	}
	if again > pages+2 {
		t.Errorf("20 short Turns made %d pages of %d", again, pages)
	}
}

// TestSnapshotFails is R002-26: without a snapshot the work goes on, and a resume reads all.
func TestSnapshotFails(t *testing.T) {
	t.Run("R002-26_snapshot", func(t *testing.T) {
		c, p := pagedConfig(t, "layered", 12_000)
		p.full = true
		s := &stepper{t: t, d: open(t, c)}
		s.feed(human("Read all files."))
		failed := 0
		for range 60 {
			s.failed = nil
			s.step(40)
			if errors.Is(s.failed, errFull) {
				failed++
			}
		}
		if failed == 0 || len(s.d.Machine().Journal()) == 0 {
			t.Errorf("%d snapshots failed, %d edits", failed, len(s.d.Machine().Journal()))
		}
		p.from = nil
		if again := open(t, c); again.Records() != s.d.Records() || !slices.Equal(p.from, []int{0}) {
			t.Errorf("taken up from records %v", p.from)
		}
	})
}

// TestPagesThatDoNotSayWhereOthersEnd: what an earlier version kept is read all the same, from the
// newest page back, and what is added to it later, too.
func TestPagesThatDoNotSayWhereOthersEnd(t *testing.T) {
	c, p := pagedConfig(t, "layered", 12_000)
	d := open(t, c)
	s := &stepper{t: t, d: d}
	s.feed(human("Read all files."))
	for range 200 {
		s.step(40)
	}
	list := regexp.MustCompile(`^[^\n]*?("before":\[[^]]*\],)`)
	said := 0
	p.serv = func(_ int, data []byte) []byte {
		at := list.FindSubmatchIndex(data)
		if at == nil {
			return data
		}
		said++
		return slices.Concat(data[:at[2]], data[at[3]:])
	}
	for range 2 {
		newest := slices.Max(p.put)
		p.from = nil
		again := open(t, c)
		if again.Records() != s.d.Records() || !slices.Equal(p.from, []int{newest}) {
			t.Fatalf("taken up from records %v on, want %d", p.from, newest)
		}
		if got, want := again.Machine().Messages(), s.d.Machine().Messages(); !reflect.DeepEqual(got, want) {
			t.Fatalf("taken up with %d messages, want the %d that there are", len(got), len(want))
		}
		for s.d = again; slices.Max(p.put) == newest; {
			s.step(40)
		}
	}
	if said == 0 {
		t.Error("no page said where the others end")
	}
	p.serv, p.from = nil, nil
	if newest := slices.Max(p.put); open(t, c).Records() != s.d.Records() || !slices.Equal(p.from, []int{newest}) {
		t.Errorf("taken up from records %v on, want %d", p.from, newest)
	}
}
