package gateway_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plimsoll-dev/plimsoll/core/budget"
	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/core/policy"
	"github.com/plimsoll-dev/plimsoll/gateway"
	"github.com/plimsoll-dev/plimsoll/store"
	"github.com/plimsoll-dev/plimsoll/wire/codecs"
)

const (
	window  = 8_000 // of the model in tokens
	dialect = llm.Dialect("anthropic")
)

// begin returns a gateway on a store.
func begin(t *testing.T, s store.Store) *gateway.Gateway { return beginWith(t, s, 0) }

// beginOldestFirst returns a gateway whose policy pins whole messages and takes out the oldest
// ones first.
func beginOldestFirst(t *testing.T) *gateway.Gateway {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "examples", "policies", "summary-ahead.json"))
	must(t, err)
	p, err := policy.Parse(data)
	must(t, err)
	g, err := gateway.New(gateway.Options{
		Policy: p, Window: func(string, string) budget.Window { return budget.Window{Capacity: window, OutputReserve: 500} },
	})
	must(t, err)
	return g
}

// beginWith returns a gateway that keeps so many conversations in memory.
func beginWith(t *testing.T, s store.Store, sessions int) *gateway.Gateway {
	t.Helper()
	g, err := gateway.New(gateway.Options{
		Store: s, Sessions: sessions,
		Window: func(string, string) budget.Window { return budget.Window{Capacity: window, OutputReserve: 500} },
	})
	must(t, err)
	return g
}

// ends gives an exchange its reply.
func ends(t *testing.T, x *gateway.Exchange) {
	t.Helper()
	r := x.Relay(t.Context(), false)
	_, _ = r.Write(fmt.Appendf(nil, `{"id":"msg","type":"message","role":"assistant","model":"scripted","content":[{"type":"text","text":"ok"}],`+
		`"stop_reason":"end_turn","usage":{"input_tokens":%d,"output_tokens":5}}`, len(x.Body())*2/7))
	r.End()
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A talk is a client's conversation: it holds all of it, as clients do.
type talk struct {
	t       *testing.T
	header  map[string]string
	owner   string
	system  string
	tools   []string
	history []llm.Message
	calls   int
}

func newTalk(t *testing.T, words string) *talk {
	c := &talk{t: t, system: "You read files.", tools: []string{"read"}}
	return c.says(words)
}

// says adds what a person says.
func (c *talk) says(words string) *talk {
	c.history = append(c.history, llm.Message{Role: llm.RoleUser, Origin: llm.Human, Parts: []llm.Part{llm.Text{Text: words}}})
	return c
}

// reads adds a Round: a call, and its output of that many lines.
func (c *talk) reads(lines int) *talk {
	c.calls++
	id := fmt.Sprintf("call_%d", c.calls)
	c.history = append(c.history,
		llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{
			llm.Text{Text: fmt.Sprintf("Now file %d.", c.calls)},
			llm.ToolCall{CallID: id, Name: "read", Args: fmt.Sprintf(`{"path":"%d.txt"}`, c.calls)},
		}},
		llm.Message{Role: llm.RoleTool, Origin: llm.ToolRun, Parts: []llm.Part{
			llm.ToolResult{CallID: id, Content: []llm.Part{llm.Text{Text: output(c.calls, lines)}}},
		}},
	)
	return c
}

func output(file, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "line %d of file %d\n", i, file)
	}
	return b.String()
}

// answered adds a model's answer.
func (c *talk) answered(words string) *talk {
	c.history = append(c.history, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: words}}})
	return c
}

// other returns a client that has said the same so far.
func (c *talk) other() *talk {
	o := *c
	o.history = append([]llm.Message(nil), c.history...)
	return &o
}

// back takes the last n messages away.
func (c *talk) back(n int) *talk {
	c.history = c.history[:len(c.history)-n]
	return c
}

// body returns the client's request.
func (c *talk) body() []byte {
	c.t.Helper()
	body, err := c.encoded()
	must(c.t, err)
	return body
}

func (c *talk) encoded() ([]byte, error) {
	r := llm.Request{Model: "scripted", MaxOutput: 500, Messages: c.history}
	if c.system != "" {
		r.Sections = []llm.Section{{Text: c.system}}
	}
	for _, name := range c.tools {
		r.Tools = append(r.Tools, llm.Tool{Name: name, Description: "Does it.", Schema: `{"type":"object"}`})
	}
	codec, _ := codecs.For(dialect)
	return codec.EncodeRequest(r)
}

func (c *talk) call() gateway.Call {
	return gateway.Call{
		Owner: c.owner, Provider: "anthropic", Dialect: dialect, Body: c.body(),
		Header: func(name string) string { return c.header[name] },
	}
}

// sends makes the request and returns what became of it.
func (c *talk) sends(g *gateway.Gateway) *gateway.Exchange {
	c.t.Helper()
	x, err := g.Begin(c.t.Context(), c.call())
	must(c.t, err)
	return x
}

// grow makes requests, each with one more Round, until an edit holds. It returns the last.
func (c *talk) grow(g *gateway.Gateway) *gateway.Exchange {
	c.t.Helper()
	for range 40 {
		if x := c.sends(g); x.Edited() {
			return x
		}
		c.reads(120)
	}
	c.t.Fatal("nothing was edited")
	return nil
}

// read returns a body as a request.
func read(t *testing.T, body []byte) llm.Request {
	t.Helper()
	codec, _ := codecs.For(dialect)
	r, err := codec.DecodeRequest(body)
	must(t, err)
	return r
}

// refused returns the refusal that err is.
func refused(t *testing.T, err error) *gateway.RefusalError {
	t.Helper()
	e, ok := errors.AsType[*gateway.RefusalError](err)
	if !ok {
		t.Fatalf("got %v, want a refusal", err)
	}
	return e
}
