package transport_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/store/sqlite"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A mind is a model that knows only what it is sent. It reads logs with the client's tool
// read, and then says what each has, with the tool note: of a log that it does not see any
// more it reads on with a tool that it is offered, or says that it does not know.
type mind struct {
	dialect llm.Dialect
	logs    int
	ahead   bool // with a note it looks into the next log, in the same reply

	mu     sync.Mutex
	n      int // requests
	faults []string
	tools  map[string]bool // that it was offered
	called map[string]int
	bodies []string
	kept   int // requests of the client's in which what it read before stands
}

var (
	factIn = regexp.MustCompile(`the mast of ship (\d+) is (\d+) m high`)
	refIn  = regexp.MustCompile(`r[a-z2-7]{26}`)
)

// RoundTrip answers a request from its bytes alone.
func (m *mind) RoundTrip(req *http.Request) (*http.Response, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	codec, _ := codecs.For(m.dialect)
	for _, f := range check.Request(m.dialect, body) {
		m.faults = append(m.faults, f.Error())
	}
	r, err := codec.DecodeRequest(body)
	if err != nil {
		return nil, err
	}
	m.n++
	m.bodies = append(m.bodies, string(body))
	stream := r.Settings.Stream || strings.Contains(req.URL.Path, ":stream")
	reply := llm.Response{ID: fmt.Sprintf("msg_%d", m.n), Model: "scripted", Message: m.think(r), Usage: llm.Usage{Input: len(body) / 4, Output: 20}, Stop: llm.StopEnd}
	if len(reply.Message.Calls()) > 0 {
		reply.Stop = llm.StopTool
	}
	var out []byte
	kind := "application/json"
	if stream {
		kind = map[bool]string{true: "application/x-ndjson", false: "text/event-stream"}[m.dialect == "ollama"]
		e := codec.NewEncoder()
		for _, event := range wire.Events(reply) {
			if out, err = e.Append(out, event); err != nil {
				return nil, err
			}
		}
	} else if out, err = codec.EncodeResponse(reply); err != nil {
		return nil, err
	}
	var from io.Reader = bytes.NewReader(out)
	if m.n%2 == 1 {
		from = &atOnce{out}
	}
	return &http.Response{
		StatusCode: 200, Status: "200 OK", Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: req,
		Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(from), ContentLength: int64(len(out)),
	}, nil
}

// An atOnce tells its end beside its last bytes, as a body does whose length was stated.
type atOnce struct{ rest []byte }

func (a *atOnce) Read(p []byte) (n int, err error) {
	n = copy(p, a.rest)
	if a.rest = a.rest[n:]; len(a.rest) == 0 {
		err = io.EOF
	}
	return n, err
}

// think says what to do next.
func (m *mind) think(r llm.Request) llm.Message {
	offered := map[string]bool{}
	for _, t := range r.Tools {
		offered[t.Name], m.tools[t.Name] = true, true
	}
	read, noted := map[string]string{}, 0 // what each log shows
	of := map[string]string{}             // the log that a call asked for
	facts := map[string]string{}
	looked := map[string]int{} // how often it has read on in a log
	for _, msg := range r.Messages {
		for _, c := range msg.Calls() {
			of[c.CallID] = c.Args
			if c.Name == "note" {
				noted++
			}
			if ref := refIn.FindString(c.Args); ref != "" {
				looked[ref]++
			}
		}
		for _, res := range msg.Results() {
			text := res.Text()
			for _, f := range factIn.FindAllStringSubmatch(text, -1) {
				facts[f[1]] = f[2]
			}
			if strings.HasPrefix(of[res.CallID], `{"log"`) {
				read[of[res.CallID]] = text
			}
		}
	}
	if last := r.Messages[len(r.Messages)-1]; strings.Contains(last.Text()+fmt.Sprint(last.Results()), "Noted.") && len(looked) > 0 {
		m.kept++
	}
	call := func(text, name, args string) llm.Message {
		m.called[name]++
		return llm.AssistantText(text, llm.ToolCall{CallID: fmt.Sprintf("call_%d", m.n), Name: name, Args: args})
	}
	if n := len(read); n < m.logs {
		return call(fmt.Sprintf("I read log %d.", n), "read", fmt.Sprintf(`{"log":%d}`, n))
	}
	if noted >= m.logs {
		return llm.AssistantText("That is all.")
	}
	ship := fmt.Sprint(noted)
	refOf := func(n int) string { return refIn.FindString(read[fmt.Sprintf(`{"log":%d}`, n)]) }
	if high, ok := facts[ship]; ok {
		reply := call("Ship "+ship+".", "note", fmt.Sprintf(`{"ship":%s,"high":%s}`, ship, high))
		if next := refOf(noted + 1); m.ahead && next != "" && looked[next] == 0 && offered["read_result"] {
			m.called["read_result"]++
			reply.Parts = append(reply.Parts, llm.ToolCall{CallID: fmt.Sprintf("ahead_%d", m.n), Name: "read_result", Args: fmt.Sprintf(`{"ref_id":"%s","limit":2500}`, next)})
		}
		return reply
	}
	ref := refOf(noted)
	if ref != "" && looked[ref] < 4 {
		at := looked[ref]
		for tool, args := range map[string]string{
			"read_result": fmt.Sprintf(`{"ref_id":"%s","offset":%d,"limit":2500}`, ref, 2500*at),
		} {
			if offered[tool] {
				return call("Let me look. ", tool, args)
			}
		}
	}
	return call("I do not know.", "note", fmt.Sprintf(`{"ship":%s,"high":0}`, ship))
}

// TestReadsBack: behind the gateway a model reads what has left its window, and the client
// never sees that (R002-7). Over restarts its requests are the same, and without the tools it
// does not know.
func TestReadsBack(t *testing.T) {
	for _, c := range codecs.All() {
		for _, stream := range []bool{false, true} {
			for _, ahead := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s stream %t beside own calls %t", c.Dialect(), stream, ahead), func(t *testing.T) {
					readsBack(t, c.Dialect(), stream, false, ahead, false)
					once := readsBack(t, c.Dialect(), stream, true, ahead, false)
					again := readsBack(t, c.Dialect(), stream, true, ahead, true)
					for i, body := range once {
						if i >= len(again) || again[i] != body {
							t.Fatalf("request %d of %d is another one over restarts", i, len(once))
						}
					}
				})
			}
		}
	}
}

func readsBack(t *testing.T, d llm.Dialect, stream, offer, ahead, restarts bool) (bodies []string) {
	t.Helper()
	const logs = 6
	p, err := policy.Preset("layered")
	must(t, err)
	st, err := sqlite.Open(t.Context(), t.TempDir()+"/x.db", sqlite.Options{})
	must(t, err)
	defer st.Close()
	m := &mind{dialect: d, logs: logs, ahead: ahead, tools: map[string]bool{}, called: map[string]int{}}
	c := testagent.New("http://model.invalid", d, stream)
	c.System, c.History, c.Tools = []string{"You look after ships."}, nil, []llm.Tool{
		{Name: "read", Description: "Reads a log.", Schema: `{"type":"object","properties":{"log":{"type":"integer"}}}`},
		{Name: "note", Description: "Notes a height.", Schema: `{"type":"object","properties":{"ship":{"type":"integer"},"high":{"type":"integer"}}}`},
	}
	rounds := 0
	begin := func(st store.Store) {
		g, err := gateway.New(gateway.Options{
			Store: st, Policy: p, Offer: offer,
			Window: func(string, string) budget.Window { return budget.Window{Capacity: 9_000, OutputReserve: 1_000} },
		})
		must(t, err)
		tr := transport.New(g)
		tr.Base = m
		tr.Done = func(_ *http.Request, r gateway.Report) { rounds += r.Rounds }
		c.HTTP = &http.Client{Transport: tr}
	}
	begin(st)
	c.Says("How high are the masts?")
	notes := map[string]bool{}
	for step := 0; ; step++ {
		if restarts { // of the process, before each request
			begin(st)
		}
		if step > 40 {
			t.Fatalf("offer %t: no end after %d steps", offer, step)
		}
		must(t, c.Step(t.Context()))
		said := c.History[len(c.History)-1]
		calls := said.Calls()
		if len(calls) == 0 {
			break
		}
		for _, call := range calls {
			switch call.Name {
			case "read":
				n := refNumber(call.Args)
				c.History = append(c.History, llm.ToolText(call.CallID, logOf(n)))
			case "note":
				notes[call.Args] = true
				c.History = append(c.History, llm.ToolText(call.CallID, "Noted."))
			default:
				t.Fatalf("the client sees a call of %s", call.Name)
			}
		}
	}
	right := 0
	for n := range logs {
		if notes[fmt.Sprintf(`{"ship":%d,"high":%d}`, n, 20+n*3)] {
			right++
		}
	}
	if len(m.faults) > 0 {
		t.Errorf("offer %t: the provider finds faults: %v", offer, m.faults[:min(3, len(m.faults))])
	}
	if offer != (right == logs) || offer != (rounds > 0) || offer != (m.kept > 0) || m.tools["read_result"] != offer {
		t.Errorf("offer %t: %d of %d facts are right, %d hidden rounds, tools %v, called %v", offer, right, logs, rounds, m.tools, m.called)
	}
	return m.bodies
}

func refNumber(args string) (n int) {
	_, _ = fmt.Sscanf(args, `{"log":%d}`, &n)
	return n
}

// logOf is a long log with one fact in the middle.
func logOf(n int) string {
	filler := strings.Repeat(fmt.Sprintf("ship %d lies at anchor, all is well\n", n), 90)
	return filler + fmt.Sprintf("the mast of ship %d is %d m high\n", n, 20+n*3) + filler
}

// TestHiddenRoundFails: a provider that fails in a Round which the client does not see is
// told to the client in its own dialect, and the client's retry is served as if nothing had
// been.
func TestHiddenRoundFails(t *testing.T) {
	for _, c := range codecs.All() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %t", c.Dialect(), stream), func(t *testing.T) {
				p, err := policy.Preset("layered")
				must(t, err)
				m := &mind{dialect: c.Dialect(), logs: 2, tools: map[string]bool{}, called: map[string]int{}}
				g, err := gateway.New(gateway.Options{Policy: p, Offer: true, Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 9_000, OutputReserve: 1_000}
				}})
				must(t, err)
				tr := transport.New(g)
				fails := 0
				tr.Base = carrier(func(req *http.Request) (*http.Response, error) {
					body, err := io.ReadAll(req.Body)
					must(t, err)
					req.Body = io.NopCloser(bytes.NewReader(body))
					if r, err := c.DecodeRequest(body); err == nil && fails == 0 && len(r.Messages) > 6 && strings.Contains(string(body), "lies at anchor") &&
						slices.ContainsFunc(r.Messages[len(r.Messages)-2].Calls(), func(c llm.ToolCall) bool { return c.Name == "read_result" }) {
						fails++
						status, text := c.EncodeError(&wire.Error{Class: wire.Overloaded, Message: "full"})
						return &http.Response{StatusCode: status, Request: req, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(text))}, nil
					}
					return m.RoundTrip(req)
				})
				a := testagent.New("http://model.invalid", c.Dialect(), stream)
				a.HTTP, a.Tools, a.History = &http.Client{Transport: tr}, []llm.Tool{{Name: "read", Schema: `{"type":"object"}`}, {Name: "note", Schema: `{"type":"object"}`}}, nil
				a.Says("How high are the masts?")
				told, right := 0, 0
				for step := 0; step < 20; step++ {
					if err := a.Step(t.Context()); err != nil {
						told++
						if e, ok := errors.AsType[*wire.Error](err); !ok || e.Message != "full" {
							t.Fatalf("want the provider's error, got %v", err)
						}
						continue // a retry
					}
					calls := a.History[len(a.History)-1].Calls()
					if len(calls) == 0 {
						break
					}
					if n := refNumber(calls[0].Args); calls[0].Name == "read" {
						a.History = append(a.History, llm.ToolText(calls[0].CallID, logOf(n)))
						continue
					}
					if strings.Contains(calls[0].Args, `"high":2`) {
						right++
					}
					a.History = append(a.History, llm.ToolText(calls[0].CallID, "Noted."))
				}
				if fails != 1 || told != 1 || right != 2 || len(m.faults) > 0 {
					t.Errorf("%d failures, %d told, %d of 2 facts right, faults %v", fails, told, right, m.faults)
				}
			})
		}
	}
}

// TestReadsBackOfAHeldHistory: where the provider holds the history the client goes on with
// the id of the reply that it got, of which the provider has only the first Round.
func TestReadsBackOfAHeldHistory(t *testing.T) {
	for _, stream := range []bool{false, true} {
		t.Run(fmt.Sprintf("stream %t", stream), func(t *testing.T) {
			p, err := policy.Preset("layered")
			must(t, err)
			m := &mind{dialect: "openai-responses", logs: 4, tools: map[string]bool{}, called: map[string]int{}}
			st := &store.Memory{}
			client := func() *http.Client {
				g, err := gateway.New(gateway.Options{Store: st, Policy: p, Offer: true, Window: func(string, string) budget.Window {
					return budget.Window{Capacity: 9_000, OutputReserve: 1_000}
				}})
				must(t, err)
				tr := transport.New(g)
				tr.Base = m
				return &http.Client{Transport: tr}
			}
			input, previous, right := `"How high are the masts?"`, "", 0
			for step := range 20 {
				status, reply := answers(t, client(), "http://model.invalid", input, previous, stream)
				if status != http.StatusOK {
					t.Fatalf("step %d: %d %s", step, status, reply.Raw)
				}
				previous = reply.Get("id").Str
				call := reply.Get(`output.#(type=="function_call")`)
				if strings.Contains(reply.Get("output").Raw, "read_result") {
					t.Fatalf("the client sees %s", reply.Get("output").Raw)
				}
				output := "Noted."
				switch args := call.Get("arguments").Str; call.Get("name").Str {
				case "":
					if right != m.logs || m.called["read_result"] == 0 || len(m.faults) > 0 {
						t.Errorf("%d of %d facts are right, called %v, faults %v", right, m.logs, m.called, m.faults)
					}
					return
				case "read":
					output = logOf(refNumber(args))
				case "note":
					if !strings.Contains(args, `"high":0`) {
						right++
					}
				}
				input = fmt.Sprintf(`[{"type":"function_call_output","call_id":%q,"output":%q}]`, call.Get("call_id").Str, output)
			}
			t.Fatal("no end")
		})
	}
}
