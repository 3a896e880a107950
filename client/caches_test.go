package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/cache"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/engine"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/core/prompt"
	"github.com/plimsoll-dev/plimsoll/core/token/bpe"
	"github.com/plimsoll-dev/plimsoll/internal/scriptmodel"
)

// keptScript is a model whose own cache finds nothing, or one whose cache finds all.
const keptScript = `
count "chars/4"
cache %s
reply always
  text "Aye."
`

// A talk is a conversation with a model that keeps what it is asked to.
type talk struct {
	t       *testing.T
	known   catalog.Catalog
	server  *scriptmodel.Server
	machine *engine.Machine
	client  *client.Client
	options client.Options
	kept    *client.Caches
	events  []client.CacheEvent
	said    int
	rules   string
	ctx     context.Context // of the next calls; nil: the test's

	with, without int64 // picodollars of prompts: as they were, and with nothing kept
}

func newTalk(t *testing.T, cached string) *talk {
	t.Helper()
	s, err := scriptmodel.Parse(fmt.Sprintf(keptScript, cached))
	if err != nil {
		t.Fatal(err)
	}
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	k := &talk{t: t, known: known, server: scriptmodel.New(s, scriptmodel.Options{}), kept: new(client.Caches)}
	k.rules = k.text(2500)
	k.options = client.Options{
		HTTP: newMemory(t, k.server.ServeHTTP), Env: everywhere("gemini"), Catalog: &k.known, OnCache: func(e client.CacheEvent) { k.events = append(k.events, e) },
	}
	k.begin(true)
	k.restart()
	return k
}

// begin makes the conversation.
func (k *talk) begin(explicit bool) {
	p, err := policy.Preset("balanced")
	if err != nil {
		k.t.Fatal(err)
	}
	p.Prompt.Explicit = explicit
	k.machine, err = engine.New(engine.Config{
		Policy: p, Catalog: k.known, Encodings: bpe.Load, Exactly: "chars/4",
		Targets: []budget.Target{{Provider: "gemini", Model: "gemini-2.5-pro", Window: budget.Window{Capacity: 60_000, OutputReserve: 1000}}},
	})
	if err != nil {
		k.t.Fatal(err)
	}
	k.feed(engine.SetTools{Tools: []llm.Tool{{Name: "look", Description: "Looks.", Schema: `{"type":"object"}`}}})
}

// restart is a process that ends, and another one that begins with what it has put away.
func (k *talk) restart() {
	text, err := json.Marshal(k.kept)
	if err != nil {
		k.t.Fatal(err)
	}
	k.kept = new(client.Caches)
	if err := json.Unmarshal(text, k.kept); err != nil {
		k.t.Fatal(err)
	}
	k.options.Caches = k.kept
	k.client = newClient(k.t, "gemini", k.options)
}

func (k *talk) text(words int) string {
	var b strings.Builder
	for range words {
		k.said++
		fmt.Fprintf(&b, "word%d ", k.said)
	}
	return strings.TrimSpace(b.String())
}

func (k *talk) feed(in engine.Input) (send *engine.Send) {
	k.t.Helper()
	if err := k.machine.Feed(in); err != nil {
		k.t.Fatal(err)
	}
	for k.machine.HasReady() {
		r := k.machine.Ready()
		if r.Send != nil {
			send = r.Send
		}
		k.machine.Advance(engine.Outcome{})
	}
	return send
}

// wait lets time pass, for both sides.
func (k *talk) wait(d time.Duration) {
	time.Sleep(d) // in a bubble: no time passes
	k.server.Advance(d)
}

// turn is one Turn of rounds, with the request of its last Step alone.
func (k *talk) turn(rounds int, stream bool) (llm.Request, llm.Usage, error) {
	k.t.Helper()
	k.feed(engine.SetPrompt{Sections: []prompt.Section{prompt.Base.Section("You look after ships."), prompt.Rules.Section(k.rules)}})
	k.feed(engine.Append{Message: llm.UserText(k.text(300))})
	for range rounds {
		id := fmt.Sprint("c", k.said)
		k.feed(engine.Append{Message: llm.AssistantText(k.text(1), llm.ToolCall{CallID: id, Name: "look", Args: "{}"})})
		k.feed(engine.Append{Message: llm.ToolText(id, k.text(100))})
	}
	send := k.feed(engine.Prepare{})
	if send == nil {
		k.t.Fatal("nothing is sent")
	}
	r := send.Request()
	ctx := k.ctx
	if ctx == nil {
		ctx = k.t.Context()
	}
	got, err := reply(ctx, k.client, r, stream)
	if err == nil {
		k.feed(engine.Usage{Usage: got.Usage, Reported: true})
		k.feed(engine.Append{Message: llm.AssistantText("Aye.")})
	}
	return r, got.Usage, err
}

// last returns the newest call of the model.
func (k *talk) last() scriptmodel.Call {
	log := k.server.Log()
	return log[len(log)-1]
}

func (k *talk) whats() string {
	var all []string
	for _, e := range k.events {
		all = append(all, string(e.What))
	}
	return strings.Join(all, " ")
}

// TestExplicitCaches: from the third request on a beginning is kept that the provider's own cache does not find; the reply's usage has what it
// cost, and the requests leave out what it holds.
func TestExplicitCaches(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprint("R002-14_streamed_", stream), func(t *testing.T) { synctest.Test(t, func(t *testing.T) { keptBeginning(t, stream) }) })
	}
}

func keptBeginning(t *testing.T, stream bool) {
	t.Helper()
	k := newTalk(t, "off")
	var use llm.Usage
	for range 6 {
		var err error
		if _, use, err = k.turn(2, stream); err != nil {
			t.Fatal(err)
		}
		if len(k.events) == 1 && use.Made != k.events[0].Tokens {
			t.Errorf("the usage says %+v of %+v", use, k.events[0])
		}
		if len(k.events) > 0 {
			break
		}
		k.wait(10 * time.Second)
	}
	if k.whats() != "made" || use.Stored == 0 || use.CacheRead != k.events[0].Tokens || use.Stored%use.Made != 0 {
		t.Fatalf("events %v, usage %+v", k.events, use)
	}
	call := k.last()
	if !bytes.Contains(call.Body, []byte(`"cachedContent":"`+k.events[0].Resource+`"`)) || bytes.Contains(call.Body, []byte("systemInstruction")) || bytes.Contains(call.Body, []byte(`"tools"`)) {
		t.Errorf("what is kept is sent: %.300s", call.Body)
	}
	made := k.server.Log()[len(k.server.Log())-2]
	if !strings.HasSuffix(made.Path, "/v1beta/cachedContents") || made.Status != 200 {
		t.Errorf("%s, %d", made.Path, made.Status)
	}
	k.rules = k.text(2500) // told at the end; what is kept stays
	k.wait(10 * time.Second)
	if _, use, err := k.turn(0, stream); err != nil || use.CacheRead == 0 || use.Made > 0 && k.whats() == "made" {
		t.Errorf("%v, %+v", err, use)
	}
}

// TestNoCacheUnasked: without the policy's word, or where the provider's own cache finds it all, nothing is made.
func TestNoCacheUnasked(t *testing.T) {
	for _, explicit := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := newTalk(t, map[bool]string{false: "off", true: "min 1024"}[explicit])
			k.begin(explicit)
			for range 8 {
				if _, use, err := k.turn(1, false); err != nil || use.Made+use.Stored > 0 {
					t.Fatal(err, use)
				}
				k.wait(10 * time.Second)
			}
			for _, call := range k.server.Log() {
				if strings.Contains(call.Path, "cachedContents") {
					t.Fatalf("%s %s", call.Method, call.Path)
				}
			}
		})
	}
}

// TestDropCaches: what is given up is not paid for any more.
func TestDropCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newTalk(t, "off")
		for len(k.events) == 0 {
			if _, _, err := k.turn(1, false); err != nil {
				t.Fatal(err)
			}
			k.wait(5 * time.Second)
		}
		if err := k.client.DropCaches(t.Context()); err != nil {
			t.Fatal(err)
		}
		if call := k.last(); call.Method != "DELETE" || call.Status != 200 || !strings.HasSuffix(call.Path, k.events[0].Resource) {
			t.Errorf("%s %s: %d", call.Method, call.Path, call.Status)
		}
		if err := k.client.DropCaches(t.Context()); err != nil || k.last().Method != "DELETE" {
			t.Error(err)
		}
	})
}

// TestCachesAsPredicted holds core/cache against the server's own resources: sessions by seed, with pauses, restarts, edits of the front, a server that
// forgets, and a cache of its own or none. 25 sessions; 1,000 with PLIMSOLL_SIM=1000.
func TestCachesAsPredicted(t *testing.T) {
	sessions := 25
	if n, err := strconv.Atoi(os.Getenv("PLIMSOLL_SIM")); err == nil {
		sessions = n
	}
	seen := map[client.CacheChange]int{}
	var reads int
	var with, without int64
	for seed := range uint64(sessions) {
		synctest.Test(t, func(t *testing.T) {
			k := newTalk(t, "off")
			reads += k.predicted(seed)
			with, without = with+k.with, without+k.without
			for _, e := range k.events {
				seen[e.What]++
			}
		})
	}
	for _, what := range []client.CacheChange{client.CacheMade, client.CacheLengthened, client.CacheDropped, client.CacheLapsed, client.CacheFailed} {
		if seen[what] == 0 {
			t.Errorf("no resource was %s: the sessions try too little", what)
		}
	}
	if t.Logf("%d reads, %v, prompts cost %d ‰ of what they cost without", reads, seen, with*1000/without); reads == 0 || with > without {
		t.Errorf("%d reads, %d picodollars where it costs %d without", reads, with, without)
	}
}

// predicted runs one session of which each request's reads are predicted, and returns how many had some.
func (k *talk) predicted(seed uint64) (reads int) {
	rnd := rand.New(rand.NewPCG(seed, 18))
	model := cache.New(catalog.CacheRule{}, cache.Options{}) // which keeps nothing by itself
	holds := map[string]llm.Digest{}
	told := 0
	for n := range 14 {
		switch rnd.IntN(12) {
		case 0:
			k.restart()
		case 1:
			if n > 4 {
				k.begin(true) // another conversation, that begins with the words of none
			}
		}
		before := len(k.server.Log())
		_, use, err := k.turn(rnd.IntN(4), rnd.IntN(2) == 0)
		if err != nil {
			k.t.Fatal(err)
		}
		call := k.last()
		r := prefixOf(call.Request, time.Now())
		for _, e := range k.events[told:] {
			switch e.What {
			case client.CacheMade:
				at := heldBlocks(k.server.Log()[before:], e.Resource)
				holds[e.Resource] = r.Blocks[at-1].Prefix
				model.Hold(holds[e.Resource], e.Tokens, e.Until.UnixMilli())
			case client.CacheLengthened:
				model.Hold(holds[e.Resource], e.Tokens, e.Until.UnixMilli())
			default:
				model.Drop(holds[e.Resource])
			}
		}
		told = len(k.events)
		var named struct{ CachedContent string }
		_ = json.Unmarshal(call.Body, &named)
		want, ok := model.Named(r, holds[named.CachedContent])
		if named.CachedContent == "" {
			want, ok = model.Send(r), true
		}
		if !ok || use.CacheRead != want.CacheRead {
			k.t.Fatalf("seed %d, request %d: the server read %d, predicted %d (%v)", seed, n, use.CacheRead, want.CacheRead, ok)
		}
		if use.CacheRead > 0 {
			reads++
		}
		k.cost(use)
		k.pause(rnd)
	}
	return reads
}

// cost adds up what a request cost, and what it would have cost where nothing is kept.
func (k *talk) cost(use llm.Usage) {
	m, _ := k.known.Lookup("gemini-2.5-pro")
	p, _ := m.PricesAt(use.Prompt())
	with, ok := p.Cost(use)
	without, _ := p.Cost(llm.Usage{Input: use.Prompt(), Output: use.Output})
	if !ok {
		k.t.Fatalf("no price of %+v", use)
	}
	k.with, k.without = k.with+with, k.without+without
}

// pause lets time pass as people do: most answer soon, some go for lunch. Now and then the server forgets.
func (k *talk) pause(rnd *rand.Rand) {
	switch rnd.IntN(14) {
	case 0:
		k.wait(time.Duration(10+rnd.IntN(100)) * time.Minute)
	case 1:
		k.server.Advance(2 * time.Hour) // for it alone
	default:
		k.wait(time.Duration(2+rnd.IntN(40)) * time.Second)
	}
}

// prefixOf lays a request out: the front as a block, each message as one.
func prefixOf(r llm.Request, at time.Time) cache.Request {
	out := cache.Request{At: at.UnixMilli()}
	front := ""
	for _, s := range r.Sections {
		front += s.Text + "\x00"
	}
	prefix := llm.Chain(llm.Digest{}, llm.DigestOf(llm.NoteText(front)))
	add := func() { out.Blocks = append(out.Blocks, cache.Block{Prefix: prefix, Tokens: 1 << 30}) }
	add()
	for _, m := range r.Messages {
		prefix = llm.Chain(prefix, llm.DigestOf(m))
		add()
	}
	return out
}

// heldBlocks returns how many blocks of a request a resource holds: its front, and its contents.
func heldBlocks(log []scriptmodel.Call, name string) int {
	for _, call := range log {
		if strings.HasSuffix(call.Path, "/cachedContents") && bytes.Contains(call.Answer, []byte(name+`"`)) {
			var made struct{ Contents []json.RawMessage }
			_ = json.Unmarshal(call.Body, &made)
			return 1 + len(made.Contents)
		}
	}
	return 0
}
