package scriptmodel

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// threeRounds calls a tool three times, thinking before each call, and ends.
const threeRounds = `
reply when no result
  thinking "First."
  call bash {"command": "one"}
reply 2 times
  thinking "Then."
  call bash {"command": "two"}
reply always
  text "Done."
`

// rounds returns the request that follows n rounds of that script.
func (r *rig) rounds(n int) []byte {
	r.t.Helper()
	body := r.opening("start", false)
	for range n {
		reply := r.ask(body, false)
		body = r.extend(body, reply.Message, answered(reply.Message, "out"))
	}
	return body
}

// swap returns body with every old replaced; old must be there.
func swap(t *testing.T, body []byte, old, with string) []byte {
	t.Helper()
	if !strings.Contains(string(body), old) {
		t.Fatalf("request, want %s in it, got %s", old, body)
	}
	return []byte(strings.ReplaceAll(string(body), old, with))
}

// without returns body without the thinking of message i of the Messages API.
func without(r *rig, body []byte, i int) []byte {
	r.t.Helper()
	block := gjson.GetBytes(body, "messages."+itoa(i)+".content.0")
	if block.Get("type").String() != "thinking" {
		r.t.Fatalf("message %d, want thinking first, got %s", i, block.Raw)
	}
	return swap(r.t, body, block.Raw+",", "")
}

func TestBoundThinking(t *testing.T) {
	const bound, drops = "bound to a different conversation", `"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
	for _, c := range []struct {
		name   string
		script string
		change func(r *rig, body []byte) []byte
		fault  string // in the error; empty: accepted
		report string // path and reason of the first piece that was dropped
	}{
		{name: "untouched"},
		{name: "cache marks move", change: func(r *rig, b []byte) []byte {
			b = swap(r.t, b, `"content":"start"`, `"content":[{"type":"text","text":"start","cache_control":{"type":"ephemeral"}}]`)
			return swap(r.t, b, `{"name":"bash",`, `{"cache_control":{"type":"ephemeral"},"name":"bash",`)
		}},
		{name: "effort and limit change", change: func(r *rig, b []byte) []byte { return swap(r.t, b, `"max_tokens":2000`, `"max_tokens":1000`) }},
		{name: "oldest thinking left out", change: func(r *rig, b []byte) []byte { return without(r, without(r, b, 1), 3) }},
		{name: "thinking left out between others", change: func(r *rig, b []byte) []byte { return without(r, b, 3) }, fault: "messages.5.content.0: Invalid `signature`"},
		{name: "system prompt changed", change: func(r *rig, b []byte) []byte { return swap(r.t, b, "Be brief.", "Be short.") }, fault: bound},
		{name: "tools changed", change: func(r *rig, b []byte) []byte {
			return swap(r.t, b, `{"name":"bash",`, `{"name":"bash","description":"d",`)
		}, fault: bound},
		{name: "first message changed", change: func(r *rig, b []byte) []byte { return swap(r.t, b, `"content":"start"`, `"content":"stop"`) }, fault: "messages.1.content.0"},
		{name: "a result changed", change: func(r *rig, b []byte) []byte {
			first := gjson.GetBytes(b, "messages.2.content.0").Raw
			return swap(r.t, b, first, strings.Replace(first, `"out"`, `"[cut]"`, 1))
		}, fault: "messages.3.content.0"},
		{name: "newest thinking left out", change: func(r *rig, b []byte) []byte { return without(r, b, 5) }, fault: "messages.5"},
		{name: "text of thinking changed", change: func(r *rig, b []byte) []byte { return swap(r.t, b, `"First."`, `"Second."`) }, fault: "messages.1.content.0: Invalid `signature` in `thinking` block"},
		{name: "another model", change: func(r *rig, b []byte) []byte { return swap(r.t, b, `"model":"m"`, `"model":"n"`) }, report: "messages.1.content.0 model_binding_mismatch"},
		{name: "dropping without its beta", change: func(r *rig, b []byte) []byte {
			return swap(r.t, b, `"thinking":{"type":"adaptive"}`, drops)
		}, fault: "thinking.block_binding: Extra inputs are not permitted"},
		{name: "dropping", change: func(r *rig, b []byte) []byte {
			r.header.Set("Anthropic-Beta", "a-2025-01-01,"+bindingBeta)
			return swap(r.t, swap(r.t, b, `"thinking":{"type":"adaptive"}`, drops), "Be brief.", "Be short.")
		}, report: "messages.1.content.0 prefix_binding_mismatch"},
		{name: "dropping damaged thinking does not help", change: func(r *rig, b []byte) []byte {
			r.header.Set("Anthropic-Beta", bindingBeta)
			return swap(r.t, swap(r.t, b, `"thinking":{"type":"adaptive"}`, drops), `"First."`, `"Second."`)
		}, fault: "Invalid `signature`"},
		{name: "script drops", script: "signatures drop\n", change: func(r *rig, b []byte) []byte { return swap(r.t, b, "Be brief.", "Be short.") }, report: "messages.1.content.0 prefix_binding_mismatch"},
		{name: "script does not look", script: "signatures off\n", change: func(r *rig, b []byte) []byte { return swap(r.t, b, "Be brief.", "Be short.") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := start(t, messages, c.script+threeRounds)
			body := r.rounds(3)
			if c.change != nil {
				body = c.change(r, body)
			}
			if c.fault != "" {
				e := r.refused(body)
				if e.Class != wire.BadThinking && !strings.HasPrefix(c.fault, "thinking.") || !strings.Contains(e.Message, c.fault) {
					t.Errorf("error, want bad thinking with %q, got %v", c.fault, e)
				}
				return
			}
			for _, stream := range []bool{false, true} {
				g := r.send("POST", r.path(stream), swap(t, body, `"stream":false`, map[bool]string{true: `"stream":true`, false: `"stream":false`}[stream]))
				if g.status != 200 {
					t.Fatalf("answer, want 200, got %d %s", g.status, g.body)
				}
				if reported(g.body, stream) != c.report {
					t.Errorf("report, want %q, got %q in %s", c.report, reported(g.body, stream), g.body)
				}
				r.read(g.body, stream)
			}
		})
	}
}

// reported returns the first piece of thinking that an answer says was dropped.
func reported(body []byte, stream bool) string {
	list := gjson.GetBytes(body, "input_transformations")
	if stream {
		_, first, _ := strings.Cut(string(body), "data: ")
		list = gjson.Get(first, "message.input_transformations")
	}
	if !list.Exists() {
		return ""
	}
	return list.Get("0.path").String() + " " + list.Get("0.reason").String()
}

// TestThinkingAfterAnEdit: what was thought after an edit is good for as long as the edit
// stays, and no longer.
func TestThinkingAfterAnEdit(t *testing.T) {
	r := start(t, messages, threeRounds)
	body := r.rounds(2)
	body = without(r, without(r, body, 1), 2+1) // the edit takes the thinking behind it out
	first := gjson.GetBytes(body, "messages.2.content.0").Raw
	body = swap(t, body, first, strings.Replace(first, `"out"`, `"[cut]"`, 1))
	body = r.extend(body, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "So far."}}}, person("go on"))
	reply := r.ask(body, false)
	if len(reply.Message.Calls()) == 0 {
		r.t.Fatalf("reply, want a call, got %+v", reply)
	}
	body = r.extend(body, reply.Message, answered(reply.Message, "last"))
	if got := r.ask(body, false).Message.Text(); got != "Done." {
		t.Errorf("edited prefix, want it accepted while it stays, got %q", got)
	}
	if e := r.refused(swap(t, body, `"[cut]"`, `"out"`)); e.Class != wire.BadThinking {
		t.Errorf("edit taken back, want bad thinking, got %v", e)
	}
}

func TestEncryptedReasoning(t *testing.T) {
	r := start(t, responses, threeRounds)
	r.header.Set("Authorization", "Bearer one")
	body := r.rounds(1)
	content := gjson.GetBytes(body, `input.#(type=="reasoning").encrypted_content`).String()
	if content == "" {
		t.Fatalf("request, want reasoning in it, got %s", body)
	}
	for name, e := range map[string]*wire.Error{
		"damaged": r.refused(swap(t, body, content, "A"+content[1:len(content)-4]+"AAA=")),
		"another account": func() *wire.Error {
			r.header.Set("Authorization", "Bearer two")
			defer r.header.Set("Authorization", "Bearer one")
			return r.refused(body)
		}(),
	} {
		if e.Class != wire.BadThinking || e.Code != "invalid_encrypted_content" {
			t.Errorf("%s: want invalid_encrypted_content, got %v", name, e)
		}
	}
	r.ask(swap(t, body, "Be brief.", "Be short."), false) // it is not bound to its prefix
	t.Run("only where it is asked for", func(t *testing.T) {
		r := start(t, responses, threeRounds)
		g := r.send("POST", r.path(false), swap(t, r.opening("x", false), `"include":["reasoning.encrypted_content"],`, ""))
		if got := gjson.GetBytes(g.body, `output.#(type=="reasoning").encrypted_content`).String(); got != "" {
			t.Errorf("encrypted content, want none, got %q", got)
		}
	})
}

func TestCallSignatures(t *testing.T) {
	r := start(t, generate, threeRounds)
	body := r.rounds(2)
	signature := gjson.GetBytes(body, "contents.3.parts.#.thoughtSignature|@reverse|0").String()
	if signature == "" {
		t.Fatalf("request, want a signature in it, got %s", body)
	}
	if r.ask(body, false).Message.Text() != "" {
		t.Error("untouched, want the third round")
	}
	if e := r.refused(swap(t, body, `"thoughtSignature":"`+signature+`"`, `"x":1`)); !strings.Contains(e.Message, "missing a thought_signature") {
		t.Errorf("left out, want it missed, got %v", e)
	}
	if e := r.refused(swap(t, body, signature, "AAAA")); e.Class != wire.BadThinking {
		t.Errorf("damaged, want bad thinking, got %v", e)
	}
	r.ask(swap(t, body, signature, anySignature), false)
	t.Run("in the other alphabet", func(t *testing.T) {
		r := start(t, generate, threeRounds)
		body := string(r.rounds(2))
		other := strings.NewReplacer("+", "-", "/", "_")
		changed := 0
		for _, p := range gjson.Get(body, "contents.#.parts.#.thoughtSignature|@flatten").Array() {
			body = strings.ReplaceAll(body, p.String(), other.Replace(p.String()))
			changed += strings.Count(p.String(), "+") + strings.Count(p.String(), "/")
		}
		if changed == 0 {
			t.Fatal("signatures, want letters that the alphabets differ in, got none")
		}
		r.ask([]byte(body), false)
	})
}

// TestThinkingInSnakeCase: the Python SDK's names of members that it is given as they are.
func TestThinkingInSnakeCase(t *testing.T) {
	for _, names := range [][3]string{
		{"generation_config", "thinking_config", "include_thoughts"},
		{"generationConfig", "thinkingConfig", "include_thoughts"},
		{"generationConfig", "thinking_config", "includeThoughts"},
	} {
		r := start(t, generate, "reply\n  thinking \"Hm.\"\n  text \"So.\"\n")
		body := r.opening("x", false)
		for i, camel := range []string{"generationConfig", "thinkingConfig", "includeThoughts"} {
			body = swap(t, body, `"`+camel+`"`, `"`+names[i]+`"`)
		}
		reply := r.ask(body, false)
		if _, ok := reply.Message.Parts[0].(llm.Thinking); !ok {
			t.Errorf("%v: reply, want thinking first, got %+v", names, reply.Message.Parts)
		}
	}
}
