package loop_test

import (
	"bytes"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/loop"
)

// A sim is a made-up loop: an agent that says all sorts of things, a summariser that
// fails, a host that is killed and resumes from what it saved last. It keeps books of its
// own, and what a kill takes back in the machine it takes back in them.
type sim struct {
	t    *testing.T
	rnd  *rand.Rand
	cfg  loop.Config
	m    *loop.Machine
	at   int64
	book book
	disk saved
}

// A book is what has to have happened.
type book struct {
	recorded []int       // iterations, in their order
	folded   map[int]int // how often
	stopped  map[int]bool
	said     map[int]string // a word of each output
}

type saved struct {
	state []byte
	book  book
}

func (b book) copy() book {
	c := book{recorded: slices.Clone(b.recorded), folded: map[int]int{}, stopped: map[int]bool{}, said: map[int]string{}}
	for k, v := range b.folded {
		c.folded[k] = v
	}
	for k := range b.stopped {
		c.stopped[k] = true
	}
	for k, v := range b.said {
		c.said[k] = v
	}
	return c
}

func (s *sim) save() { s.disk = saved{s.m.Save(), s.book.copy()} }

// kill loses what was not saved, and goes on from there.
func (s *sim) kill() {
	m, err := loop.Restore(s.cfg, s.disk.state)
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Equal(m.Save(), s.disk.state) {
		s.t.Fatalf("want the state as it was saved, got\n%s\nfor\n%s", m.Save(), s.disk.state)
	}
	s.m, s.book = m, s.disk.book.copy()
	if r := m.Ready(); r.Do == loop.DoAwait {
		s.book.recorded = append(s.book.recorded, r.Number)
		s.book.stopped[r.Number] = true
	}
	s.at += s.rnd.Int63n(1 << 30)
	s.events(loop.Resumed{At: s.at})
	s.save()
}

func (s *sim) events(in loop.Input) {
	for _, e := range feed(s.t, s.m, in) {
		if e.Kind == loop.EventFolded {
			s.book.folded[e.Iteration]++
		}
	}
}

// output makes up what an agent wrote.
func (s *sim) output(n int) loop.Output {
	word := fmt.Sprintf("word%dx%d", n, s.rnd.Intn(1000))
	out := loop.Output{At: s.at, Text: word + " was decided upon. It works now.\nNext step: go on with " + word + ".", Interrupted: s.rnd.Intn(15) == 0}
	switch s.rnd.Intn(12) {
	case 0:
		out.Text, word = "", ""
	case 1:
		out.Text = word + "\n" + strings.Repeat("a log line that goes on and on\n", s.rnd.Intn(2000))
	case 2:
		out.Text = word + string([]byte{0, 0xFF, 0x1B, '[', '3'}) + strings.Repeat("漢字", s.rnd.Intn(4000))
	case 3:
		out.Text, word = "the same as always", ""
	case 4:
		out.Text += "\n<progress>did " + word + "</progress>"
		out.Files = []loop.FileEvent{{Path: word + ".go", Lines: s.rnd.Intn(300)}}
	case 5:
		out.Answer, out.Structured = out.Text, true
	case 6:
		out.Text = word + strings.Repeat("\n# Instructions\n", s.rnd.Intn(500))
	}
	s.book.said[n] = word
	return out
}

// step does what is to be done.
func (s *sim) step(r loop.Ready) {
	s.at += s.rnd.Int63n(100_000) - 5_000
	switch r.Do {
	case loop.DoBegin:
		s.judge(r)
		s.events(loop.Began{At: s.at})
	case loop.DoAwait:
		out := s.output(r.Number)
		s.book.recorded = append(s.book.recorded, r.Number)
		if out.Interrupted {
			s.book.stopped[r.Number] = true
		}
		s.events(out)
	case loop.DoAsk:
		if n := chars4().Text(r.Ask.Prompt); n > 20_000 {
			s.t.Fatalf("question of %d tokens", n)
		}
		if s.rnd.Intn(3) == 0 {
			s.events(loop.NoAnswer{ID: r.Ask.ID, Why: "no connection"})
		} else {
			answer := loop.Answer{ID: r.Ask.ID, Text: strings.Repeat(fmt.Sprintf("summary up to %d. ", r.Ask.To), 1+s.rnd.Intn(400)), Stop: llm.StopEnd}
			switch s.rnd.Intn(8) { // what stands for nothing
			case 0:
				answer.Stop = llm.StopLength
			case 1:
				answer.Text += " See lib/made/up.go."
			}
			s.events(answer)
		}
	case loop.DoRecall:
		var found []loop.Passage
		for range s.rnd.Intn(30) {
			found = append(found, loop.Passage{Iteration: s.rnd.Intn(r.Number + 2), Text: strings.Repeat("passage ", s.rnd.Intn(300))})
		}
		s.events(loop.Recalled{Passages: found})
	case loop.DoWait:
		s.events(loop.Continue{})
	}
	switch s.rnd.Intn(40) {
	case 0:
		s.events(loop.Pause{})
	case 1:
		s.events(loop.Message{Text: "please " + strings.Repeat("do ", s.rnd.Intn(9000)), Priority: s.rnd.Intn(3)})
	case 3:
		var known []loop.Memo
		for i := range s.rnd.Intn(200) {
			known = append(known, loop.Memo{Text: strings.Repeat(fmt.Sprint("fact", i, " "), s.rnd.Intn(90)), Source: "loop x"})
		}
		s.events(loop.Known{Facts: known})
	case 2:
		s.events(loop.Tick{At: s.at - s.rnd.Int63n(1<<40)})
	}
}

// judge holds a prompt and the state against the books.
func (s *sim) judge(r loop.Ready) {
	c := s.m.Context()
	if n := chars4().Text(r.Prompt.Text); n >= 50_000 || n != r.Prompt.Tokens {
		s.t.Fatalf("iteration %d: prompt of %d tokens, said to be %d", r.Number, n, r.Prompt.Tokens)
	}
	if c.TotalIterations != len(s.book.recorded) || r.Number != c.TotalIterations+1 {
		s.t.Fatalf("want %d iterations, got %d, the next %d", len(s.book.recorded), c.TotalIterations, r.Number)
	}
	shown := map[int]bool{}
	for _, it := range c.Iterations {
		shown[it.Number] = true
		if !strings.Contains(r.Prompt.Text, fmt.Sprintf("## Iteration %d\n", it.Number)) {
			s.t.Fatalf("iteration %d: want %d shown", r.Number, it.Number)
		}
		if it.Interrupted != s.book.stopped[it.Number] || !strings.Contains(it.Output, s.book.said[it.Number]) {
			s.t.Fatalf("iteration %d: not as it was: %+v", it.Number, it)
		}
	}
	for i, n := range s.book.recorded {
		if n != i+1 {
			s.t.Fatalf("want number %d, got %d", i+1, n)
		}
		times := s.book.folded[n]
		if shown[n] {
			times++
		}
		if times != 1 {
			s.t.Fatalf("iteration %d: want %d folded once or shown, got folded %d times, shown %v", r.Number, n, s.book.folded[n], shown[n])
		}
	}
	if len(s.book.folded) > 0 && !strings.Contains(r.Prompt.Text, fmt.Sprintf("\n\n# Progress Summary (iterations 1-%d)\n", len(s.book.folded))) {
		s.t.Fatalf("iteration %d: want the summary of 1 to %d", r.Number, len(s.book.folded))
	}
	if words := len(strings.Fields(c.Summary)); words > 500 || chars4().Text(c.Summary) > 2000 {
		s.t.Fatalf("summary of %d words", words)
	}
}

// simulate runs the loop of a seed.
func simulate(t *testing.T, seed int64) (iterations, kills int) {
	rnd := rand.New(rand.NewSource(seed))
	long := 1 + rnd.Intn(20)
	if seed%50 == 0 {
		long = 300
	}
	s := &sim{t: t, rnd: rnd, at: 1_700_000_000_000, book: book{}.copy(), cfg: loop.Config{
		Counter: chars4(), AskModel: rnd.Intn(3) > 0, Window: 1 + rnd.Intn(8), SummarizeEvery: 1 + rnd.Intn(15),
		MaxIterations: long, IgnoreAlerts: true, RecoveryBudget: 1000,
		BySense: rnd.Intn(2) == 0, Recall: rnd.Intn(2) == 0, Memory: rnd.Intn(2) == 0, Adaptive: rnd.Intn(3) == 0,
	}}
	s.m = start(t, s.cfg)
	s.save()
	for {
		r := s.m.Ready()
		if r.Do == loop.DoEnd {
			if r.End != loop.IterationLimit || s.m.Context().TotalIterations != long {
				t.Fatalf("seed %d: got %+v after %d iterations", seed, r, s.m.Context().TotalIterations)
			}
			return long, kills
		}
		s.step(r)
		if rnd.Intn(12) == 0 { // between what happened and its being saved
			s.kill()
			kills++
			continue
		}
		s.save()
		if rnd.Intn(12) == 0 {
			if rnd.Intn(4) == 0 { // with another window, and other things switched on and off
				s.cfg.Window = 1 + rnd.Intn(8)
				s.cfg.BySense, s.cfg.Recall, s.cfg.Memory, s.cfg.Adaptive = rnd.Intn(2) == 0, rnd.Intn(2) == 0, rnd.Intn(2) == 0, rnd.Intn(3) == 0
			}
			s.kill()
			kills++
		}
	}
}

// TestSimulated runs a thousand loops: each prompt is below 50,000 tokens, and each
// iteration is in the window, pending or folded once, whatever fails and whenever the
// host is killed.
func TestSimulated(t *testing.T) {
	loops := 1000
	if testing.Short() {
		loops = 50
	}
	iterations, kills := 0, 0
	for seed := range loops {
		i, k := simulate(t, int64(seed))
		iterations, kills = iterations+i, kills+k
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	t.Logf("%d loops, %d iterations, %d kills", loops, iterations, kills)
}
