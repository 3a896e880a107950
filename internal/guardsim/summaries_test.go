package guardsim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/edit"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
	"github.com/plimsoll-dev/plimsoll/store"
)

// summaryShare is how many sessions with a summariser run without PLIMSOLL_SIM.
const summaryShare = 24

// summarySteps is how many calls each has.
const summarySteps = 120

// invented is a name that nothing in these sessions has but a summary that makes it up.
const invented = "/srv/zqnowhere/zqmade.go"

// The ways in which a summary is answered.
var moods = []string{"good", "empty", "larger", "tag-less", "cut", "invented", "refusing", "slow", "error", "rate-limited", "asks back"}

// A summaryRun is one session against a server whose summaries are good and bad.
type summaryRun struct {
	t      *testing.T
	rnd    *rand.Rand
	caller *caller
	policy policy.Policy
	target budget.Target

	mu    sync.Mutex
	asked map[edit.Span]int
	moods map[string]int
	calls int // of the server's model, for ids and outputs
}

// TestSummaries runs long sessions whose summaries a model writes, well or badly: they end within the window
// by the server's own count, no span is asked about more than twice, what is pinned stays, and nothing waits for ever.
func TestSummaries(t *testing.T) {
	n := summaryShare
	if s := share(t); s != quickShare {
		n = s
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	policies := []string{"cache-compact", "layered", "turn-budget", "balanced", "lean", "quality"}
	providers := []string{"anthropic", "openai", "openai-chat", "gemini", "ollama"}
	var mu sync.Mutex
	seen, adopted := map[string]int{}, 0
	t.Run("seeds", func(t *testing.T) {
		for seed := range n {
			t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := newSummaryRun(t, uint64(seed), policies[seed%len(policies)], providers[seed/len(policies)%len(providers)], known)
					kept := r.run()
					mu.Lock()
					defer mu.Unlock()
					adopted += kept
					for m, k := range r.moods {
						seen[m] += k
					}
				})
			})
		}
	})
	t.Logf("%d summaries of a model stand; answers: %v", adopted, seen)
	if n >= summaryShare && adopted == 0 {
		t.Error("no summary of a model was used")
	}
	for _, m := range moods {
		if n >= summaryShare && seen[m] == 0 {
			t.Errorf("no summary was %s", m)
		}
	}
}

func newSummaryRun(t *testing.T, seed uint64, preset, provider string, known catalog.Catalog) *summaryRun {
	p, err := policy.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	script, err := scriptmodel.Parse("window 14000\noutput 2000\ncount \"approximate\"\ncache off\n")
	if err != nil {
		t.Fatal(err)
	}
	r := &summaryRun{
		t: t, rnd: rand.New(&shared{source: rand.NewPCG(seed, 16)}), policy: p, asked: map[edit.Span]int{}, moods: map[string]int{},
		target: budget.Target{Provider: provider, Model: "sim-1", Window: budget.Window{Capacity: 14_000, Buffer: 500, OutputReserve: 1500}},
	}
	r.caller = &caller{cable: &cable{handler: scriptmodel.New(script, scriptmodel.Options{Think: r.think})}, known: known, clients: clients{}}
	return r
}

// A shared source is drawn from by the session and by the model that writes beside it.
type shared struct {
	mu     sync.Mutex
	source rand.Source
}

func (s *shared) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}

// think is the model: it summarises where that is asked for, else it works.
func (r *summaryRun) think(req llm.Request) scriptmodel.Reply {
	if last := req.Messages[len(req.Messages)-1].Text(); strings.Contains(last, "is about to be replaced by what you write now") {
		return r.summary()
	}
	if r.calls++; r.rnd.IntN(6) == 0 {
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayWords, N: 20 + r.rnd.IntN(150)}}}
	}
	return scriptmodel.Reply{Parts: []scriptmodel.Saying{
		{Kind: scriptmodel.SayText, Text: fmt.Sprintf("I look at part %d.", r.calls)},
		{Kind: scriptmodel.SayCall, Name: "read", Text: fmt.Sprintf(`{"file_path":"pkg/part%d.go"}`, r.calls)},
	}}
}

// summary answers in some mood.
func (r *summaryRun) summary() scriptmodel.Reply {
	mood := moods[r.rnd.IntN(len(moods))]
	if r.rnd.IntN(3) == 0 {
		mood = "good"
	}
	r.mu.Lock()
	r.moods[mood]++
	r.mu.Unlock()
	say := func(text string) scriptmodel.Reply {
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: text}}}
	}
	good := strings.Repeat("The work went on, part after part, and nothing was found so far. ", 8+r.rnd.IntN(12))
	switch mood {
	case "empty":
		return say("<summary></summary>")
	case "larger":
		return say("<summary>" + strings.Repeat(good, 6) + "</summary>")
	case "tag-less":
		return say(good)
	case "cut":
		cut := say("<summary>" + good)
		cut.Stop = llm.StopLength
		return cut
	case "invented":
		return say("<summary>" + good + "All of it stands in " + invented + ".</summary>")
	case "refusing":
		return say("I'm sorry, but I can't help with that.")
	case "slow":
		slow := say("<summary>" + good + "</summary>")
		slow.Delay = time.Duration(1+r.rnd.IntN(5)) * time.Minute
		return slow
	case "error":
		return scriptmodel.Reply{Status: http.StatusInternalServerError}
	case "rate-limited":
		return scriptmodel.Reply{Status: http.StatusTooManyRequests, Retry: 3}
	case "asks back":
		return scriptmodel.Reply{Parts: []scriptmodel.Saying{{Kind: scriptmodel.SayText, Text: "Which part do you mean?"}}}
	}
	return say("<retain>\npart 1\n</retain>\n<summary>" + good + "</summary>")
}

// Summarise implements plimsoll.Summariser: it notes what is asked about.
func (r *summaryRun) Summarise(ctx context.Context, ask engine.Ask) (plimsoll.Summary, error) {
	r.mu.Lock()
	r.asked[ask.Span]++
	r.mu.Unlock()
	c, _, err := r.caller.client(r.target.Provider)
	if err != nil {
		return plimsoll.Summary{}, err
	}
	return plimsoll.ModelSummariser{Model: c, Target: r.target, Catalog: &r.caller.known}.Summarise(ctx, ask)
}

func (r *summaryRun) fault(format string, args ...any) {
	r.t.Errorf("call %d, %s to %s: %s", r.calls, r.policy.Name, r.target.Provider, fmt.Sprintf(format, args...))
}

// run is the session. It returns how many summaries of a model were used.
func (r *summaryRun) run() int {
	ctx := r.t.Context()
	s, err := plimsoll.Open(ctx, plimsoll.Options{
		ID: "s", Store: &store.Memory{}, Policy: r.policy, Targets: []budget.Target{r.target}, Summariser: r, Catalog: &r.caller.known,
	})
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	try := func(err error) {
		if err != nil {
			r.t.Fatalf("call %d, %s to %s: %v", r.calls, r.policy.Name, r.target.Provider, err)
		}
	}
	try(s.SetTools(ctx, []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: `{"type":"object","properties":{"file_path":{"type":"string"}}}`}}))
	try(s.SetSections(ctx, []llm.Section{llm.SystemText("You look after ships.")}))
	people := []string{"Mind the load line zqfirst, and look at all parts."}
	try(s.Append(ctx, llm.UserText(people[0])))
	for range summarySteps {
		reply := r.step(ctx, s, people)
		try(s.Reply(ctx, reply))
		calls := reply.Message.Calls()
		for _, c := range calls {
			if served, err := s.Builtin(ctx, c); served || err != nil {
				try(err)
				continue
			}
			_, err := s.ToolResult(ctx, plimsoll.Result{CallID: c.CallID, Body: strings.NewReader(r.output())})
			try(err)
		}
		if len(calls) == 0 {
			try(s.TurnEnd(ctx))
			people = append(people, fmt.Sprintf("And the next one, zqperson%d?", len(people)))
			try(s.Append(ctx, llm.UserText(people[len(people)-1])))
		}
		time.Sleep(time.Duration(r.rnd.IntN(40)) * time.Second) // what is written beside may come meanwhile
	}
	try(s.AwaitSummary(ctx))
	for span, n := range r.asked {
		if n > 2 {
			r.fault("asked %d times about messages %d to %d", n, span.From, span.To-1)
		}
	}
	return r.used(s)
}

// output is what a tool puts out.
func (r *summaryRun) output() string {
	var b strings.Builder
	for i := range 5 + r.rnd.IntN(40) {
		fmt.Fprintf(&b, "part %d, line %d: nothing to see, %d\n", r.calls, i, r.rnd.IntN(1000))
	}
	return b.String()
}

// step is a request, its retries included. It has to fit by the server's own count.
func (r *summaryRun) step(ctx context.Context, s *plimsoll.Session, people []string) llm.Response {
	send, err := s.Prepare(ctx)
	for range 4 {
		if err != nil {
			r.t.Fatalf("call %d, %s to %s: %v", r.calls, r.policy.Name, r.target.Provider, err)
		}
		r.shown(send, people)
		var reply llm.Response
		if reply, err = r.caller.call(ctx, send); err == nil {
			return reply
		}
		if !plimsoll.IsTooLong(err) {
			break
		}
		r.fault("refused as too long: %v", err)
		send, err = s.Rejected(ctx, err)
	}
	r.t.Fatalf("call %d, %s to %s: %v", r.calls, r.policy.Name, r.target.Provider, err)
	return llm.Response{}
}

// shown holds what is sent against what must stay, and what must not come.
func (r *summaryRun) shown(send *engine.Send, people []string) {
	var b strings.Builder
	for _, m := range send.Messages() {
		b.WriteString(m.Text() + "\n")
	}
	for _, sec := range send.Sections {
		b.WriteString(sec.Text + "\n")
	}
	text := b.String()
	if slices.Contains(r.policy.Pins, policy.PinFirstHuman) && !strings.Contains(text, people[0]) {
		r.fault("the first message of a person is gone")
	}
	if last := people[len(people)-1]; slices.Contains(r.policy.Pins, policy.PinLastHuman) && !strings.Contains(text, last) {
		r.fault("the last message of a person is gone")
	}
	if strings.Contains(text, invented) || strings.Contains(text, "I'm sorry") {
		r.fault("a summary that cannot stand is shown")
	}
}

// used returns how many summaries of a model stand or stood.
func (r *summaryRun) used(s *plimsoll.Session) int {
	n := 0
	for _, e := range s.Edits() {
		text := ""
		for _, note := range e.Notes {
			text += note.Text()
		}
		for _, sec := range e.Sections {
			text += sec.Text
		}
		if strings.Contains(text, "The work went on, part after part") && !strings.Contains(text, "[kept by code") {
			n++
		}
	}
	return n
}
