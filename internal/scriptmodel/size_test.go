package scriptmodel

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plimsoll-dev/plimsoll/core/llm"
	"github.com/plimsoll-dev/plimsoll/wire"
)

// TestPromptTooLong: a prompt above the window is refused in the provider's words, with the
// figures where it states them, also inside a stream.
func TestPromptTooLong(t *testing.T) {
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "window 100\nreply always\n  text \"x\"\n")
		body := r.opening(strings.Repeat("many words ", 100), false)
		if d == native {
			if reply := r.ask(body, false); reply.Message.Text() != "x" || reply.Usage.Prompt() != 100 {
				t.Errorf("reply, want the prompt cut to the window without a word, got %+v", reply)
			}
			body = swap(t, body, `"think":true`, `"think":true,"truncate":false`)
		}
		e := r.refused(body)
		tokens := r.server.Log()[len(r.server.Log())-1].Prompt
		if e.Class != wire.TooLong || e.Status != 400 || tokens <= 100 {
			t.Errorf("error of %d tokens, want too long, got %v", tokens, e)
		}
		if states := d != native && d != responses; states && (e.Window != 100 || e.Used != tokens) {
			t.Errorf("figures, want %d of 100, got %d of %d", tokens, e.Used, e.Window)
		}
		r.ask(r.opening("few words", false), false)
	})
	t.Run("inside a stream", func(t *testing.T) {
		r := start(t, responses, "window 100\nreply always\n  text \"x\"\n")
		g := r.send("POST", r.path(true), r.opening(strings.Repeat("many words ", 100), true))
		_, err := r.events(g.body)
		var e *wire.Error
		if g.status != 200 || !errors.As(err, &e) || e.Class != wire.TooLong || e.Code != "context_length_exceeded" {
			t.Errorf("stream, want response.failed with its code, got %d %v %s", g.status, err, g.body)
		}
	})
	t.Run("cut when asked", func(t *testing.T) {
		r := start(t, responses, "window 100\nreply always\n  text \"x\"\n")
		body := swap(t, r.opening(strings.Repeat("many words ", 100), false), `"store":false`, `"store":false,"truncation":"auto"`)
		r.ask(body, false)
	})
}

// TestLimitsOfAModel: fallback targets have windows of their own.
func TestLimitsOfAModel(t *testing.T) {
	r := start(t, messages, "window 100000\nmodel \"small*\" window 100 output 50\nreply always\n  text \"x\"\n")
	long := r.opening(strings.Repeat("many words ", 100), false)
	r.ask(long, false)
	small := swap(t, swap(t, long, `"model":"m"`, `"model":"small-1"`), `"max_tokens":2000`, `"max_tokens":50`)
	if e := r.refused(small); e.Window != 100 {
		t.Errorf("small model, want its window of 100, got %v", e)
	}
}

// TestWindowOfTheRequest: one dialect lets the request say how large the window is.
func TestWindowOfTheRequest(t *testing.T) {
	r := start(t, native, "window 1000\nreply always\n  text \"x\"\n")
	body := swap(t, r.opening(strings.Repeat("many words ", 100), false), `"think":true`, `"options":{"num_ctx":50},"truncate":false`)
	if e := r.refused(body); e.Class != wire.TooLong {
		t.Errorf("error, want too long, got %v", e)
	}
}

// TestOutput: a reply ends where the room for it ends, and says why.
func TestOutput(t *testing.T) {
	limit := map[llm.Dialect]string{
		messages: `"max_tokens":20`, chat: `"max_completion_tokens":20`, responses: `"max_output_tokens":20`,
		generate: `"maxOutputTokens":20`, native: `"num_predict":20`,
	}
	each(t, func(t *testing.T, d llm.Dialect) {
		r := start(t, d, "reply always\n  words 500\n")
		body := r.opening("x", false)
		switch d {
		case messages:
			body = swap(t, body, `"max_tokens":2000`, limit[d])
		case generate:
			body = swap(t, body, `"generationConfig":{`, `"generationConfig":{`+limit[d]+`,`)
		case native:
			body = swap(t, body, `"think":true`, `"options":{`+limit[d]+`}`)
		default:
			body = swap(t, body, `"model":"m"`, `"model":"m",`+limit[d])
		}
		reply := r.ask(body, false)
		if reply.Stop != llm.StopLength || reply.Usage.Output > 20 || reply.Message.Text() == "" {
			t.Errorf("reply, want at most 20 tokens and stop length, got %d %s %q", reply.Usage.Output, reply.Stop, reply.Message.Text())
		}
	})
	t.Run("the window ends it", func(t *testing.T) {
		r := start(t, messages, "window 100\nreply\n  words 500\n")
		if reply := r.ask(r.opening("x", false), false); reply.Stop != llm.StopWindow || reply.Usage.Total() > 100 {
			t.Errorf("reply, want it within 100 and stop window, got %d %s", reply.Usage.Total(), reply.Stop)
		}
	})
	t.Run("strict", func(t *testing.T) {
		r := start(t, messages, "window 100\nstrict\nreply\n  words 500\n")
		if e := r.refused(r.opening("x", false)); e.Class != wire.TooLong || !strings.Contains(e.Message, "exceed context limit") {
			t.Errorf("error, want the sum refused, got %v", e)
		}
	})
	t.Run("chat counts the output asked for", func(t *testing.T) {
		r := start(t, chat, "window 100\nreply\n  text \"x\"\n")
		if e := r.refused(swap(t, r.opening("x", false), `"model":"m"`, `"model":"m","max_tokens":100`)); e.Class != wire.TooLong || e.Window != 100 {
			t.Errorf("error, want the sum refused, got %v", e)
		}
	})
	t.Run("more than the model can", func(t *testing.T) {
		r := start(t, messages, "output 1000\nreply\n  text \"x\"\n")
		if e := r.refused(r.opening("x", false)); e.Class != wire.BadRequest || !strings.Contains(e.Message, "2000 > 1000") {
			t.Errorf("error, want the limit named, got %v", e)
		}
	})
}

// TestCounting: counting a request gives what the call reports.
func TestCounting(t *testing.T) {
	t.Run("messages", func(t *testing.T) {
		r := start(t, messages, "reply\n  text \"x\"\n")
		body := r.opening("some words to count", false)
		g := r.send("POST", "/v1/messages/count_tokens", swap(t, swap(t, body, `"max_tokens":2000,`, ""), `"stream":false,`, ""))
		if n, want := int(gjson.GetBytes(g.body, "input_tokens").Int()), r.ask(body, false).Usage.Prompt(); n != want || n == 0 {
			t.Errorf("count, want %d, got %d: %s", want, n, g.body)
		}
	})
	t.Run("generate", func(t *testing.T) {
		r := start(t, generate, "reply\n  text \"x\"\n")
		body := r.opening("some words to count", false)
		want := r.ask(body, false).Usage.Prompt()
		inner := strings.Replace(string(body), "{", `{"model":"models/m",`, 1)
		g := r.send("POST", "/v1beta/models/m:countTokens", []byte(`{"generateContentRequest":`+inner+`}`))
		if n := int(gjson.GetBytes(g.body, "totalTokens").Int()); n != want {
			t.Errorf("count, want %d, got %d: %s", want, n, g.body)
		}
	})
	t.Run("with a vocabulary", func(t *testing.T) {
		r := start(t, messages, "count \"tiktoken:o200k_base\"\nreply\n  text \"x\"\n")
		text := strings.Repeat("hello ", 50)
		if n := r.ask(r.opening(text, false), false).Usage.Prompt(); n < 50 || n > 150 {
			t.Errorf("tokens, want some 100, got %d", n)
		}
	})
}

// TestCache: what was read and written is in the usage of each dialect, and grows old by the
// logical clock only.
func TestCache(t *testing.T) {
	long := strings.Repeat("a long and stable beginning ", 300)
	t.Run("messages", func(t *testing.T) {
		r := start(t, messages, "reply 3 times\n  text \"x\"\nreply always\n  later 6m\n  text \"x\"\n")
		body := swap(t, r.opening("hello", false), `"system":"Be brief."`, fmt.Sprintf(`"system":[{"type":"text","text":%q,"cache_control":{"type":"ephemeral"}}]`, long))
		first := r.ask(body, false).Usage
		if first.CacheWrite5m < 1024 || first.CacheRead != 0 {
			t.Errorf("first call, want a write, got %+v", first)
		}
		second := r.ask(swap(t, body, `"hello"`, `"other"`), false).Usage
		if second.CacheRead != first.CacheWrite5m || second.CacheWrite5m != 0 || second.Prompt() != first.Prompt() {
			t.Errorf("second call, want it read, got %+v", second)
		}
		hour := swap(t, body, `{"type":"ephemeral"}`, `{"type":"ephemeral","ttl":"1h"}`)
		if u := r.ask(swap(t, hour, "a long", "A long"), false).Usage; u.CacheWrite1h == 0 || u.CacheWrite5m != 0 {
			t.Errorf("long lifetime, want a write for one hour, got %+v", u)
		}
		if u := r.ask(body, false).Usage; u.CacheRead != 0 || u.CacheWrite5m == 0 {
			t.Errorf("six minutes later, want it written again, got %+v", u)
		}
		r.header.Set("X-Api-Key", "another")
		if u := r.ask(swap(t, hour, "a long", "A long"), false).Usage; u.CacheRead != 0 {
			t.Errorf("another key, want nothing read, got %+v", u)
		}
	})
	t.Run("too short", func(t *testing.T) {
		r := start(t, messages, "reply always\n  text \"x\"\n")
		body := swap(t, r.opening("hello", false), `"system":"Be brief."`, `"system":[{"type":"text","text":"short","cache_control":{"type":"ephemeral"}}]`)
		if u := r.ask(body, false).Usage; u.CacheWrite5m != 0 {
			t.Errorf("usage, want no write, got %+v", u)
		}
	})
	for _, d := range []llm.Dialect{chat, responses, generate} {
		t.Run(string(d), func(t *testing.T) {
			r := start(t, d, "reply always\n  text \"x\"\n")
			body := r.opening(long, false)
			if u := r.ask(body, false).Usage; u.CacheRead != 0 {
				t.Errorf("first call, want nothing read, got %+v", u)
			}
			next := r.extend(body, llm.Message{Role: llm.RoleAssistant, Origin: llm.Model, Parts: []llm.Part{llm.Text{Text: "x"}}}, person("more"))
			u := r.ask(next, false).Usage
			if u.CacheRead < 1024 || u.Input <= 0 || d != generate && u.CacheRead%128 != 0 {
				t.Errorf("second call, want the prefix read, got %+v", u)
			}
			r.server.Advance(10 * 60e9)
			if u := r.ask(next, false).Usage; u.CacheRead != 0 {
				t.Errorf("ten minutes later, want nothing read, got %+v", u)
			}
		})
	}
	t.Run("off", func(t *testing.T) {
		r := start(t, chat, "cache off\nreply always\n  text \"x\"\n")
		body := r.opening(long, false)
		r.ask(body, false)
		if u := r.ask(body, false).Usage; u.CacheRead != 0 {
			t.Errorf("usage, want nothing read, got %+v", u)
		}
	})
}
