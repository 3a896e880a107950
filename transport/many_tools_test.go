package transport_test

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/internal/testagent"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/transport"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

// A docker is a model that is to dock at some quays: it calls the tool for each, and where it
// is not offered it searches for it, if it can.
type docker struct {
	codec  codecs.Full
	quays  []int
	more   []llm.Tool               // of the client's
	search string                   // what it searches with; empty: it calls by name what it was not offered
	model  string                   // its name; empty: any
	change func(body []byte) []byte // of the client's requests; nil: nothing
	n      int
	bodies [][]byte
	tools  [][]string // that it was offered, by request; what waits only once it was found
	faults []string
}

func (m *docker) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	for _, f := range check.Request(m.codec.Dialect(), body) {
		m.faults = append(m.faults, f.Error())
	}
	r, err := m.codec.DecodeRequest(body)
	if err != nil {
		return nil, err
	}
	m.n++
	m.bodies = append(m.bodies, body)
	var names, loaded []string
	for _, msg := range r.Messages {
		loaded = append(loaded, llm.Loads(msg)...)
	}
	for _, t := range r.Tools {
		if !t.Deferred || slices.Contains(loaded, t.Name) {
			names = append(names, t.Name)
		}
	}
	m.tools = append(m.tools, names)
	docked := 0
	for _, msg := range r.Messages {
		for _, c := range msg.Calls() {
			if strings.HasPrefix(c.Name, "mcp__") {
				docked++
			}
		}
	}
	reply := llm.Response{ID: fmt.Sprintf("m%d", m.n), Model: "scripted", Stop: llm.StopTool, Usage: llm.Usage{Input: len(body) / 4, Output: 20}}
	id := fmt.Sprintf("call_%d", m.n)
	switch {
	case docked == len(m.quays):
		reply.Message, reply.Stop = llm.AssistantText("Docked at all of them."), llm.StopEnd
	case slices.Contains(names, dockAt(m.quays[docked])), m.search == "":
		reply.Message = llm.AssistantText("Now.", llm.ToolCall{CallID: id, Name: dockAt(m.quays[docked]), Args: `{}`})
	default:
		reply.Message = llm.AssistantText("", llm.ToolCall{CallID: id, Name: m.search, Args: fmt.Sprintf(`{"query":"docking at quay %d"}`, m.quays[docked])})
		reply.Message.Parts = reply.Message.Parts[len(reply.Message.Parts)-1:]
	}
	var out []byte
	e := m.codec.NewEncoder()
	for _, event := range wire.Events(reply) {
		if out, err = e.Append(out, event); err != nil {
			return nil, err
		}
	}
	kind := "text/event-stream"
	if m.codec.Dialect() == "ollama" {
		kind = "application/x-ndjson"
	}
	return &http.Response{StatusCode: 200, Request: req, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(bytes.NewReader(out))}, nil
}

func dockAt(quay int) string { return fmt.Sprintf("mcp__port__dock_%d", quay) }

func dockTools() []llm.Tool {
	tools := []llm.Tool{{Name: "read", Description: "Reads a file.", Schema: `{"type":"object","properties":{}}`}}
	for quay := range 40 {
		tools = append(tools, llm.Tool{
			Name: dockAt(quay), Description: fmt.Sprintf("Docks at quay %d, %s", quay, strings.Repeat("with care, and as it is done at sea ", 16)),
			Schema: `{"type":"object","properties":{"speed":{"type":"integer"}}}`,
		})
	}
	return tools
}

// sails runs a client through a gateway until the model has docked everywhere.
func sails(t *testing.T, m *docker, o gateway.Options, restarts bool) *testagent.Agent {
	t.Helper()
	a := testagent.New("http://model.invalid", m.codec.Dialect(), true)
	a.Tools, a.History = append(dockTools(), m.more...), nil
	a.Says("Dock.")
	a.Model, a.Change = cmp.Or(m.model, a.Model), m.change
	if o.Store == nil {
		o.Store = &store.Memory{}
	}
	o.Window = func(string, string) budget.Window { return budget.Window{Capacity: 30_000, OutputReserve: 2_000} }
	begin := func() {
		g, err := gateway.New(o)
		must(t, err)
		tr := transport.New(g)
		tr.Base = m
		a.HTTP = &http.Client{Transport: tr}
	}
	begin()
	for step := 0; ; step++ {
		if step > 20 {
			t.Fatal("no end after 20 steps")
		}
		if restarts {
			begin()
		}
		must(t, a.Step(t.Context()))
		calls := a.History[len(a.History)-1].Calls()
		for _, c := range calls {
			if !strings.HasPrefix(c.Name, "mcp__") {
				t.Fatalf("the client sees a call of %s", c.Name)
			}
			a.History = append(a.History, llm.ToolText(c.CallID, "Docked."))
		}
		if len(calls) == 0 {
			break
		}
	}
	if len(m.faults) > 0 {
		t.Errorf("the provider finds faults: %v", m.faults[:min(3, len(m.faults))])
	}
	return a
}

func isServers(tool string) llm.ToolKind {
	if strings.HasPrefix(tool, "mcp__") {
		return llm.ToolOfServer
	}
	return llm.ToolBuiltIn
}

// TestManyTools: of a client that sends many tools the model gets a few and the means to find
// others, unseen by the client; the list only grows, also over restarts.
func TestManyTools(t *testing.T) {
	for _, codec := range codecs.All() {
		for _, preset := range []string{"balanced", "layered"} {
			t.Run(fmt.Sprintf("R002-16_%s %s", codec.Dialect(), preset), func(t *testing.T) {
				p, err := policy.Preset(preset)
				must(t, err)
				var once [][]byte
				for _, restarts := range []bool{false, true} {
					m := &docker{codec: codec, quays: []int{33, 2, 37}, search: policy.ToolSearch}
					sails(t, m, gateway.Options{Policy: p, Offer: true, ToolKind: isServers}, restarts)
					if m.n != 4+2 {
						t.Errorf("want four requests and two hidden Rounds, got %d: %q", m.n, m.tools)
					}
					for i, names := range m.tools {
						if len(names) > 30 || names[0] != "read" || !slices.Contains(names, policy.ToolSearch) {
							t.Errorf("request %d: want few tools, and one that finds others, got %q", i, names)
						}
						if i > 0 && !slices.Equal(names[:len(m.tools[i-1])], m.tools[i-1]) {
							t.Errorf("request %d: want what was offered before it to stay where it was, got %q behind %q", i, names, m.tools[i-1])
						}
					}
					if !strings.Contains(string(m.bodies[0]), "tools ") || strings.Contains(string(m.bodies[0]), dockAt(33)) {
						t.Errorf("want a note, and the tool left out, got %.300s", m.bodies[0])
					}
					if once == nil {
						once = m.bodies
					} else if !slices.EqualFunc(once, m.bodies, bytes.Equal) {
						t.Error("over restarts other requests were sent")
					}
				}
			})
		}
	}
}

func TestManyToolsPass(t *testing.T) {
	for name, o := range map[string]gateway.Options{
		"nobody says where tools come from": {},
		"nothing is offered":                {ToolKind: isServers},
	} {
		t.Run(name, func(t *testing.T) {
			codec, _ := codecs.For("anthropic")
			m := &docker{codec: codec, quays: []int{33, 37}}
			a := sails(t, m, o, false)
			body, err := a.Body()
			must(t, err)
			if last := m.bodies[len(m.bodies)-1]; len(m.tools[0]) != 41 || !bytes.HasPrefix(body, last[:len(last)/2]) {
				t.Errorf("want the client's own request with all of its tools, got %d", len(m.tools[0]))
			}
		})
	}
}

// What a client has its provider leave out is the client's matter.
func TestManyToolsOfTheProvider(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	m := &docker{codec: codec}
	g, err := gateway.New(gateway.Options{Offer: true, ToolKind: isServers, Window: func(string, string) budget.Window {
		return budget.Window{Capacity: 30_000, OutputReserve: 2_000}
	}})
	must(t, err)
	tr := transport.New(g)
	tr.Base = m
	a := testagent.New("http://model.invalid", "anthropic", true)
	a.Tools, a.HTTP = dockTools(), &http.Client{Transport: tr}
	a.Change = func(body []byte) []byte {
		return bytes.ReplaceAll(body, []byte(`{"name":"mcp__`), []byte(`{"defer_loading":true,"name":"mcp__`))
	}
	must(t, a.Step(t.Context()))
	if n := bytes.Count(m.bodies[0], []byte("defer_loading")); n != 40 {
		t.Errorf("want all 40 tools as they came, got %d", n)
	}
}

// A client that demands a tool has it, and one that the model calls by its name reaches the
// client although it was left out.
func TestManyToolsDemanded(t *testing.T) {
	codec, _ := codecs.For("anthropic")
	t.Run("by the client", func(t *testing.T) {
		m := &docker{codec: codec}
		g, err := gateway.New(gateway.Options{Offer: true, ToolKind: isServers, Window: func(string, string) budget.Window {
			return budget.Window{Capacity: 30_000, OutputReserve: 2_000}
		}})
		must(t, err)
		tr := transport.New(g)
		tr.Base = m
		a := testagent.New("http://model.invalid", "anthropic", true)
		a.Tools, a.HTTP = dockTools(), &http.Client{Transport: tr}
		a.Change = func(body []byte) []byte {
			return bytes.Replace(body, []byte(`{`), []byte(`{"tool_choice":{"type":"tool","name":"`+dockAt(39)+`"},`), 1)
		}
		must(t, a.Step(t.Context()))
		if names := m.tools[0]; names[len(names)-1] != dockAt(39) || len(names) > 30 {
			t.Errorf("want few tools and the one that is demanded, got %q", names)
		}
	})
	t.Run("by the model", func(t *testing.T) {
		m := &docker{codec: codec, quays: []int{39, 38}}
		sails(t, m, gateway.Options{Offer: true, ToolKind: isServers}, false)
		if last := m.tools[len(m.tools)-1]; !slices.Equal(last[len(last)-2:], []string{dockAt(39), dockAt(38)}) {
			t.Errorf("want both offered from then on, got %q", last)
		}
	})
}

// A client's own tool of that name is the client's.
func TestManyToolsPrefixed(t *testing.T) {
	codec, _ := codecs.For("openai-chat")
	own := []llm.Tool{{Name: policy.ToolSearch, Description: "Searches for tools in the shed.", Schema: `{"type":"object","properties":{}}`}}
	m := &docker{codec: codec, quays: []int{33}, more: own, search: policy.ToolPrefix + policy.ToolSearch}
	sails(t, m, gateway.Options{Offer: true, ToolKind: isServers}, false)
	if m.n != 3 {
		t.Errorf("want one hidden Round, got %d requests with %q", m.n, m.tools)
	}
}
