package ollamatest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/client"
	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/catalog"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/proxy"
	"github.com/plimsoll-dev/plimsoll/wire/convert"
	"github.com/plimsoll-dev/plimsoll/wire/ollama"
)

const (
	steps = 200  // of a conversation
	wide  = 4096 // the window that the server is to have for it, in tokens
)

// nearly leaves as little unused as the count allows: by itself the policy keeps half of so small a window free.
var nearly = budget.Window{Buffer: budget.None, OutputReserve: 256}

// covered is the share of requests in permille that the bound has to cover: that of DESIGN.md section 10.
const covered = 985

// TestProxyGrows: an agent that sends its whole history for 200 Steps, many windows of it, through the proxy.
// The server refuses nothing and drops nothing, and what it reports is what we expected. Without the proxy it
// refuses the last request.
func TestProxyGrows(t *testing.T) {
	s := serverOf(t)
	t.Run("ollama", func(t *testing.T) {
		// The window is in each request and nowhere else; truncate: false makes the server refuse what is longer.
		x := grow(t, s, dialogue{
			provider: "ollama",
			window:   nearly, // of no capacity: that is what the requests ask for
			body:     `{"model":%q,"messages":[],"tools":` + readTool + `,"truncate":false,"options":{"num_ctx":4096,"num_predict":%d,"temperature":0}%s%s}`,
			form:     `,"format":%s`,
		})
		for i, sent := range x.upstream.all() {
			asked, _ := ollama.AskedWindow(sent.request)
			if asked != wide || !bytes.Contains(sent.request, []byte(`"truncate":false`)) {
				t.Fatalf("request %d: want its window of %d and truncate: false kept, got %s", i+1, wide, sent.request)
			}
		}
	})
	t.Run("openai-compatible", func(t *testing.T) {
		// No request can state the window here: the model has it, and the proxy is told. Nor can it forbid the server
		// to drop messages: each body is asked again in the server's own format, which can.
		s := s.widened(t)
		direct := s.open(t, "ollama")
		grow(t, s, dialogue{
			provider: "openai-compatible", path: "/ollama",
			body:     `{"model":%q,"messages":[],"tools":` + readTool + `,"max_tokens":%d,"temperature":0%s%s}`,
			form:     `,"response_format":{"type":"json_schema","json_schema":{"name":"x","schema":%s}}`,
			streamed: `,"stream_options":{"include_usage":true}`,
			window:   budget.Window{Capacity: wide, Buffer: nearly.Buffer, OutputReserve: nearly.OutputReserve},
			after: func(d door, sent *exchange, reported int) {
				if got := direct.complete(t, again(t, d, sent.request)).Usage.Prompt(); got != reported {
					t.Errorf("prompt: want the same where nothing may be dropped, got %d and %d of %s", reported, got, sent.request)
				}
			},
		})
	})
}

const readTool = `[{"type":"function","function":{"name":"read","description":"Reads a file.",` +
	`"parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}]`

// readCall is the form of a reply that is a call of that tool, with the number of the file.
const readCall = `{"type":"object","properties":{"name":{"const":"read"},"arguments":{"type":"object",` +
	`"properties":{"path":{"const":"%d.txt"}},"required":["path"]}},"required":["name","arguments"]}`

// A dialogue is how a conversation is held in one dialect.
type dialogue struct {
	provider, path string        // whose client is used, and below which path of the proxy
	body, form     string        // a request for a model, with the most output; what demands a reply of a schema
	streamed       string        // what else a request for a stream has
	window         budget.Window // that the proxy is told
	after          func(d door, sent *exchange, reported int)
}

// A grown is a conversation that has been held.
type grown struct {
	door     door
	upstream *recorder
}

// A step is one Step in figures: what the server reported, and the line of the proxy's log.
type step struct {
	reported, output int

	Status, Attempts, Tokens, Estimate, Limit int
	Match                                     string
	Edited                                    bool
}

// grow holds the conversation, and judges what the server reported.
func grow(t *testing.T, s server, how dialogue) grown {
	t.Helper()
	var log bytes.Buffer
	x := grown{upstream: &recorder{}}
	before, leave := s.behindProxy(t, how.window, x.upstream, &log)
	before.url += how.path
	x.door = before.open(t, how.provider)
	a := agent{t: t, door: x.door, dialogue: how, model: s.model, dice: rand.New(rand.NewPCG(1, 2))}
	a.says("Read the harbour's log files, one by one, and tell me what is in them.")
	var did []step
	for n := range steps {
		reply := a.step(n + 1)
		if reply.Usage.Prompt() <= 0 {
			t.Fatalf("step %d: want its usage, got %+v", n+1, reply)
		}
		did = append(did, step{reported: reply.Usage.Prompt(), output: reply.Usage.Output})
		if how.after != nil {
			how.after(x.door, x.upstream.last(), reply.Usage.Prompt())
		}
	}
	leave()
	lines := bytes.Split(bytes.TrimSpace(log.Bytes()), []byte("\n"))
	if sent := len(x.upstream.all()); len(lines) != len(did) || sent != len(did) {
		t.Fatalf("want a request and a line of log for each of %d Steps, got %d and %d", len(did), sent, len(lines))
	}
	for i, line := range lines {
		if err := json.Unmarshal(line, &did[i]); err != nil {
			t.Fatal(err)
		}
	}
	judge(t, did)
	whole := did[len(did)-1].reported * len(x.door.last().request) / len(x.upstream.last().request)
	if t.Logf("the client's history in the end: some %d tokens", whole); whole < 3*wide {
		t.Errorf("history: want several windows of %d, got some %d tokens", wide, whole)
	}
	_, err := s.open(t, "ollama").Complete(t.Context(), again(t, x.door, x.door.last().request))
	if _, _, ok := client.TooLong(err); !ok {
		t.Errorf("without the proxy: want the last request refused, got %v", err)
	}
	return x
}

// judge holds the Steps against the window, and tells what they were like.
func judge(t *testing.T, did []step) {
	t.Helper()
	var reported, margin, spare, off []int // in tokens; the last two in permille
	edited, under := 0, 0
	for i, s := range did {
		match := "next"
		if i == 0 {
			match = "new"
		}
		if s.Status != http.StatusOK || s.Attempts != 1 || s.Match != match || s.Tokens > s.Limit {
			t.Errorf("step %d: want it sent once, within its limit, in one conversation, got %+v", i+1, s)
		}
		if s.reported+s.output > wide {
			t.Errorf("step %d: want a window of %d kept, got a prompt of %d and a reply of %d", i+1, wide, s.reported, s.output)
		}
		reported, margin = append(reported, s.reported), append(margin, s.Tokens-s.reported)
		spare, off = append(spare, 1000*(s.Tokens-s.reported)/s.reported), append(off, 1000*abs(s.Estimate-s.reported)/s.reported)
		if s.Edited {
			edited++
		}
		if s.Tokens < s.reported {
			under++
		}
		if i%10 == 9 || i < 5 {
			t.Logf("step %3d: reported %4d, estimate %4d, bound %4d, limit %4d, edited %t", i+1, s.reported, s.Estimate, s.Tokens, s.Limit, s.Edited)
		}
	}
	if under > len(did)*(1000-covered)/1000 {
		t.Errorf("bound: want %d permille of the prompts covered, got %d of %d above it", covered, under, len(did))
	}
	if edited < len(did)/2 {
		t.Errorf("want most requests shorter than the client's, got %d of %d", edited, len(did))
	}
	t.Logf("%d of %d edited, %d above the bound; p50, p95, max of", edited, len(did), under)
	t.Logf("  prompt reported %s", ranks(reported, 1))
	t.Logf("  bound - reported %s, in %% %s", ranks(margin, 1), ranks(spare, 10))
	t.Logf("  estimate off by %% %s", ranks(off, 10))
}

func abs(n int) int { return max(n, -n) }

// ranks returns the median, the 95th percentile and the largest, each divided.
func ranks(n []int, by float64) string {
	n = slices.Sorted(slices.Values(n))
	at := func(percent int) float64 { return float64(n[(len(n)-1)*percent/100]) / by }
	return fmt.Sprint(at(50), at(95), at(100))
}

// behindProxy returns the server as it is reached through a proxy of its own, which sends by base, and what ends
// that proxy: all that it logs is written then.
func (s server) behindProxy(t *testing.T, w budget.Window, base http.RoundTripper, log *bytes.Buffer) (server, func()) {
	t.Helper()
	g, err := gateway.New(gateway.Options{Window: func(string, string) budget.Window { return w }})
	if err != nil {
		t.Fatal(err)
	}
	up, err := proxy.ParseUpstream("ollama", s.url)
	if err != nil {
		t.Fatal(err)
	}
	p, err := proxy.New(proxy.Options{
		Gateway: g, Upstreams: []proxy.Upstream{up}, Base: base, Log: slog.New(slog.NewJSONHandler(log, nil)), Env: func(string) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(p)
	t.Cleanup(listener.Close)
	s.url = listener.URL
	return s, listener.Close
}

// widened returns the server with a model that is like its own, but for its window.
func (s server) widened(t *testing.T) server {
	t.Helper()
	name := s.model + "-wide"
	body := fmt.Sprintf(`{"model":%q,"from":%q,"parameters":{"num_ctx":%d},"stream":false}`, name, s.model, wide)
	if status, answer := s.post(t, "/api/create", body); status != http.StatusOK {
		t.Fatalf("create %s: %d %s", name, status, answer)
	}
	t.Cleanup(func() {
		req, err := http.NewRequest(http.MethodDelete, s.url+"/api/delete", strings.NewReader(fmt.Sprintf(`{"model":%q}`, name)))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if resp.Body.Close(); resp.StatusCode != http.StatusOK {
			t.Errorf("delete %s: status %d", name, resp.StatusCode)
		}
	})
	s.model = name
	return s
}

// again returns a request of a door in the server's own format, written from the start: nothing may be dropped. It asks
// for next to no reply.
func again(t *testing.T, d door, body []byte) llm.Request {
	t.Helper()
	known, err := catalog.Load()
	if err != nil {
		t.Fatal(err)
	}
	native, _ := known.Dialect(ollama.Dialect)
	r := convert.Request(d.read(t, string(body)), native, convert.Options{}).Request
	r.MaxOutput = 1
	return r
}

// An agent holds its whole history and sends all of it with each request.
type agent struct {
	dialogue

	t       *testing.T
	door    door
	model   string
	dice    *rand.Rand
	history []llm.Message
}

func (a *agent) says(text string) { a.history = append(a.history, says(text)) }

// step does the n-th Step: four in five are calls, whose outputs the tool then gives; the others are words,
// after which the person says something. Every other reply is streamed.
func (a *agent) step(n int) llm.Response {
	a.t.Helper()
	output, form := 8, ""
	if n%5 != 0 {
		output, form = 80, fmt.Sprintf(a.form, fmt.Sprintf(readCall, n))
	}
	streamed := ""
	ask := a.door.complete
	if n%2 == 0 {
		streamed, ask = a.streamed, a.door.stream
	}
	r := a.door.read(a.t, fmt.Sprintf(a.body, a.model, output, form, streamed))
	r.Sections = []llm.Section{{Text: "You are the clerk of a small harbour. You read its logs and answer in a few words."}}
	r.Messages = a.history
	reply := ask(a.t, r)
	a.history = append(a.history, reply.Message)
	calls := reply.Message.Calls()
	if len(calls) != 0 != (form != "") {
		a.t.Fatalf("step %d: want a call if one is demanded, got %+v", n, reply.Message)
	}
	for _, call := range calls {
		result := llm.ToolResult{CallID: call.CallID, Content: []llm.Part{llm.Text{Text: a.log(n)}}}
		a.history = append(a.history, llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{result}})
	}
	if len(calls) == 0 {
		a.says(fmt.Sprintf("Good. Go on with the files after number %d, and tell me which ship was the largest.", n))
	}
	return reply
}

// log returns the n-th file: mostly some lines, sometimes many.
func (a *agent) log(n int) string {
	ships, goods := []string{"Alma", "Borealis", "Cormorant", "Dagny", "Estrella"}, []string{"timber", "salt", "wool", "copper wire", "dried fish"}
	lines := 1 + a.dice.IntN(5)
	if n%24 == 0 {
		lines = 40
	}
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "%02d:%02d berth %d: %s, %d tons of %s\n", i%24, a.dice.IntN(60), 1+a.dice.IntN(9), ships[a.dice.IntN(len(ships))],
			10+a.dice.IntN(900), goods[a.dice.IntN(len(goods))])
	}
	return b.String()
}
