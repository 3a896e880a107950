package proxytest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/journal"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/store"
)

const (
	// summarySessions is how many run without PLIMSOLL_SIM.
	summarySessions = 12
	summarySteps    = 80
	// invented is a name that nothing in these sessions has but a summary that makes it up.
	invented = "/srv/zqnowhere/zqmade.go"
)

// A summarised is one agent behind the proxy, whose model also writes summaries, well or badly.
type summarised struct {
	*testing.T
	rnd    *rand.Rand
	policy policy.Policy
	agent  *testagent.Agent

	mu     sync.Mutex
	asked  int
	calls  int
	people []string
}

// A naming store remembers the names of its sessions.
type naming struct {
	store.Memory
	mu    sync.Mutex
	names map[string]bool
}

func (n *naming) Append(ctx context.Context, session string, seq int, records [][]byte) error {
	n.mu.Lock()
	n.names[session] = true
	n.mu.Unlock()
	return n.Memory.Append(ctx, session, seq, records)
}

// TestSummaries is the half of long sessions that runs through the proxy (that of the library is
// in guardsim): the client's own model writes summaries beside the work, good, empty, larger,
// without tags, cut, invented, refusing, slow and failing. The client is refused nothing, no span
// is asked about more than twice, what is pinned stays, and nothing waits for ever.
func TestSummaries(t *testing.T) {
	n := summarySessions
	if s, err := strconv.Atoi(os.Getenv("PLIMSOLL_SIM")); err == nil {
		n = s
	}
	policies := []string{"balanced", "turn-budget", "lean", "quality", "layered", "cache-compact"}
	var mu sync.Mutex
	asked, stood := 0, 0
	t.Run("seeds", func(t *testing.T) {
		for seed := range n {
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
				p, err := policy.Preset(policies[seed%len(policies)])
				must(t, err)
				s := &summarised{T: t, rnd: rand.New(rand.NewPCG(uint64(seed), 17)), policy: p} //nolint:gosec // a seed is small
				stands := s.run(testagent.Dialects()[seed/len(policies)%5], seed%2 == 0)
				mu.Lock()
				defer mu.Unlock()
				asked, stood = asked+s.asked, stood+stands
			})
		}
	})
	t.Logf("%d questions, %d summaries of a model stand", asked, stood)
	if n >= summarySessions && (asked == 0 || stood == 0) {
		t.Error("no summary of a model was used")
	}
}

// run is the session. It returns how many summaries of a model were shown.
func (s *summarised) run(d llm.Dialect, stream bool) int {
	script, err := scriptmodel.Parse("window 14000\noutput 2000\ncount \"approximate\"\ncache off\n")
	must(s.T, err)
	server := scriptmodel.New(script, scriptmodel.Options{Think: s.think})
	kept := &naming{names: map[string]bool{}}
	f := before(s.T, server, func(o *gateway.Options) {
		o.Store, o.Policy, o.ClientSummaries = kept, s.policy, true
		o.Window = func(string, string) budget.Window {
			return budget.Window{Capacity: 14_000, Buffer: 500, OutputReserve: 1500}
		}
	}, func(*proxy.Options) {})
	s.agent = testagent.New(f.url, d, stream)
	s.agent.Header.Set("X-Plimsoll-Session", "s")
	s.agent.History = nil
	s.says("Mind the load line zqfirst, and look at all parts.")
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	for n := range summarySteps {
		s.agent.Lines = 5 + s.rnd.IntN(120)
		if err := s.agent.Step(ctx); err != nil {
			s.Fatalf("step %d of %s, %s: %v", n, s.policy.Name, d, err)
		}
		if !s.agent.Work(n) {
			s.says(fmt.Sprintf("And the next one, zqperson%d?", n))
		}
	}
	for _, c := range server.Log() {
		if len(c.Faults) > 0 {
			s.Fatalf("%s, %s: %v", s.policy.Name, d, c.Faults)
		}
	}
	f.close()
	return s.judge(kept)
}

func (s *summarised) says(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.people = append(s.people, text)
	s.agent.Says(text)
}

// think is the model. It holds what it is shown against what must stay, and what must not come.
func (s *summarised) think(req llm.Request) scriptmodel.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := req.Messages[len(req.Messages)-1].Text(); strings.Contains(last, "is about to be replaced by what you write now") {
		s.asked++
		return s.summary()
	}
	var b strings.Builder
	for _, sec := range req.Sections {
		b.WriteString(sec.Text)
	}
	for _, m := range req.Messages {
		b.WriteString(m.Text())
	}
	text, first, last := b.String(), s.people[0], s.people[len(s.people)-1]
	if slices.Contains(s.policy.Pins, policy.PinFirstHuman) && !strings.Contains(text, first) {
		s.Errorf("%s: the first message of a person is gone", s.policy.Name)
	}
	if slices.Contains(s.policy.Pins, policy.PinLastHuman) && !strings.Contains(text, last) {
		s.Errorf("%s: the last message of a person is gone", s.policy.Name)
	}
	if strings.Contains(text, invented) || strings.Contains(text, "I'm sorry") {
		s.Errorf("%s: a summary that cannot stand is shown", s.policy.Name)
	}
	if s.calls++; s.rnd.IntN(6) == 0 {
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayWords, N: 20 + s.rnd.IntN(150)}}}
	}
	return scriptmodel.Reply{Parts: []scriptmodel.Saying{
		{Kind: scriptmodel.SayText, Text: fmt.Sprintf("I look at part %d.", s.calls)},
		{Kind: scriptmodel.SayCall, Name: "read", Text: fmt.Sprintf(`{"path":"pkg/part%d.go"}`, s.calls)},
	}}
}

// summary answers in some mood. s.mu is held.
func (s *summarised) summary() scriptmodel.Reply {
	say := func(text string) scriptmodel.Reply {
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: text}}}
	}
	good := strings.Repeat("The work went on, part after part, and nothing was found so far. ", 8+s.rnd.IntN(12))
	switch s.rnd.IntN(14) {
	case 0:
		return say("<summary></summary>")
	case 1:
		return say("<summary>" + strings.Repeat(good, 6) + "</summary>")
	case 2:
		return say(good)
	case 3:
		cut := say("<summary>" + good)
		cut.Stop = llm.StopLength
		return cut
	case 4:
		return say("<summary>" + good + "All of it stands in " + invented + ".</summary>")
	case 5:
		return say("I'm sorry, but I can't help with that.")
	case 6:
		slow := say("<summary>" + good + "</summary>")
		slow.Delay = time.Duration(50+s.rnd.IntN(300)) * time.Millisecond
		return slow
	case 7:
		return scriptmodel.Reply{Status: http.StatusInternalServerError}
	case 8:
		return scriptmodel.Reply{Status: http.StatusTooManyRequests, Retry: 3}
	}
	return say("<retain>\npart 1\n</retain>\n<summary>" + good + "</summary>")
}

// judge reads what was kept: how often each span was asked about. It returns how many summaries
// of a model were shown.
func (s *summarised) judge(kept *naming) (stood int) {
	kept.mu.Lock()
	defer kept.mu.Unlock()
	conversations := 0
	for name := range kept.names {
		if strings.Count(name, "/") < 2 {
			continue // what is kept of a response, by its id
		}
		conversations++
		spans := map[edit.Span]int{}
		for r, err := range journal.Read(kept.Records(s.Context(), name, 0)) {
			must(s.T, err)
			switch r.Kind {
			case journal.KindAsk:
				if r.Ask.Background {
					spans[edit.Span{From: r.Ask.From, To: r.Ask.To}]++
				}
			case journal.KindEdit:
				for _, note := range r.Edit.Notes {
					if strings.Contains(note.Text(), "The work went on, part after part") && !strings.Contains(note.Text(), "[kept by code") {
						stood++
					}
				}
			}
		}
		for span, n := range spans {
			if n > 2 {
				s.Errorf("%s asked %d times about messages %d to %d", s.policy.Name, n, span.From, span.To-1)
			}
		}
	}
	if conversations != 1 {
		s.Errorf("%d conversations, want one", conversations)
	}
	return stood
}
