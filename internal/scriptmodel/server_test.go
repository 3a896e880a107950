package scriptmodel

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
	"github.com/plimsoll-dev/plimsoll/wire/check"
)

const toolRun = `
reply when user "start", no result
  thinking "I look first."
  text "I run it."
  call shell "ls"
  call bash {"command": "pwd"}
reply when result "README"
  thinking "That is all."
  text "There is one file."
reply when user "again"
  text "Still one."
`

// TestToolRun: a client gets calls, sends the results back with all that the server said,
// thinking and signatures included, and goes on after it.
func TestToolRun(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("stream=%t", stream), func(t *testing.T) {
				r := start(t, d, toolRun)
				body := r.opening("start", stream)
				first := r.ask(body, stream)
				calls := first.Message.Calls()
				if len(calls) != 2 || calls[0].Name != "bash" || gjson.Get(calls[0].Args, "command").String() != "ls" {
					t.Fatalf("calls, want two of bash, got %+v", calls)
				}
				if first.Stop != llm.StopTool || !strings.Contains(first.Message.Text(), "I run it.") {
					t.Errorf("first reply, want the text and stop tool, got %q %s", first.Message.Text(), first.Stop)
				}
				if first.Usage.Prompt() == 0 || first.Usage.Output == 0 {
					t.Errorf("usage, want one, got %+v", first.Usage)
				}
				body = r.extend(body, first.Message, answered(first.Message, "README.md"))
				second := r.ask(body, stream)
				if second.Stop != llm.StopEnd || second.Message.Text() != "There is one file." {
					t.Errorf("second reply, want the end, got %q %s", second.Message.Text(), second.Stop)
				}
				body = r.extend(body, second.Message, person("again"))
				if third := r.ask(body, stream); third.Message.Text() != "Still one." {
					t.Errorf("third reply, want its text, got %q", third.Message.Text())
				}
				if d == native {
					return // it has no ids
				}
				if g := r.send("POST", r.path(stream), body); g.status != 500 || !strings.Contains(string(g.body), "no reply is left") {
					t.Errorf("fourth request, want a 500 that says so, got %d %s", g.status, g.body)
				}
			})
		}
	})
}

// TestThinkingIsShown: thinking comes where the request wants it, and only there.
func TestThinkingIsShown(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "reply always\n  thinking \"Hm.\"\n  text \"Yes.\"\n")
		thinking := func(body []byte) (text string) {
			for _, p := range r.ask(body, false).Message.Parts {
				if p, ok := p.(llm.Thinking); ok {
					text += p.Text
				}
			}
			return text
		}
		body := r.opening("x", false)
		if got := thinking(body); got != "Hm." {
			t.Errorf("thinking, want it shown, got %q", got)
		}
		for _, part := range []string{`"thinking":{"type":"adaptive"},`, `"think":true,`, `"includeThoughts":true`} {
			if without := strings.Replace(string(body), part, "", 1); without != string(body) {
				if got := thinking([]byte(without)); got != "" {
					t.Errorf("thinking without %s, want none, got %q", part, got)
				}
			}
		}
	})
}

func TestScript(t *testing.T) {
	t.Run("the first reply that fits and is left", func(t *testing.T) {
		r := start(t, chat, "reply when user \"b\"\n  text \"B\"\nreply 2 times\n  text \"any\"\nreply always when no user \"c\"\n  text \"rest\"\n")
		var said []string
		for _, q := range []string{"a", "b", "b", "b", "c"} {
			g := r.send("POST", r.path(false), r.opening(q, false))
			said = append(said, gjson.GetBytes(g.body, "choices.0.message.content").String())
		}
		if got := strings.Join(said, ","); got != "any,B,any,rest," {
			t.Errorf("replies, want any,B,any,rest and none, got %s", got)
		}
		if line := r.server.Log()[1].Line; line != 1 {
			t.Errorf("line of the reply, want 1, got %d", line)
		}
	})
	t.Run("usage is overridden", func(t *testing.T) {
		r := start(t, messages, "reply\n  text \"x\"\n  usage input 1 read 2 write 3 write1h 4 output 5\n")
		want := llm.Usage{Input: 1, CacheRead: 2, CacheWrite5m: 3, CacheWrite1h: 4, Output: 5}
		if got := r.ask(r.opening("x", false), false).Usage; got != want {
			t.Errorf("usage, want %+v, got %+v", want, got)
		}
	})
	t.Run("reset", func(t *testing.T) {
		r := start(t, chat, "reply\n  text \"x\"\n")
		first := r.send("POST", r.path(false), r.opening("x", false))
		r.server.Reset()
		again := r.send("POST", r.path(false), r.opening("x", false))
		if string(first.body) != string(again.body) || len(r.server.Log()) != 1 {
			t.Errorf("after a reset, want the same answer and one call, got %s and %s", first.body, again.body)
		}
	})
	t.Run("loop", func(t *testing.T) {
		r := start(t, chat, "loop \"make\" \"Done.\"\n")
		body := r.opening("x", false)
		first := r.ask(body, false)
		if calls := first.Message.Calls(); len(calls) != 1 || calls[0].Args != `{"command":"make"}` {
			t.Fatalf("first reply, want a call of the shell, got %+v", first.Message)
		}
		if got := r.ask(r.extend(body, first.Message, answered(first.Message, "ok")), false).Message.Text(); got != "Done." {
			t.Errorf("second reply, want the end, got %q", got)
		}
		side := `{"model":"m","messages":[{"role":"user","content":"a title?"}]}`
		if got := r.ask([]byte(side), false).Message.Text(); got != "A title" {
			t.Errorf("side call, want a title, got %q", got)
		}
	})
	t.Run("conditions", func(t *testing.T) {
		r := start(t, messages, "reply always when system \"brief\", tool \"bash\", model \"m*\", stream, no json\n  text \"all\"\nreply always when json\n  text \"{}\"\nreply always\n  text \"rest\"\n")
		for body, want := range map[string]string{
			string(r.opening("x", true)):                                        "all",
			string(swap(t, r.opening("x", true), "Be brief.", "Be short.")):     "rest",
			string(swap(t, r.opening("x", true), `"bash"`, `"sh"`)):             "rest",
			string(swap(t, r.opening("x", true), `"model":"m"`, `"model":"n"`)): "rest",
			string(swap(t, r.opening("x", true), `"stream":true`, `"stream":true,"output_config":{"format":{"type":"json_schema","schema":{}}}`)): "{}",
		} {
			if got := r.ask([]byte(body), true).Message.Text(); got != want {
				t.Errorf("reply to %s, want %s, got %s", body, want, got)
			}
		}
		if got := r.ask(r.opening("x", false), false).Message.Text(); got != "rest" {
			t.Errorf("reply that is not streamed, want rest, got %s", got)
		}
	})
	t.Run("no shell", func(t *testing.T) {
		r := start(t, chat, "reply\n  call shell \"ls\"\n")
		body := strings.ReplaceAll(string(r.opening("x", false)), `"bash"`, `"other"`)
		if e := r.refused([]byte(body)); e.Status != 500 || !strings.Contains(e.Message, "call shell") {
			t.Errorf("error, want a 500 that says so, got %v", e)
		}
	})
}

// TestShellArguments: the arguments are those that the client's schema wants.
func TestShellArguments(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"exec_command", `{"properties":{"cmd":{"type":"string"},"yield_time_ms":{"type":"number"}},"required":["cmd"]}`, `{"cmd":"ls > a"}`},
		{
			"bash", `{"properties":{"command":{"type":"string"},"description":{"type":"string"},"timeout":{"type":"integer"}},"required":["command","description","timeout"]}`,
			`{"command":"ls > a","description":"run the command","timeout":10000}`,
		},
		{"run_commands", `{"properties":{"commands":{"type":"array","items":{"type":"string"}}},"required":["commands"]}`, `{"commands":["ls > a"]}`},
		{
			"run_shell_command", `{"type":"OBJECT","properties":{"command":{"type":"STRING"},"is_background":{"type":"BOOLEAN"}},"required":["command","is_background"]}`,
			`{"command":"ls > a","is_background":false}`,
		},
		{"execute_command", `{"properties":{"command":{"type":"string"},"mode":{"enum":["fast","slow"]}},"required":["mode"]}`, `{"command":"ls > a","mode":"fast"}`},
		{"terminal", ``, `{"command":"ls > a"}`},
	} {
		call, ok := shellCall([]llm.Tool{{Name: "read"}, {Name: c.name, Schema: c.schema}}, "ls > a")
		if !ok || call.Name != c.name || call.Args != c.want {
			t.Errorf("%s: want %s, got %+v %t", c.name, c.want, call, ok)
		}
	}
	free := llm.Tool{Name: "shell", Raw: llm.Raw{Data: []byte(`{"type":"custom","name":"shell"}`)}}
	if call, ok := shellCall([]llm.Tool{free}, "ls"); !ok || !call.Custom || call.Args != "ls" {
		t.Errorf("custom tool, want free text, got %+v", call)
	}
	if _, ok := shellCall([]llm.Tool{{Name: "read"}}, "ls"); ok {
		t.Error("no shell, want no call, got one")
	}
}

// TestStatus: errors have the shape that the provider's own have.
func TestStatus(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		for _, c := range []struct {
			status int
			class  wire.Class
		}{{429, wire.RateLimited}, {500, wire.ServerFault}, {529, wire.Overloaded}, {413, wire.TooLarge}} {
			r := start(t, d, fmt.Sprintf("reply\n  status %d retry-after 3\n", c.status))
			g := r.send("POST", r.path(false), r.opening("x", false))
			e := r.codec.DecodeError(g.status, g.body)
			if d == generate && c.status == 413 {
				c.class = e.Class // it has no such status
			}
			if g.status != c.status || e.Class != c.class || e.Message == "" {
				t.Errorf("status %d, want it with class %s, got %d %v", c.status, c.class, g.status, e)
			}
			if g.header.Get("retry-after") != "3" {
				t.Errorf("retry-after, want 3, got %q", g.header.Get("retry-after"))
			}
		}
	})
}

// TestAddresses: what is no address, no method or no key is refused as the provider does.
func TestAddresses(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "key \"sk-right\"\nreply always\n  text \"x\"\n")
		body := r.opening("x", false)
		if d != native { // it has no keys
			if e := r.refused(body); e.Class != wire.Auth {
				t.Errorf("no key, want class auth, got %v", e)
			}
			r.header.Set("Authorization", "Bearer sk-wrong")
			if e := r.refused(body); e.Class != wire.Auth {
				t.Errorf("wrong key, want class auth, got %v", e)
			}
		}
		r.header.Set("Authorization", "Bearer sk-right")
		if g := r.send("POST", r.path(false), body); g.status != 200 {
			t.Errorf("right key, want 200, got %d %s", g.status, g.body)
		}
		if g := r.send("PUT", r.path(false), body); g.status != 405 {
			t.Errorf("PUT, want 405, got %d", g.status)
		}
		if e := r.refused([]byte(`{"model":`)); e.Class != wire.BadRequest {
			t.Errorf("half a body, want a bad request, got %v", e)
		}
		r.header.Set("Connection", "Upgrade")
		r.header.Set("Upgrade", "websocket")
		if g := r.send("GET", r.path(false), nil); g.status != 426 {
			t.Errorf("upgrade, want 426, got %d", g.status)
		}
	})
	t.Run("unknown", func(t *testing.T) {
		for path, shape := range map[string]string{"/v1/unknown": "error.type", "/v1beta/unknown": "error.status", "/api/unknown": "error"} {
			r := start(t, chat, "")
			r.header = http.Header{}
			if g := r.send("POST", path, nil); g.status != 404 || !gjson.GetBytes(g.body, shape).Exists() {
				t.Errorf("%s, want a 404 with %s, got %d %s", path, shape, g.status, g.body)
			}
		}
	})
	t.Run("keys of each style", func(t *testing.T) {
		for _, c := range []struct {
			d            llm.Dialect
			header, path string
		}{
			{messages, "X-Api-Key", "/v1/messages?beta=true"},
			{chat, "Api-Key", "/openai/deployments/m/chat/completions?api-version=2025-04-01"},
			{responses, "Api-Key", "/openai/v1/responses"},
			{generate, "X-Goog-Api-Key", "/v1beta/models/m:generateContent"},
			{generate, "", "/v1beta/models/m:generateContent?key=k"},
		} {
			r := start(t, c.d, "key \"k\"\nreply\n  text \"x\"\n")
			if c.header != "" {
				r.header.Set(c.header, "k")
			}
			if g := r.send("POST", c.path, r.opening("x", false)); g.status != 200 {
				t.Errorf("%s with %q, want 200, got %d %s", c.path, c.header, g.status, g.body)
			}
		}
	})
	t.Run("version header", func(t *testing.T) {
		r := start(t, messages, "reply\n  text \"x\"\n")
		r.header.Del("Anthropic-Version")
		if e := r.refused(r.opening("x", false)); !strings.Contains(e.Message, "anthropic-version") {
			t.Errorf("error, want one that names the header, got %v", e)
		}
	})
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "bytes 100\nreply\n  text \"x\"\n")
		if e := r.refused(r.opening("x", false)); e.Class != wire.TooLarge {
			t.Errorf("error of too many bytes, want too large, got %v", e)
		}
	})
}

// TestRulesOfTheDialect: a request that the provider would not take is refused.
func TestRulesOfTheDialect(t *testing.T) {
	for _, c := range []struct {
		d          llm.Dialect
		body, want string
	}{
		{messages, `{"model":"m","max_tokens":10,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"f","input":{}}]},` +
			`{"role":"user","content":"b"}]}`, "tool_use"},
		{chat, `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{}"}}]},` +
			`{"role":"user","content":"b"}]}`, "tool_call"},
		{responses, `{"model":"m","input":[{"type":"function_call_output","call_id":"c1","output":"x"}]}`, "c1"},
		{generate, `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"}]},` +
			`{"role":"user","parts":[{"text":"b"}]}]}`, "function"},
	} {
		t.Run(string(c.d), func(t *testing.T) {
			r := start(t, c.d, "reply\n  text \"x\"\n")
			if e := r.refused([]byte(c.body)); e.Status != 400 || !strings.Contains(e.Message, c.want) {
				t.Errorf("error, want a 400 that names %s, got %v", c.want, e)
			}
			call := r.server.Log()[0]
			if len(call.Faults) == 0 || call.Line != 0 || call.Error == nil {
				t.Errorf("call, want it with the fault and no reply, got %+v", call)
			}
		})
	}
}

// TestFaults: what goes wrong on the way is seen as such by a reader of the stream.
func TestFaults(t *testing.T) {
	const reply = "reply always\n  text \"one two three four five six seven eight nine ten eleven twelve\"\n  "
	each(t, func(t *testing.T, d llm.Dialect) {
		stream := func(t *testing.T, fault string) (got, error) {
			t.Helper()
			r := start(t, d, reply+fault+"\n")
			g := r.send("POST", r.path(true), r.opening("x", true))
			_, err := r.events(g.body)
			return g, err
		}
		for _, cut := range []string{"cut after 2 events", "cut after 60 bytes", "cut"} {
			if g, err := stream(t, cut); g.broken != nil || !errors.Is(err, wire.ErrCut) {
				t.Errorf("%s, want the stream cut, got %v %v: %s", cut, g.broken, err, g.body)
			}
		}
		if g, _ := stream(t, "drop after 2 events"); g.broken == nil || g.status != 200 || len(g.body) == 0 {
			t.Errorf("drop, want a connection that breaks after some bytes, got %v %s", g.broken, g.body)
		}
		if g, _ := stream(t, "drop"); g.broken == nil || g.status != 0 {
			t.Errorf("drop at once, want no answer at all, got %d %s", g.status, g.body)
		}
		if _, err := stream(t, "malformed after 1 events"); err == nil {
			t.Error("malformed, want an error, got none")
		}
		var refused *wire.Error
		if g, err := stream(t, "fail after 2 events"); !errors.As(err, &refused) || refused.Class == wire.BadRequest {
			t.Errorf("fail, want the provider's error, got %v: %s", err, g.body)
		}
		if g, err := stream(t, "fail"); !errors.As(err, &refused) || refused.Class != wire.Overloaded {
			t.Errorf("fail at once, want the provider's error, got %v: %s", err, g.body)
		} else if faults := check.Stream(d, g.body); len(faults) > 0 {
			t.Errorf("fail at once, want no rule broken, got %v: %s", faults, g.body)
		}
		if g, _ := stream(t, "fail after 2 events"); len(check.Stream(d, g.body)) > 0 {
			t.Errorf("fail, want no rule broken, got %v: %s", check.Stream(d, g.body), g.body)
		}
		if g, err := stream(t, "ping after 1 events"); err != nil {
			t.Errorf("ping, want the whole reply, got %v: %s", err, g.body)
		} else if d == generate && strings.Contains("\n"+string(g.body), "\n:") {
			t.Errorf("ping, want no comment, which the official Go client takes for an error, got %s", g.body)
		}
	})
}

// TestStreamForms: what is not an event has the form that the request asked for.
func TestStreamForms(t *testing.T) {
	t.Run("one array", func(t *testing.T) {
		r := start(t, generate, "reply\n  text \"one two three four five six seven eight\"\n")
		g := r.send("POST", "/v1beta/models/m:streamGenerateContent", r.opening("x", true))
		if !gjson.ValidBytes(g.body) || !gjson.ParseBytes(g.body).IsArray() || g.header.Get("Content-Type") != "application/json" {
			t.Errorf("answer, want a JSON array, got %s", g.body)
		}
		if reply := r.read(g.body, true); reply.Message.Text() != "one two three four five six seven eight" {
			t.Errorf("reply, want the text, got %q", reply.Message.Text())
		}
	})
	t.Run("usage only when asked", func(t *testing.T) {
		r := start(t, chat, "reply always\n  text \"x\"\n")
		body := r.opening("x", true)
		if u := r.ask(body, true).Usage; u.IsZero() {
			t.Error("usage, want it when asked, got none")
		}
		body = []byte(strings.Replace(string(body), `"stream_options":{"include_usage":true},`, "", 1))
		if u := r.ask(body, true).Usage; !u.IsZero() {
			t.Errorf("usage, want none when not asked, got %+v", u)
		}
	})
	t.Run("streams unless told not to", func(t *testing.T) {
		r := start(t, native, "reply always\n  text \"x\"\n")
		body := strings.Replace(string(r.opening("x", true)), `"stream":true,`, "", 1)
		if got := r.ask([]byte(body), true).Message.Text(); got != "x" {
			t.Errorf("reply, want x, got %q", got)
		}
	})
}

// TestDeepJSON: a body that nests millions of levels deep is refused as one that is no JSON,
// and the server goes on.
func TestDeepJSON(t *testing.T) {
	const depth = 8 << 20
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "bytes 100000000\nreply always\n  text \"yes\"\n")
		for _, open := range []string{"[", `{"a":`} {
			end := map[string]string{"[": "]", `{"a":`: "1}"}[open]
			got := r.send("POST", r.path(false), []byte(`{"model":"m","messages":`+strings.Repeat(open, depth)+strings.Repeat(end, depth)+`}`))
			if got.status != 400 {
				t.Errorf("%s: got %d", open, got.status)
			}
		}
		r.ask(r.opening("Hello.", false), false)
	})
}
