package ollamatest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/plimsoll-dev/plimsoll"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/tokenizers"
)

// narrow is the window of a conversation whose summaries the small model writes itself, in tokens.
const narrow = 2048

// A narrowed model is one that is asked for a window, and to refuse what is longer.
type narrowed struct {
	t     *testing.T
	door  door
	model string
}

// Complete implements plimsoll.Model.
func (n narrowed) Complete(ctx context.Context, r llm.Request) (llm.Response, error) {
	full := n.door.read(n.t, fmt.Sprintf(`{"model":%q,"messages":[],"truncate":false,"options":{"num_ctx":%d,"num_predict":%d,"temperature":0}}`, n.model, narrow, r.MaxOutput))
	full.Sections, full.Messages, full.MaxOutput = r.Sections, r.Messages, r.MaxOutput
	return n.door.Complete(ctx, full)
}

// TestOwnSummaries: plain text in a window of 2,048 tokens, which the small model summarises
// itself. The server refuses nothing. Where the model's vocabulary and chat template are known, what
// it reports as a prompt is what we counted, at each of 200 Steps; else it is below our bound. With -v
// it prints both, and what became of its summaries.
func TestOwnSummaries(t *testing.T) {
	s := serverOf(t)
	t.Run("balanced, with the model's vocabulary", func(t *testing.T) { ownSummaries(t, s, "balanced", steps, s.known(t)) })
	for _, preset := range []string{"balanced", "turn-budget"} {
		t.Run(preset, func(t *testing.T) { ownSummaries(t, s, preset, steps/5, plimsoll.Options{}) })
	}
}

// known returns options by which the model's vocabulary is known.
func (s server) known(t *testing.T) plimsoll.Options {
	t.Helper()
	c, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	c = c.With(catalog.Model{ID: s.model, Family: "ollama-chatml", Estimator: "hf:" + s.vocabulary(t)})
	return plimsoll.Options{Catalog: &c, Encodings: (&plimsoll.Encodings{Other: tokenizers.Encoding}).Load}
}

func ownSummaries(t *testing.T, s server, preset string, steps int, o plimsoll.Options) {
	p, err := policy.Preset(preset)
	if err != nil {
		t.Fatal(err)
	}
	model := narrowed{t, s.open(t, "ollama"), s.model}
	target := budget.Target{Provider: "ollama", Model: s.model, Window: budget.Window{Capacity: narrow, Buffer: budget.None, OutputReserve: 128}}
	o.Policy, o.Targets, o.SummaryTimeout, o.WithoutTools = p, []budget.Target{target}, 5*time.Minute, true
	o.Summariser = plimsoll.ModelSummariser{Model: model, Target: target, Catalog: o.Catalog, Encodings: o.Encodings}
	session, err := plimsoll.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	try := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	try(session.SetSections(t.Context(), []llm.Section{llm.SystemText("You are the clerk of a small harbour. You answer in a few words.")}))
	dice := rand.New(rand.NewPCG(3, 4))
	under, equal := 0, 0
	for n := range steps {
		try(session.Append(t.Context(), llm.UserText(news(dice, n))))
		send, err := session.Prepare(t.Context())
		try(err)
		r := send.Request()
		r.MaxOutput = 24
		reply, err := model.Complete(t.Context(), r)
		try(err) // also where it refuses for length
		reported := reply.Usage.Prompt()
		if reported+reply.Usage.Output > narrow {
			t.Errorf("step %d: want a window of %d kept, got a prompt of %d and a reply of %d", n+1, narrow, reported, reply.Usage.Output)
		}
		if send.Count.Bound < reported {
			under++
		}
		if send.Count.Point == reported {
			equal++
		} else {
			t.Logf("step %3d: reported %4d, counted %4d", n+1, reported, send.Count.Point)
		}
		if n%20 == 19 {
			t.Logf("step %3d: reported %4d, counted %4d, bound %4d", n+1, reported, send.Count.Point, send.Count.Bound)
		}
		try(session.Reply(t.Context(), reply))
		try(session.TurnEnd(t.Context()))
		try(session.AwaitSummary(t.Context()))
	}
	bill := session.Bill()
	t.Logf("%d of %d counts equal what is reported, %d are above the bound; %d calls for summaries, %d edits", equal, steps, under, callsOf(bill.Summaries), len(session.Edits()))
	if o.Catalog != nil && equal < steps {
		t.Errorf("count: want it to equal each of %d reports, got %d", steps, equal)
	}
	if under > steps*(1000-covered)/1000 {
		t.Errorf("bound: want %d permille of the prompts covered, got %d of %d above it", covered, under, steps)
	}
	if callsOf(bill.Summaries) == 0 || len(session.Edits()) == 0 {
		t.Error("nothing was summarised")
	}
}

func callsOf(lines []plimsoll.BillLine) (n int) {
	for _, l := range lines {
		n += l.Calls
	}
	return n
}

// news is what a person says at the n-th Step: plain text of some sentences.
func news(dice *rand.Rand, n int) string {
	ships := []string{"Alma", "Borealis", "Cormorant", "Dagny", "Estrella"}
	goods := []string{"timber", "salt", "wool", "copper wire", "dried fish"}
	var b strings.Builder
	for range 2 + dice.IntN(4) {
		fmt.Fprintf(&b, "The %s came in with %d tons of %s and lies at berth %d. ", ships[dice.IntN(len(ships))], 10+dice.IntN(900), goods[dice.IntN(len(goods))], 1+dice.IntN(9))
	}
	return b.String() + fmt.Sprintf("This is report number %d; note it.", n+1)
}
